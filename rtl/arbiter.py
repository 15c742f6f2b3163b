"""Round-robin choice (docs/router.md, section 3: grant)."""

from typing import NamedTuple

from amaranth.hdl import C, Cat, Module, Mux, Signal, Value
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
        """A contest in each group, and one of the groups."""
        m = Module()
        # Requesters from the turn on. After the last one it is empty, which means the same as full.
        from_turn = Signal.like(self.requests)
        groups = []
        for group in range(self._groups):
            asking = self.requests.word_select(group, self._members)
            masked = asking & from_turn.word_select(group, self._members)
            entries = [_Contest(*pair, C(0, 0)) for pair in zip(asking, masked, strict=True)]
            first = _first(entries)
            groups.append(first)
            m.d.comb += self.candidates[group].eq(_one_hot(entries, first.number))
        winner = _first(groups)
        m.d.comb += [
            self.group.eq(winner.number),
            self.wins.eq(_one_hot(groups, self.group)),
        ]
        for group in range(self._groups):
            m.d.comb += self.grant.word_select(group, self._members).eq(
                Mux(self.wins[group], self.candidates[group], 0)
            )
        with m.If(winner.asked):
            m.d.sync += from_turn.eq(self._after(groups))
        return m

    def _after(self, groups: list["_Contest"]) -> Value:
        """The requesters after the one that is granted."""
        return Cat(
            (self.group < group) | (self.group == group) & (contest.number < member)
            for group, contest in enumerate(groups)
            for member in range(self._members)
        )


class _Contest(NamedTuple):
    """Which of several entries is the first one that asks.

    asked, masked
        One of them asks; one that the mask lets through.
    number
        Of the first entry; anything where none asks.
    """

    asked: Value
    masked: Value
    number: Value


def _first(entries: list[_Contest]) -> _Contest:
    """The first masked one, else the first one; of halves, as two entries need one LUT."""
    if len(entries) == 1:
        asked, masked, _ = entries[0]
        return _Contest(asked, masked, C(0, 0))
    half = 1 << (len(entries) - 1).bit_length() - 1
    low, high = _first(entries[:half]), _first(entries[half:])
    is_high = ~low.masked & (high.masked | ~low.asked)
    number = Cat(Mux(is_high, high.number, low.number), is_high)
    return _Contest(low.asked | high.asked, low.masked | high.masked, number)


def _one_hot(entries: list[_Contest], number: Value) -> Value:
    """The entry of that number, if it asks."""
    return Cat((number == place) & entry.asked for place, entry in enumerate(entries))


def number_of(bits: Value) -> Value:
    """The place of the only bit that is set."""
    places = range(len(bits))
    return Cat(
        Cat(bits[place] for place in places if place >> digit & 1).any()
        for digit in range((len(bits) - 1).bit_length())
    )
