"""Programs of circuits: the run tables of all nodes (docs/router.md, section 23).

An entry of a run table says for some cycles which input each output of a router takes, and where
the node's interface reads and writes words. A program stores the entries of all nodes as columns::

    node        0         1    2          first_entry   [0, 2, 3, 5]
    entry       0    1    2    3    4     the end entries are not among them
    duration    2    1    9    1    2
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from ..base.arrays import Numbers
from ..base.errors import InvalidInput
from ..network.config import NetworkConfig, bits_for
from ..network.port_model import PortModel

DURATION_BITS = 10
"""Bits of the duration of a run."""

LONGEST_RUN = (1 << DURATION_BITS) - 1
"""Most cycles of one entry."""

FIRST_CYCLE = 2
"""The cycle in which the first entry of every table becomes current."""


@dataclass(frozen=True, eq=False, kw_only=True, repr=False)
class CircuitProgram:
    """The run table of every node of a network with ``circuits``.

    config
        The network.
    port_model
        Port model of the schedule; "half-duplex" flags a word that is sent while one arrives.
    first_entry
        Node n has the entries ``first_entry[n]`` to ``first_entry[n + 1] - 1``, and then an end
        entry: shape (nodes + 1,).
    duration
        Cycles for which each entry is current: shape (entries,).
    codes
        What each output takes: shape (entries, ports). 0 is nothing, 1 + i is input i, and 1 + o of
        output o itself is the sum.
    first, second, operator
        The inputs that each entry joins, coded like those of an output, and the number of the
        network's operator, from 1; 0 for no join. Shape (entries,).
    send_address, receive_address
        Where the words of each entry are read and written in the message memory.
    receive
        0: what arrives is not written. 1: it replaces. 1 + o: operator o combines it.

    All are int64. Raises :class:`.InvalidInput` if shapes do not fit together.
    """

    config: NetworkConfig
    port_model: PortModel
    first_entry: Numbers
    duration: Numbers
    codes: Numbers
    first: Numbers
    second: Numbers
    operator: Numbers
    send_address: Numbers
    receive_address: Numbers
    receive: Numbers

    def __post_init__(self) -> None:
        nodes, ports = self.config.topology.nodes, self.config.topology.ports
        entries = len(self.duration)
        one = ("duration", "first", "second", "operator", "send_address", "receive_address")
        shapes: dict[str, tuple[int, ...]] = dict.fromkeys((*one, "receive"), (entries,))
        shapes |= {"first_entry": (nodes + 1,), "codes": (entries, ports)}
        for name, shape in shapes.items():
            column = getattr(self, name)
            if column.shape != shape or column.dtype != np.int64:
                raise InvalidInput.of(
                    f"program: {name}",
                    f"int64 of shape {shape}",
                    f"{column.dtype} of shape {column.shape}",
                )

    @property
    def nodes(self) -> int:
        """Number of nodes."""
        return self.config.topology.nodes

    @property
    def half_duplex(self) -> bool:
        """Tell whether a word that is sent while one arrives sets a flag."""
        return self.port_model == PortModel.HALF_DUPLEX

    @property
    def entry_node(self) -> Numbers:
        """The node of each entry: shape (entries,)."""
        return np.repeat(np.arange(self.nodes), np.diff(self.first_entry))

    @property
    def cycles(self) -> int:
        """Cycles of a run in which no flag is set."""
        busy = np.bincount(self.entry_node, self.duration, self.nodes).max(initial=0)
        return FIRST_CYCLE + int(busy) + (5 if self.config.operators else 3)

    @property
    def table_entries(self) -> Numbers:
        """Entries of each node's run table, the end entry included: shape (nodes,)."""
        return np.diff(self.first_entry) + 1


def entry_fields(config: NetworkConfig) -> Iterator[tuple[str, int]]:
    """Yield name and width of each field of an entry, from bit 0 upwards.

    The field of output o is called ``code o``.
    """
    ports, operators = config.topology.ports, len(config.operators)
    code_bits = bits_for(ports)
    yield "duration", DURATION_BITS
    for output in range(ports):
        yield f"code {output}", code_bits
    if operators:
        yield "first", code_bits
        yield "second", code_bits
        yield "operator", bits_for(operators)
    yield "send_address", config.address_bits
    yield "receive_address", config.address_bits
    yield "receive", bits_for(operators + 1)


def entry_words(config: NetworkConfig) -> int:
    """Return the words of an entry at the host port."""
    return -(-sum(width for _, width in entry_fields(config)) // config.flit_width)


def run_table_words(program: CircuitProgram) -> tuple[Numbers, npt.NDArray[np.uint64]]:
    """Return (first, words): the entries of all run tables as words, end entries included.

    Node n has the rows ``first[n]`` to ``first[n + 1] - 1`` of ``words``, one for each of its
    entries. ``words`` has the shape (rows, entry words).
    """
    config, sizes = program.config, program.table_entries
    first = np.concatenate(([0], np.cumsum(sizes)))
    rows = np.ones(int(first[-1]), np.bool_)
    rows[first[1:] - 1] = False
    bits = np.zeros((len(rows), entry_words(config) * config.flit_width), np.uint64)
    begin = 0
    for name, width in entry_fields(config):
        output = name.removeprefix("code ")
        column = program.codes[:, int(output)] if output != name else getattr(program, name)
        places = np.arange(width)
        bits[np.flatnonzero(rows)[:, None], begin + places] = column[:, None] >> places & 1
        begin += width
    weights = np.uint64(1) << np.arange(config.flit_width, dtype=np.uint64)
    cut = bits.reshape(len(rows), entry_words(config), config.flit_width)
    return first, (cut * weights).sum(axis=2, dtype=np.uint64)
