r"""Checks of a trace that need no model: what docs/router.md promises of any run of a program.

A packet that comes into a router stands in a queue, a VC of an input port. What leaves the router
by an output VC is matched with the fronts of its queues::

    from a link    [ packet | packet | ... ] --\
    from a link    [ packet | ... ] -------------> [router] --> what a front packet's header says
    from the rows  [ packet | packet | ... ] --/

So order, routes and the time that each flit spends in a buffer come out of one walk through each
router's departures. Packets that look the same may stand in front of several queues. Then the one
that must leave first is taken, and another one if that leads nowhere. Where there are too many such
choices (:data:`MOST_RETRIES`) no trace is refused that may be right: the router's departures are
then held against what came in one by one and by number, but their order and its buffers are not
proved.
"""

from __future__ import annotations

from bisect import bisect_right
from collections import Counter
from dataclasses import dataclass
from itertools import chain
from operator import gt, le

import numpy as np
import numpy.typing as npt

from .config import NetworkConfig
from .errors import InvalidInput
from .program import Program, Row, row_header
from .trace import HEAD_MARK, TAIL_MARK, Trace

Numbers = npt.NDArray[np.int64]

NEVER = 1 << 60
MOST_RETRIES = 20_000
"""Choices between packets that look the same that are taken back in one router; after that, its
packets are only counted."""


class TraceError(InvalidInput):
    """A trace breaks ``rule``; the message names it and the cycle, node, port and VC."""

    def __init__(self, rule: str, place: tuple[int, int, int, int], what: str) -> None:
        cycle, node, port, vc = place
        super().__init__(f"{rule}: cycle {cycle}, node {node}, port {port}, VC {vc}: {what}")
        self.rule = rule


@dataclass(frozen=True, eq=False)
class Packets:
    """Flits in order of (node, port, VC, cycle), put together into packets.

    Packet i is flits ``begin[i]`` to ``end[i]`` - 1, the header flits end before ``header_end[i]``;
    ``whole[i]`` is whether its last flit is there. ``channel[i]`` numbers its (node, port, VC).
    """

    flits: Trace
    channel: Numbers
    begin: Numbers
    header_end: Numbers
    end: Numbers
    whole: npt.NDArray[np.bool_]


@dataclass(frozen=True, eq=False)
class Buffered:
    """What came into the routers, and the cycle in which each flit left its buffer.

    Flits of port 0 are those that a node's rows inject. ``left`` is :data:`NEVER` for flits that
    were still there at the end of the trace.
    """

    arrivals: Packets
    left: Numbers


def check_trace(program: Program, trace: Trace, *, complete: bool = True) -> None:
    """Raise :class:`TraceError` for the first rule that ``trace``, a run of ``program``, breaks.

    1. outputs: :func:`check_outputs`
    2. packets: :func:`check_packets`
    3. routes: :func:`check_routes`
    4. deliveries: :func:`check_deliveries`
    5. buffers: :func:`check_buffers`

    ``complete`` False allows packets to be under way, and rows not to have begun, at the end.
    """
    check_outputs(program, trace)
    packets = check_packets(program, trace, complete=complete)
    buffered = check_routes(program, packets, complete=complete)
    check_deliveries(program, packets, complete=complete)
    check_buffers(program, buffered)


def check_outputs(program: Program, trace: Trace) -> None:
    """Each output sends one flit a cycle at most; ports, VCs, kinds and data are in range."""
    config = program.config
    topology = config.topology
    node, port = trace.node, trace.port
    inside = (node >= 0) & (node < topology.nodes) & (port >= 0) & (port < topology.ports)
    linked = topology.neighbor[np.where(inside, node, 0), np.where(inside, port, 0)] >= 0
    order = np.lexsort((port, node, trace.cycle))
    places = np.stack((trace.cycle, node, port))[:, order]
    twice = np.zeros(len(trace), dtype=bool)
    twice[order[1:]] = (places[:, 1:] == places[:, :-1]).all(axis=0)
    for wrong, what in (
        (trace.cycle < 0, "the cycle is negative"),
        (~inside | (port != 0) & ~linked, "there is no such output"),
        ((trace.vc < 0) | (trace.vc >= config.vcs), f"the VC is not 0 to {config.vcs - 1}"),
        ((trace.kind < 0) | (trace.kind > HEAD_MARK + TAIL_MARK), "there is no such kind of flit"),
        (
            trace.data > np.uint64((1 << config.flit_width) - 1),
            f"the data are wider than {config.flit_width} bits",
        ),
        (twice, "a second flit leaves in this cycle"),
    ):
        _refuse_first("outputs", trace, wrong, what)


def check_packets(program: Program, trace: Trace, *, complete: bool = True) -> Packets:
    """Each output VC sends whole packets one after the other; returns them.

    With ``complete`` False the last packet of a VC need not be whole.
    """
    packets = _packets(program.config, trace)
    flits = packets.flits
    head = flits.kind & HEAD_MARK != 0
    first = np.zeros(len(flits), dtype=bool)
    first[packets.begin] = True
    payload_before = np.concatenate(([False], ~head[:-1])) if len(flits) else head
    _refuse_first("packets", flits, first & ~head, "a packet begins without a header flit")
    inside = head & ~first & payload_before
    _refuse_first("packets", flits, inside, "a header flit stands within a packet's payload")
    if complete:
        ends_short = np.zeros(len(flits), dtype=bool)
        ends_short[packets.end[~packets.whole] - 1] = True
        _refuse_first("packets", flits, ends_short, "the packet has no tail flit")
    return packets


def check_routes(program: Program, packets: Packets, *, complete: bool = True) -> Buffered:
    """What leaves a router came in, and leaves where, as and when its header says.

    That is: by the output and VC of the header, rewritten, payload unchanged; each flit at least
    one cycle after it came in, over a link's registers or by the rows of this node; the packets of
    an input VC one after the other, in the order in which they came. Returns when flits left.
    """
    return _Matching(program, packets, complete=complete).run()


def check_deliveries(program: Program, packets: Packets, *, complete: bool = True) -> None:
    """Each node gets the packets whose rows lead to it, exactly once each, and no others.

    A packet is known by its delivery (step and address) and its length; that its words are those
    that were sent is what :func:`check_routes` finds hop by hop. With ``complete`` False packets
    may be missing.
    """
    flits = packets.flits
    owed: Counter[tuple[int, int, int]] = Counter()
    for node, rows in enumerate(program.rows):
        for row in rows:
            owed[
                _target(program.config, node, row), _delivery(program.config, row), row.length
            ] += 1
    arrived = np.flatnonzero(packets.whole & (flits.port[packets.begin] == 0))
    for packet in arrived[np.argsort(flits.cycle[packets.begin[arrived]], kind="stable")].tolist():
        begin, end = int(packets.begin[packet]), int(packets.end[packet])
        got = int(flits.node[begin]), int(flits.data[begin]), end - begin - 1
        if not owed[got]:
            what = f"no row or no further row sends this packet of {got[2]} words here"
            raise _error("deliveries", flits, begin, what)
        owed[got] -= 1
    if complete and owed.total():
        node, delivery, length = next(owed.elements())
        what = f"a packet of {length} words with delivery {delivery:x} has not arrived by the end"
        raise TraceError("deliveries", (int(flits.cycle.max(initial=0)), node, 0, 0), what)


def check_buffers(program: Program, buffered: Buffered) -> None:
    """No flit leaves over a link before its VC has a credit, so no buffer ever overflows.

    A flit's place is free for the flit ``depth`` after it, one cycle and the link's registers after
    it has left the buffer. The buffers of port 0 are not looked at: nothing in a trace says when a
    flit was injected.
    """
    arrivals = buffered.arrivals
    soonest = buffered.left + program.config.link_registers + 1
    early = _later(arrivals, program.config.depth, soonest, -1) > arrivals.flits.cycle
    what = f"a flit leaves while the buffer that it goes to has all its {program.config.depth} full"
    _refuse_first("buffers", arrivals.flits, early & (arrivals.flits.port != 0), what)


class _Matching:
    """Which packet that came into a router is which that left it.

    Lists have one entry per flit (``came``, ``credit``, ``gone``) or per packet, in the order that
    ``arrivals`` and ``departures`` have them. ``kind`` of an arrival is in ``looks`` of a departure
    if they look the same.
    """

    def __init__(self, program: Program, departures: Packets, *, complete: bool) -> None:
        config, flits = program.config, departures.flits
        moving = Trace(*(column[flits.port != 0] for column in flits.columns))
        self.arrivals = arrivals = _packets(config, Trace.join([moving, _injected(program)]))
        self.departures, self.config = departures, config
        cycle, over_link = arrivals.flits.cycle, arrivals.flits.port != 0
        self.came = (cycle + over_link * config.link_registers).tolist()
        credit = _later(arrivals, -config.depth, cycle - config.link_registers - 1, NEVER)
        self.credit = np.where(over_link, credit, NEVER).tolist()
        self.gone: list[int] = flits.cycle.tolist()
        self.router, front, self.exit, self.first = _routed(config, arrivals)
        numbers: dict[object, int] = {}
        looks = _looks(numbers, arrivals, self.exit, front, self.first)
        injected = arrivals.flits.port[arrivals.begin] == 0
        self.kind: list[int] = np.where(injected, looks[:, 0], looks[:, 1]).tolist()
        first = flits.data[departures.begin]
        own = departures.channel, departures.begin, first
        self.looks: list[list[int]] = _looks(numbers, departures, *own).tolist()
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
        """The last cycle in which each arrival's first flit may have left; -1 where none can be.

        What sets it: a credit that was used later, the packet behind it if that had to leave, and
        when packets that look like it did leave.
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
        """Match all routers; :class:`TraceError` if one cannot be."""
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
        for node in nodes[:-1]:
            departures = order[bounds[node] : bounds[node + 1]].tolist()
            walk = _Walk(self, queues[node], departures, strict=True)
            if walk.finds_stranger():
                raise walk.error()
            if walk.search():
                walk.write(left)
            elif walk.retries > MOST_RETRIES:
                walk.count(left)
            else:
                # What breaks the rule of the buffers alone is left to it to tell.
                walk = _Walk(self, queues[node], departures, strict=False)
                if not walk.search():
                    raise walk.error()
                walk.write(left)
        return Buffered(self.arrivals, np.array(left, dtype=np.int64))

    def same(self, departure: int, arrival: int) -> bool:
        """Whether the arrival, rewritten, looks like the departure, or like its beginning."""
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
        """Cycles in which used-up header flits are dropped, the queue being free after ``free``."""
        cycles: list[int] = []
        for flit in range(self.first_flit[arrival], self.start[arrival]):
            free = max(free, self.came[flit]) + 1
            cycles.append(free)
        return cycles


class _Walk:
    """One walk through the departures of a router, in order of their first flits' cycles.

    ``front[q]`` is the packet in front of queue q, ``free[q]`` the cycle in which the one before it
    has left whole. With ``strict`` a flit leaves before the credit of its place was used.
    """

    def __init__(
        self, matching: _Matching, queues: list[range], departures: list[int], *, strict: bool
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
        """Whether a departure cannot be any packet that came in, whatever the others are."""
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
        """Match every departure, taking back choices that lead nowhere."""
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
        """What decides whether this and all later departures can be matched."""
        matching = self.matching
        head = matching.gone[matching.begin[departure]]
        recent = [
            free if free >= head or matching.drops[arrival] else -1
            for arrival, free in zip(self.front, self.free, strict=True)
        ]
        return (*self.front, *recent)

    def _options(self, departure: int) -> list[int]:
        """The queues that the departure may have come from, the likeliest last."""
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
        """How soon the packet in front must leave; if that is all the same, who came first."""
        matching, arrival = self.matching, self.front[queue]
        return matching.latest[arrival], matching.came[matching.start[arrival]]

    def _fits(self, departure: int, queue: int) -> bool:
        """Whether the packet in front of a queue may have left as this departure."""
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
        """Write down when each flit left its buffer, after a search that found everything."""
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
        """Compare numbers alone: no more packets with one header have left than came in.

        Flits are taken to have left as soon as they could, which no rule forbids.
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
                raise _error("routes", matching.departures.flits, begin, what)

    def error(self) -> TraceError:
        """What is wrong with the first departure that nothing could be matched with."""
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
                    return _error("routes", flits, begin, what)
                flit = begin + in_time.index(False)
                what = "the flit leaves before the cycle after it came in"
        return _error("routes", flits, flit, what)


def _looks(
    numbers: dict[object, int],
    packets: Packets,
    channel: Numbers,
    front: Numbers,
    first: npt.NDArray[np.uint64],
) -> Numbers:
    """Two numbers per packet: equal where header and length are, and where all data are, too.

    What counts is the output VC ``channel``, ``first`` in place of the flit ``front``, and the
    flits after it. -1 for a packet that is not whole. Shape (packets, 2).
    """
    data = packets.flits.data.tobytes()
    looks = []
    columns = channel, front, first, packets.header_end, packets.end, packets.whole
    for exit_, start, value, payload, end, whole in zip(
        *(c.tolist() for c in columns), strict=True
    ):
        header = exit_, value, data[8 * start + 8 : 8 * payload], end - payload
        content = header, data[8 * payload : 8 * end]
        both = [numbers.setdefault(key, len(numbers)) for key in (header, content)] if whole else 0
        looks.append(both or [-1, -1])
    return np.array(looks, dtype=np.int64).reshape(-1, 2)


def _routed(
    config: NetworkConfig, arrivals: Packets
) -> tuple[Numbers, Numbers, Numbers, npt.NDArray[np.uint64]]:
    """Where arrivals come in, their first flit that is not dropped, their output VC, that flit.

    The output VC is the number of its channel, -1 where there is none to leave by; the flit is as
    it leaves.
    """
    flits, topology, ports = arrivals.flits, config.topology, config.topology.ports
    node, port, vc = (column[arrivals.begin] for column in (flits.node, flits.port, flits.vc))
    router = np.where(port != 0, topology.neighbor[node, port], node).astype(np.int64)
    entry = np.where(port != 0, topology.peer[node, port], 0)
    data = np.append(flits.data, np.uint64(0))
    dropping = (data & _mask(config.port_bits) == 0)[:-1] & (flits.kind == HEAD_MARK)
    dropping = np.append(dropping, False)
    front = arrivals.begin.copy()
    while (drop := dropping[front] & (front < arrivals.end)).any():
        front += drop
    first = data[front]
    code = (first & _mask(config.port_bits)).astype(np.int64)
    more = first >> np.uint64(config.port_bits) & _mask(config.hop_bits)
    to_vc = first >> np.uint64(config.port_bits + config.hop_bits) & _mask(config.vc_bits)
    deliver = code == ports
    exit_port = np.where(deliver, 0, np.minimum(code, ports - 1))
    exit_vc = np.where(deliver, vc, to_vc.astype(np.int64))
    leaves = (front < arrivals.header_end) & (code > 0) & (code <= ports) & (exit_port != entry)
    leaves &= deliver | (topology.neighbor[router, exit_port] >= 0)
    leaves &= exit_vc < config.vcs
    channel = np.where(leaves, _channel(config, router, exit_port, exit_vc), -1)
    one_less = first - np.uint64(1 << config.port_bits)
    moved = np.where(more == 0, first >> np.uint64(config.slot_bits), one_less)
    return router, front, channel, np.where(deliver, first, moved)


def _packets(config: NetworkConfig, trace: Trace) -> Packets:
    """Group flits: a packet begins with its channel's first flit and after each tail flit."""
    order = np.lexsort((trace.cycle, trace.vc, trace.port, trace.node))
    flits = Trace(*(column[order] for column in trace.columns))
    channel = _channel(config, flits.node.astype(np.int64), flits.port, flits.vc)
    tail = flits.kind & TAIL_MARK != 0
    starts = np.ones(len(flits), dtype=bool)
    starts[1:] = (channel[1:] != channel[:-1]) | tail[:-1]
    begin = np.flatnonzero(starts)
    end = np.append(begin, len(flits))[1:]
    heads = np.concatenate(([0], np.cumsum(flits.kind & HEAD_MARK != 0)))
    header_end = begin + heads[end] - heads[begin]
    return Packets(flits, channel[begin], begin, header_end, end, tail[end - 1])


def _channel(
    config: NetworkConfig, node: Numbers, port: npt.NDArray[np.integer], vc: npt.NDArray[np.integer]
) -> Numbers:
    """One number for each node, port and VC."""
    number: Numbers = (node * config.topology.ports + port) * config.vcs + vc
    return number


def _later(packets: Packets, flits: int, values: Numbers, default: int) -> Numbers:
    """Move one value per flit to the flit so many later in its channel; default elsewhere."""
    channel = np.repeat(packets.channel, packets.end - packets.begin)
    origin = np.arange(len(channel)) - flits
    inside = (origin >= 0) & (origin < len(channel))
    origin[~inside] = 0
    return np.where(inside & (channel[origin] == channel), values[origin], default)


def _injected(program: Program) -> Trace:
    """The flits of all rows, as port 0, each in the first cycle in which it can be injected.

    Payload words are not known and 0. Reading a row takes ``control_words`` cycles.
    """
    config = program.config
    vc_place = config.port_bits + config.hop_bits
    columns: tuple[list[int], ...] = ([], [], [], [])
    for node, rows in enumerate(program.rows):
        last = -1
        for row in rows:
            header = row_header(config, row)
            length = len(header) + row.length
            begin = max(last + 1 + config.control_words, row.start or 0)
            last = begin + length - 1
            kinds = [HEAD_MARK] * len(header) + [0] * row.length
            kinds[-1] |= TAIL_MARK
            vc = header[0] >> vc_place & ((1 << config.vc_bits) - 1)
            columns[0].extend(range(begin, last + 1))
            columns[1].extend([node << 8 | vc] * length)
            columns[2].extend(kinds)
            columns[3].extend(header + [0] * row.length)
    trace = Trace.empty(len(columns[0]))
    cycle, place, kind, data = (np.array(column, dtype=np.uint64) for column in columns)
    trace.cycle[:], trace.kind[:], trace.data[:] = cycle, kind, data
    trace.node[:], trace.vc[:] = place >> np.uint64(8), place & np.uint64(255)
    return trace


def _target(config: NetworkConfig, node: int, row: Row) -> int:
    """The node at the end of a row's route, or where the route leaves the network."""
    for segment in row.route:
        for _ in range(segment.hops):
            following = int(config.topology.neighbor[node, segment.port])
            if following < 0:
                return node
            node = following
    return node


def _delivery(config: NetworkConfig, row: Row) -> int:
    """The header flit of a row's packet as its target gets it."""
    step = row.step if row.start is None else 0
    address = row.target_address << config.step_bits
    return config.topology.ports | (step | address) << config.port_bits


def _mask(bits: int) -> np.uint64:
    return np.uint64((1 << bits) - 1)


def _refuse_first(rule: str, flits: Trace, wrong: npt.NDArray[np.bool_], what: str) -> None:
    """Raise :class:`TraceError` for the earliest flit that is ``wrong``."""
    found = np.flatnonzero(wrong)
    if len(found):
        raise _error(rule, flits, int(found[np.argmin(flits.cycle[found])]), what)


def _error(rule: str, flits: Trace, index: int, what: str) -> TraceError:
    """Say what is wrong with a flit."""
    flit = flits[index]
    return TraceError(rule, (flit.cycle, flit.node, flit.port, flit.vc), what)
