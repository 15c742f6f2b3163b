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

from __future__ import annotations

from bisect import bisect_right
from collections import Counter
from dataclasses import dataclass
from itertools import chain
from operator import gt, le

import numpy as np
import numpy.typing as npt

from ..base.arrays import Numbers
from ..program.program import Program
from .packets import (
    Packets,
    TraceError,
    flit_error,
    injected_flits,
    later,
    looks_of,
    packets_of,
    routed,
)
from .trace import HEAD_MARK, Trace

NEVER = 1 << 60
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

    Lists have one entry per flit (``came``, ``credit``, ``gone``) or per packet, in the order of
    ``arrivals`` or ``departures``. An arrival may be a departure if its ``kind`` is in the
    departure's ``looks``.
    """

    def __init__(self, program: Program, departures: Packets, *, complete: bool) -> None:
        config, flits = program.config, departures.flits
        moving = Trace(*(column[flits.port != 0] for column in flits.columns))
        self.arrivals = arrivals = packets_of(config, Trace.join([moving, injected_flits(program)]))
        self.departures, self.config = departures, config
        cycle, over_link = arrivals.flits.cycle, arrivals.flits.port != 0
        registers = config.registers_of_links[arrivals.flits.node, arrivals.flits.port]
        self.came = (cycle + registers).tolist()
        credit = later(arrivals, -config.depth, cycle - registers - 1, NEVER)
        self.credit = np.where(over_link, credit, NEVER).tolist()
        self.gone: list[int] = flits.cycle.tolist()
        self.router, self.front, self.exit, self.first = routed(config, arrivals)
        front = self.front
        numbers: dict[object, int] = {}
        looks = looks_of(numbers, arrivals, self.exit, front, self.first)
        injected = arrivals.flits.port[arrivals.begin] == 0
        self.kind: list[int] = np.where(injected, looks[:, 0], looks[:, 1]).tolist()
        first = flits.data[departures.begin]
        own = departures.channel, departures.begin, first
        self.looks: list[list[int]] = looks_of(numbers, departures, *own).tolist()
        self.begin: list[int] = departures.begin.tolist()
        self.end: list[int] = departures.end.tolist()
        self.tail = np.where(departures.whole, flits.cycle[departures.end - 1], NEVER).tolist()
        self.first_flit: list[int] = arrivals.begin.tolist()
        self.start: list[int] = front.tolist()
        self.stop: list[int] = arrivals.end.tolist()
        self.drops = [*(front > arrivals.begin).tolist(), False]
        self.header_look: list[int] = looks[:, 0].tolist()
        self.complete = complete
        self.latest = self._latest()

    def _latest(self) -> list[int]:
        """Return the last cycle in which each arrival's first flit can have left, or -1.

        The limits are a credit that was used later, the latest cycle of the packet behind it,
        and the cycles in which packets of equal form left.
        """
        gone: dict[int, list[int]] = {}
        unfinished: dict[int, int] = {}
        heads = self.departures.flits.cycle[self.departures.begin]
        for departure in np.argsort(heads, kind="stable").tolist():
            head = int(heads[departure])
            if self.departures.whole[departure]:
                for look in self.looks[departure]:
                    gone.setdefault(look, []).append(head)
            else:
                unfinished[int(self.departures.channel[departure])] = head
        channel, exits = self.arrivals.channel.tolist(), self.exit.tolist()
        latest = [NEVER] * len(channel)
        for packet in range(len(channel) - 1, -1, -1):
            start, stop = self.start[packet], self.stop[packet]
            limit = self.credit[start] if start < stop else NEVER
            if packet + 1 < len(channel) and channel[packet] == channel[packet + 1]:
                behind = latest[packet + 1]
                limit = min(limit, behind - (stop - start)) if behind < NEVER else limit
            if limit < NEVER or self.complete:
                last = unfinished.get(exits[packet], NEVER)
                cycles = gone.get(self.kind[packet], [])
                place = bisect_right(cycles, limit)
                limit = last if last <= limit else cycles[place - 1] if place else -1
            latest[packet] = limit
        return latest

    def run(self) -> Buffered:
        """Match all routers; raise :class:`TraceError` if a router has no matching."""
        begin, flits = self.departures.begin, self.departures.flits
        order = np.lexsort((flits.cycle[begin], flits.node[begin]))
        nodes = range(self.config.topology.nodes + 1)
        bounds = np.searchsorted(flits.node[begin][order], nodes).tolist()
        starts = np.flatnonzero(np.diff(self.arrivals.channel, prepend=-1))
        stops = np.append(starts, len(self.arrivals.channel))[1:]
        queues: list[list[range]] = [[] for _ in nodes]
        for start, stop in zip(starts.tolist(), stops.tolist(), strict=True):
            queues[self.router[start]].append(range(start, stop))
        left = [NEVER] * len(self.arrivals.flits)
        counted = []
        for node in nodes[:-1]:
            departures = order[bounds[node] : bounds[node + 1]].tolist()
            walk = _Walk(self, queues[node], departures, strict=True)
            if walk.finds_stranger():
                raise walk.error()
            if walk.search():
                walk.write(left)
            elif walk.retries > MOST_RETRIES:
                walk.count(left)
                counted.append(node)
            else:
                # If only the rule of the buffers is broken, its own check reports that.
                walk = _Walk(self, queues[node], departures, strict=False)
                if not walk.search():
                    raise walk.error()
                walk.write(left)
        sure = ~self._mistakable() & ~np.isin(self.router, counted)
        return Buffered(self.arrivals, np.array(left, dtype=np.int64), self.exit, self.front, sure)

    def _mistakable(self) -> npt.NDArray[np.bool_]:
        """Tell whether each arrival may have been taken for one of another input VC of its router.

        The trace does not have the words that a node injects. If every packet has left, a
        departure without a matching arrival over a link is an injected packet; otherwise only a
        packet's first flit is known.
        """
        kind, header = np.array(self.kind), np.array(self.header_look)
        if not self.complete:
            first = np.stack((self.exit, self.first.astype(np.int64)))
            return self._alike(np.unique(first, axis=1, return_inverse=True)[1].ravel())
        came = Counter(kind[kind != header].tolist())
        left = Counter(content for _, content in self.looks)
        also_injected = [content for content, number in came.items() if left[content] > number]
        return self._alike(kind) | np.isin(header, header[np.isin(kind, also_injected)])

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

    def same(self, departure: int, arrival: int) -> bool:
        """Tell whether the arrival, rewritten, equals the departure, or begins like it."""
        if self.departures.whole[departure]:
            return self.kind[arrival] in self.looks[departure]
        begin, end, start = self.begin[departure], self.end[departure], self.start[arrival]
        stop = start + end - begin
        came, left = self.arrivals.flits, self.departures.flits
        if stop > self.stop[arrival] or self.exit[arrival] != self.departures.channel[departure]:
            return False
        unknown = (came.port[start] == 0) & (came.kind[start + 1 : stop] & HEAD_MARK == 0)
        same_data = came.data[start + 1 : stop] == left.data[begin + 1 : end]
        same_kind = came.kind[start:stop] == left.kind[begin:end]
        same_first = self.first[arrival] == left.data[begin]
        return bool(same_first and same_kind.all() and (same_data | unknown).all())

    def dropped(self, arrival: int, free: int) -> list[int]:
        """Return when used-up header flits are dropped, if the queue is free after ``free``."""
        cycles: list[int] = []
        for flit in range(self.first_flit[arrival], self.start[arrival]):
            free = max(free, self.came[flit]) + 1
            cycles.append(free)
        return cycles


class _Walk:
    """One walk through the departures of a router, in order of their first flits' cycles.

    ``front[q]`` is the packet at the front of queue q, ``free[q]`` the cycle in which the tail
    before it left. With ``strict`` a flit must leave before the credit for its slot was used.
    """

    def __init__(
        self, matching: Matching, queues: list[range], departures: list[int], *, strict: bool
    ) -> None:
        self.matching, self.queues, self.departures = matching, queues, departures
        self.strict = strict
        self.front = [queue.start for queue in queues]
        self.free = [-1] * len(queues)
        self.taken: list[tuple[int, int]] = []
        self.stuck: tuple[int, list[int], list[int]] = (-1, [], [])
        self.retries = 0
        self.hopeless: set[tuple[int, ...]] = set()

    def finds_stranger(self) -> bool:
        """Tell whether some departure cannot be any arriving packet, however others are matched."""
        matching = self.matching
        alike: dict[int, list[int]] = {}
        for arrival in chain(*self.queues):
            alike.setdefault(matching.kind[arrival], []).append(matching.start[arrival])
        for place, departure in enumerate(self.departures):
            if matching.departures.whole[departure]:
                gone = matching.gone[matching.begin[departure] : matching.end[departure]]
                looks = (alike.get(look, ()) for look in matching.looks[departure])
                if not any(
                    all(map(gt, gone, matching.came[start : start + len(gone)]))
                    for start in chain(*looks)
                ):
                    self.stuck = place, self.front.copy(), self.free.copy()
                    return True
        return False

    def search(self) -> bool:
        """Match every departure; go back to an earlier choice if one has no match."""
        options: list[list[int]] = []
        while len(self.taken) < len(self.departures):
            departure = self.departures[len(self.taken)]
            if len(options) == len(self.taken):
                options.append(self._options(departure))
            if options[-1]:
                queue = options[-1].pop()
                self.taken.append((queue, self.free[queue]))
                self.front[queue] += 1
                self.free[queue] = self.matching.tail[departure]
                continue
            if len(self.taken) > self.stuck[0]:
                self.stuck = len(self.taken), self.front.copy(), self.free.copy()
            self.hopeless.add(self._state(departure))
            options.pop()
            self.retries += 1
            if not options or self.retries > MOST_RETRIES:
                return False
            queue, self.free[queue] = self.taken.pop()
            self.front[queue] -= 1
        return True

    def _state(self, departure: int) -> tuple[int, ...]:
        """Return the state that decides whether this and all later departures can be matched."""
        matching = self.matching
        head = matching.gone[matching.begin[departure]]
        recent = [
            free if free >= head or matching.drops[arrival] else -1
            for arrival, free in zip(self.front, self.free, strict=True)
        ]
        return (*self.front, *recent)

    def _options(self, departure: int) -> list[int]:
        """Return the queues that the departure may have come from, the likeliest last."""
        matching = self.matching
        head = matching.gone[matching.begin[departure]]
        fitting: list[int] = []
        if self.hopeless and self._state(departure) in self.hopeless:
            return fitting
        for queue, arrival in enumerate(self.front):
            if arrival >= self.queues[queue].stop:
                continue
            if self.strict and matching.latest[arrival] < head:
                return []
            if self._fits(departure, queue):
                fitting.append(queue)
        return sorted(fitting, key=self._urgency, reverse=True)

    def _urgency(self, queue: int) -> tuple[int, int]:
        """Return the latest departure of the packet in front, then its arrival: lowest is first."""
        matching, arrival = self.matching, self.front[queue]
        return matching.latest[arrival], matching.came[matching.start[arrival]]

    def _fits(self, departure: int, queue: int) -> bool:
        """Tell whether the packet at the front of a queue may be this departure."""
        matching, arrival = self.matching, self.front[queue]
        if not matching.same(departure, arrival):
            return False
        start = matching.start[arrival]
        gone = matching.gone[matching.begin[departure] : matching.end[departure]]
        stop = start + len(gone)
        dropped = matching.dropped(arrival, self.free[queue])
        ready = dropped[-1] if dropped else self.free[queue]
        if gone[0] <= ready or not all(map(gt, gone, matching.came[start:stop])):
            return False
        credit = matching.credit[matching.first_flit[arrival] : stop]
        return not self.strict or all(map(le, dropped + gone, credit))

    def write(self, left: list[int]) -> None:
        """Record when each flit left its buffer, after a successful search."""
        matching = self.matching
        front = [queue.start for queue in self.queues]
        for departure, (queue, free) in zip(self.departures, self.taken, strict=True):
            arrival = front[queue]
            gone = matching.gone[matching.begin[departure] : matching.end[departure]]
            first = matching.first_flit[arrival]
            cycles = matching.dropped(arrival, free) + gone
            left[first : first + len(cycles)] = cycles
            front[queue] += 1
        for queue, arrival in enumerate(front):
            if arrival < self.queues[queue].stop and self.free[queue] < NEVER:
                first = matching.first_flit[arrival]
                left[first : matching.start[arrival]] = matching.dropped(arrival, self.free[queue])

    def count(self, left: list[int]) -> None:
        """Check numbers only: at any time no more packets with a header have left than arrived.

        Flits are assumed to leave as soon as they can, which no rule forbids.
        """
        matching = self.matching
        came: dict[int, list[int]] = {}
        for arrival in chain(*self.queues):
            cycle = matching.came[matching.first_flit[arrival]]
            came.setdefault(matching.header_look[arrival], []).append(-cycle)
            flits = slice(matching.first_flit[arrival], matching.stop[arrival])
            left[flits] = [cycle + 1 for cycle in matching.came[flits]]
        for cycles in came.values():
            cycles.sort()
        for departure in self.departures:
            begin, look = matching.begin[departure], matching.looks[departure][0]
            if look >= 0 and not (came.get(look) and -came[look].pop() < matching.gone[begin]):
                what = "fewer packets with this header and length came in before this cycle"
                raise flit_error("routes", matching.departures.flits, begin, what)

    def error(self) -> TraceError:
        """Describe the first departure without a match."""
        matching, (place, front, free) = self.matching, self.stuck
        departure = self.departures[place]
        begin, end = matching.begin[departure], matching.end[departure]
        flits, flit = matching.departures.flits, begin
        what = "no packet with this header, length and payload came in to leave here"
        for queue, first in enumerate(front):
            for arrival in range(first, self.queues[queue].stop):
                if not matching.same(departure, arrival):
                    continue
                start = matching.start[arrival]
                came = matching.came[start : start + end - begin]
                if arrival == first and matching.gone[begin] > free[queue]:
                    came[0] = max([came[0], *matching.dropped(arrival, free[queue])])
                in_time = list(map(gt, matching.gone[begin:end], came))
                if all(in_time):
                    what = "the packet leaves before the one ahead of it on its input VC"
                    return flit_error("routes", flits, begin, what)
                flit = begin + in_time.index(False)
                what = "the flit leaves before the cycle after it came in"
        return flit_error("routes", flits, flit, what)
