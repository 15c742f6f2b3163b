"""Registers between all nodes and the middle of the network (docs/router.md, section 10).

::

    nodes ─► groups ─► groups of groups ─► all       combined on the way, a register at each level
    all ─► ... ─► a copy for each group ─► nodes     a register at each level, copies at the last

Used by :class:`.Network`.
"""

from collections.abc import Callable, Sequence

from amaranth.hdl import Module, Signal, Value

from ..model.network.config import NetworkConfig

COPY = "_copy_"
"""A name for equal registers that synthesis must not merge."""

LARGEST_GROUP = 4
"""Nodes that share a copy: few enough to be near its register."""


def registered(m: Module, value: Value, name: str) -> Signal:
    """Return ``value`` one cycle late, in reset too; the register's ``init`` is the signal's."""
    init = value.init if isinstance(value, Signal) else 0
    register = Signal(len(value), name=name, init=init, reset_less=True)
    m.d.sync += register.eq(value)
    return register


class BroadcastTree:
    """The registers from all nodes to the middle, and those back to the nodes.

    Together they are ``barrier_registers`` deep. They are in the domain "sync" and have no reset.

    Attributes
    ----------
    up, down : int
        Registers on the way from the nodes, and on the way to them.
    sharing : int
        This many successive nodes share one copy of a signal from the middle.

    """

    def __init__(self, config: NetworkConfig) -> None:
        self._nodes = config.topology.nodes
        self.down = config.barrier_registers // 2
        self.up = config.barrier_registers - self.down
        self.sharing = LARGEST_GROUP if self.down else self._nodes

    def from_all(
        self,
        m: Module,
        name: str,
        values: Sequence[Value],
        combine: Callable[[Sequence[Value]], Value],
    ) -> Value:
        """Combine the values of all nodes into one, ``up`` cycles late."""
        # The least fan-in with which a single value is left after the last register.
        fan_in = 1
        while self.up and fan_in**self.up < self._nodes:
            fan_in += 1
        for level in range(self.up):
            groups = [values[first : first + fan_in] for first in range(0, len(values), fan_in)]
            values = [
                registered(m, combine(group), f"{name}_{level}_{number}")
                for number, group in enumerate(groups)
            ]
        return combine(values)

    def to_all(self, m: Module, name: str, value: Signal) -> list[Signal]:
        """Return for each node its copy of the middle's signal ``value``, ``down`` cycles late."""
        if not self.down:
            return [value] * self._nodes
        for level in range(self.down - 1):
            value = registered(m, value, f"{name}_{level}")
        groups = range(-(-self._nodes // self.sharing))
        copies = [registered(m, value, f"{name}{COPY}{group}") for group in groups]
        return [copies[node // self.sharing] for node in range(self._nodes)]
