"""The crossbar's multiplexer: one of several flits (docs/router.md, section 3: move)."""

from amaranth.hdl import C, Module, Mux, Value
from amaranth.lib import data
from amaranth.lib.wiring import Component, In, Out

from .technology import PLAIN, Technology


class CrossbarMux(Component):
    """Gives the value that is granted.

    Used by :class:`.OutputPort` and :class:`.DirectRouter`. The selection comes in three forms, as
    from an :class:`.Arbiter` (one-hot grant; one-hot group and candidates; group number and
    candidates), so that a technology may use the cheapest: :attr:`.Technology.crossbar_mux`.

    Parameters
    ----------
    width
        Bits of a value.
    groups, members
        Values are numbered group by group.
    technology
        What it is made of.

    Members
    -------
    values : In
        By number, in every cycle.
    grant, wins, group, candidates : In
        As for :class:`.Arbiter`, in every cycle.
    value : Out(width)
        The one granted in this cycle; where none is, anything, or 0
        (:attr:`.Technology.crossbar_rests_at_zero`).

    """

    def __init__(
        self, width: int, groups: int, members: int, *, technology: Technology = PLAIN
    ) -> None:
        self._technology = technology
        super().__init__(
            {
                "values": In(data.ArrayLayout(width, groups * members)),
                "grant": In(groups * members),
                "wins": In(groups),
                "group": In(range(groups)),
                "candidates": In(data.ArrayLayout(members, groups)),
                "value": Out(width),
            }
        )

    def elaborate(self, _platform: object) -> Module:
        """Combine all inputs by AND and OR: the grant is one-hot."""
        if self._technology.crossbar_mux is not None:
            return self._technology.crossbar_mux(self)
        m = Module()
        granted: Value = C(0)
        for place in range(len(self.grant)):
            granted |= Mux(self.grant[place], self.values[place], 0)
        m.d.comb += self.value.eq(granted)
        return m
