"""Traffic: packets at set cycles between chosen nodes, drawn from a pattern or read from a file.

A file is CSV with a header line, one packet per row, in any order::

    cycle,source,target,flits
    0,0,63,4
    7,12,3,4

``cycle`` is the first cycle in which the packet may be injected; ``flits`` is its length, header
included. Empty lines are ignored.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import numpy.typing as npt

from ..base.errors import InvalidInput, require_range
from ..base.files import InputFile, input_name, read_input, write_atomically
from ..network.config import MOST_MEMORY_WORDS
from ..network.exclusions import REFUSAL_CYCLES
from ..network.node_names import node_name
from ..network.routes import route
from ..network.topology import Topology
from .patterns import PATTERNS, hotspot

HEADER = "cycle,source,target,flits"
LARGEST_PACKETS = 4_000_000
"""Most packets of a file or a drawing."""

LARGEST_CYCLES = 1_000_000
"""Most cycles of a drawing; in the largest network that takes seconds."""

_REPLY_CYCLES = 1
"""Cycles between a request and its reply besides those of links and flits."""

_CHUNK_CYCLES = 4096
_ROW = re.compile(rb",".join([rb" *[0-9]{1,17} *"] * 4))
"""A row of a file; each number fits 64 bits."""


@dataclass(frozen=True, eq=False)
class Traffic:
    """Packets in order of cycle: four columns of shape (packets,), int64.

    ``cycle``: the first cycle in which the packet may be injected. ``source``, ``target``: nodes,
    never equal. ``flits``: its length with its header, at least 1.
    ``origin`` names the pattern and its rate, or the file, for titles.
    """

    cycle: npt.NDArray[np.int64]
    source: npt.NDArray[np.int64]
    target: npt.NDArray[np.int64]
    flits: npt.NDArray[np.int64]
    origin: str = ""

    def __len__(self) -> int:
        return len(self.cycle)

    @classmethod
    def sorted(cls, *columns: npt.NDArray[np.int64], origin: str = "") -> Traffic:
        """Make traffic of packets in any order; packets of one cycle keep their order."""
        order = np.argsort(columns[0], kind="stable")
        cycle, source, target, flits = (np.asarray(each, np.int64)[order] for each in columns)
        return cls(cycle, source, target, flits, origin)


def draw_traffic(
    topology: Topology,
    pattern: str,
    *,
    rate: float,
    flits: int,
    cycles: int,
    seed: int,
    burst: int = 0,
    reply_flits: int = 0,
    hotspots: Sequence[int] = (),
) -> Traffic:
    """Draw packets of ``flits`` flits for ``cycles`` cycles; each node offers ``rate`` flits/cycle.

    In every cycle a node sends a packet with the same probability. With ``burst`` it does so only
    while it is on, a flit per cycle on average: a Markov chain of two states, on for ``burst``
    cycles on average, or for longer where the rate asks for it.

    With ``reply_flits`` the target answers each packet by one of this length, and ``rate`` counts
    both. A reply may start in the cycle after its request arrives in an empty network, at the
    earliest; it does not wait for a late request.

    ``hotspots`` are the hot nodes of the hotspot pattern.

    Raises :class:`InvalidInput` for a pattern that is unknown or needs another network, a network
    whose nodes are all faulty, a rate outside 0 to 1, packets longer than any memory, hot nodes
    that do not work or have another pattern, and more cycles than :data:`LARGEST_CYCLES` or packets
    than :data:`LARGEST_PACKETS`.
    """
    _require_drawable(topology, pattern, rate, flits, cycles, burst, reply_flits, hotspots)
    draw = np.random.default_rng(seed)
    working = topology.working_nodes
    starts, sources = [], []
    probability = rate / (flits + reply_flits)
    on = _Bursts(rate, burst, len(working), draw) if burst and 0 < rate < 1 else None
    for first in range(0, cycles, _CHUNK_CYCLES):
        chunk = min(_CHUNK_CYCLES, cycles - first)
        sent = draw.random((chunk, len(working))) < probability / (rate if on else 1)
        cycle, place = np.nonzero(sent & on.cycles(chunk) if on else sent)
        starts.append(cycle + first)
        sources.append(working[place])
    start, source = np.concatenate(starts), np.concatenate(sources)
    found = hotspot(hotspots) if hotspots else PATTERNS[pattern]
    target = found(topology, source, draw)
    served = (target != source) & np.isin(target, working)
    start, source, target = start[served], source[served], target[served]
    length = np.full(start.size, flits, dtype=np.int64)
    origin = f"{pattern} pattern, {rate:g} flits per node and cycle"
    if not reply_flits:
        return Traffic.sorted(start, source, target, length, origin=origin)
    # From the empty network: a cycle for each link and flit, and those of the interfaces.
    back = start + _links(topology, source, target) + flits + _REPLY_CYCLES
    replies = back, target, source, np.full(start.size, reply_flits, dtype=np.int64)
    requests = start, source, target, length
    return Traffic.sorted(*map(np.concatenate, zip(requests, replies, strict=True)), origin=origin)


class _Bursts:
    """Markov chains, one for each node, with the states on and off."""

    def __init__(self, rate: float, burst: int, nodes: int, draw: np.random.Generator) -> None:
        begin = min(1.0, rate / (1 - rate) / burst)
        # Of all cycles a share of ``rate`` is on.
        self._change = np.array([begin, begin * (1 - rate) / rate])
        self._on, self._draw = draw.random(nodes) < rate, draw

    def cycles(self, count: int) -> npt.NDArray[np.bool_]:
        """Return for the next cycles which nodes are on, shape (cycles, nodes)."""
        drawn = self._draw.random((count, self._on.size))
        found = np.empty(drawn.shape, dtype=np.bool_)
        for cycle, values in enumerate(drawn):
            self._on = self._on ^ (values < self._change[self._on.astype(np.intp)])
            found[cycle] = self._on
        return found


def _links(
    topology: Topology, source: npt.NDArray[np.int64], target: npt.NDArray[np.int64]
) -> npt.NDArray[np.int64]:
    """Return the links on the route of each packet."""
    pairs, place = np.unique(source * topology.nodes + target, return_inverse=True)
    offsets, _, _ = route(topology, *np.divmod(pairs, topology.nodes), 1)
    return (np.diff(offsets).astype(np.int64) - 1)[place]


def _require_drawable(
    topology: Topology,
    pattern: str,
    rate: float,
    flits: int,
    cycles: int,
    burst: int,
    reply_flits: int,
    hotspots: Sequence[int],
) -> None:
    """Raise :class:`.InvalidInput` for the first value that :func:`draw_traffic` refuses."""
    if pattern not in PATTERNS:
        raise InvalidInput.unknown("pattern", PATTERNS, pattern)
    if not 0 <= rate <= 1:
        raise InvalidInput.of("rate", "0 to 1 flits per node and cycle", rate)
    require_range("packet flits", flits, 1, MOST_MEMORY_WORDS)
    require_range("reply flits", reply_flits, 0, MOST_MEMORY_WORDS)
    require_range("cycles", cycles, 1, LARGEST_CYCLES)
    require_range("burst", burst, 0, LARGEST_CYCLES)
    packets = topology.interfaces * cycles * rate / (flits + reply_flits) * (1 + bool(reply_flits))
    if packets > LARGEST_PACKETS:
        raise InvalidInput.of(
            "packets (nodes x cycles x rate / flits)", f"at most {LARGEST_PACKETS}", int(packets)
        )
    if not topology.working_nodes.size:
        nodes = topology.interfaces
        raise InvalidInput.of("faulty nodes", f"fewer than the {nodes} nodes", nodes)
    if hotspots and pattern != "hotspot":
        raise InvalidInput.must_be("hotspots", "left out", f"with the {pattern} pattern")
    for node in hotspots:
        if node not in topology.working_nodes:
            raise InvalidInput.of("hotspots", "nodes that work", node_name(topology, node))


def write_traffic(traffic: Traffic, path: str | Path) -> None:
    """Write a traffic file, whole or not at all."""
    columns = (traffic.cycle, traffic.source, traffic.target, traffic.flits)
    rows = zip(*(column.tolist() for column in columns), strict=True)
    text = "".join(f"{','.join(map(str, row))}\n" for row in rows)
    write_atomically(path, f"{HEADER}\n{text}")


def read_traffic(path: str | Path | InputFile, topology: Topology) -> Traffic:
    """Read a traffic file for ``topology``; its rows may be in any order.

    Raises :class:`InvalidInput` naming the file and the first line that cannot be used.
    """
    name = input_name(path)
    numbered = [
        (number, line) for number, line in enumerate(read_input(path).splitlines(), 1) if line
    ]
    header_line, header = numbered[0] if numbered else (1, b"")
    if header.decode("ascii", "replace").strip() != HEADER:
        found = header[:60].decode("ascii", "replace") if numbered else "nothing"
        raise InvalidInput.of(f"{name}, line {header_line}", HEADER, repr(found))
    rows = numbered[1:]
    if len(rows) > LARGEST_PACKETS:
        raise InvalidInput.of(f"{name}: packets", f"at most {LARGEST_PACKETS}", len(rows))
    for number, line in rows:
        if not _ROW.fullmatch(line):
            shown = line[:60].decode("ascii", "replace")
            raise InvalidInput.of(f"{name}, line {number}", "four numbers, 0 or more", repr(shown))
    # All numbers at once, because the lines are checked: ten times as fast as row by row.
    numbers = np.fromstring(b",".join(line for _, line in rows), dtype=np.int64, sep=",")
    table = numbers.reshape(-1, 4)
    _check_rows(name, table, [number for number, _ in rows], topology)
    return Traffic.sorted(*table.T)


def _check_rows(
    name: str, table: npt.NDArray[np.int64], lines: Sequence[int], topology: Topology
) -> None:
    """Refuse the first row of ``table``, from ``lines`` of the file, with a value out of range."""
    nodes, no_switch = topology.nodes, "a node with a network interface (no switch)"
    for column, allowed, wrong in (
        ("source", f"a node, 0 to {nodes - 1}", table[:, 1] >= nodes),
        ("target", f"a node, 0 to {nodes - 1}", table[:, 2] >= nodes),
        ("source", no_switch, np.isin(table[:, 1], topology.switches)),
        ("target", no_switch, np.isin(table[:, 2], topology.switches)),
        ("target", "another node than the source", table[:, 1] == table[:, 2]),
        ("flits", "at least 1", table[:, 3] < 1),
    ):
        for row in np.flatnonzero(wrong)[:1]:
            value = table[row, HEADER.split(",").index(column)]
            raise InvalidInput.of(f"{name}, line {lines[row]}: {column}", allowed, value)


def draw_refusal(topology: Topology, share: float, seed: int) -> npt.NDArray[np.uint16]:
    """Draw for each node the cycles, of ``REFUSAL_CYCLES``, in which its interface refuses flits.

    Each is refused with probability ``share``, but at least one is open. Shape (nodes,); see
    docs/router.md, section 11.
    """
    if not 0 <= share < 1:
        raise InvalidInput.of("back-pressure", "from 0 to below 1", share)
    draw = np.random.default_rng(seed)
    refused = draw.random((topology.nodes, REFUSAL_CYCLES)) < share
    refused[np.arange(topology.nodes), draw.integers(0, REFUSAL_CYCLES, topology.nodes)] = False
    return np.asarray((refused << np.arange(REFUSAL_CYCLES)).sum(axis=1), dtype=np.uint16)
