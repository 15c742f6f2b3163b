"""The crossbar's multiplexer, which selects the granted flit (docs/router.md, section 3: move)."""

from amaranth.hdl import C, Module, Mux, Value
from amaranth.lib import data
from amaranth.lib.wiring import Component, In, Out

from .technology import PLAIN, Technology


class CrossbarMux(Component):
    """Multiplexer of the values of all requesters, controlled by a grant.

    Used by :class:`.OutputPort` and :class:`.DirectRouter`. An :class:`.Arbiter` tells its grant in
    three forms: one-hot grant; one-hot group and candidates; group number and candidates. A
    technology may use the cheapest: :attr:`.Technology.crossbar_mux`.

    Parameters
    ----------
    width
        Bits of a value.
    groups, members
        Number of groups, and of values in each. Values are numbered group by group.
    technology
        How the multiplexer is made.

    Members
    -------
    values : In
        The value of each requester, by number.
    grant, wins, group, candidates : In
        As for :class:`.Arbiter`. Valid in every cycle.
    value : Out(width)
        The granted requester's value. Without a grant any value, or 0
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
        """Combine each value with its grant bit by AND, and the results by OR."""
        if self._technology.crossbar_mux is not None:
            return self._technology.crossbar_mux(self)
        m = Module()
        granted: Value = C(0)
        for place in range(len(self.grant)):
            granted |= Mux(self.grant[place], self.values[place], 0)
        m.d.comb += self.value.eq(granted)
        return m
