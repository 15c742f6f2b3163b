"""Whose turn it was: the order in which the heads that wait for an output VC get it.

A trace tells when each flit of a link has come to the front of its buffer and when it left
(``trace_matching``), and so which heads waited while another one was granted. The order of the page
(docs/router.md, section 3) is laid out here anew, as a list of buffers.
"""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from .config import NetworkConfig
from .program import Program
from .trace import TAIL_MARK
from .trace_matching import NEVER, Buffered
from .trace_packets import Numbers, flit_error


@dataclass(frozen=True, eq=False)
class Heads:
    """The first flits, but for those dropped, of all packets that came into routers.

    exit
        The output VC that each requests: what has the same number has the same one. -1 for none.
    buffer
        The number of the buffer that each is in.
    waits
        A cycle from which on each is certain to stand at the front of its buffer; of a link the
        first one. A trace does not tell when a node injects a flit, but it is before what the node
        injects after it leaves.
    granted
        The cycle in which each leaves; ``NEVER`` if it does not.
    flit
        Which flit of the arrivals it is.
    """

    exit: Numbers
    buffer: Numbers
    waits: Numbers
    granted: Numbers
    flit: Numbers


def heads_of(program: Program, buffered: Buffered) -> Heads:
    """The heads of packets of which it is certain when they left."""
    config, arrivals = program.config, buffered.arrivals
    flits = arrivals.flits
    came = np.where(
        flits.port != 0, flits.cycle + config.link_registers, _injected(config, buffered)
    )
    channel = np.repeat(arrivals.channel, arrivals.end - arrivals.begin)
    before = np.full(len(flits), -1, dtype=np.int64)
    before[1:] = np.where(channel[1:] == channel[:-1], buffered.left[:-1], -1)
    at_front = np.maximum(came, before) + 1
    unsure = np.isin(buffered.exit, buffered.exit[~buffered.sure])
    chosen = np.flatnonzero(~unsure & (buffered.exit >= 0))
    flit = buffered.front[chosen]
    node, port, vc = flits.node[flit], flits.port[flit], flits.vc[flit].astype(np.int64)
    entry = np.where(port != 0, config.topology.peer[node, port], 0).astype(np.int64)
    return Heads(
        exit=buffered.exit[chosen],
        buffer=entry * config.vcs + vc,
        waits=at_front[flit],
        granted=buffered.left[flit],
        flit=flit,
    )


def check_grants(program: Program, buffered: Buffered) -> None:
    """An output VC goes to the head that its order comes to first, of those that wait for it.

    Heads of a node's own packets count where it is certain that they wait.
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


def turn_order(config: NetworkConfig) -> list[int]:
    """The buffers in the order of turns: links, the interface, links again if there are VCs."""
    ports, vcs = config.topology.ports, config.vcs
    links = [port * vcs + vc for port in range(1, ports) for vc in range(vcs)]
    return links + list(range(vcs)) + (links if vcs > 1 else [])


def _out_of_turn(program: Program, heads: Heads, ones: list[int]) -> tuple[int, int] | None:
    """Find the first head that was granted one output VC before another, and that one.

    ``ones`` are the heads that request it, those granted first in front.
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
    """For each flit that a node's rows inject, a cycle by which that is done."""
    flits = buffered.arrivals.flits
    by = np.full(len(flits), NEVER, dtype=np.int64)
    own = np.flatnonzero(flits.port == 0)
    own = own[np.lexsort((flits.cycle[own], flits.node[own]))]
    last, after = -1, NEVER
    for flit in own[::-1].tolist():
        if flits.node[flit] != last:
            last, after = int(flits.node[flit]), NEVER
        elif flits.kind[flit] & TAIL_MARK:
            after -= config.control_words
        after = min(int(buffered.left[flit]), after) - 1
        by[flit] = after
    return by
