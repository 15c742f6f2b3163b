"""The options that give a network its hardware and run it, and the configuration they make."""

from __future__ import annotations

from collections.abc import Sequence

import click

from ...model.base.errors import InvalidInput
from ...model.network.config import MOST_MEMORY_WORDS, NetworkConfig
from ...model.network.topology import Topology, mesh
from ...model.program.compiler import Compiled, compile_all, make_room
from ...model.program.deadlock import DeadlockError, certify
from ...model.program.layout import Layout
from ...model.program.program import Program
from ...model.schedule.schedule import Schedule
from .values import OptionValues, integer_option, option_group, was_typed

_DEFAULT = NetworkConfig(topology=mesh((1, 1)))

buffered_hardware_options = option_group(
    integer_option(
        "--vcs", _DEFAULT.vcs, "Virtual channels per link, 1 to 8; more if needed and not given."
    ),
    integer_option("--depth", _DEFAULT.depth, "Flits in the buffer of each VC, 1 to 16."),
    integer_option("--flit-width", _DEFAULT.flit_width, "Bits of a flit, 8 to 64."),
    integer_option(
        "--message-words",
        _DEFAULT.message_words,
        "Message memory of a node, in flits; more if needed and not given.",
    ),
    integer_option(
        "--table-words",
        _DEFAULT.table_words,
        "Table memory of a node, in flits; more if needed and not given.",
    ),
    integer_option("--link-registers", _DEFAULT.link_registers, "Registers on every link, 0 to 3."),
)
ports_option = click.option(
    "--ports",
    type=click.Choice(("one", "half-duplex", "full-duplex", "all")),
    default="one",
    show_default=True,
    help="A node sends and receives on one port at a time, as its algorithm does; does only one of "
    "both in a step; does both, with any partners; or uses all its links at once.",
)
hardware_options = option_group(
    buffered_hardware_options,
    integer_option(
        "--barrier-registers",
        _DEFAULT.barrier_registers,
        "Registers between all nodes and the barrier, 0 to 7: for a faster clock.",
    ),
    integer_option("--steps", _DEFAULT.steps, "Largest step number, if no schedule takes more."),
    click.option(
        "--contention-free",
        is_flag=True,
        help="Routers without buffers and arbitration; a flag where two flits meet.",
    ),
)
force_option = click.option(
    "--force", is_flag=True, help="Run a program even if its routes may deadlock."
)
timing_option = click.option(
    "--timing",
    default="barrier",
    show_default=True,
    metavar="barrier|self-timed",
    help="A step starts when the last one has ended everywhere; or every node goes on by itself.",
)


def require_no_deadlock(chosen: OptionValues, program: Program) -> None:
    """Refuse a program whose routes may wait for each other in a circle, unless forced."""
    if not chosen["force"]:
        try:
            certify(program)
        except DeadlockError as error:
            raise InvalidInput(f"{error} (--force runs it all the same)") from error


def chosen_config(
    chosen: OptionValues, topology: Topology, *, all_port: bool = False
) -> NetworkConfig:
    """The network's parameters; ``all_port``: with a port for every link, as ``--ports all``."""
    return NetworkConfig(
        topology=topology,
        vcs=chosen["vcs"],
        depth=chosen["depth"],
        flit_width=chosen["flit_width"],
        message_words=chosen["message_words"],
        table_words=chosen["table_words"],
        link_registers=chosen["link_registers"],
        barrier_registers=chosen["barrier_registers"],
        contention_free=chosen["contention_free"],
        all_port=all_port or chosen.get("ports") == "all",
        steps=chosen["steps"],
    )


def chosen_room(
    chosen: OptionValues, schedules: Sequence[Schedule]
) -> tuple[NetworkConfig, list[Layout]]:
    """The network's parameters with room for all of ``schedules`` but their tables.

    What only makes room (step numbers, VCs, memories) is as large as they need if nobody has typed
    it. A message that does not fit is refused here, where it can be said which option makes room.
    """
    all_port = any(schedule.port_model == "all-port" for schedule in schedules)
    config = chosen_config(chosen, schedules[0].topology, all_port=all_port)
    config, layouts = make_room(config, schedules, fixed=typed_room())
    for layout in layouts:
        if layout.size > config.message_words:
            most = config.message_words == MOST_MEMORY_WORDS
            raised = "" if most else " (--message-words raises it)"
            room = f"at most {config.message_words}, the message memory{raised}"
            raise InvalidInput.of("flits of the message", room, layout.size)
    return config, layouts


def fitted(chosen: OptionValues, schedules: Sequence[Schedule]) -> list[Compiled]:
    """All of ``schedules``, compiled for the one network of the options, with room for each."""
    config, layouts = chosen_room(chosen, schedules)
    return compile_all(config, schedules, layouts, fixed=typed_room())[1]


def typed_room() -> list[str]:
    """The parameters that make room, of those that stand on the command line."""
    return [name for name in ("vcs", "message_words", "table_words") if was_typed(name)]


def made_room(chosen: OptionValues, config: NetworkConfig) -> str:
    """The options that would have asked for the room that was made; "" where there was enough."""
    names = ("steps", "vcs", "message_words", "table_words")
    grown = [name for name in names if getattr(config, name) != chosen[name]]
    return " ".join(f"--{name.replace('_', '-')} {getattr(config, name)}" for name in grown)
