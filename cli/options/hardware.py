"""The options that give a network its hardware and run it, and the configuration they make."""

from __future__ import annotations

from contextlib import suppress
from dataclasses import replace
from typing import Any

import click

from ...model.base.errors import InvalidInput
from ...model.collectives.registry import Ports
from ...model.network.config import (
    DEFAULTS,
    MOST_MEMORY_WORDS,
    MOST_VCS,
    PARAMETERS,
    NetworkConfig,
    Timing,
)
from ...model.network.port_model import PortModel
from ...model.network.topology import Topology
from ...model.program.compiler import with_message_room, with_table_room
from ...model.program.deadlock import DeadlockError, certify
from ...model.program.layout import Layout
from ...model.program.program import Program
from ...model.schedule.schedule import Schedule
from .values import Decorator, OptionValues, integer_option, option_group, option_names, was_typed


def _parameter_option(name: str) -> Decorator:
    """Make the option for a parameter of the network from the parameter's metadata."""
    option, default = f"--{name.replace('_', '-')}", DEFAULTS[name]
    if PARAMETERS[name].limits is None:
        return click.option(option, is_flag=True, help=PARAMETERS[name].help_text)
    return integer_option(option, default, PARAMETERS[name].help_text)


_WITH_OPTION = [name for name, parameter in PARAMETERS.items() if parameter.help]

hardware_options = option_group(*map(_parameter_option, _WITH_OPTION))
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


def chosen_config(chosen: OptionValues, topology: Topology, *schedules: Schedule) -> NetworkConfig:
    """The network's parameters, with room for all of ``schedules``.

    What only makes room (step numbers, VCs, memories) is as large as they need if nobody has typed
    it. A message that does not fit is refused here, where it can be said which option makes room.
    """
    all_port = chosen.get("ports") == Ports.ALL or any(
        schedule.port_model == PortModel.ALL_PORT for schedule in schedules
    )
    config = NetworkConfig(topology=topology, all_port=all_port, **chosen_parameters(chosen))
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
