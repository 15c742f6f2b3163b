"""Options of the hardware and its runs, and the configuration that they select."""

from collections.abc import Sequence
from typing import Any

import click

from ...model.base.errors import InvalidInput
from ...model.collectives.declared.request import Ports
from ...model.compare.answer import Answer
from ...model.network.config import DEFAULTS, PARAMETERS, NetworkConfig, Timing
from ...model.network.exclusions import IDLE_IN_CIRCUITS
from ...model.network.topology import Topology
from ...model.program.any_program import AnyProgram
from ...model.program.certified import Room
from ...model.program.compiler import Compiled
from ...model.program.deadlock import DeadlockError, certify
from ...model.program.program import Program
from .values import (
    Decorator,
    OptionValues,
    complete_words,
    integer_option,
    option_group,
    option_names,
    refuse_beside,
    was_typed,
)


def _parameter_option(name: str) -> Decorator:
    """Make the option of a network parameter from the parameter's metadata."""
    option, default = f"--{name.replace('_', '-')}", DEFAULTS[name]
    if PARAMETERS[name].kind is bool:
        return click.option(option, is_flag=True, help=PARAMETERS[name].help_text)
    if PARAMETERS[name].kind is str:
        return click.option(option, default="", metavar="NAMES", help=PARAMETERS[name].help_text)
    return integer_option(option, default, PARAMETERS[name].help_text)


_WITH_OPTION = [name for name, parameter in PARAMETERS.items() if parameter.help]

hardware_options = option_group(
    *(_parameter_option(name) for name in _WITH_OPTION if PARAMETERS[name].of_runs),
    heading="Hardware",
)
exported_hardware_options = option_group(
    *map(_parameter_option, _WITH_OPTION),
    heading="Hardware",
)
circuits_option = option_group(_parameter_option("circuits"), heading="Hardware")
HARDWARE_NAMES = option_names(hardware_options)
traffic_hardware_options = option_group(
    *(_parameter_option(name) for name in _WITH_OPTION if PARAMETERS[name].for_traffic),
    heading="Hardware",
)
ports_option = click.option(
    "--ports",
    type=click.Choice([each.value for each in Ports]),
    default=Ports.ONE.value,
    show_default=True,
    help=(
        "Sends and receives of a node in a step: one leaves it to the algorithm; half-duplex "
        "allows one of either, full-duplex one of each, all one of each on every link."
    ),
)
force_option = option_group(
    click.option("--force", is_flag=True, help="Run a program even if its routes may deadlock."),
    heading="Run",
)
timing_option = option_group(
    click.option(
        "--timing",
        default=Timing.BARRIER.value,
        callback=lambda _context, _option, text: Timing.named(text),
        shell_complete=complete_words(Timing),
        show_default=True,
        metavar="|".join(Timing),
        help=(
            "barrier: a step starts when the last one has ended at all nodes; self-timed: each "
            "node goes on as soon as it can."
        ),
    ),
    heading="Run",
)


def require_no_deadlock(chosen: OptionValues, program: AnyProgram) -> None:
    """Refuse a program whose routes may deadlock, unless forced; circuits never wait."""
    if not chosen["force"] and isinstance(program, Program):
        try:
            certify(program)
        except DeadlockError as error:
            raise InvalidInput(f"{error} (--force runs it all the same)") from error


def refuse_with_circuits() -> None:
    """Refuse the typed options that change nothing with circuits (docs/router.md, section 23)."""
    parameters = (f"--{name}" for name in IDLE_IN_CIRCUITS)
    without_effect = ("--timing", "--force", "--assertions", *parameters)
    refuse_beside("circuits", without_effect, "it changes nothing there")


def chosen_parameters(chosen: OptionValues) -> dict[str, Any]:
    """Collect the network parameters that the command has options for."""
    if chosen.get("circuits"):
        refuse_with_circuits()
    return {name: chosen[name] for name in _WITH_OPTION if name in chosen}


def chosen_config(chosen: OptionValues, topology: Topology) -> NetworkConfig:
    """Return the network configuration of the options."""
    all_port = chosen.get("ports") == Ports.ALL
    return NetworkConfig(topology=topology, all_port=all_port, **chosen_parameters(chosen))


def chosen_room(chosen: OptionValues) -> Room:
    """Return the network of the options; sizes that were not typed follow the schedules' needs."""
    parameters = {**chosen_parameters(chosen), "all_port": chosen.get("ports") == Ports.ALL}
    names = ("vcs", "message_words", "table_words", "operators")
    return Room(parameters, [name for name in names if was_typed(name)])


def fitted(chosen: OptionValues, found: Sequence[Answer]) -> list[Compiled]:
    """Compile all schedules for one network that has room for each of them."""
    if len(found) == 1 and (kept := found[0].kept) is not None:
        return [kept.compiled]
    return chosen_room(chosen).compile([each.schedule for each in found])


def made_room(chosen: OptionValues, config: NetworkConfig) -> str:
    """Return the options that would set the grown sizes; "" if nothing has grown."""
    names = ("steps", "vcs", "message_words", "table_words")
    grown = [name for name in names if getattr(config, name) != chosen[name]]
    return " ".join(f"--{name.replace('_', '-')} {getattr(config, name)}" for name in grown)
