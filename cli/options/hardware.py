"""The options that give a network its hardware and run it, and the configuration they make."""

from __future__ import annotations

from contextlib import suppress
from dataclasses import replace

import click

from ...model.base.errors import InvalidInput
from ...model.network.config import MOST_MEMORY_WORDS, MOST_VCS, NetworkConfig
from ...model.network.topology import Topology, mesh
from ...model.program.compiler import with_message_room, with_table_room
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


def chosen_config(chosen: OptionValues, topology: Topology, *schedules: Schedule) -> NetworkConfig:
    """The network's parameters, with room for all of ``schedules``.

    What only makes room (step numbers, VCs, memories) is as large as they need if nobody has typed
    it. A message that does not fit is refused here, where it can be said which option makes room.
    """
    all_port = chosen.get("ports") == "all" or any(
        schedule.port_model == "all-port" for schedule in schedules
    )
    config = NetworkConfig(
        topology=topology,
        vcs=chosen["vcs"],
        depth=chosen["depth"],
        flit_width=chosen["flit_width"],
        message_words=chosen["message_words"],
        table_words=chosen["table_words"],
        link_registers=chosen["link_registers"],
        barrier_registers=chosen["barrier_registers"],
        contention_free=chosen["contention_free"],
        all_port=all_port,
        steps=chosen["steps"],
    )
    # Each needs what is before it: header flits grow with VCs, steps and addresses.
    for schedule in schedules:
        config = _with_numbers(config, schedule)
    for schedule in schedules:
        config = _with_messages(config, schedule)
    if not was_typed("table_words"):
        for schedule in schedules:
            # What cannot be compiled for another reason is refused when it is.
            with suppress(InvalidInput):
                config = with_table_room(config, schedule)
    return config


def made_room(chosen: OptionValues, config: NetworkConfig) -> str:
    """The options that would have asked for the room that was made; "" where there was enough."""
    names = ("steps", "vcs", "message_words", "table_words")
    grown = [name for name in names if getattr(config, name) != chosen[name]]
    return " ".join(f"--{name.replace('_', '-')} {getattr(config, name)}" for name in grown)


def _with_numbers(config: NetworkConfig, schedule: Schedule) -> NetworkConfig:
    """``config`` with the step numbers of ``schedule``, and if they were not typed with its VCs."""
    vcs = config.vcs if was_typed("vcs") else min(int(schedule.vcs.max(initial=0)) + 1, MOST_VCS)
    return replace(config, steps=max(config.steps, schedule.steps), vcs=max(config.vcs, vcs))


def _with_messages(config: NetworkConfig, schedule: Schedule) -> NetworkConfig:
    """``config`` with room for the messages of ``schedule``, which are refused if there is none."""
    if not was_typed("message_words"):
        config = with_message_room(config, schedule)
    flits = Layout.of(schedule, config.message_words).size
    if flits > config.message_words:
        raised = "" if config.message_words == MOST_MEMORY_WORDS else " (--message-words raises it)"
        room = f"at most {config.message_words}, the message memory{raised}"
        raise InvalidInput.of("flits of the message", room, flits)
    return config
