"""The image of a program: every word that a host writes to load it, in a valid order.

::

    node,space,address,word          {"format": "eyecast-image", "version": 1,
    0,2,1,5bd13a28                    "network": {...}, "widths": {...}, "address_map": {...},
    0,1,0,0                           "nodes": [...], "latencies": {...},
    ...                               "program": {...}, "run": {...}}

The CSV has decimal numbers; only ``word`` is hexadecimal. A network with a controller is written
while it runs, any other one in reset (docs/router.md, sections 16, 6 and 23).
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from ..base.arrays import Words, as_integers
from ..base.errors import require_range
from ..base.files import write_atomically, write_pieces_atomically
from ..base.ragged import offsets_of, ranges
from ..network.config import NetworkConfig, Timing
from ..network.config_file import identity, network_to_json
from ..network.topology import NO_LINK, Topology
from ..program.any_program import AnyProgram, without_circuits
from ..program.checks import require_loadable
from ..program.circuits.checks import require_room
from ..program.circuits.program import CircuitProgram, entry_fields, run_table_words
from ..program.memory_words import expected_words, table_words
from ..program.program import Program
from ..program.slots import Slot, slot_of
from ..run.run import Prediction
from .host_port import (
    CONTROLLER,
    ENTRY,
    Register,
    Space,
    address_map,
    entry,
    entry_stride,
    latencies,
    table_stride,
    widths,
)

FORMAT = "eyecast-image"
VERSION = 1
BARRIER, HALF_DUPLEX = 1, 2
"""Bits of a program's mode."""

_ROWS_PER_PIECE = 1 << 16


class Result(NamedTuple):
    """The result of a reduction: ``words`` words at ``address`` in the memory of ``node``."""

    node: int
    address: int
    words: int
    operator: str


@dataclass(frozen=True, eq=False, kw_only=True)
class Image:
    """A program with the contents of its network's memories before and after the run.

    loads
        (node, address, words) of the message memories before the run.
    predicted
        The predicted run.
    known
        True for the words of ``predicted.memory`` that are part of the run: shape (nodes, words).
    results
        Where the results of a reduction are: (node, address, words, operator) of each.
    number, base, limit
        The program's number, its first address in the table memories, and the most cycles of its
        run; all 0 in a network without a controller.
    """

    program: AnyProgram
    timing: Timing
    loads: Sequence[tuple[int, int, Words]]
    predicted: Prediction
    known: npt.NDArray[np.bool_]
    results: Sequence[Result] = ()
    number: int = 0
    base: int = 0
    limit: int = 0

    def __post_init__(self) -> None:
        config = self.program.config
        if isinstance(self.program, CircuitProgram):
            require_room(self.program)
        else:
            require_loadable(self.program)
        require_range("number", self.number, 0, max(config.programs - 1, 0))
        if not config.programs:
            require_range("base", self.base, 0, 0)

    @property
    def injection(self) -> Program:
        """The program; raises :class:`.InvalidInput` for one of a network with circuits."""
        return without_circuits(self.program)

    @property
    def slot(self) -> Slot | None:
        """Slot of the program in the table memories; None in a network without a controller."""
        if not self.program.config.programs:
            return None
        return slot_of(self.program, self.base)

    @property
    def writes(self) -> Words:
        """Words to be written, in order: rows (node, space, address, word)."""
        config = self.program.config
        tables = [*table_writes(self.program, self.base)]
        messages = [
            message_writes(config, node, address + np.arange(len(load)), load)
            for node, address, load in self.loads
        ]
        if slot := self.slot:
            directory = self._started(slot).writes()
            writes = [identity_write(config), *tables, *messages, *directory]
        else:
            writes = [*tables, *_expectations(self.program), *messages]
        return np.concatenate(writes)

    def _started(self, slot: Slot) -> DirectoryEntry:
        """Return the program's entry in the directory."""
        return directory_entry(self.program, self.number, slot, self.timing, self.limit)

    def description(self) -> dict[str, object]:
        """Describe everything except the writes that a host must know, as JSON values."""
        return {
            **network_description(self.program.config),
            "program": self._program(),
            "run": {
                "state": self.predicted.ending.state,
                "cycles": self.predicted.cycles,
                "memory": [*self._memory()],
                "results": [result._asdict() for result in self.results],
            },
        }

    def _program(self) -> dict[str, object]:
        """Describe the start of the program, as JSON values."""
        if slot := self.slot:
            return self._started(slot).to_json()
        barrier = _has_barrier(self.program, self.timing)
        return _mode(barrier=barrier, half_duplex=self.program.half_duplex)

    def _memory(self) -> Iterator[dict[str, object]]:
        """Yield the known words of the memories after the run, in hex, in consecutive pieces."""
        for node, known in enumerate(self.known):
            edges = np.flatnonzero(np.diff(known, prepend=False, append=False)).reshape(-1, 2)
            for begin, end in edges.tolist():
                words = as_integers(self.predicted.memory[node, begin:end])
                held = [f"{word:x}" for word in words]
                yield {"node": node, "address": begin, "words": held}

    def write(self, path: str | Path, described: str | Path) -> None:
        """Write the writes as CSV to ``path`` and all else as JSON to ``described``.

        Raises :class:`.InvalidInput` if a file cannot be written.
        """
        write_files(self.writes, self.description(), path, described)


@dataclass(frozen=True)
class DirectoryEntry:
    """A program in the directory of a controller."""

    number: int
    slot: Slot
    barrier: bool
    half_duplex: bool
    limit: int

    def writes(self) -> Iterator[Words]:
        """Yield the words of the entry; the length is last, as it marks the entry as loaded."""
        mode = BARRIER if self.barrier else 0
        mode |= HALF_DUPLEX if self.half_duplex else 0
        slot = self.slot
        values = {"base": slot.base, "mode": mode, "limit": self.limit, "words": slot.words}
        for name, value in values.items():
            address = entry(self.number) + ENTRY.index(name)
            yield _writes(0, CONTROLLER, address, np.array([value], dtype=np.uint64))

    def to_json(self) -> dict[str, object]:
        """Return the entry as JSON values."""
        mode = _mode(barrier=self.barrier, half_duplex=self.half_duplex)
        return {**mode, "number": self.number, **self.slot._asdict(), "limit": self.limit}


def directory_entry(
    program: AnyProgram, number: int, slot: Slot, timing: Timing, limit: int
) -> DirectoryEntry:
    """Return the entry of a program in the directory."""
    barrier = _has_barrier(program, timing)
    return DirectoryEntry(number, slot, barrier, half_duplex=program.half_duplex, limit=limit)


def _has_barrier(program: AnyProgram, timing: Timing) -> bool:
    """Return whether steps wait for the barrier; circuits have no steps."""
    return timing is Timing.BARRIER and isinstance(program, Program)


def _mode(*, barrier: bool, half_duplex: bool) -> dict[str, object]:
    """Return the mode of a program as JSON values."""
    return {"barrier": barrier, "half_duplex": half_duplex}


def network_description(config: NetworkConfig) -> dict[str, object]:
    """Return all that a host must know of a network, as JSON values; the file's first keys."""
    return {
        "format": FORMAT,
        "version": VERSION,
        "identity": identity(config),
        "network": network_to_json(config),
        "widths": widths(config),
        **_fields(config),
        "address_map": address_map(config),
        "latencies": latencies(config),
        "nodes": [_node(config.topology, node) for node in range(config.topology.nodes)],
    }


def _fields(config: NetworkConfig) -> dict[str, object]:
    """Describe the fields of a row's control words, or of an entry of a run table.

    "low" is the lowest bit of the field: in its word, or in all words of the entry together.
    """
    if config.circuits:
        names, sizes = zip(*entry_fields(config), strict=True)
        lows = offsets_of(sizes).tolist()
        columns = zip(names, lows, sizes, strict=False)
        fields = [{"name": name, "low": low, "width": width} for name, low, width in columns]
        return {"entry_fields": fields}
    control = zip(config.table.fields, config.table.positions, strict=True)
    return {
        "control_fields": [
            {"name": name, "word": word, "low": low, "width": width}
            for (name, width), (word, low) in control
        ]
    }


def identity_write(config: NetworkConfig) -> Words:
    """Return the write that names the network for which the other writes are."""
    mine = np.array([identity(config)], dtype=np.uint64)
    return _writes(0, CONTROLLER, Register.IMAGE, mine)


def write_files(
    writes: Words, description: dict[str, object], path: str | Path, described: str | Path
) -> None:
    """Write ``writes`` as CSV to ``path`` and ``description`` as JSON to ``described``.

    Raises :class:`.InvalidInput` if a file cannot be written.
    """
    write_pieces_atomically(path, _csv_pieces(writes))
    parts = (f'"{name}": {json.dumps(part)}' for name, part in description.items())
    write_atomically(described, "{" + ",\n ".join(parts) + "}\n")


def _csv_pieces(writes: Words) -> Iterator[bytes]:
    """Yield the CSV file piece by piece."""
    yield b"node,space,address,word\n"
    for begin in range(0, len(writes), _ROWS_PER_PIECE):
        rows = writes[begin : begin + _ROWS_PER_PIECE].tolist()
        yield "".join("{},{},{},{:x}\n".format(*row) for row in rows).encode()


def _writes(
    node: int | npt.NDArray[np.integer],
    space: Space,
    address: int | npt.NDArray[np.integer],
    words: Words,
) -> Words:
    """Return rows (node, space, address, word); a single ``address`` is that of the first word."""
    places = address + np.arange(len(words)) if isinstance(address, int) else address
    writes = np.empty((len(words), 4), dtype=np.uint64)
    for place, column in enumerate((node, int(space), places, words)):
        writes[:, place] = column
    return writes


def message_writes(
    config: NetworkConfig, node: int, addresses: npt.NDArray[np.integer], words: Words
) -> Words:
    """Return the writes of words at these addresses of a node's message memory, piece by piece."""
    by_piece = (addresses << config.piece_bits)[:, None] + np.arange(config.pieces)
    return _writes(node, Space.MESSAGE, by_piece.ravel(), words.ravel())


def _of_interfaces(config: NetworkConfig, writes: Words) -> Words:
    """Return only the writes to nodes with memories, so not to switches."""
    return writes[~np.isin(writes[:, 0], config.topology.switches)]


def table_writes(program: AnyProgram, base: int) -> Iterator[Words]:
    """Yield the writes of every sender's table from address ``base`` on, or from that entry on."""
    config = program.config
    if isinstance(program, CircuitProgram):
        yield _run_table_writes(program, base)
        return
    first, words = table_words(program)
    sizes = np.diff(first)
    node, lane = np.divmod(np.repeat(np.arange(len(sizes)), sizes), config.lanes)
    address = lane * table_stride(config) + ranges(base, sizes)
    yield _of_interfaces(config, _writes(node, Space.TABLE, address, words))


def _run_table_writes(program: CircuitProgram, base: int) -> Words:
    """Return the writes of every run table, from entry ``base`` on."""
    first, words = run_table_words(program)
    sizes = np.diff(first)
    entries, within = np.indices(words.shape)
    address = (ranges(base, sizes)[entries] * entry_stride(program.config) + within).ravel()
    node = np.repeat(np.arange(program.nodes), sizes)[entries].ravel()
    return _writes(node, Space.TABLE, address, words.ravel())


def _expectations(program: AnyProgram) -> Iterator[Words]:
    """Yield the writes of the steps in which each port receives, if not part of the tables."""
    config = program.config
    if isinstance(program, CircuitProgram):
        return
    masks = expected_words(program).reshape(config.topology.nodes, -1)
    node, address = (column.ravel() for column in np.indices(masks.shape))
    yield _of_interfaces(config, _writes(node, Space.EXPECTED, address, masks.ravel()))


def _node(topology: Topology, node: int) -> dict[str, object]:
    """Describe a node: its coordinates, if any, and the node and port behind each link."""
    ports = [
        {"port": port, "node": int(neighbor), "enters_by": int(topology.peer[node, port])}
        for port, neighbor in enumerate(topology.neighbor[node].tolist())
        if port and neighbor != NO_LINK
    ]
    there: dict[str, object] = {"node": node, "switch": node in topology.switches, "ports": ports}
    if topology.dims:
        there["coordinates"] = topology.coordinates(node).tolist()
    return there
