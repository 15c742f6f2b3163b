"""Check of the round-robin order of heads and VCs against a trace.

A trace tells when each flit of a link reached the front of its buffer and when it left
(``matching``), and so which heads waited while another one was granted. The order of buffers
(docs/router.md, section 3) is written here a second time, independently of the cycle model.
"""

from __future__ import annotations

from bisect import bisect_left
from collections import defaultdict
from dataclasses import dataclass
from itertools import pairwise

import numpy as np
import numpy.typing as npt

from ..base.arrays import Numbers
from ..network.config import NetworkConfig
from ..program.program import Program
from .matching import NEVER, Buffered
from .packets import Packets, flit_error
from .trace import TAIL_MARK


@dataclass(frozen=True, eq=False)
class Heads:
    """The first flits of all packets that entered routers, without the dropped header flits.

    exit
        The number of the output VC that each requests; -1 for none.
    buffer
        The number of the buffer that each is in.
    waits
        A cycle from which each certainly stands at the front of its buffer; for links the first
        such cycle. A trace does not record injections, but a flit is injected before its node
        injects the next one.
    granted
        The cycle in which each leaves; ``NEVER`` if it does not.
    flit
        The index of each in the arrivals' flits.
    """

    exit: Numbers
    buffer: Numbers
    waits: Numbers
    granted: Numbers
    flit: Numbers


def heads_of(program: Program, buffered: Buffered) -> Heads:
    """Return the heads of packets whose departure is certain."""
    config, flits = program.config, buffered.arrivals.flits
    unsure = np.isin(buffered.exit, buffered.exit[~buffered.sure])
    chosen = np.flatnonzero(~unsure & (buffered.exit >= 0))
    flit = buffered.front[chosen]
    node, port, vc = flits.node[flit], flits.port[flit], flits.vc[flit].astype(np.int64)
    entry = np.where(port != 0, config.topology.peer[node, port], 0).astype(np.int64)
    return Heads(
        exit=buffered.exit[chosen],
        buffer=entry * config.vcs + vc,
        waits=fronts_of(config, buffered)[flit],
        granted=buffered.left[flit],
        flit=flit,
    )


def fronts_of(config: NetworkConfig, buffered: Buffered) -> Numbers:
    """Return, for each flit, a cycle from which it certainly stands at the front of its buffer."""
    arrivals, left = buffered.arrivals, buffered.left
    flits = arrivals.flits
    over_link = flits.cycle + config.registers_of_links[flits.node, flits.port]
    came = np.where(flits.port != 0, over_link, _injected(config, buffered))
    channel = np.repeat(arrivals.channel, arrivals.end - arrivals.begin)
    before = np.full(len(flits), -1, dtype=np.int64)
    before[1:] = np.where(channel[1:] == channel[:-1], left[:-1], -1)
    fronts: Numbers = np.maximum(came, before) + 1
    return fronts


def check_grants(program: Program, buffered: Buffered) -> None:
    """Require that an output VC is granted to the first waiting head in its order.

    Heads of a node's own packets count only while they certainly wait.
    """
    if program.config.contention_free:
        return
    heads = heads_of(program, buffered)
    order = np.argsort(heads.granted, kind="stable")
    of_exit: dict[int, list[int]] = defaultdict(list)
    for head in order.tolist():
        of_exit[int(heads.exit[head])].append(head)
    late = [late for ones in of_exit.values() if (late := _out_of_turn(program, heads, ones))]
    if late:
        head, passed = min(late, key=lambda pair: int(heads.granted[pair[0]]))
        port, vc = divmod(int(heads.buffer[passed]), program.config.vcs)
        what = f"a head that waits on input port {port}, VC {vc}, had the turn of the next output"
        raise flit_error("grants", buffered.arrivals.flits, int(heads.flit[head]), what)


def check_vcs(program: Program, packets: Packets, buffered: Buffered) -> None:
    """Require that an output sends by the first ready VC after the last one that sent.

    A VC is ready if it has a credit and a flit certainly at the front of its buffer: the next flit
    of the packet that holds the VC, or a head if none holds it. The check is skipped if any packet
    may have been taken for another.
    """
    config, flits = program.config, packets.flits
    if config.contention_free or config.vcs == 1 or not buffered.sure.all():
        return
    queues = _Waiting.of_outputs(program, packets, buffered)
    output = flits.node.astype(np.int64) * config.topology.ports + flits.port
    next_vc: dict[int, int] = defaultdict(int)
    for flit in np.argsort(flits.cycle, kind="stable").tolist():
        cycle, sent, vc = int(flits.cycle[flit]), int(output[flit]), int(flits.vc[flit])
        other = next_vc[sent]
        while other != vc:
            queue = queues.get(sent * config.vcs + other)
            if queue is not None and queue.ready(cycle):
                what = f"VC {other} was ready, and it was its turn"
                raise flit_error("grants", flits, flit, what)
            other = (other + 1) % config.vcs
        next_vc[sent] = (vc + 1) % config.vcs


@dataclass(frozen=True, eq=False)
class _Waiting:
    """Flits in front of one output VC, in the order in which they leave by it.

    ``waits`` has the cycle from which each is at the front; for a head, the earliest of its own and
    those of all later heads. ``left`` has the cycles in which they leave, ``returned`` those in
    which credits come back, both ascending.
    """

    waits: list[int]
    left: list[int]
    returned: list[int]
    credits: int

    def ready(self, cycle: int) -> bool:
        """Tell whether the VC could have sent in a cycle in which it did not send."""
        following = bisect_left(self.left, cycle)
        if following == len(self.left) or self.waits[following] > cycle:
            return False
        return self.credits - following + bisect_left(self.returned, cycle) > 0

    @classmethod
    def of_outputs(
        cls, program: Program, packets: Packets, buffered: Buffered
    ) -> dict[int, _Waiting]:
        """Return the waiting flits of each output VC, by channel number."""
        config, arrivals = program.config, buffered.arrivals
        lengths = arrivals.end - arrivals.begin
        exits, begins = np.repeat(buffered.exit, lengths), np.repeat(buffered.front, lengths)
        at_front, left = fronts_of(config, buffered), buffered.left
        places = np.arange(len(left))
        order = np.lexsort((left, exits))
        order = order[(exits >= 0)[order] & (places >= begins)[order]]
        bounds = np.flatnonzero(np.diff(exits[order], prepend=-1, append=-1))
        came = np.repeat(arrivals.channel, lengths)
        returned = np.lexsort((left, came))
        result = {}
        for first, last in pairwise(bounds.tolist()):
            group = order[first:last]
            channel, head = int(exits[group[0]]), places[group] == begins[group]
            waits = at_front[group]
            soonest = np.minimum.accumulate(np.where(head, waits, NEVER)[::-1])[::-1]
            waits = np.where(head, soonest, waits)
            ends = np.searchsorted(came[returned], [channel, channel + 1])
            node, port = divmod(channel // config.vcs, config.topology.ports)
            credit = left[returned[ends[0] : ends[1]]] + int(config.registers_of_links[node, port])
            to_node = port == 0
            result[channel] = cls(
                waits.tolist(),
                left[group].tolist(),
                credit.tolist(),
                NEVER if to_node else config.depth,
            )
        return result


def turn_order(config: NetworkConfig) -> list[int]:
    """Return the buffers in order of turns: links, the interface, links again with several VCs."""
    ports, vcs = config.topology.ports, config.vcs
    links = [port * vcs + vc for port in range(1, ports) for vc in range(vcs)]
    return links + list(range(vcs)) + (links if vcs > 1 else [])


def _out_of_turn(program: Program, heads: Heads, ones: list[int]) -> tuple[int, int] | None:
    """Find the first grant that passed over a waiting head: the granted head and the one passed.

    ``ones`` are the heads that request the output VC, in order of their grants.
    """
    order = turn_order(program.config)
    queues: dict[int, list[int]] = defaultdict(list)
    for head in reversed(ones):
        queues[int(heads.buffer[head])].append(head)
    turn = (program.config.topology.ports - 1) * program.config.vcs
    for head in ones:
        granted = int(heads.granted[head])
        if granted == NEVER:
            return None
        while True:
            queue = queues.get(order[turn])
            turn = (turn + 1) % len(order)
            if queue and queue[-1] == head:
                queue.pop()
                break
            if queue and heads.waits[queue[-1]] <= granted:
                return head, queue[-1]
    return None


def _injected(config: NetworkConfig, buffered: Buffered) -> npt.NDArray[np.int64]:
    """Return, for each flit that a node injects, a cycle by which it has been injected."""
    flits = buffered.arrivals.flits
    by = np.full(len(flits), NEVER, dtype=np.int64)
    own = np.flatnonzero(flits.port == 0)
    own = own[np.lexsort((flits.cycle[own], flits.node[own]))]
    last, after = -1, NEVER
    for flit in own[::-1].tolist():
        if flits.node[flit] != last:
            last, after = int(flits.node[flit]), NEVER
        elif flits.kind[flit] & TAIL_MARK:
            after -= config.table.control_words
        after = min(int(buffered.left[flit]), after) - 1
        by[flit] = after
    return by
