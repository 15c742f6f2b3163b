"""The options that give a network its hardware and run it, and the configuration they make."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import click

from ...model.base.errors import InvalidInput
from ...model.collectives.request import Ports
from ...model.network.config import DEFAULTS, MOST_MEMORY_WORDS, PARAMETERS, NetworkConfig, Timing
from ...model.network.port_model import PortModel
from ...model.network.topology import Topology
from ...model.program.compiler import Compiled, compile_all, make_room
from ...model.program.deadlock import DeadlockError, certify
from ...model.program.layout import Layout
from ...model.program.program import Program
from ...model.schedule.schedule import Schedule
from .values import (
    Decorator,
    OptionValues,
    complete_words,
    integer_option,
    option_group,
    option_names,
    was_typed,
)

if TYPE_CHECKING:
    from ...model.compare.best import Kept


def _parameter_option(name: str) -> Decorator:
    """Make the option for a parameter of the network from the parameter's metadata."""
    option, default = f"--{name.replace('_', '-')}", DEFAULTS[name]
    if PARAMETERS[name].kind is bool:
        return click.option(option, is_flag=True, help=PARAMETERS[name].help_text)
    if PARAMETERS[name].kind is str:
        return click.option(option, default="", metavar="NAMES", help=PARAMETERS[name].help_text)
    return integer_option(option, default, PARAMETERS[name].help_text)


_WITH_OPTION = [name for name, parameter in PARAMETERS.items() if parameter.help]

hardware_options = option_group(
    *(_parameter_option(name) for name in _WITH_OPTION if PARAMETERS[name].of_runs)
)
exported_hardware_options = option_group(*map(_parameter_option, _WITH_OPTION))
HARDWARE_NAMES = option_names(hardware_options)
traffic_hardware_options = option_group(
    *(_parameter_option(name) for name in _WITH_OPTION if PARAMETERS[name].for_traffic)
)
ports_option = click.option(
    "--ports",
    type=click.Choice([each.value for each in Ports]),
    default=Ports.ONE.value,
    show_default=True,
    help="A node sends and receives on one port at a time, as its algorithm does; does only one of "
    "both in a step; does both, with any partners; or uses all its links at once.",
)
force_option = click.option(
    "--force", is_flag=True, help="Run a program even if its routes may deadlock."
)
timing_option = click.option(
    "--timing",
    default=Timing.BARRIER.value,
    callback=lambda _context, _option, text: Timing.named(text),
    shell_complete=complete_words(Timing),
    show_default=True,
    metavar="|".join(Timing),
    help="A step starts when the last one has ended everywhere; or every node goes on by itself.",
)


def require_no_deadlock(chosen: OptionValues, program: Program) -> None:
    """Refuse a program whose routes may wait for each other in a circle, unless forced."""
    if not chosen["force"]:
        try:
            certify(program)
        except DeadlockError as error:
            raise InvalidInput(f"{error} (--force runs it all the same)") from error


def chosen_parameters(chosen: OptionValues) -> dict[str, Any]:
    """Collect the parameters of the network that a command has options for."""
    return {name: chosen[name] for name in _WITH_OPTION if name in chosen}


def chosen_config(
    chosen: OptionValues, topology: Topology, *, all_port: bool = False
) -> NetworkConfig:
    """The network's parameters; ``all_port``: with a port for every link, as ``--ports all``."""
    all_port = all_port or chosen.get("ports") == Ports.ALL
    return NetworkConfig(topology=topology, all_port=all_port, **chosen_parameters(chosen))


def chosen_room(
    chosen: OptionValues, schedules: Sequence[Schedule]
) -> tuple[NetworkConfig, list[Layout]]:
    """The network's parameters with room for all of ``schedules`` but their tables.

    What only makes room (step numbers, VCs, memories) is as large as they need if nobody has typed
    it. A message that does not fit is refused here, where it can be said which option makes room.
    """
    all_port = any(schedule.port_model == PortModel.ALL_PORT for schedule in schedules)
    config = chosen_config(chosen, schedules[0].topology, all_port=all_port)
    config, layouts = make_room(config, schedules, fixed=typed_room())
    for layout in layouts:
        if not layout.fits(config):
            most = config.message_words == MOST_MEMORY_WORDS
            raised = "" if most else " (--message-words raises it)"
            room = f"{layout.limit(config)}{raised}"
            raise InvalidInput.of("flits of the message", room, layout.size)
    return config, layouts


KEPT = "kept"
"""In the context of a command: what was found of a schedule while it was chosen."""


def kept(schedule: Schedule) -> Kept | None:
    """Return what was found of ``schedule`` while it was chosen; None if it was not."""
    found: Kept | None = click.get_current_context().meta.get(KEPT)
    return found if found is not None and found.compiled.schedule is schedule else None


def fitted(chosen: OptionValues, schedules: Sequence[Schedule]) -> list[Compiled]:
    """All of ``schedules``, compiled for the one network of the options, with room for each."""
    if len(schedules) == 1 and (known := kept(schedules[0])) is not None:
        return [known.compiled]
    config, layouts = chosen_room(chosen, schedules)
    return compile_all(config, schedules, layouts, fixed=typed_room())[1]


def typed_room() -> list[str]:
    """The parameters that make room, of those that stand on the command line."""
    return [
        name for name in ("vcs", "message_words", "table_words", "operators") if was_typed(name)
    ]


def made_room(chosen: OptionValues, config: NetworkConfig) -> str:
    """The options that would have asked for the room that was made; "" where there was enough."""
    names = ("steps", "vcs", "message_words", "table_words")
    grown = [name for name in names if getattr(config, name) != chosen[name]]
    return " ".join(f"--{name.replace('_', '-')} {getattr(config, name)}" for name in grown)
