"""Programs: the injection tables that make a network carry out a schedule.

A row is a *put*: in a step, copy ``length`` words from an address of this node to an address of the
node at the end of a route. A program stores the rows of all nodes as whole arrays; single rows
(:class:`~.row.Row`) are a view for files, messages and programs written by hand.

Columns of varying length are flat, with the offset at which each part begins. Many rows may share a
route, so routes are kept separately::

    node        0              1    2          first_row   [0, 3, 4, 6]
    row         0    1    2    3    4    5
    route       0    0    1    2    3    2     routes      segments of route 0, 1, 2, 3

A *sender* is an injection port with its table. A node has one sender, number ``node``. In an
all-port network it has one for each link port: the sender of port l has number
``node * lanes + l - 1`` and sends the rows whose routes leave by port l. Ejection ports have the
same numbers.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import chain, pairwise
from typing import Self

import numpy as np
import numpy.typing as npt

from ..base.arrays import Numbers
from ..base.errors import InvalidInput, require_range
from ..base.notebook import ShowsItself
from ..base.ragged import offsets_of, ranges
from ..network.config import NetworkConfig
from ..network.port_model import PortModel
from ..network.segment import Routes, Segment
from .row import ADDITIONS, NO_START, Row


class RowError(InvalidInput):
    """The error of a row that breaks a rule.

    Attributes
    ----------
    row
        Index of the row in the columns of its program.
    complaint
        The broken rule, without the name of the row.
    """

    def __init__(self, name: str, row: int, complaint: str) -> None:
        super().__init__(f"{name}: {complaint}")
        self.row, self.complaint = row, complaint


@dataclass(frozen=True, eq=False, kw_only=True, repr=False)
class RowTable(ShowsItself):
    """The tables of every node of a network, and the network they are made for.

    All columns are int64; ``continued`` is bool.

    Attributes
    ----------
    config
        The network.
    port_model
        Port model of the schedule; "half-duplex" flags a send and a receive in the same step.
    first_row
        Node n has the rows ``first_row[n]`` to ``first_row[n + 1] - 1``, in the order in which its
        senders send them: shape (nodes + 1,).
    step, source_address, target_address, length
        Fields of each row; addresses and length count words. A packet of length 0 has no payload.
    start
        The first cycle in which a row may begin; ``NO_START`` if it is not timed.
    continued
        True if the next row of the same sender, of the same step and route, carries more of the
        same message.
    operator
        0 if a row's words replace the target's words. Operator o of the network, from 1, combines
        them in place if the value is 2o - 1, across if it is 2o.
    stream, lead
        The lane, from 1, of the arriving packet that a row forwards, and the words that the row
        sends before it; 0 if it forwards none.
    window
        w if the addresses of a row's message, here and at its target, wrap in a window of 2 ** w
        words; 0 without a window.
    route
        Index in ``routes`` of the route that a row takes.
    routes
        The routes of all rows.
    first_receive, receive_step, receive_port
        Node n receives in the steps ``receive_step[first_receive[n]:first_receive[n + 1]]``. In an
        all-port network ``receive_port`` has the link port of each receive; otherwise it is 0.
    awaited
        Packets of timed rows that each node receives: shape (nodes,).

    Raises
    ------
    InvalidInput
        If shapes do not fit together.
    """

    config: NetworkConfig
    port_model: PortModel
    first_row: Numbers
    step: Numbers
    start: Numbers
    source_address: Numbers
    target_address: Numbers
    length: Numbers
    continued: npt.NDArray[np.bool_]
    operator: Numbers
    stream: Numbers
    lead: Numbers
    window: Numbers
    route: Numbers
    routes: Routes
    first_receive: Numbers
    receive_step: Numbers
    receive_port: Numbers
    awaited: Numbers

    def __post_init__(self) -> None:
        nodes, rows, receives = self.nodes, len(self.step), len(self.receive_step)
        fields = ("step", "start", "source_address", "target_address", "length", "route")
        for name, size, dtype in (
            *((name, rows, np.int64) for name in (*fields, *ADDITIONS)),
            ("first_row", nodes + 1, np.int64),
            ("continued", rows, np.bool_),
            ("first_receive", nodes + 1, np.int64),
            ("receive_step", receives, np.int64),
            ("receive_port", receives, np.int64),
            ("awaited", nodes, np.int64),
        ):
            column = getattr(self, name)
            if column.shape != (size,) or column.dtype != dtype:
                raise InvalidInput.of(
                    f"program: {name}",
                    f"{np.dtype(dtype)} of shape {(size,)}",
                    f"{column.dtype} of shape {column.shape}",
                )
        _require_bounds("first_row", self.first_row, rows)
        _require_bounds("first_receive", self.first_receive, receives)
        if rows and not 0 <= self.route.min() <= self.route.max() < len(self.routes):
            allowed = f"0 to {len(self.routes) - 1}"
            raise InvalidInput.of("program: route", allowed, f"up to {self.route.max()}")

    def __repr__(self) -> str:
        network = self.config.topology.label
        return f"<{type(self).__name__}: {network}, {len(self.step)} rows, {self.steps} steps>"

    @property
    def nodes(self) -> int:
        """Number of nodes."""
        return self.config.topology.nodes

    @property
    def half_duplex(self) -> bool:
        """Tell whether a send and a receive of a node in one step set a flag."""
        return self.port_model == PortModel.HALF_DUPLEX

    @property
    def steps(self) -> int:
        """The last step in which a node sends or receives; 0 without any."""
        return int(max(self.step.max(initial=0), self.receive_step.max(initial=0)))

    @property
    def latest_start(self) -> int:
        """The latest start of any row; 0 if no row is timed."""
        return int(self.start.max(initial=0))

    @property
    def row_node(self) -> Numbers:
        """The node of each row."""
        return np.repeat(np.arange(self.nodes), np.diff(self.first_row))

    @property
    def row_hops(self) -> Numbers:
        """Hops of each row's route."""
        return self.routes.distances[self.route]

    @property
    def header_flits(self) -> Numbers:
        """Header flits of each row."""
        return self.config.header.flits(self.routes)[self.route]

    @property
    def header_step(self) -> Numbers:
        """The step that each row's packet carries: 0 for a timed or continued row."""
        return np.where((self.start != NO_START) | self.continued, 0, self.step)

    @cached_property
    def header(self) -> npt.NDArray[np.uint64]:
        """Header flits of all rows as they enter the network, in the order of the rows."""
        return self.config.header.pack(self.routes, self.route, self.deliveries)

    @property
    def deliveries(self) -> npt.NDArray[np.uint64]:
        """The last header flit of each row's packet, as its target receives it."""
        return self.config.header.delivery(
            self.header_step, self.target_address, self.operator, self.window
        )

    @property
    def flit_hops(self) -> int:
        """Flits, header flits included, that leave routers if every packet reaches its target."""
        return int(((self.header_flits + self.length) * (self.row_hops + 1)).sum())

    @property
    def first_port(self) -> Numbers:
        """The first port of each row's route; 0 for an empty route."""
        first = self.routes.first
        ports = np.append(self.routes.port, 0)[first[:-1]]
        return np.where(np.diff(first) == 0, 0, ports)[self.route]

    @property
    def sender(self) -> Numbers:
        """The sender of each row."""
        if not self.config.all_port:
            return self.row_node
        return self.row_node * self.config.lanes + self.first_port - 1

    @cached_property
    def sender_order(self) -> Numbers:
        """The rows in the order of senders, and for each sender in the order of its table."""
        return np.argsort(self.sender, kind="stable")

    @cached_property
    def first_sender_row(self) -> Numbers:
        """Sender n has the rows ``sender_order[first_sender_row[n]:first_sender_row[n + 1]]``."""
        return offsets_of(np.bincount(self.sender, minlength=self.nodes * self.config.lanes))

    def row_name(self, row: int) -> str:
        """Name a row by its node and its index there: "node 3, row 0"."""
        node = int(np.searchsorted(self.first_row, row, side="right")) - 1
        return f"node {node}, row {row - int(self.first_row[node])}"

    def refusal(self, row: int, what: str, allowed: str, value: object) -> RowError:
        """Return the error of a row that breaks a rule: "node 3, row 0: vc must be 0, not 1"."""
        return RowError(self.row_name(row), row, f"{what} must be {allowed}, not {value}")

    def header_of(self, rows: Numbers) -> npt.NDArray[np.uint64]:
        """Return the header flits of some rows, in the order of ``rows``."""
        flits = self.header_flits
        return self.header[ranges(offsets_of(flits)[rows], flits[rows])]

    @property
    def receiver(self) -> Numbers:
        """The number of each receive's ejection port, numbered like senders."""
        node = np.repeat(np.arange(self.nodes), np.diff(self.first_receive))
        return node * self.config.lanes + np.maximum(self.receive_port - 1, 0)

    @property
    def expected(self) -> npt.NDArray[np.bool_]:
        """Tell for each step whether a port receives: shape (nodes * lanes, 2 ** step_bits)."""
        shape = (self.nodes * self.config.lanes, 1 << self.config.step_bits)
        expected = np.zeros(shape, dtype=np.bool_)
        expected[self.receiver, self.receive_step] = True
        return expected

    @property
    def table_sizes(self) -> Numbers:
        """Words of each sender's table: ``expected`` in front, the rows, and the end mark."""
        words = self.header_flits + self.config.table.control_words
        senders = self.nodes * self.config.lanes
        table = np.bincount(self.sender, words, senders).astype(np.int64)
        return self.config.leading_words + table + 1

    @cached_property
    def rows(self) -> tuple[tuple[Row, ...], ...]:
        """The rows of each node as objects: for small programs, and for files."""
        routes = list(self.routes)
        starts = (None if start == NO_START else start for start in self.start.tolist())
        columns = (self.source_address, self.target_address, self.length)
        fields = zip(
            self.step.tolist(),
            map(routes.__getitem__, self.route.tolist()),
            *(column.tolist() for column in columns),
            starts,
            self.continued.tolist(),
            *(getattr(self, name).tolist() for name in ADDITIONS),
            strict=True,
        )
        rows = [Row(*values) for values in fields]
        return tuple(tuple(rows[begin:end]) for begin, end in pairwise(self.first_row.tolist()))

    @property
    def receives(self) -> tuple[tuple[int, ...], ...]:
        """The steps in which each node receives."""
        return self._by_node(self.receive_step)

    @property
    def receive_ports(self) -> tuple[tuple[int, ...], ...]:
        """The link ports by which each node receives; 0 in a network that is not all-port."""
        return self._by_node(self.receive_port)

    def _by_node(self, column: npt.NDArray[np.int64]) -> tuple[tuple[int, ...], ...]:
        """Split a column of receives by node."""
        values = column.tolist()
        bounds = self.first_receive.tolist()
        return tuple(tuple(values[begin:end]) for begin, end in pairwise(bounds))

    @classmethod
    def from_rows(
        cls,
        config: NetworkConfig,
        port_model: PortModel,
        rows: Sequence[Sequence[Row]],
        receives: Sequence[Sequence[int]],
        *,
        receive_ports: Sequence[Sequence[int]] = (),
        awaited: Sequence[int] = (),
    ) -> Self:
        """Make the columns from rows and receives given node by node.

        ``receive_ports`` has a port for each receive of an all-port network, and is empty in any
        other. Without ``awaited``, no node awaits packets of timed rows.
        """
        nodes = config.topology.nodes
        listed = list(chain.from_iterable(rows))
        numbers: dict[tuple[Segment, ...], int] = {}
        route = [numbers.setdefault(row.route, len(numbers)) for row in listed]
        for node, node_rows in enumerate(rows):
            for place, row in enumerate(node_rows):
                if row.start is not None:
                    require_range(f"node {node}, row {place}: start", row.start, 0)
        for node, packets in enumerate(awaited):
            most = int(np.iinfo(np.int64).max)
            require_range(f"awaited packets of node {node}", packets, 0, most)
        ports = receive_ports if config.all_port else [(0,) * len(steps) for steps in receives]
        _require_ports(receives, ports)
        return cls(
            config=config,
            port_model=port_model,
            first_row=offsets_of([len(node_rows) for node_rows in rows]),
            step=_column(row.step for row in listed),
            start=_column(NO_START if row.start is None else row.start for row in listed),
            source_address=_column(row.source_address for row in listed),
            target_address=_column(row.target_address for row in listed),
            length=_column(row.length for row in listed),
            continued=np.array([row.continued for row in listed], dtype=np.bool_),
            **{name: _column(getattr(row, name) for row in listed) for name in ADDITIONS},
            route=_column(route),
            routes=Routes.of(list(numbers)),
            first_receive=offsets_of([len(steps) for steps in receives]),
            receive_step=_column(chain.from_iterable(receives)),
            receive_port=_column(chain.from_iterable(ports)),
            awaited=_column(awaited or [0] * nodes),
        )


def _require_bounds(name: str, bounds: Numbers, end: int) -> None:
    """Raise :class:`InvalidInput` unless ``bounds`` rise from 0 to ``end``."""
    if bounds[0] != 0 or bounds[-1] != end or (np.diff(bounds) < 0).any():
        raise InvalidInput.of(f"program: {name}", f"rising from 0 to {end}", bounds.tolist()[:9])


def _column(values: Iterable[int]) -> npt.NDArray[np.int64]:
    return np.array([*values], dtype=np.int64)


def _require_ports(receives: Sequence[Sequence[int]], ports: Sequence[Sequence[int]]) -> None:
    """Raise :class:`InvalidInput` unless each receive has a port."""
    for node, steps in enumerate(receives):
        given = len(ports[node]) if ports else 0
        if given != len(steps):
            raise InvalidInput.of(f"receive ports of node {node}", f"{len(steps)} long", given)
