"""The crossbar's multiplexer: one of several flits (docs/router.md, section 3: move)."""

from amaranth.hdl import C, Module, Mux, Value
from amaranth.lib import data
from amaranth.lib.wiring import Component, In, Out


def rests_at_zero(platform: object) -> bool:
    """Tell whether a :class:`CrossbarMux` gives 0 where nothing is granted.

    It does unless a platform that makes its own has an attribute ``crossbar_rests_at_zero`` that
    says otherwise, or none.
    """
    made_here = not hasattr(platform, "get_crossbar_mux")
    return bool(getattr(platform, "crossbar_rests_at_zero", made_here))


class CrossbarMux(Component):
    """Gives the value that is granted.

    It is told three times which one that is, as a :class:`.RoundRobinArbiter` tells it, so that it
    may be made in more than one way. A platform may have its own, made by a method
    ``get_crossbar_mux``.

    Parameters
    ----------
    width
        Bits of a value.
    groups, members
        Values are numbered group by group.

    Attributes
    ----------
    values : In
        By number.
    grant, wins, group, candidates : In
        As for :class:`.RoundRobinArbiter`.
    value : Out(width)
        The one granted; where none is, anything, or 0 (:func:`rests_at_zero`).

    """

    def __init__(self, width: int, groups: int, members: int) -> None:
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

    def elaborate(self, platform: object) -> Module:
        """An AND-OR of all: the grant is one-hot."""
        if hasattr(platform, "get_crossbar_mux"):
            made: Module = platform.get_crossbar_mux(self)
            return made
        m = Module()
        granted: Value = C(0)
        for place in range(len(self.grant)):
            granted |= Mux(self.grant[place], self.values[place], 0)
        m.d.comb += self.value.eq(granted)
        return m
