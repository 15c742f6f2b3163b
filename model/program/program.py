"""Programs: the injection tables that make a network carry out a schedule.

A row is a *put*: in a step, copy ``length`` words from an address of this node to an address of the
node at the end of a route. A program stores rows as columns (:class:`~.table.ProgramTable`); single
rows (:class:`~.row.Row`) are a view for files, messages and programs written by hand.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from functools import cached_property
from itertools import chain, pairwise

import numpy as np
import numpy.typing as npt

from ..base.errors import InvalidInput, require_range
from ..base.pieces import offsets_of
from ..network.config import NetworkConfig
from ..network.port_model import PortModel
from ..network.segment import Routes, Segment
from .checks import check_program
from .node_table import TableLine, node_table
from .row import Row
from .table import ADDITIONS, NO_START, ProgramTable


class Program(ProgramTable):
    """The tables of every node of a network, and the network they are made for."""

    def check(self) -> None:
        """Raise :class:`InvalidInput` for the first row that the network cannot carry out.

        The rules are those of :func:`.check_program`.
        """
        check_program(self)

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

    def table(self, node: int) -> list[TableLine]:
        """Return the injection table of ``node`` as text: a line for each of its rows.

        Raises :class:`.InvalidInput` for a node that is not in the network.
        """
        require_range("node", node, 0, self.nodes - 1)
        return node_table(self, node)

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
    ) -> Program:
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


def _column(values: Iterable[int]) -> npt.NDArray[np.int64]:
    return np.array([*values], dtype=np.int64)


def _require_ports(receives: Sequence[Sequence[int]], ports: Sequence[Sequence[int]]) -> None:
    """Raise :class:`InvalidInput` unless each receive has a port."""
    for node, steps in enumerate(receives):
        given = len(ports[node]) if ports else 0
        if given != len(steps):
            raise InvalidInput.of(f"receive ports of node {node}", f"{len(steps)} long", given)
