"""A processor at a node: a state machine that multiplies a few rows of a matrix by a vector.

::

    x is here ─► reads x[k], a[0][k], a[1][k] ... for each k ─► writes its part of y ─► lets go
    (arrived)    a word a cycle, when its node reads none         a word a cycle        (hold)
"""

from amaranth.hdl import Array, Module, Mux, Signal
from amaranth.lib.wiring import Component, Out

from eyecast.model.network.config import NetworkConfig
from eyecast.rtl.parts.tile_port import TilePort

from .plan import GATHER, SPREAD, Plan

FACTOR_BITS = 16
"""Low bits of a matrix or vector word that are used, as a signed number."""


class Processor(Component):
    """Multiplies rows of a matrix in the memory of its node by the vector that comes there.

    Parameters
    ----------
    config
        The network.
    plan
        Where in the memory everything is.
    node
        The node's number, which says what part of the result is its own.

    Members
    -------
    port : Out(TilePort)
        To the node. ``hold`` keeps the node from sending its part of y before it is there.
    computes : Out(1)
        From the cycle on in which x is here until all of this node's part of y is written.

    """

    def __init__(self, config: NetworkConfig, plan: Plan, node: int) -> None:
        self._width = config.flit_width
        self._plan = plan
        self._node = node
        super().__init__({"port": Out(TilePort(config)), "computes": Out(1)})

    def elaborate(self, _platform: object) -> Module:
        """Wait, read and multiply, write; a program of the network runs between these states."""
        m = Module()
        port, begun, ready = self.port, Signal(), Signal()
        m.d.comb += port.hold.eq((port.program == GATHER) & ~ready)
        spreads = port.program == SPREAD
        with m.If(spreads & ~port.running):
            # Another vector is going to come.
            m.d.sync += [begun.eq(0), ready.eq(0)]
        # The first node has the vector before it is sent to all others.
        is_here = port.running if self._node == 0 else port.arrived
        sums = Array(
            Signal(self._width, name=f"sum_{row}") for row in range(self._plan.rows_of_node)
        )
        with m.FSM():
            with m.State("WAIT"), m.If(spreads & is_here & ~begun):
                m.d.sync += [begun.eq(1), *(each.eq(0) for each in sums)]
                m.next = "READ"
            with m.State("READ"):
                m.d.comb += self.computes.eq(1)
                self._elaborate_products(m, sums)
            with m.State("WRITE"):
                m.d.comb += self.computes.eq(1)
                self._elaborate_writes(m, sums, ready)
        return m

    def _elaborate_products(self, m: Module, sums: Array) -> None:
        """Request x[k], then a[0][k], a[1][k] ...; multiply each arriving a[i][k] by x[k]."""
        port, plan = self.port, self._plan
        rows = plan.rows_of_node
        row, column = Signal(range(rows + 1)), Signal(range(plan.size + 1))
        came, came_row = Signal(), Signal.like(row)
        factor, data = Signal(FACTOR_BITS), port.read_data[:FACTOR_BITS]
        # Row 0 stands for the vector; the matrix's rows follow.
        m.d.comb += [
            port.read_valid.eq(column != plan.size),
            port.read_address.eq(
                Mux(row == 0, plan.vector, plan.matrix - plan.size + row * plan.size) + column
            ),
        ]
        taken = port.read_valid & port.read_ready
        m.d.sync += [came.eq(taken), came_row.eq(row)]
        with m.If(taken):
            m.d.sync += row.eq(Mux(row == rows, 0, row + 1))
            with m.If(row == rows):
                m.d.sync += column.eq(column + 1)
        with m.If(came & (came_row == 0)):
            m.d.sync += factor.eq(data)
        with m.If(came & (came_row != 0)):
            product = factor.as_signed() * data.as_signed()
            m.d.sync += sums[came_row - 1].eq(sums[came_row - 1] + product)
        with m.If(~port.read_valid & ~came):
            m.d.sync += column.eq(0)
            m.next = "WRITE"

    def _elaborate_writes(self, m: Module, sums: Array, ready: Signal) -> None:
        """Write this node's part of y to the words that the network sends."""
        port, plan = self.port, self._plan
        row = Signal(range(plan.rows_of_node + 1))
        m.d.comb += [
            port.write_valid.eq(1),
            port.write_address.eq(plan.result + self._node * plan.rows_of_node + row),
            port.write_data.eq(sums[row]),
        ]
        with m.If(port.write_ready):
            m.d.sync += row.eq(row + 1)
            with m.If(row == plan.rows_of_node - 1):
                m.d.sync += [row.eq(0), ready.eq(1)]
                m.next = "WAIT"
