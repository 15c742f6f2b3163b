"""The choice of the flit that leaves an output (docs/router.md, section 3: grant)."""

from typing import NamedTuple

from amaranth.hdl import C, Cat, Module, Mux, Signal, Value
from amaranth.lib import data
from amaranth.lib.wiring import Component, In, Out

from .assertions import Assertions, asserted, one_hot_or_zero


@asserted
class Arbiter(Component):
    """Grants one request per cycle: of the next ready VC, the first from that VC's turn on.

    Used by :class:`.OutputPort`. A requester is a buffer, a group the buffers of one input port.
    Requesters are numbered group by group.

    Parameters
    ----------
    groups, members
        Number of groups, and of requesters in each: at least 1.
    vcs
        VCs of the output.
    delivers
        The output leads to the interface: only member v of each group asks for VC v.
    interface
        The last group belongs to the interface; false if the output ``delivers`` or the router is a
        switch's. With more than one VC, the order of turns visits the other groups twice: once
        before the interface's group, once after it.

    Members
    -------
    requests : In(groups * members).array(vcs)
        For each VC one bit per requester: 1 if it asks in this cycle.
    credited : In(vcs)
        High for each VC on which a flit may be sent in this cycle.
    begins : In(vcs)
        High if the flit granted on the VC moves the VC's turn. Used only in the cycle of a grant.
    granted : Out(vcs)
        The VC of the grant, one-hot; 0 without a grant. As all outputs, it depends on the requests
        of the same cycle.
    grant : Out(groups * members)
        The granted requester, one-hot; 0 without a grant.
    wins : Out(groups)
        The granted requester's group, one-hot; 0 without a grant.
    group : Out
        The number of that group, known as soon as ``wins``. Valid during a grant.
    candidates : Out(members), by group
        For each group, one-hot: the requester to grant if this group wins. Valid during a grant,
        for the group that ``wins``.

    """

    def __init__(
        self,
        groups: int,
        members: int = 1,
        *,
        vcs: int = 1,
        delivers: bool = False,
        interface: bool = True,
    ) -> None:
        self._groups = groups
        self._members = members
        self._vcs = vcs
        self._delivers = delivers
        self._interface = interface
        super().__init__(
            {
                "requests": In(groups * members).array(vcs),
                "credited": In(vcs),
                "begins": In(vcs),
                "granted": Out(vcs),
                "grant": Out(groups * members),
                "wins": Out(groups),
                "group": Out(range(groups)),
                "candidates": Out(data.ArrayLayout(members, groups)),
            }
        )

    def assertions(self, check: Assertions) -> None:
        """State that a ready VC's request is granted, and nothing else."""
        ready = Cat(
            asked.any() & may for asked, may in zip(self.requests, self.credited, strict=True)
        )
        asked = C(0, len(self.grant))
        for granted, requests in zip(self.granted, self.requests, strict=True):
            asked |= Mux(granted, requests, 0)
        groups = [self.grant.word_select(each, self._members) for each in range(self._groups)]
        if self._delivers:
            own = [C(1 << vc, self._members).replicate(self._groups) for vc in range(self._vcs)]
            check.requires(
                "requests_for_the_own_vc",
                ~Cat(asks & ~may for asks, may in zip(self.requests, own, strict=True)).any(),
            )
        check.ensures("one_grant", one_hot_or_zero(self.grant) & one_hot_or_zero(self.granted))
        check.ensures("grant_of_a_request", ~(self.grant & ~asked).any())
        check.ensures("grant_of_a_ready_vc", ~(self.granted & ~ready).any())
        check.ensures("grant_if_a_vc_is_ready", self.grant.any() == ready.any())
        check.ensures("grant_with_its_vc", self.grant.any() == self.granted.any())
        check.ensures("group_of_the_grant", self.wins == Cat(each.any() for each in groups))
        for number, group in enumerate(groups):
            wins = self.wins[number]
            check.ensures(f"group_{number}_by_number", ~wins | (self.group == number))
            check.ensures(f"candidate_{number}", ~wins | (self.candidates[number] == group))

    def elaborate(self, _platform: object) -> Module:
        """Choose a requester for each VC, by contests in and between groups; then choose a VC."""
        m = Module()
        turns = [self._turn(vc) for vc in range(self._vcs)]
        groups = [
            [self._contest(m, vc, turn, group) for group in range(self._groups)]
            for vc, turn in enumerate(turns)
        ]
        winners = [_first(m, contests) for contests in groups]
        ready = Signal(self._vcs)
        m.d.comb += ready.eq(self._ready(winners))
        vc = self._choose_vc(m, ready)
        m.d.comb += [
            self.granted.eq(Cat((vc == number) & ready[number] for number in range(self._vcs))),
            self.group.eq(_of(vc, [winner.number for winner in winners])),
        ]
        members = []
        for group, contests in enumerate(zip(*groups, strict=True)):
            members.append(_of(vc, [contest.number for contest in contests]))
            self._elaborate_group(m, group, winners, contests)
            m.d.comb += self.candidates[group].eq(
                Cat(members[-1] == member for member in range(self._members))
            )
        # 1 if the order reached the granted buffer without wrapping.
        masked = _of(vc, [winner.masked for winner in winners])
        after = self._after(members, _of(vc, [turn[-1] for turn in turns]) == masked)
        for number, turn in enumerate(turns):
            with m.If(self.granted[number] & self.begins[number]):
                m.d.sync += turn.eq(after)
        return m

    def _elaborate_group(self, m: Module, group: int, winners, contests) -> None:
        """Drive a group's ``wins`` and ``grant`` bits by a short logic path."""
        wins = Signal(self._vcs, name=f"wins_{group}")
        for vc, winner in enumerate(winners):
            # With one VC, "this group asks" is known before "some group asks".
            may = contests[0].asked if self._vcs == 1 else self.granted[vc]
            m.d.comb += wins[vc].eq(winner.places[group] & may)
        granted = [
            Cat(won & contest.places[member] for won, contest in zip(wins, contests, strict=True))
            for member in range(self._members)
        ]
        m.d.comb += [
            self.wins[group].eq(wins.any()),
            self.grant.word_select(group, self._members).eq(Cat(each.any() for each in granted)),
        ]

    def _turn(self, vc: int) -> Signal:
        """Return a VC's mask of the requesters from its turn on; they come before all others.

        An empty mask means all requesters. If the order visits the other groups twice, the mask's
        bits for the interface's group are clear while the turn is after that group.
        """
        requesters = self._groups * self._members
        links = requesters - self._members * self._interface
        return Signal(requesters, init=(1 << requesters) - (1 << links), name=f"from_turn_{vc}")

    def _contest(self, m: Module, vc: int, turn: Signal, group: int) -> "_Contest":
        """Return a group's first requester; with one VC a flit without a credit does not ask."""
        asking = self.requests[vc].word_select(group, self._members)
        if self._vcs == 1:
            asking &= self.credited.replicate(self._members)
        masked = asking & turn.word_select(group, self._members)
        entries = [_requester(*pair) for pair in zip(asking, masked, strict=True)]
        if self._delivers:
            places = tuple(C(member == vc, 1) for member in range(self._members))
            return entries[vc]._replace(number=C(vc, range(self._members)), places=places)
        return _first(m, entries)

    def _ready(self, winners: list["_Contest"]) -> Value:
        """Return the VCs on which a flit can be sent."""
        asked = Cat(winner.asked for winner in winners)
        return asked if self._vcs == 1 else asked & self.credited

    def _choose_vc(self, m: Module, ready: Signal) -> Value:
        """Return the first ready VC, from the one after the last granted VC on."""
        from_next = Signal(self._vcs)
        pairs = zip(ready, ready & from_next, strict=True)
        choice = _first(m, [_requester(*pair) for pair in pairs])
        with m.If(ready.any()):
            m.d.sync += from_next.eq(Cat(choice.number < number for number in range(self._vcs)))
        return choice.number

    def _after(self, members: list[Signal], stays: Value) -> Value:
        """Return the mask of the turn after a grant.

        ``stays``: a granted link's buffer was reached before the interface's group, so the mask
        keeps that group.
        """
        after = [
            (self.group < group) | (self.group == group) & (number < member)
            for group, number in enumerate(members)
            for member in range(self._members)
        ]
        if self._vcs == 1 or not self._interface:
            return Cat(after)
        entered, last = self.group == self._groups - 1, self._members - 1
        links, interface = after[: -self._members], after[-self._members :]
        behind = members[-1] == last
        return Cat(
            *(Mux(entered, behind, each) for each in links),
            *(Mux(entered, each, stays) for each in interface),
        )


class _Contest(NamedTuple):
    """Contest of several entries: the first entry that asks wins.

    asked, masked
        Some entry asks; some entry asks and is in the mask.
    number, places
        The winner's number, binary and one-hot; any value if no entry asks.
    """

    asked: Value
    masked: Value
    number: Value
    places: tuple[Value, ...]


def _requester(asked: Value, masked: Value) -> _Contest:
    """Return a contest of one entry."""
    return _Contest(asked, masked, C(0, 0), (C(1, 1),))


def _first(m: Module, entries: list[_Contest]) -> _Contest:
    """Return the contest's result: the first entry in the mask, or the first if none is.

    The entries are halved again and again: one LUT decides between two results.
    """
    if len(entries) == 1:
        return _requester(entries[0].asked, entries[0].masked)
    half = 1 << (len(entries) - 1).bit_length() - 1
    low, high = _first(m, entries[:half]), _first(m, entries[half:])
    # Signals, so that a shared expression is built once.
    asked, masked, is_high = Signal(name="asked"), Signal(name="masked"), Signal(name="is_high")
    number = Cat(Mux(is_high, high.number, low.number), is_high)
    m.d.comb += [
        asked.eq(low.asked | high.asked),
        masked.eq(low.masked | high.masked),
        is_high.eq(~low.masked & (high.masked | ~low.asked)),
    ]
    places = *(~is_high & each for each in low.places), *(is_high & each for each in high.places)
    return _Contest(asked, masked, number, places)


def _of(number: Value, values: list[Value]) -> Value:
    """Return the value at index ``number``."""
    chosen = values[-1]
    for place, value in reversed(list(enumerate(values[:-1]))):
        chosen = Mux(number == place, value, chosen)
    return chosen


def number_of(bits: Value) -> Value:
    """Return the index of the only set bit."""
    places = range(len(bits))
    return Cat(
        Cat(bits[place] for place in places if place >> digit & 1).any()
        for digit in range((len(bits) - 1).bit_length())
    )
