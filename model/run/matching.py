r"""Matching of the packets that left each router with those that arrived there.

An arriving packet stands in a queue: one VC of an input port. Each packet that leaves by an output
VC is matched with a packet at the front of a queue::

    from a link    [ packet | packet | ... ] --\
    from a link    [ packet | ... ] -------------> [router] --> output in the front packet's header
    from the rows  [ packet | packet | ... ] --/

One walk through a router's departures so proves order and routes, and finds the cycles of each flit
in its buffer. If equal packets are at the front of several queues, the walk takes the one that must
leave first, and goes back to try another if that fails. After :data:`MOST_RETRIES` such retries it
only counts: each departure must still have an arrival with its header, but the order of the router
and its buffers are not proved. So no correct trace is refused.
"""

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from ..base.arrays import Numbers
from ..program.program import Program
from .looks import Side, looks_of
from .packets import Packets, TraceError, flit_error, injected_flits, later, packets_of, routed
from .trace import Trace
from .walk import (
    NEVER,
    Arrivals,
    Departures,
    Steps,
    advance,
    find_latest,
    first_stranger,
    ready_after,
    same,
    take,
    write_left,
)

MOST_RETRIES = 20_000
"""Choices between equal packets that the walk takes back in one router before it only counts."""


@dataclass(frozen=True, eq=False)
class Buffered:
    """Flits that arrived at routers, and the cycle in which each left its buffer.

    Flits of port 0 are those that a node's rows inject. ``left`` is :data:`NEVER` for flits still
    in a buffer at the end of the trace. For each packet, ``exit`` is the output VC by which it
    leaves, or -1; ``front`` its first flit that is not dropped; ``sure`` is true if no other packet
    can have left in its place.
    """

    arrivals: Packets
    left: Numbers
    exit: Numbers
    front: Numbers
    sure: npt.NDArray[np.bool_]


class Matching:
    """A matching of departures, packets that left routers, with arrivals, packets that came there.

    ``came`` and ``went`` have them as arrays for the compiled walk. An arrival may be a departure
    if its ``kind`` is in the departure's ``looks``.
    """

    def __init__(self, program: Program, departures: Packets, *, complete: bool) -> None:
        config, flits = program.config, departures.flits
        moving = Trace(*(column[flits.port != 0] for column in flits.columns))
        self.arrivals = arrivals = packets_of(config, Trace.join([moving, injected_flits(program)]))
        self.departures, self.config, self.complete = departures, config, complete
        self.router, front, exits, first = routed(config, arrivals)
        own = Side(departures, departures.channel, departures.begin, flits.data[departures.begin])
        looks, own_looks = looks_of(Side(arrivals, exits, front, first), own)
        injected = arrivals.flits.port[arrivals.begin] == 0
        self.header_look = looks[:, 0]
        self.went = Departures(
            begin=departures.begin,
            end=departures.end,
            whole=departures.whole,
            tail=np.where(departures.whole, flits.cycle[departures.end - 1], NEVER),
            channel=departures.channel,
            looks=own_looks,
            gone=flits.cycle,
            marks=flits.kind,
            data=flits.data,
        )
        cycle, over_link = arrivals.flits.cycle, arrivals.flits.port != 0
        registers = config.registers_of_links[arrivals.flits.node, arrivals.flits.port]
        credit = later(arrivals, -config.depth, cycle - registers - 1, NEVER)
        self.came = Arrivals(
            first_flit=arrivals.begin,
            start=front,
            stop=arrivals.end,
            first=first,
            exit=exits,
            kind=np.where(injected, looks[:, 0], looks[:, 1]),
            latest=np.full(len(front), NEVER),
            came=cycle + registers,
            credit=np.where(over_link, credit, NEVER),
            port=arrivals.flits.port,
            marks=arrivals.flits.kind,
            data=arrivals.flits.data,
        )
        self.drops = np.append(front > arrivals.begin, False)
        self._find_latest()

    def _find_latest(self) -> None:
        """Find the last cycle in which each arrival's first flit can have left."""
        went = self.went
        heads = went.gone[went.begin]
        channels = self.config.topology.nodes * self.config.topology.ports * self.config.vcs
        # The exit -1 finds the additional last one, which stays NEVER.
        unfinished = np.full(channels + 1, NEVER)
        unfinished[went.channel[~went.whole]] = heads[~went.whole]
        look, head = went.looks[went.whole].ravel(), np.repeat(heads[went.whole], 2)
        order = np.lexsort((head, look))
        numbers = np.arange(max(self.came.kind.max(initial=0), look.max(initial=0)) + 2)
        find_latest(
            self.came,
            self.arrivals.channel,
            unfinished[self.came.exit],
            head[order],
            np.searchsorted(look[order], numbers),
            self.complete,
        )

    def run(self) -> Buffered:
        """Match all routers; raise :class:`TraceError` if a router has no matching."""
        begin, flits = self.departures.begin, self.departures.flits
        node = flits.node[begin]
        order = np.lexsort((flits.cycle[begin], node))
        nodes = range(self.config.topology.nodes + 1)
        bounds = np.searchsorted(node[order], nodes)
        alike = np.lexsort((self.came.kind, self.router))
        alike_bounds = np.searchsorted(self.router[alike], nodes)
        starts = np.flatnonzero(np.diff(self.arrivals.channel, prepend=-1))
        stops = np.append(starts, len(self.arrivals.channel))[1:]
        by_router = np.argsort(self.router[starts], kind="stable")
        queues = np.stack((starts, stops))[:, by_router]
        queue_bounds = np.searchsorted(self.router[queues[0]], nodes)
        left = np.full(len(self.arrivals.flits), NEVER)
        counted = []
        for here in nodes[:-1]:
            departures = order[bounds[here] : bounds[here + 1]]
            ranges = queues[:, queue_bounds[here] : queue_bounds[here + 1]]
            walk = _Walk(self, ranges, departures, strict=True)
            if walk.finds_stranger(alike[alike_bounds[here] : alike_bounds[here + 1]]):
                raise walk.error()
            if walk.search():
                walk.write(left)
            elif walk.retries > MOST_RETRIES:
                walk.count(left)
                counted.append(here)
            else:
                # If only the rule of the buffers is broken, its own check reports that.
                walk = _Walk(self, ranges, departures, strict=False)
                if not walk.search():
                    raise walk.error()
                walk.write(left)
        sure = ~self._mistakable() & ~np.isin(self.router, counted)
        return Buffered(self.arrivals, left, self.came.exit, self.came.start, sure)

    def _mistakable(self) -> npt.NDArray[np.bool_]:
        """Tell whether each arrival may have been taken for one of another input VC of its router.

        The trace does not have the words that a node injects. If every packet has left, a
        departure without a matching arrival over a link is an injected packet; otherwise only a
        packet's first flit is known.
        """
        kind, header, content = self.came.kind, self.header_look, self.went.looks[:, 1]
        if not self.complete:
            first = np.stack((self.came.exit, self.came.first.astype(np.int64)))
            return self._alike(np.unique(first, axis=1, return_inverse=True)[1].ravel())
        most = int(max(kind.max(initial=0), content.max(initial=0))) + 1
        came = np.bincount(kind[kind != header], minlength=most)
        left = np.bincount(content[content >= 0], minlength=most)
        also_injected = np.append((came > 0) & (left > came), False)
        return self._alike(kind) | np.isin(header, header[also_injected[kind]])

    def _alike(self, look: Numbers) -> npt.NDArray[np.bool_]:
        """Tell whether each arrival has an equal one on another input VC of its router."""
        order = np.lexsort((self.arrivals.channel, look, self.router))
        router, look, channel = self.router[order], look[order], self.arrivals.channel[order]
        alike = (
            (router[1:] == router[:-1]) & (look[1:] == look[:-1]) & (channel[1:] != channel[:-1])
        )
        result = np.zeros(len(order), dtype=bool)
        result[order[1:]] |= alike
        result[order[:-1]] |= alike
        return result


class _Walk:
    """One walk through the departures of a router, in order of their first flits' cycles.

    ``queues`` has the first packets of the queues and the ends. With ``strict`` a flit must leave
    before the credit for its slot was used.
    """

    def __init__(
        self, matching: Matching, queues: Numbers, departures: Numbers, *, strict: bool
    ) -> None:
        self.matching, self.strict = matching, strict
        self.begin, stop = queues
        number = len(departures)
        self.steps = Steps(
            order=departures,
            stop=stop,
            front=self.begin.copy(),
            free=np.full(len(stop), -1),
            taken=np.zeros(number, dtype=np.int64),
            freed=np.zeros(number, dtype=np.int64),
            options=np.zeros((number, len(stop)), dtype=np.int16),
            untried=np.zeros(number, dtype=np.int64),
        )
        self.step = 0
        self.stuck = -1, self.begin, self.steps.free
        self.retries = 0
        self.hopeless: set[tuple[int, ...]] = set()

    def finds_stranger(self, alike: Numbers) -> bool:
        """Tell whether some departure cannot be any arriving packet, however others are matched.

        ``alike`` are the packets that arrived here, in order of their kind.
        """
        stranger = first_stranger(self.matching.came, self.matching.went, self.steps.order, alike)
        if stranger >= 0:
            self.stuck = stranger, self.steps.front, self.steps.free
        return stranger >= 0

    def search(self) -> bool:
        """Match every departure; go back to an earlier choice if one has no match."""
        while self.step < len(self.steps.order):
            if not self._goes_on() and not self._goes_back():
                return False
        return True

    def _goes_on(self) -> bool:
        """Match departures up to one without options; tell whether there is none."""
        until = len(self.steps.order)
        if self.step <= self.stuck[0]:
            # The walk was here before, so the state may be known as hopeless.
            if self._state() in self.hopeless:
                return False
            until = self.step + 1
        came, went = self.matching.came, self.matching.went
        self.step = int(advance(came, went, self.steps, self.step, until, self.strict))
        return self.step == until

    def _goes_back(self) -> bool:
        """Take back choices up to one with another option; tell whether there is one."""
        steps = self.steps
        while True:
            if self.step > self.stuck[0]:
                self.stuck = self.step, steps.front.copy(), steps.free.copy()
            self.hopeless.add(self._state())
            self.retries += 1
            if self.step == 0 or self.retries > MOST_RETRIES:
                return False
            queue = steps.taken[self.step - 1]
            steps.free[queue] = steps.freed[self.step - 1]
            steps.front[queue] -= 1
            if steps.untried[self.step - 1]:
                take(self.matching.went, steps, self.step - 1)
                return True
            self.step -= 1

    def _state(self) -> tuple[int, ...]:
        """Return the state that decides whether this and all later departures can be matched."""
        went, steps = self.matching.went, self.steps
        head = went.gone[went.begin[steps.order[self.step]]]
        matters = (steps.free >= head) | self.matching.drops[steps.front]
        recent = np.where(matters, steps.free, -1)
        return (*steps.front.tolist(), *recent.tolist())

    def write(self, left: Numbers) -> None:
        """Record when each flit left its buffer, after a successful search."""
        write_left(self.matching.came, self.matching.went, self.steps, self.begin.copy(), left)

    def count(self, left: Numbers) -> None:
        """Check numbers only: at any time no more packets with a header have left than arrived.

        Flits are assumed to leave as soon as they can, which no rule forbids.
        """
        matching, arrivals, went = self.matching, self.matching.came, self.matching.went
        came: dict[int, list[int]] = {}
        for begin, stop in zip(self.begin, self.steps.stop, strict=True):
            for arrival in range(begin, stop):
                flits = slice(arrivals.first_flit[arrival], arrivals.stop[arrival])
                look = int(matching.header_look[arrival])
                came.setdefault(look, []).append(-int(arrivals.came[flits.start]))
                left[flits] = arrivals.came[flits] + 1
        for cycles in came.values():
            cycles.sort()
        for departure in self.steps.order.tolist():
            begin, look = int(went.begin[departure]), int(went.looks[departure, 0])
            if look >= 0 and not (came.get(look) and -came[look].pop() < went.gone[begin]):
                what = "fewer packets with this header and length came in before this cycle"
                raise flit_error("routes", matching.departures.flits, begin, what)

    def error(self) -> TraceError:
        """Describe the first departure without a match."""
        arrivals, went, (step, front, free) = self.matching.came, self.matching.went, self.stuck
        departure = self.steps.order[step]
        begin, end = int(went.begin[departure]), int(went.end[departure])
        flits, flit = self.matching.departures.flits, begin
        what = "no packet with this header, length and payload came in to leave here"
        for first, stop, freed in zip(front, self.steps.stop, free, strict=True):
            for arrival in range(first, stop):
                if not same(arrivals, went, departure, arrival):
                    continue
                start = arrivals.start[arrival]
                came = arrivals.came[start : start + end - begin].copy()
                if arrival == first and went.gone[begin] > freed:
                    came[0] = max(came[0], ready_after(arrivals, arrival, freed))
                early = went.gone[begin:end] <= came
                if not early.any():
                    what = "the packet leaves before the one ahead of it on its input VC"
                    return flit_error("routes", flits, begin, what)
                flit = begin + int(early.argmax())
                what = "the flit leaves before the cycle after it came in"
        return flit_error("routes", flits, flit, what)
