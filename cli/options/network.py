"""The options that name a network and its faults, and the topology that they describe."""

from __future__ import annotations

from enum import Enum
from typing import TYPE_CHECKING

import click

from ... import __version__
from ...model.base.errors import InvalidInput
from ...model.base.files import InputFile
from ...model.network.faults import draw_faults, with_faults
from ...model.network.kinds import KINDS
from ...model.network.topology import LARGEST_NODE_COUNT, Topology
from .values import (
    OptionValues,
    complete_files,
    float_option,
    integer_option,
    integers,
    option_group,
    option_names,
)

if TYPE_CHECKING:
    from ...formats.format import Format

_FILE = "graph"
"""The option that names a file instead of a kind of network."""


class SizeLimit(Enum):
    """A use of a network: its name, and the largest size for which it takes minutes at most."""

    SCHEDULE = ("for a schedule", LARGEST_NODE_COUNT)
    PROGRAM = ("for a program", 1 << 20)
    COMPARISON = ("for a comparison", 1 << 16)
    PICTURE = ("for a picture", 1 << 16)
    SEARCH = ("to be searched", 1 << 12)
    HARDWARE = ("for hardware", 1 << 10)
    WAVES = ("for waveforms", 1 << 10)

    def require(self, label: str, nodes: int) -> None:
        """Raise :class:`InvalidInput` if the network ``label`` has too many nodes for this use."""
        purpose, most = self.value
        if nodes > most:
            # Of many sides, a number can have more digits than Python prints.
            given = nodes if nodes < 1 << 63 else "more"
            raise InvalidInput.of(f"nodes of the {label}", f"at most {most} {purpose}", given)


network_options = option_group(
    *(
        click.option(f"--{name}", metavar=kind.metavar, help=kind.help)
        for name, kind in KINDS.items()
    ),
    click.option(
        f"--{_FILE}",
        metavar="FILE",
        shell_complete=complete_files,
        help="Or any graph, from a file of a known format.",
    ),
    click.option("--faulty-node", metavar="X,Y", multiple=True, help="Without this node."),
    click.option("--faulty-link", metavar="X,Y:X,Y", multiple=True, help="Without this link."),
    float_option("--random-faults", 0.0, "Without this part of its nodes, drawn by --seed."),
    click.option("--keep", metavar="X,Y", multiple=True, help="But with this node, if drawn."),
    integer_option("--seed", 1, "Whatever is drawn is drawn from this number."),
)
NETWORK_NAMES = option_names(network_options)


def kinds_chosen(chosen: OptionValues) -> list[str]:
    """The kinds of network that the options name; "graph" for that of a file."""
    return [kind for kind in (_FILE, *KINDS) if chosen[kind.replace("-", "_")] is not None]


def chosen_kind(chosen: OptionValues) -> str:
    """The one kind of network that the options name; "graph" for that of a file."""
    given = kinds_chosen(chosen)
    if not given:
        raise InvalidInput("a network must be given, such as --mesh 8x8")
    if len(given) > 1:
        raise InvalidInput(f"one network must be given, not --{' and --'.join(given)}")
    return given[0]


def chosen_topology(chosen: OptionValues, limit: SizeLimit) -> Topology:
    """The network that the options name, if it is not too large for its use."""
    name = chosen_kind(chosen)
    text = chosen[name.replace("-", "_")]
    if name == _FILE:
        topology = network_of_file(InputFile.read(text))
        limit.require(topology.label, topology.nodes)
    else:
        kind = KINDS[name]
        # Asked before the network is made, which may be too large for that alone.
        size = integers(f"--{name}", kind.allowed, text, kind.separator)
        if not kind.sides and len(size) != len(kind.fields):
            raise InvalidInput.of(f"--{name}", kind.allowed, repr(text))
        limit.require(f"{text} {name}", kind.nodes(size))
        topology = kind.network(size)
    return _without_faults(chosen, topology)


def network_of_file(file: InputFile, form: Format | None = None) -> Topology:
    """The network of ``file``, of format ``form`` or that which it looks like."""
    from ...formats.format import Content
    from ...formats.own import NETWORK
    from ...formats.registry import format_of

    form = form or format_of(file, Content.NETWORK) or NETWORK
    assert form.read_network is not None
    return form.read_network(file)


def network_facts(chosen: OptionValues, topology: Topology) -> dict[str, object]:
    """Facts that name a result, for ``--json``: so that a file of it can be told from another."""
    return {"version": __version__, "network": topology.label, "seed": chosen["seed"]}


def _without_faults(chosen: OptionValues, topology: Topology) -> Topology:
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
        nodes += draw_faults(topology, chosen["random_faults"], seed=chosen["seed"], keep=kept)
    elif kept:
        raise InvalidInput("--keep must be left out without --random-faults")
    return with_faults(topology, nodes, links) if nodes or links else topology
