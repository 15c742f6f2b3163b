"""The options that commands share, and the values that they stand for.

Every option's text becomes a value here, and is refused here: with one line that names it, says
what is allowed, and what was given.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, TypeVar

import click

from .model.algorithms import find_algorithm
from .model.config import NetworkConfig
from .model.errors import InvalidInput, require_range
from .model.schedule import Schedule
from .model.schedule_file import read_schedule
from .model.topology import Topology, mesh

Chosen = Mapping[str, Any]
"""Option values by parameter name, as click hands them over."""

_Command = TypeVar("_Command", bound=Callable[..., Any])

_DEFAULT = NetworkConfig(topology=mesh((1, 1)))


def _together(*options: Callable[[_Command], _Command]) -> Callable[[_Command], _Command]:
    """Several options as one decorator, in the order in which the help shows them."""

    def decorate(command: _Command) -> _Command:
        for option in reversed(options):
            command = option(command)
        return command

    return decorate


def _number(name: str, default: int, text: str) -> Callable[[_Command], _Command]:
    return click.option(name, type=int, default=default, show_default=True, help=text)


network_options = click.option(
    "--mesh", "sides", metavar="WxH", help="The network: a mesh with these sides, such as 8x8."
)
collective_options = _together(
    click.option("--source", metavar="X,Y", help="The node that has the message at the start."),
    click.option("--collective", default="broadcast", show_default=True, help="What to do."),
    click.option("--algorithm", default="eye", show_default=True, help="How to do it."),
    _number("--flits", 16, "Length of the message."),
)
schedule_file_option = click.option(
    "--schedule",
    "schedule_file",
    metavar="FILE",
    help="A schedule file, instead of --mesh, --source and --flits.",
)
hardware_options = _together(
    _number("--vcs", _DEFAULT.vcs, "Virtual channels per link, 1 to 8."),
    _number("--depth", _DEFAULT.depth, "Flits in the buffer of each VC, 1 to 16."),
    _number("--flit-width", _DEFAULT.flit_width, "Bits of a flit, 16 to 64."),
    _number("--message-words", _DEFAULT.message_words, "Message memory of a node, in flits."),
    _number("--table-words", _DEFAULT.table_words, "Table memory of a node, in flits."),
)
timing_option = click.option(
    "--timing",
    default="barrier",
    show_default=True,
    metavar="barrier|self-timed",
    help="A step starts when the last one has ended everywhere; or every node goes on by itself.",
)
json_option = click.option("--json", "as_json", is_flag=True, help="Print the result as JSON.")


def output_option(what: str, metavar: str = "FILE") -> Callable[[_Command], _Command]:
    """``-o``: where to write what the command makes."""
    return click.option("-o", "--output", metavar=metavar, help=f"Write {what} here.")


def chosen_topology(chosen: Chosen) -> Topology:
    """The network that the options name."""
    if chosen["sides"] is None:
        raise InvalidInput("a network must be given, such as --mesh 8x8")
    return mesh(_integers("mesh", "sides such as 8x8", chosen["sides"], "x"))


def chosen_source(chosen: Chosen, topology: Topology) -> int:
    """The number of the source node."""
    if chosen["source"] is None:
        raise InvalidInput("a source must be given, such as --source 0,0")
    return topology.node_at(_integers("source", "coordinates such as 0,0", chosen["source"], ","))


def make_schedule(chosen: Chosen, topology: Topology, source: int) -> Schedule:
    """The schedule of the chosen algorithm, checked."""
    require_range("flits", chosen["flits"], 1)
    algorithm = find_algorithm(chosen["collective"], chosen["algorithm"])
    schedule = algorithm.generate(topology, source, chosen["flits"])
    schedule.check()
    return schedule


def chosen_schedule(chosen: Chosen) -> Schedule:
    """The schedule that the options describe, or that of the file that they name; checked."""
    file = chosen.get("schedule_file")
    if file is None:
        topology = chosen_topology(chosen)
        return make_schedule(chosen, topology, chosen_source(chosen, topology))
    for name, option in (("sides", "--mesh"), ("source", "--source")):
        if chosen[name] is not None:
            raise InvalidInput(f"{option} must be left out with --schedule: the file says it")
    schedule = read_schedule(file)
    schedule.check()
    return schedule


def chosen_config(chosen: Chosen, topology: Topology, steps: int = 0) -> NetworkConfig:
    """The network's parameters, with step numbers wide enough for a schedule of ``steps``."""
    return NetworkConfig(
        topology=topology,
        vcs=chosen["vcs"],
        depth=chosen["depth"],
        flit_width=chosen["flit_width"],
        message_words=chosen["message_words"],
        table_words=chosen["table_words"],
        steps=max(_DEFAULT.steps, steps),
    )


def _integers(parameter: str, allowed: str, text: str, separator: str) -> tuple[int, ...]:
    """The numbers in "8x8" or "0,7"; anything else is refused, naming ``parameter``."""
    parts = text.split(separator)
    if not all(part.isascii() and part.isdecimal() and len(part) < 10 for part in parts):
        raise InvalidInput.of(parameter, allowed, repr(text))
    return tuple(int(part) for part in parts)
