"""Options of the hardware and its runs, and the room for schedules that they select."""

from dataclasses import replace
from typing import Any

import click

from ...model.base.errors import InvalidInput
from ...model.collectives.declared.request import Ports
from ...model.network.config import DEFAULTS, PARAMETERS, NetworkConfig, Timing
from ...model.network.exclusions import IDLE_IN_CIRCUITS
from ...model.network.topology import Topology
from ...model.program.any_program import AnyProgram
from ...model.program.certified import Room
from ...model.program.deadlock import DeadlockError, certify
from ...model.program.program import Program
from .values import (
    Decorator,
    complete_words,
    integer_option,
    option_group,
    option_names,
    recorded,
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


def _room(**parameters: Any) -> Room:
    """Return the network of the options; sizes that were not typed follow the schedules' needs."""
    if parameters.get("circuits"):
        refuse_with_circuits()
    names = ("vcs", "message_words", "table_words", "operators")
    return Room(parameters, [name for name in names if was_typed(name)])


def _room_options(*names: str) -> Decorator:
    """Return the options of network parameters, which a command receives as a :class:`.Room`."""
    return recorded(
        "hardware", _room, *map(_parameter_option, names), heading="Hardware", names=names
    )


_WITH_OPTION = [name for name, parameter in PARAMETERS.items() if parameter.help]

hardware_options = _room_options(*(name for name in _WITH_OPTION if PARAMETERS[name].of_runs))
exported_hardware_options = _room_options(*_WITH_OPTION)
traffic_hardware_options = _room_options(
    *(name for name in _WITH_OPTION if PARAMETERS[name].for_traffic)
)
circuits_option = _room_options("circuits")
HARDWARE_NAMES = option_names(hardware_options)
ports_option = click.option(
    "--ports",
    type=click.Choice([each.value for each in Ports]),
    callback=lambda _context, _option, text: Ports(text),
    default=Ports.ONE.value,
    show_default=True,
    help=(
        "What a node may do in a step. half-duplex: send or receive one message; "
        "full-duplex: send one and receive one; all: send one and receive one on every "
        "link; one: what the algorithm needs on one port."
    ),
)
force_option = option_group(
    click.option(
        "--force",
        is_flag=True,
        help="Run a program even if its packets may wait for each other forever.",
    ),
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
            "barrier: a step begins when all nodes have ended the step before; self-timed: "
            "each node begins its next step as soon as it can."
        ),
    ),
    heading="Run",
)


def require_no_deadlock(program: AnyProgram, *, force: bool) -> None:
    """Refuse a program whose routes may deadlock, unless forced; circuits never wait."""
    if not force and isinstance(program, Program):
        try:
            certify(program)
        except DeadlockError as error:
            raise InvalidInput(f"{error} (--force runs the program anyway)") from error


def refuse_with_circuits() -> None:
    """Refuse the typed options that change nothing with circuits (docs/router.md, section 23)."""
    parameters = (f"--{name}" for name in IDLE_IN_CIRCUITS)
    without_effect = ("--timing", "--force", *parameters)
    refuse_beside("circuits", without_effect, "it changes nothing there")


def with_ports(room: Room, ports: Ports) -> Room:
    """Return ``room`` for nodes that use these ports."""
    return replace(room, parameters={**room.parameters, "all_port": ports is Ports.ALL})


def config_of(room: Room, topology: Topology, ports: Ports = Ports.ONE) -> NetworkConfig:
    """Return the network of ``room`` without growth, as no schedule asks for more."""
    return NetworkConfig(topology=topology, **with_ports(room, ports).parameters)


def made_room(room: Room, config: NetworkConfig) -> str:
    """Return the options that would set the grown sizes; "" if nothing has grown."""
    names = ("steps", "vcs", "message_words", "table_words")
    grown = [name for name in names if getattr(config, name) != room.parameters[name]]
    return " ".join(f"--{name.replace('_', '-')} {getattr(config, name)}" for name in grown)
