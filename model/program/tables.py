"""The injection tables of every node as whole arrays: what the cycle model runs.

Traffic has hundreds of thousands of rows, so it is made as :class:`Tables` at once; a
:class:`~eyecast.model.program.program.Program` is turned into them by :func:`tables_of`::

    node      0              1    2
    row       0    1    2    3    4    5        first_row    [0, 3, 4, 6]
    header    0  1 2    3    4    5  6 7        first_header [0, 2, 3, 4, 5, 7, 8]
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import chain

import numpy as np
import numpy.typing as npt

from ..base.errors import InvalidInput, require_range
from ..base.pieces import offsets_of
from ..network.config import NetworkConfig
from ..network.table_format import HEADER_COUNT_BITS
from .program import Program, Row, row_header

NO_START = -1


@dataclass(frozen=True, eq=False, kw_only=True)
class Tables:
    """Tables that a network is loaded with before a run, without the message memories.

    The tables are those of the senders. There is one for each node; in an all-port network link
    port l of node n has number ``n * lanes + l - 1``, and so has what it receives. Sender n has the
    rows ``first_row[n]`` up to ``first_row[n + 1]``, in the order of its table; row r has the
    header flits ``header[first_header[r]]`` up to ``header[first_header[r + 1]]``, as they enter
    the network. Raises :class:`InvalidInput` for what no table or register can hold.

    step, source_address, length
        Fields of each row (docs/router.md, section 4), int64.
    start
        The first cycle in which each row may begin, int64; ``NO_START`` (-1) for a row that has
        none. The headers of rows that have one must carry step 0.
    header
        Header flits of all rows, uint64.
    expected
        Whether anything is received in a step: shape (nodes * lanes, 2 ** step_bits), bool.
    awaited
        How many packets of timed rows each node receives, int64.
    half_duplex
        Whether a send and a receive in one step set a flag.
    """

    config: NetworkConfig
    first_row: npt.NDArray[np.int64]
    step: npt.NDArray[np.int64]
    start: npt.NDArray[np.int64]
    source_address: npt.NDArray[np.int64]
    length: npt.NDArray[np.int64]
    first_header: npt.NDArray[np.int64]
    header: npt.NDArray[np.uint64]
    expected: npt.NDArray[np.bool_]
    awaited: npt.NDArray[np.int64]
    half_duplex: bool = False

    def __post_init__(self) -> None:
        config, rows, nodes = self.config, len(self.step), self.config.topology.nodes
        lanes = nodes * config.lanes
        for name, shape, dtype in (
            ("first_row", (lanes + 1,), np.int64),
            ("step", (rows,), np.int64),
            ("start", (rows,), np.int64),
            ("source_address", (rows,), np.int64),
            ("length", (rows,), np.int64),
            ("first_header", (rows + 1,), np.int64),
            ("header", (len(self.header),), np.uint64),
            ("expected", (lanes, 1 << config.step_bits), np.bool_),
            ("awaited", (nodes,), np.int64),
        ):
            column = getattr(self, name)
            if column.shape != shape or column.dtype != dtype:
                raise InvalidInput.of(
                    f"tables: {name}",
                    f"{np.dtype(dtype)} of shape {shape}",
                    f"{column.dtype} of shape {column.shape}",
                )
        _require_bounds("first_row", self.first_row, rows)
        _require_bounds("first_header", self.first_header, len(self.header))
        self._require_columns()

    def _require_columns(self) -> None:
        """Raise :class:`InvalidInput` for the first value that its bits cannot hold."""
        config = self.config
        latest = (1 << config.start_bits) - 2 if config.timed_rows else NO_START
        header_flits = np.diff(self.first_header)
        for name, column, least, most in (
            ("step", self.step, 0, (1 << config.step_bits) - 1),
            ("start", self.start, NO_START, latest),
            ("source address", self.source_address, 0, (1 << config.address_bits) - 1),
            ("length", self.length, 0, (1 << config.length_bits) - 1),
            ("header flits", header_flits, 0, (1 << HEADER_COUNT_BITS) - 1),
        ):
            wrong = np.flatnonzero((column < least) | (column > most))
            if wrong.size:
                row = int(wrong[0])
                lane = int(np.searchsorted(self.first_row, row, side="right")) - 1
                where = _row_name(config, lane, row - int(self.first_row[lane]))
                require_range(f"{where}: {name}", int(column[row]), least, most)
        largest = int(self.header.max(initial=0))
        if largest >> config.flit_width:
            raise InvalidInput.of(
                "a header flit", f"at most {config.flit_width} bits wide", hex(largest)
            )
        most = min((1 << config.flit_width) - 1, int(np.iinfo(np.int64).max))
        for node in np.flatnonzero((self.awaited < 0) | (self.awaited > most)).tolist():
            require_range(f"awaited packets of node {node}", int(self.awaited[node]), 0, most)
        if self.awaited.any() and not config.timed_rows:
            raise InvalidInput.of(
                "awaited packets", "0 in a network without timed rows", int(self.awaited.max())
            )

    @property
    def steps(self) -> int:
        """The last step in which anything is sent or received; 0 where nothing is."""
        received = np.flatnonzero(self.expected.any(axis=0)).max(initial=0)
        return int(max(self.step.max(initial=0), received))

    @property
    def latest_start(self) -> int:
        """The latest start of any row; 0 where none has one."""
        return int(self.start.max(initial=0))

    @property
    def flit_hops(self) -> int:
        """Flits that leave routers if every packet, header flits and all, gets to its target.

        The hops are read from the headers: the fields of all slots, up to the delivery.
        """
        header, flits = self.config.header, self.header
        hops = np.zeros(len(flits), dtype=np.int64)
        is_slot = np.ones(len(flits), dtype=np.bool_)
        for place in range(header.slots_per_flit):
            slot = flits >> np.uint64(place * header.slot_bits)
            port = header.port(slot)
            is_slot &= (port != 0) & (port < header.deliver_code)
            hops += np.where(is_slot, header.more(slot) + 1, 0)
        sums = offsets_of(hops)
        row_hops = sums[self.first_header[1:]] - sums[self.first_header[:-1]]
        row_flits = np.diff(self.first_header) + self.length
        return int((row_flits * (row_hops + 1)).sum())


def tables_of(program: Program) -> Tables:
    """Turn a program into arrays; :class:`InvalidInput` for what no table can hold."""
    config = program.config
    nodes = config.topology.nodes
    if config.all_port:
        _require_ports(program)
    tables = list(chain.from_iterable(map(program.lane_rows, range(nodes))))
    headers = [
        _encode(config, _row_name(config, lane, place), row)
        for lane, rows in enumerate(tables)
        for place, row in enumerate(rows)
    ]
    for node, packets in enumerate(program.awaited):
        require_range(f"awaited packets of node {node}", packets, 0, int(np.iinfo(np.int64).max))
    rows = list(chain.from_iterable(tables))
    starts = [NO_START if row.start is None else row.start for row in rows]
    return Tables(
        config=config,
        first_row=offsets_of([len(rows) for rows in tables]),
        step=np.array([row.step for row in rows], dtype=np.int64),
        start=np.array(starts, dtype=np.int64),
        source_address=np.array([row.source_address for row in rows], dtype=np.int64),
        length=np.array([row.length for row in rows], dtype=np.int64),
        first_header=offsets_of([len(header) for header in headers]),
        header=np.array(list(chain.from_iterable(headers)), dtype=np.uint64),
        expected=_expected(program),
        awaited=np.array(program.awaited or [0] * nodes, dtype=np.int64),
        half_duplex=program.port_model == "half-duplex",
    )


def _require_ports(program: Program) -> None:
    """Raise :class:`InvalidInput` for a row or receive of an all-port network that has no port."""
    last = program.config.topology.ports - 1
    for node, (rows, steps) in enumerate(zip(program.rows, program.receives, strict=True)):
        for place, row in enumerate(rows):
            port = row.route[0].port if row.route else 0
            require_range(f"node {node}, row {place}: first port", port, 1, last)
        ports = program.receive_ports[node] if program.receive_ports else ()
        if len(ports) != len(steps):
            raise InvalidInput.of(f"receive ports of node {node}", f"{len(steps)} long", len(ports))
        for port in ports:
            require_range(f"receive ports of node {node}", port, 1, last)


def _expected(program: Program) -> npt.NDArray[np.bool_]:
    """``Tables.expected``; :class:`InvalidInput` for a step that has no bit."""
    config = program.config
    nodes, steps = config.topology.nodes, 1 << config.step_bits
    expected = np.zeros((nodes, config.lanes, steps), dtype=np.bool_)
    for node in range(nodes):
        for lane, received in enumerate(program.lane_receives(node)):
            for step in received:
                require_range(f"receives of node {node}", step, 0, steps - 1)
                expected[node, lane, step] = True
    return expected.reshape(-1, steps)


def _row_name(config: NetworkConfig, lane: int, place: int) -> str:
    """Name a row by its sender and its place."""
    node, lane = divmod(lane, config.lanes)
    port = f", port {lane + 1}" if config.all_port else ""
    return f"node {node}{port}, row {place}"


def _encode(config: NetworkConfig, where: str, row: Row) -> list[int]:
    """Header flits of ``row``; :class:`InvalidInput` for a field that its bits cannot hold."""
    fields = [
        ("step", row.step, config.step_bits),
        ("source address", row.source_address, config.address_bits),
        ("target address", row.target_address, config.address_bits),
        ("length", row.length, config.length_bits),
    ]
    if row.start is not None:
        require_range(f"{where}: start", row.start, 0)
        if not config.timed_rows:
            allowed = "left out in a network without timed rows"
            raise InvalidInput.of(f"{where}: start", allowed, row.start)
    for segment in row.route:
        fields.append(("port", segment.port, config.header.port_bits))
        fields.append(("vc", segment.vc, config.header.vc_bits))
        require_range(f"{where}: hops", segment.hops, 0)
    for name, value, bits in fields:
        require_range(f"{where}: {name}", value, 0, (1 << bits) - 1)
    header = row_header(config, row)
    require_range(f"{where}: header flits", len(header), 1, (1 << HEADER_COUNT_BITS) - 1)
    return header


def _require_bounds(name: str, bounds: npt.NDArray[np.int64], end: int) -> None:
    """Raise :class:`InvalidInput` unless ``bounds`` rise from 0 to ``end``."""
    if bounds[0] != 0 or bounds[-1] != end or (np.diff(bounds) < 0).any():
        raise InvalidInput.of(f"tables: {name}", f"rising from 0 to {end}", bounds.tolist()[:9])
