"""Programs of circuits: the run tables of all nodes (docs/router.md, section 23).

An entry of a run table says for some cycles which input each output of a router takes, and where
the node's interface reads and writes words. A program stores the entries of all nodes as columns::

    node        0         1    2          first_entry   [0, 2, 3, 5]
    entry       0    1    2    3    4     the end entries are not among them
    duration    2    1    9    1    2
"""

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property

import numpy as np
import numpy.typing as npt

from ...base.arrays import Numbers
from ...base.errors import InvalidInput
from ...network.config import NetworkConfig, bits_for
from ...network.port_model import PortModel

DURATION_BITS = 10
"""Bits of the duration of a run."""

LONGEST_RUN = (1 << DURATION_BITS) - 1
"""Most cycles of one entry."""

SUM = 2
"""The value of ``ejections`` for a lane that takes the sum."""

LANE_COLUMNS = ("send_address", "receive_address", "receive")
"""Columns of a program with a value for each lane."""

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
        output o itself is the sum. All-port, the code 1 of output o is lane o, and output 0 has the
        code 0.
    ejections
        What each lane takes in an all-port network: 0 is nothing, 1 is the input of the lane's
        port, and 2 the sum. Column l - 1 is lane l: shape (entries, ports - 1). In another network
        shape (entries, 0).
    first, second, operator
        The inputs that each entry joins, coded like those of an output, and the number of the
        network's operator, from 1; 0 for no join. Shape (entries,).
    send_address, receive_address
        Where each lane reads and writes the words of each entry in the message memory: shape
        (entries, lanes); one lane unless all-port.
    receive
        0: arriving words are not written. 1: they replace. 1 + o: operator o combines them. Shape
        (entries, lanes).

    All are int64. Raises :class:`.InvalidInput` if shapes do not fit together.
    """

    config: NetworkConfig
    port_model: PortModel
    first_entry: Numbers
    duration: Numbers
    codes: Numbers
    ejections: Numbers
    first: Numbers
    second: Numbers
    operator: Numbers
    send_address: Numbers
    receive_address: Numbers
    receive: Numbers

    def __post_init__(self) -> None:
        config, entries = self.config, len(self.duration)
        nodes, ports = config.topology.nodes, config.topology.ports
        shapes: dict[str, tuple[int, ...]] = {"first_entry": (nodes + 1,)}
        shapes |= dict.fromkeys(("duration", "first", "second", "operator"), (entries,))
        shapes |= dict.fromkeys(LANE_COLUMNS, (entries, config.lanes))
        shapes["codes"] = (entries, ports)
        shapes["ejections"] = (entries, config.lanes if config.all_port else 0)
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

    @cached_property
    def entry_node(self) -> Numbers:
        """The node of each entry: shape (entries,)."""
        return np.repeat(np.arange(self.nodes), np.diff(self.first_entry))

    @cached_property
    def entry_begin(self) -> Numbers:
        """The first cycle in which each entry is current: shape (entries,)."""
        after = np.cumsum(self.duration)
        before = np.concatenate(([0], after))[self.first_entry[:-1]]
        begins: Numbers = FIRST_CYCLE + after - self.duration - before[self.entry_node]
        return begins

    @property
    def cycles(self) -> int:
        """Cycles of a run in which no flag is set."""
        busy = np.bincount(self.entry_node, self.duration, self.nodes).max(initial=0)
        return FIRST_CYCLE + int(busy) + (5 if self.config.operators else 3)

    @property
    def table_sizes(self) -> Numbers:
        """Entries of each node's run table, the end entry included: shape (nodes,)."""
        return np.diff(self.first_entry) + 1


def entry_fields(config: NetworkConfig) -> Iterator[tuple[str, int]]:
    """Yield name and width of each field of an entry, from bit 0 upwards.

    The field of output o is called ``codes o``, those of lane l ``ejections l``, ``receive l`` and
    so on. The lane of a network that is not all-port has the number 1.
    """
    ports, operators = config.topology.ports, len(config.operators)
    code_bits, lanes = bits_for(ports), range(1, config.lanes + 1)
    yield "duration", DURATION_BITS
    for output in range(config.all_port, ports):
        yield f"codes {output}", code_bits
    if config.all_port:
        for lane in lanes:
            yield f"ejections {lane}", bits_for(SUM if operators else 1)
    if operators:
        yield "first", code_bits
        yield "second", code_bits
        yield "operator", bits_for(operators)
    widths = (config.address_bits, config.address_bits, bits_for(operators + 1))
    for name, width in zip(LANE_COLUMNS, widths, strict=True):
        for lane in lanes:
            yield f"{name} {lane}", width


def entry_words(config: NetworkConfig) -> int:
    """Return the words of an entry at the host port."""
    return -(-sum(width for _, width in entry_fields(config)) // config.narrow_width)


def run_table_words(program: CircuitProgram) -> tuple[Numbers, npt.NDArray[np.uint64]]:
    """Return (first, words): the entries of all run tables as words, end entries included.

    Node n has the rows ``first[n]`` to ``first[n + 1] - 1`` of ``words``, one for each of its
    entries. ``words`` has the shape (rows, entry words).
    """
    config, sizes = program.config, program.table_sizes
    first = np.concatenate(([0], np.cumsum(sizes)))
    rows = np.ones(int(first[-1]), np.bool_)
    rows[first[1:] - 1] = False
    bits = np.zeros((len(rows), entry_words(config) * config.narrow_width), np.uint64)
    begin = 0
    for field, width in entry_fields(config):
        name, _, number = field.partition(" ")
        column = getattr(program, name)
        if number:
            column = column[:, int(number) - (name != "codes")]
        places = np.arange(width)
        bits[np.flatnonzero(rows)[:, None], begin + places] = column[:, None] >> places & 1
        begin += width
    weights = np.uint64(1) << np.arange(config.narrow_width, dtype=np.uint64)
    cut = bits.reshape(len(rows), entry_words(config), config.narrow_width)
    return first, (cut * weights).sum(axis=2, dtype=np.uint64)
