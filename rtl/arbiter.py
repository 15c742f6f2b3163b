"""Round-robin choice (docs/router.md, section 3: grant)."""

from amaranth.hdl import Cat, Module, Mux, Signal, Value
from amaranth.lib import data
from amaranth.lib.wiring import Component, In, Out


class RoundRobinArbiter(Component):
    """Picks one request, the first in cyclic order from the turn, which then goes to the next one.

    Requesters are numbered group by group. How they are grouped changes nothing in who is picked,
    but what is picked is known in parts: the group, and in each group the one it would be.

    Parameters
    ----------
    groups, members
        Number of groups, and of requesters in each: at least 1.

    Attributes
    ----------
    requests : In(groups * members)
        One bit per requester.
    grant : Out(groups * members)
        The chosen one, one-hot; 0 where there is no request. Combinational. At the end of the
        cycle the turn goes to the requester after it.
    wins : Out(groups)
        Its group, one-hot; 0 where there is no request.
    group : Out
        Its group's number, known as soon as ``wins``; anything where there is no request.
    candidates : Out(members), by group
        One-hot: the one that it is if it is in this group; 0 where none of the group asks.

    """

    def __init__(self, groups: int, members: int = 1) -> None:
        self._groups = groups
        self._members = members
        super().__init__(
            {
                "requests": In(groups * members),
                "grant": Out(groups * members),
                "wins": Out(groups),
                "group": Out(range(groups)),
                "candidates": Out(data.ArrayLayout(members, groups)),
            }
        )

    def elaborate(self, _platform: object) -> Module:
        """A mask of those from the turn on; the lowest masked request wins, else the lowest."""
        m = Module()
        groups, members = range(self._groups), self._members
        # After the last requester it is empty, which means the same as full.
        from_turn, masked = Signal.like(self.requests), Signal.like(self.requests)
        asking, asking_masked = Signal(self._groups), Signal(self._groups)
        m.d.comb += masked.eq(self.requests & from_turn)
        for group in groups:
            asked = self.requests.word_select(group, members)
            asked_masked = masked.word_select(group, members)
            m.d.comb += [
                asking[group].eq(asked.any()),
                asking_masked[group].eq(asked_masked.any()),
                self.candidates[group].eq(
                    Mux(asked_masked.any(), _lowest(asked_masked), _lowest(asked))
                ),
                self.grant.word_select(group, members).eq(
                    Mux(self.wins[group], self.candidates[group], 0)
                ),
            ]
        first_masked, first = _lowest(asking_masked), _lowest(asking)
        any_masked = asking_masked.any()
        m.d.comb += [
            self.wins.eq(Mux(any_masked, first_masked, first)),
            self.group.eq(Mux(any_masked, number_of(first_masked), number_of(first))),
        ]
        with m.If(asking.any()):
            after = _above(self.wins)
            m.d.sync += from_turn.eq(
                Cat(
                    after[group].replicate(members)
                    | Mux(self.wins[group], _above(self.candidates[group]), 0)
                    for group in groups
                )
            )
        return m


def _above(bits: Value) -> Value:
    """The places above the lowest bit that is set.

    Written out: a subtraction would take a carry chain, slow and large for so few bits.
    """
    return Cat(bits[:place].any() for place in range(len(bits)))


def _lowest(bits: Value) -> Value:
    """The lowest bit that is set, alone."""
    return bits & ~_above(bits)


def number_of(bits: Value) -> Value:
    """The place of the only bit that is set."""
    places = range(len(bits))
    return Cat(
        Cat(bits[place] for place in places if place >> digit & 1).any()
        for digit in range((len(bits) - 1).bit_length())
    )
