"""Networks of BookSim2's topology ``anynet``, from the file that its ``network_file`` names.

::

    router 0 node 0 router 1 router 2 5     router 2 is behind a channel of 5 cycles
    router 1 node 1
    router 2                                a router without a node: a switch

A link stands in the line of one or of both routers, and works both ways. Its latency is that of
the way from the line's router to the other: the way back has the latency of the other line, or 1.
A latency of 1 is that of the network (``--link-registers``), a longer one the link's own. BookSim's
node n becomes node n, together with its router; a latency between the two is passed over with a
notice. Routers without a node become switches: they follow the nodes, in the order of their
numbers. A router with several nodes is refused. Source of the format: ``src/networks/anynet.cpp``
and ``src/examples/anynet/README`` of booksim/booksim2.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from pathlib import Path

import numpy as np

from ..model.base.errors import InvalidInput
from ..model.base.files import InputFile, input_name, write_atomically
from ..model.network.attached_host import HostedTopology
from ..model.network.edges import Edges
from ..model.network.topology import (
    LARGEST_NODE_COUNT,
    MOST_LINK_REGISTERS,
    NO_LINK,
    UNSAID,
    Topology,
)
from .format import Format
from .graphs import network_of
from .lines import numbered_lines, quoted, wrong_line
from .notes import say

_HEAD = re.compile(rb"\s*(?:router|node) +\d+\s+(?:router|node) +\d")
_NUMBER = re.compile(r"\d{1,9}")


def read_anynet(file: InputFile) -> Topology:
    """Read a network; BookSim's node n becomes node n.

    Raises :class:`InvalidInput` with the line for an unexpected word, a node at two routers or a
    router with two nodes; and for a missing node number.
    """
    found = _Found(file)
    for number, line in numbered_lines(file):
        _take_line(found, number, line)
    places = _places(found)
    pairs = sorted({(min(ends), max(ends)) for ends in found.latency})
    links = [(places[first], places[second]) for first, second in pairs]
    ends = np.array(links, dtype=np.int64).reshape(-1, 2)
    switches = tuple(range(len(found.router_of), len(places)))
    edges = Edges(len(places), ends, np.zeros(len(ends), dtype=np.bool_), switches)
    network = _with_latencies(network_of(file, edges), found, places)
    if found.between_nodes:
        say(file, "passed over, as a node and its router are one: latencies of channels to nodes")
    if switches:
        names = ", ".join(str(router) for router in places if places[router] in switches[:16])
        more = " and so on" if len(switches) > 16 else ""
        say(file, f"switches {switches[0]} to {switches[-1]} are the routers {names}{more}")
    return network


@dataclass
class _Found:
    """Routers with their links' latencies in cycles, 1 unless said, and the router of each node.

    ``between_nodes`` tells whether a channel to a node has a latency other than 1.
    """

    file: InputFile
    routers: set[int] = field(default_factory=set)
    latency: dict[tuple[int, int], int] = field(default_factory=dict)
    router_of: dict[int, int] = field(default_factory=dict)
    node_of: dict[int, int] = field(default_factory=dict)
    between_nodes: bool = False

    def attach(self, number: int, node: int, router: int) -> None:
        """Attach ``node`` to ``router``, as line ``number`` says."""
        for what, other, there, kind in (
            (f"node {node}", router, self.router_of.setdefault(node, router), "router"),
            (f"router {router}", node, self.node_of.setdefault(router, node), "node"),
        ):
            if there != other:
                complaint = f"{what} must have one {kind}, not {there} and {other}"
                raise wrong_line(self.file, number, complaint)


def _take_line(found: _Found, number: int, line: str) -> None:
    """Read one line: a router or node, and its links."""
    words = iter(line.split())
    (kind, head, _), *others = _elements(found, number, words)
    if kind == "router":
        found.routers.add(head)
    for other_kind, other, latency in others:
        ends = (kind, other_kind)
        if ends == ("router", "router"):
            found.routers.add(other)
            found.latency[head, other] = latency
            found.latency.setdefault((other, head), 1)
            continue
        found.between_nodes |= latency != 1
        if ends == ("router", "node"):
            found.attach(number, other, head)
        elif ends == ("node", "router"):
            found.routers.add(other)
            found.attach(number, head, other)
        else:
            complaint = f"node {head} must be linked to a router, not to node {other}"
            raise wrong_line(found.file, number, complaint)


def _elements(found: _Found, number: int, words: Iterator[str]) -> list[tuple[str, int, int]]:
    """Return the routers and nodes of a line, each with its channel's latency, 1 unless said."""
    elements: list[tuple[str, int, int]] = []
    for word in words:
        if word in ("router", "node"):
            given = next(words, "nothing")
            if not _NUMBER.fullmatch(given):
                complaint = f"{word} must have a number, not {quoted(given)}"
                raise wrong_line(found.file, number, complaint)
            elements.append((word, int(given), 1))
        elif len(elements) > 1 and _NUMBER.fullmatch(word):
            if not 1 <= int(word) <= MOST_LINK_REGISTERS + 1:
                allowed = f"1 to {MOST_LINK_REGISTERS + 1} cycles"
                raise wrong_line(found.file, number, f"latency must be {allowed}, not {word}")
            elements[-1] = (*elements[-1][:2], int(word))
        else:
            raise wrong_line(found.file, number, f"must be router or node, not {quoted(word)}")
    return elements


def _places(found: _Found) -> dict[int, int]:
    """Return the node number of each router: its node's number, or one after all nodes."""
    nodes = len(found.router_of)
    if not nodes or len(found.routers) > LARGEST_NODE_COUNT:
        allowed = f"1 to {LARGEST_NODE_COUNT}"
        raise InvalidInput.of(f"{input_name(found.file)}: nodes", allowed, nodes)
    for node in range(nodes):
        if node not in found.router_of:
            complaint = f"nodes must be numbered from 0 on, and node {node} is missing"
            raise InvalidInput(f"{input_name(found.file)}: {complaint}")
    switches = sorted(found.routers - found.node_of.keys())
    return found.node_of | {router: nodes + place for place, router in enumerate(switches)}


def _with_latencies(topology: Topology, found: _Found, places: dict[int, int]) -> Topology:
    """Return ``topology`` with the latencies of links that take more than a cycle."""
    slow = [
        (places[begin], places[end], latency - 1)
        for (begin, end), latency in found.latency.items()
        if latency > 1 and begin != end
    ]
    if not slow:
        return topology
    begins, ends, registers = np.array(slow).T
    table = np.full(topology.neighbor.shape, UNSAID)
    table[begins, topology.ports_between(begins, ends)] = registers
    return replace(topology, link_registers_of=table)


def write_anynet(topology: Topology, path: Path) -> None:
    """Write a network for BookSim2: node n becomes router n.

    BookSim numbers nodes without gaps, so its node k is attached to the k-th node that is not a
    switch.
    Raises :class:`InvalidInput` for networks that anynet cannot describe: faults, rates of links, a
    host, or two links between the same routers.
    """
    _require_sayable(topology)
    attached = (node for node in range(topology.nodes) if node not in topology.switches)
    number, lines = {router: node for node, router in enumerate(attached)}, []
    registers_of = topology.registers_of(0).tolist()
    for router, ports in enumerate(topology.neighbor.tolist()):
        node = [f"node {number[router]}"] if router in number else []
        links = [
            f"router {other} {registers + 1}" if registers > 0 else f"router {other}"
            for other, registers in zip(ports, registers_of[router], strict=True)
            if other != NO_LINK
        ]
        lines.append(" ".join((f"router {router}", *node, *links)) + "\n")
    write_atomically(path, "".join(lines))


def _require_sayable(topology: Topology) -> None:
    """Refuse a network that anynet cannot describe."""
    for name, things in (
        ("faulty nodes", topology.faulty_nodes),
        ("faulty links", topology.faulty_links),
        ("links with a rate", np.flatnonzero(topology.rates > 1)),
        ("hosts", [topology.host] if isinstance(topology, HostedTopology) else []),
    ):
        if len(things):
            raise InvalidInput.of(f"{name} of a network for BookSim2", "none", len(things))
    for router, ports in enumerate(topology.neighbor.tolist()):
        others = [other for other in ports if other != NO_LINK]
        for other in others if len({*others}) < len(others) else ():
            count = others.count(other)
            if count > 1:
                name = f"links between nodes {router} and {other} for BookSim2"
                raise InvalidInput.of(name, "one", count)


BOOKSIM = Format(
    name="booksim",
    title="BookSim2 anynet",
    suffixes=(".anynet",),
    looks=lambda content: _HEAD.match(content) is not None,
    read_network=read_anynet,
    omits={
        "kind": "kind",
        "name": "kind",
        "dims": "coordinates",
        "wrapped": "coordinates",
        "neighbor": "numbers of ports",
        "peer": "numbers of ports",
        "node_names": "names of nodes",
        "switches": "numbers that switches take between nodes",
    },
    write_network=write_anynet,
)
