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
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import numpy.typing as npt

from ..base.errors import InvalidInput, require_range
from ..base.files import InputFile, input_name, read_input, write_atomically
from ..network.config import MOST_MEMORY_WORDS
from ..network.exclusions import REFUSAL_CYCLES
from ..network.topology import Topology

HEADER = "cycle,source,target,flits"
LARGEST_PACKETS = 4_000_000
"""Most packets of a file or a drawing."""

LARGEST_CYCLES = 1_000_000
"""Most cycles of a drawing; in the largest network that takes seconds."""

HOTSPOT_SHARE = 0.2
"""Share of the hotspot pattern's packets that go to the hot node; the others are uniform."""

_CHUNK_CYCLES = 4096
_ROW = re.compile(rb",".join([rb" *[0-9]{1,17} *"] * 4))
"""A row of a file; each number fits 64 bits."""


@dataclass(frozen=True, eq=False)
class Traffic:
    """Packets in order of cycle: four columns of shape (packets,), int64.

    ``cycle``: the first cycle in which the packet may be injected. ``source``, ``target``: nodes,
    never equal. ``flits``: its length with its header, at least 1.
    """

    cycle: npt.NDArray[np.int64]
    source: npt.NDArray[np.int64]
    target: npt.NDArray[np.int64]
    flits: npt.NDArray[np.int64]

    def __len__(self) -> int:
        return len(self.cycle)

    @classmethod
    def sorted(cls, *columns: npt.NDArray[np.int64]) -> Traffic:
        """Make traffic of packets in any order; packets of one cycle keep their order."""
        order = np.argsort(columns[0], kind="stable")
        return cls(*(np.asarray(column, dtype=np.int64)[order] for column in columns))


Draw = Callable[[Topology, npt.NDArray[np.int64], np.random.Generator], npt.NDArray[np.int64]]
"""A function that draws a target for each source; a packet to its own source is not sent."""


def _uniform(
    topology: Topology, sources: npt.NDArray[np.int64], draw: np.random.Generator
) -> npt.NDArray[np.int64]:
    working = topology.working_nodes
    if len(working) == 1:
        return sources
    step = draw.integers(1, len(working), sources.size)
    place = (np.searchsorted(working, sources) + step) % len(working)
    targets: npt.NDArray[np.int64] = working[place]
    return targets


def _transpose(
    topology: Topology, sources: npt.NDArray[np.int64], _draw: np.random.Generator
) -> npt.NDArray[np.int64]:
    places = topology.coordinates(sources)
    return _nodes(topology, np.roll(places, 1, axis=-1), "transpose")


def _complement(
    topology: Topology, sources: npt.NDArray[np.int64], _draw: np.random.Generator
) -> npt.NDArray[np.int64]:
    nodes = np.setdiff1d(np.arange(topology.nodes), topology.switches)
    opposite: npt.NDArray[np.int64] = nodes[::-1][np.searchsorted(nodes, sources)]
    return opposite


def _neighbour(
    topology: Topology, sources: npt.NDArray[np.int64], _draw: np.random.Generator
) -> npt.NDArray[np.int64]:
    places = topology.coordinates(sources)
    places[..., 0] = (places[..., 0] + 1) % topology.dims[0]
    return _nodes(topology, places, "neighbour")


def _hotspot(
    topology: Topology, sources: npt.NDArray[np.int64], draw: np.random.Generator
) -> npt.NDArray[np.int64]:
    targets = _uniform(topology, sources, draw)
    working = topology.working_nodes
    targets[draw.random(sources.size) < HOTSPOT_SHARE] = working[len(working) // 2]
    return targets


def _nodes(
    topology: Topology, places: npt.NDArray[np.int64], pattern: str
) -> npt.NDArray[np.int64]:
    """Return the nodes at coordinates, which must lie inside the topology."""
    if (places >= np.array(topology.dims)).any():
        raise InvalidInput.of(
            f"network for the {pattern} pattern", "a grid of equal sides", topology.label
        )
    columns = tuple(np.moveaxis(places, -1, 0))
    return np.asarray(np.ravel_multi_index(columns, topology.dims, order="F"), dtype=np.int64)


PATTERNS: dict[str, Draw] = {
    "uniform": _uniform,
    "transpose": _transpose,
    "complement": _complement,
    "hotspot": _hotspot,
    "neighbour": _neighbour,
}
"""Patterns by name. Transpose sends from (x, y) to (y, x); complement to the opposite node (the
complement of its number's bits if there are 2^n nodes, not counting switches); neighbour to the
next node along axis 0, wrapping around; hotspot sends a share of :data:`HOTSPOT_SHARE` to one node
in the middle, the rest uniformly. Faulty nodes and switches neither send nor receive: their packets
are left out."""


def draw_traffic(
    topology: Topology, pattern: str, *, rate: float, flits: int, cycles: int, seed: int
) -> Traffic:
    """Draw packets of ``flits`` flits for ``cycles`` cycles.

    In every cycle each node sends a packet with probability ``rate / flits``, so it offers ``rate``
    flits per cycle. Raises :class:`InvalidInput` for a pattern that is unknown or needs another
    network, a network whose nodes are all faulty, a rate outside 0 to 1, packets longer than any
    memory, and more cycles than :data:`LARGEST_CYCLES` or packets than :data:`LARGEST_PACKETS`.
    """
    if pattern not in PATTERNS:
        raise InvalidInput.unknown("pattern", PATTERNS, pattern)
    if not 0 <= rate <= 1:
        raise InvalidInput.of("rate", "0 to 1 flits per node and cycle", rate)
    require_range("packet flits", flits, 1, MOST_MEMORY_WORDS)
    require_range("cycles", cycles, 1, LARGEST_CYCLES)
    if pattern in ("transpose", "neighbour") and not topology.dims:
        raise InvalidInput.of(f"network for the {pattern} pattern", "a grid", topology.label)
    if topology.interfaces * cycles * rate / flits > LARGEST_PACKETS:
        raise InvalidInput.of(
            "packets (nodes x cycles x rate / flits)",
            f"at most {LARGEST_PACKETS}",
            int(topology.interfaces * cycles * rate / flits),
        )
    draw = np.random.default_rng(seed)
    working = topology.working_nodes
    if not working.size:
        nodes = topology.interfaces
        raise InvalidInput.of("faulty nodes", f"fewer than the {nodes} nodes", nodes)
    starts, sources = [], []
    for first in range(0, cycles, _CHUNK_CYCLES):
        chunk = min(_CHUNK_CYCLES, cycles - first)
        cycle, place = np.nonzero(draw.random((chunk, len(working))) < rate / flits)
        starts.append(cycle + first)
        sources.append(working[place])
    start, source = np.concatenate(starts), np.concatenate(sources)
    target = PATTERNS[pattern](topology, source, draw)
    sent = (target != source) & np.isin(target, working)
    length = np.full(int(sent.sum()), flits, dtype=np.int64)
    return Traffic.sorted(start[sent], source[sent], target[sent], length)


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
