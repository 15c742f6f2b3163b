"""The options that commands share, and the values that they stand for.

Every option's text becomes a value here, and is refused here: with one line that names it, says
what is allowed, and what was given.
"""

from __future__ import annotations

import math
import os
import re
import sys
from collections.abc import Callable, Mapping, Sequence
from contextlib import redirect_stdout, suppress
from dataclasses import replace
from enum import Enum
from math import prod
from pathlib import Path
from typing import Any, TypeVar

import click
import numpy as np
from click.core import ParameterSource

from ... import __version__
from ...model.base.errors import InvalidInput, require_range
from ...model.base.files import is_standard_output, require_writable
from ...model.network.config import MOST_MEMORY_WORDS, MOST_VCS, NetworkConfig
from ...model.network.faults import with_faults
from ...model.network.named_graphs import binary_tree, de_bruijn, diagonal_mesh, star_tree
from ...model.network.topology import (
    LARGEST_NODE_COUNT,
    Topology,
    hypercube,
    line,
    mesh,
    ring,
    torus,
)
from ...model.network.topology_file import read_topology
from ...model.program.compiler import with_message_room, with_table_room
from ...model.program.deadlock import DeadlockError, certify
from ...model.program.layout import Layout
from ...model.program.program import Program
from ...model.schedule.schedule import Schedule

Chosen = Mapping[str, Any]
"""Option values by parameter name, as click hands them over."""

_Command = TypeVar("_Command", bound=Callable[..., Any])

_DEFAULT = NetworkConfig(topology=mesh((1, 1)))

NETWORK_NAMES = (
    *("--mesh", "--torus", "--hypercube", "--line", "--ring", "--binary-tree", "--star-tree"),
    *("--diagonal-mesh", "--de-bruijn", "--graph"),
    *("--faulty-node", "--faulty-link", "--random-faults", "--keep", "--seed"),
)
"""The options that say which network."""


class Use(Enum):
    """What a network is for: in words, and the most nodes with which that takes minutes at most."""

    SCHEDULE = ("for a schedule", LARGEST_NODE_COUNT)
    PROGRAM = ("for a program", 1 << 16)
    PICTURE = ("for a picture", 1 << 16)
    SEARCH = ("to be searched", 1 << 12)
    HARDWARE = ("for hardware", 1 << 10)

    def require(self, label: str, nodes: int) -> None:
        """Raise :class:`InvalidInput` if the network ``label`` has too many nodes for this."""
        purpose, most = self.value
        if nodes > most:
            # Of many sides, a number can have more digits than Python prints.
            given = nodes if nodes < 1 << 63 else "more"
            raise InvalidInput.of(f"nodes of the {label}", f"at most {most} {purpose}", given)


def together(*options: Callable[[_Command], _Command]) -> Callable[[_Command], _Command]:
    """Several options as one decorator, in the order in which the help shows them."""

    def decorate(command: _Command) -> _Command:
        for option in reversed(options):
            command = option(command)
        return command

    return decorate


def integer_option(
    name: str, default: int | None, text: str, metavar: str = "INTEGER"
) -> Callable[[_Command], _Command]:
    """An option that is an integer; None, as default, where it is not given."""
    return _number_option(name, default, text, _integer, "an integer", metavar)


def float_option(name: str, default: float, text: str) -> Callable[[_Command], _Command]:
    """An option that is a number."""
    return _number_option(name, default, text, _float, "a number", "NUMBER")


def _integer(value: Any) -> int:
    """An integer in digits alone: Python reads underscores, spaces and digits of all scripts."""
    if not re.fullmatch("[+-]?[0-9]+", str(value)):
        raise ValueError
    return int(value)


def _float(value: Any) -> float:
    if not re.fullmatch("[-+.0-9A-Za-z]+", str(value)):
        raise ValueError
    return float(value)


def _number_option(
    name: str,
    default: float | None,
    text: str,
    convert: Callable[[Any], float],
    allowed: str,
    metavar: str,
) -> Callable[[_Command], _Command]:
    """An option that ``convert`` makes a number of; what is none is refused in our own words."""

    def number(_context: click.Context, parameter: click.Parameter, value: Any) -> float | None:
        if value is None:
            return None
        try:
            given = convert(value)
        except ValueError:
            given = math.nan
        if not abs(given) < math.inf:
            raise InvalidInput.of(parameter.opts[0], allowed, repr(value))
        return given

    return click.option(
        name,
        type=click.UNPROCESSED,
        callback=number,
        metavar=metavar,
        default=default,
        show_default=True,
        help=text,
    )


network_options = together(
    click.option("--mesh", metavar="WxH", help="The network: a mesh of these sides, such as 8x8."),
    click.option("--torus", metavar="WxH", help="Or a torus."),
    click.option("--hypercube", metavar="N", help="Or a hypercube of N dimensions."),
    click.option("--line", metavar="N", help="Or a line of N nodes."),
    click.option("--ring", metavar="N", help="Or a ring of N nodes."),
    click.option("--binary-tree", metavar="N", help="Or a binary tree of N nodes."),
    click.option("--star-tree", metavar="PxK", help="Or P lines of K nodes around a centre."),
    click.option("--diagonal-mesh", metavar="N", help="Or a square mesh of side N and diagonals."),
    click.option("--de-bruijn", metavar="D,N", help="Or a de Bruijn graph: N digits to base D."),
    click.option("--graph", metavar="FILE", help="Or any graph, from JSON (networkx's node-link)."),
    click.option("--faulty-node", metavar="X,Y", multiple=True, help="Without this node."),
    click.option("--faulty-link", metavar="X,Y:X,Y", multiple=True, help="Without this link."),
    float_option("--random-faults", 0.0, "Without this part of its nodes, drawn by --seed."),
    click.option("--keep", metavar="X,Y", multiple=True, help="But with this node, if drawn."),
    integer_option("--seed", 1, "Whatever is drawn is drawn from this number."),
)
buffered_hardware_options = together(
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
hardware_options = together(
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
json_option = click.option("--json", "as_json", is_flag=True, help="Print the result as JSON.")


def output_option(what: str, metavar: str = "FILE") -> Callable[[_Command], _Command]:
    """``-o``: where to write what the command makes."""
    return click.option("-o", "--output", metavar=metavar, help=f"Write {what} here.")


def refuse_beside(option: str, others: Sequence[str], why: str = "the file says it") -> None:
    """Refuse those of ``others`` that were typed beside ``option``, such as a file's name."""
    for parameter in click.get_current_context().command.params:
        if parameter.opts[0] in others and _typed(str(parameter.name)):
            raise InvalidInput(f"{parameter.opts[0]} must be left out with {option}: {why}")


def chosen_kind(chosen: Chosen) -> str:
    """The one kind of network that the options name; "graph" for that of a file."""
    given = [kind for kind in ("graph", *_KINDS) if chosen[kind.replace("-", "_")] is not None]
    if not given:
        raise InvalidInput("a network must be given, such as --mesh 8x8")
    if len(given) > 1:
        raise InvalidInput(f"one network must be given, not --{' and --'.join(given)}")
    return given[0]


def chosen_topology(chosen: Chosen, use: Use) -> Topology:
    """The network that the options name, if it is not too large for its use."""
    kind = chosen_kind(chosen)
    text = chosen[kind.replace("-", "_")]
    if kind == "graph":
        topology = read_topology(text)
        use.require(topology.label, topology.nodes)
    else:
        numbers, count, nodes, make = _KINDS[kind]
        # Asked before the network is made, which may be too large for that alone.
        size = integers(f"--{kind}", numbers, text, "," if "," in numbers else "x")
        if count and len(size) != count:
            raise InvalidInput.of(f"--{kind}", numbers, repr(text))
        use.require(f"{text} {kind}", nodes(size))
        topology = make(size)
    return _without_faults(chosen, topology)


def network_facts(chosen: Chosen, topology: Topology) -> dict[str, object]:
    """What a result is about, for ``--json``: so that a file of it can be told from another."""
    return {"version": __version__, "network": topology.label, "seed": chosen["seed"]}


_Size = tuple[int, ...]
_KINDS: dict[str, tuple[str, int, Callable[[_Size], int], Callable[[_Size], Topology]]] = {
    "mesh": ("sides such as 8x8", 0, prod, mesh),
    "torus": ("sides such as 8x8", 0, prod, torus),
    "hypercube": (
        "a dimension such as 4",
        1,
        lambda size: 1 << min(size[0], 64),
        lambda size: hypercube(size[0]),
    ),
    "line": ("a number of nodes", 1, prod, lambda size: line(size[0])),
    "ring": ("a number of nodes", 1, prod, lambda size: ring(size[0])),
    "binary-tree": ("a number of nodes", 1, prod, lambda size: binary_tree(size[0])),
    "star-tree": (
        "arms and their length such as 3x12",
        2,
        lambda size: 1 + prod(size),
        lambda size: star_tree(*size),
    ),
    "diagonal-mesh": (
        "a side such as 45",
        1,
        lambda size: size[0] ** 2,
        lambda size: diagonal_mesh(size[0]),
    ),
    "de-bruijn": (
        "a base and a length such as 2,5",
        2,
        lambda size: size[0] ** min(size[1], 64),
        lambda size: de_bruijn(*size),
    ),
}
"""By kind: what the text of its option is, of how many numbers (0: any), the nodes that makes, and
the constructor."""


def _without_faults(chosen: Chosen, topology: Topology) -> Topology:
    """``topology`` without the faulty nodes and links that the options name."""

    def node(text: str, option: str) -> int:
        return topology.node_at(integers(option, "coordinates such as 3,4", text, ","), option)

    nodes = [node(text, "--faulty-node") for text in chosen["faulty_node"]]
    links = []
    for text in chosen["faulty_link"]:
        begin, colon, end = text.partition(":")
        if not colon:
            raise InvalidInput.of("--faulty-link", "two nodes such as 3,4:4,4", repr(text))
        links.append((node(begin, "--faulty-link"), node(end, "--faulty-link")))
    kept = [node(text, "--keep") for text in chosen["keep"]]
    if chosen["random_faults"]:
        nodes += _drawn_faults(topology.nodes, chosen["random_faults"], kept, chosen["seed"])
    elif kept:
        raise InvalidInput("--keep must be left out without --random-faults")
    return with_faults(topology, nodes, links) if nodes or links else topology


def _drawn_faults(nodes: int, part: float, kept: Sequence[int], seed: int) -> list[int]:
    """So much of the nodes, rounded. Those ``kept`` make room for others, and change nothing else.

    All nodes are put in an order, which the seed alone says, and the first that are not kept fail.
    """
    if not 0 <= part < 1:
        raise InvalidInput.of("--random-faults", "0 to less than 1", part)
    require_range("--seed", seed, 0)
    order = np.random.default_rng(seed).permutation(nodes)
    drawn: list[int] = order[~np.isin(order, kept)][: round(part * nodes)].tolist()
    return drawn


def require_no_deadlock(chosen: Chosen, program: Program) -> None:
    """Refuse a program whose routes may wait for each other in a circle, unless forced."""
    if not chosen["force"]:
        try:
            certify(program)
        except DeadlockError as error:
            raise InvalidInput(f"{error} (--force runs it all the same)") from error


def chosen_config(chosen: Chosen, topology: Topology, *schedules: Schedule) -> NetworkConfig:
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
    if not _typed("table_words"):
        for schedule in schedules:
            # What cannot be compiled for another reason is refused when it is.
            with suppress(InvalidInput):
                config = with_table_room(config, schedule)
    return config


def made_room(chosen: Chosen, config: NetworkConfig) -> str:
    """The options that would have asked for the room that was made; "" where there was enough."""
    names = ("steps", "vcs", "message_words", "table_words")
    grown = [name for name in names if getattr(config, name) != chosen[name]]
    return " ".join(f"--{name.replace('_', '-')} {getattr(config, name)}" for name in grown)


def _with_numbers(config: NetworkConfig, schedule: Schedule) -> NetworkConfig:
    """``config`` with the step numbers of ``schedule``, and if they were not typed with its VCs."""
    vcs = config.vcs if _typed("vcs") else min(int(schedule.vcs.max(initial=0)) + 1, MOST_VCS)
    return replace(config, steps=max(config.steps, schedule.steps), vcs=max(config.vcs, vcs))


def _with_messages(config: NetworkConfig, schedule: Schedule) -> NetworkConfig:
    """``config`` with room for the messages of ``schedule``, which are refused if there is none."""
    if not _typed("message_words"):
        config = with_message_room(config, schedule)
    flits = Layout.of(schedule, config.message_words).size
    if flits > config.message_words:
        raised = "" if config.message_words == MOST_MEMORY_WORDS else " (--message-words raises it)"
        room = f"at most {config.message_words}, the message memory{raised}"
        raise InvalidInput.of("flits of the message", room, flits)
    return config


def _typed(parameter: str) -> bool:
    """Whether an option stands on the command line."""
    source = click.get_current_context().get_parameter_source(parameter)
    return source is ParameterSource.COMMANDLINE


def output_paths(output: str | None, *names: str) -> list[Path]:
    """The files of these names in a folder, which is made; none if no folder was asked for.

    What cannot be written is refused now rather than after the run.
    """
    if output is None:
        return []
    folder = Path(output)
    if folder.exists() and not folder.is_dir():
        raise InvalidInput.of(f"output folder {folder}", "a folder", "a file")
    made = [path for path in (folder, *folder.parents) if not path.exists()]
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        refusal = f"refused ({error.strerror})"
        raise InvalidInput.of(f"output folder {folder}", "writable", refusal) from error
    click.get_current_context().call_on_close(lambda: _remove_empty(made))
    paths = [folder / name for name in names]
    require_output_files(*paths)
    return paths


def _remove_empty(folders: Sequence[Path]) -> None:
    """Remove folders, the innermost first, in which nothing was written after all."""
    with suppress(OSError):
        for folder in folders:
            folder.rmdir()


_INPUT_FILES = ("--graph", "--schedule", "--program", "--traffic-file")


def require_output_files(*outputs: str | Path | None) -> None:
    """Refuse, before there is any work, output files that cannot be written or are also read.

    None is a file that was not asked for. Where one is standard output, what is printed goes to
    standard error, so that the file is alone.
    """
    context = click.get_current_context()
    if any(output is not None and is_standard_output(output) for output in outputs):
        context.with_resource(redirect_stdout(sys.stderr))
    taken = {
        os.path.realpath(context.params[str(option.name)]): option.opts[0]
        for option in context.command.params
        if option.opts[0] in _INPUT_FILES and isinstance(context.params[str(option.name)], str)
    }
    for output in outputs:
        if output is not None:
            require_writable(output)
            path = os.path.realpath(output)
            if path in taken:
                raise InvalidInput(f"output file {output} must be another file than {taken[path]}")
            taken[path] = "the first output"


def integers(parameter: str, allowed: str, text: str, separator: str) -> tuple[int, ...]:
    """The numbers in "8x8" or "0,7"; anything else is refused, naming ``parameter``."""
    parts = text.split(separator)
    if not all(part.isascii() and part.isdecimal() and len(part) < 10 for part in parts):
        raise InvalidInput.of(parameter, allowed, repr(text))
    return tuple(int(part) for part in parts)
