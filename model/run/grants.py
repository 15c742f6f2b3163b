"""Check of the round-robin order of heads and VCs against a trace.

A trace tells when each flit of a link reached the front of its buffer and when it left
(``matching``), and so which heads waited while another one was granted. The order of buffers
(docs/router.md, section 3) is written here a second time, independently of the cycle model.
"""

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from ..base.arrays import Numbers
from ..base.loops import Int, compiled_loop, inlined
from ..network.config import NetworkConfig
from ..program.program import Program
from .matching import Buffered
from .packets import Packets, flit_error
from .trace import TAIL_MARK
from .walk import NEVER


class Heads(NamedTuple):
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
    config = program.config
    if config.contention_free:
        return
    heads = heads_of(program, buffered)
    exits, of_exit = np.unique(heads.exit, return_inverse=True)
    links = (config.topology.ports - 1) * config.vcs
    head, passed = _out_of_turn(
        np.argsort(heads.granted, kind="stable"),
        of_exit,
        heads,
        np.array(turn_order(config)),
        np.full(len(exits), links),
        np.full((len(exits), links + config.vcs), -1),
        np.full(len(of_exit), -1),
    )
    if head >= 0:
        port, vc = divmod(int(heads.buffer[passed]), config.vcs)
        what = f"a head that waits on input port {port}, VC {vc}, had the turn of the next output"
        raise flit_error("grants", buffered.arrivals.flits, int(heads.flit[head]), what)


@compiled_loop
def _out_of_turn(
    order: Numbers,
    of_exit: Numbers,
    heads: Heads,
    turns: Numbers,
    turn: Numbers,
    front: Numbers,
    behind: Numbers,
) -> tuple[int, int]:
    """Find the first grant that passed over a waiting head: the granted head and the one passed.

    ``order`` is the order of grants. Of each output VC, ``turn`` is the next place in ``turns``,
    and ``front`` has the first head in each buffer, ``behind`` the next one in the same buffer.
    """
    for place in range(len(order) - 1, -1, -1):
        head = order[place]
        exit, buffer = of_exit[head], heads.buffer[head]
        behind[head] = front[exit, buffer]
        front[exit, buffer] = head
    for head in order:
        granted, exit = heads.granted[head], of_exit[head]
        if granted == NEVER:
            break
        passed = -1
        while passed != head:
            passed = front[exit, turns[turn[exit]]]
            if passed != head and passed >= 0 and heads.waits[passed] <= granted:
                return head, passed
            turn[exit] = (turn[exit] + 1) % len(turns)
        front[exit, heads.buffer[head]] = behind[head]
    return -1, -1


def check_vcs(program: Program, packets: Packets, buffered: Buffered) -> None:
    """Require that an output sends by the first ready VC after the last one that sent.

    A VC is ready if it has a credit and a flit certainly at the front of its buffer: the next flit
    of the packet that holds the VC, or a head if none holds it. The check is skipped if any packet
    may have been taken for another.
    """
    config, flits = program.config, packets.flits
    if config.contention_free or config.vcs == 1 or not buffered.sure.all():
        return
    outputs = config.topology.nodes * config.topology.ports
    flit, other = _passed_over(
        np.argsort(flits.cycle, kind="stable"),
        flits.cycle,
        flits.node.astype(np.int64) * config.topology.ports + flits.port,
        flits.vc.astype(np.int64),
        _waiting(program, buffered),
        np.zeros((outputs, config.vcs, 2), dtype=np.int64),
        np.zeros(outputs, dtype=np.int64),
    )
    if flit >= 0:
        raise flit_error("grants", flits, flit, f"VC {other} was ready, and it was its turn")


class _Waiting(NamedTuple):
    """Flits in front of output VCs, in the order in which they leave by each.

    Channel c has the flits ``first[c]`` to ``first[c + 1]`` - 1. ``waits`` has the cycle from which
    each is at the front; for a head, the earliest of its own and those of all later heads. ``left``
    has the cycles in which they leave. ``returned`` has the cycles in which credits come back, from
    ``first_returned[c]`` on, and ``credits`` the credits of a channel at the start.
    """

    first: Numbers
    waits: Numbers
    left: Numbers
    first_returned: Numbers
    returned: Numbers
    credits: Numbers


def _waiting(program: Program, buffered: Buffered) -> _Waiting:
    """Return the waiting flits of all output VCs."""
    config, arrivals, left = program.config, buffered.arrivals, buffered.left
    flits, lengths = arrivals.flits, arrivals.end - arrivals.begin
    exits, begins = np.repeat(buffered.exit, lengths), np.repeat(buffered.front, lengths)
    leaving = np.flatnonzero((exits >= 0) & (np.arange(len(left)) >= begins))
    order = leaving[np.lexsort((left[leaving], exits[leaving]))]
    channels = np.arange(config.topology.nodes * config.topology.ports * config.vcs + 1)
    first = np.searchsorted(exits[order], channels)
    waits = fronts_of(config, buffered)[order]
    _wait_for_soonest(first, order == begins[order], waits)
    came = np.repeat(arrivals.channel, lengths)
    back = left + config.registers_of_links[flits.node, flits.port]
    to_node = channels[:-1] // config.vcs % config.topology.ports == 0
    return _Waiting(
        first,
        waits,
        left[order],
        np.searchsorted(came, channels),
        back[np.lexsort((back, came))],
        np.where(to_node, NEVER, config.depth),
    )


@compiled_loop
def _wait_for_soonest(first: Numbers, head: npt.NDArray[np.bool_], waits: Numbers) -> None:
    """Let each head wait from the earliest cycle of its own and those of all later heads."""
    for channel in range(len(first) - 1):
        soonest = NEVER
        for flit in range(first[channel + 1] - 1, first[channel] - 1, -1):
            if head[flit]:
                soonest = min(soonest, waits[flit])
                waits[flit] = soonest


@compiled_loop
def _passed_over(
    order: Numbers,
    cycle: Numbers,
    output: Numbers,
    vc: Numbers,
    waiting: _Waiting,
    gone: Numbers,
    next_vc: Numbers,
) -> tuple[int, int]:
    """Find the first flit that left before a ready VC whose turn it was: the flit and that VC.

    ``order`` is the order of cycles. Of each output, ``next_vc`` has the next turn; of each of its
    VCs, ``gone`` has the number of flits that had left, and of credits that had come back.
    """
    vcs = gone.shape[1]
    for flit in order:
        sent = output[flit]
        other = next_vc[sent]
        while other != vc[flit]:
            if _ready(waiting, sent * vcs + other, gone[sent, other], cycle[flit]):
                return flit, other
            other = (other + 1) % vcs
        next_vc[sent] = (vc[flit] + 1) % vcs
    return -1, -1


@inlined
def _ready(waiting: _Waiting, channel: Int, gone: Numbers, cycle: Int) -> bool:
    """Tell whether a VC could have sent in a cycle in which it did not send."""
    begin, stop = waiting.first[channel], waiting.first[channel + 1]
    while begin + gone[0] < stop and waiting.left[begin + gone[0]] < cycle:
        gone[0] += 1
    if begin + gone[0] == stop or waiting.waits[begin + gone[0]] > cycle:
        return False
    begin, stop = waiting.first_returned[channel], waiting.first_returned[channel + 1]
    while begin + gone[1] < stop and waiting.returned[begin + gone[1]] < cycle:
        gone[1] += 1
    return bool(waiting.credits[channel] - gone[0] + gone[1] > 0)


def turn_order(config: NetworkConfig) -> list[int]:
    """Return the buffers in order of turns: links, the interface, links again with several VCs."""
    ports, vcs = config.topology.ports, config.vcs
    links = [port * vcs + vc for port in range(1, ports) for vc in range(vcs)]
    return links + list(range(vcs)) + (links if vcs > 1 else [])


def _injected(config: NetworkConfig, buffered: Buffered) -> Numbers:
    """Return, for each flit that a node injects, a cycle by which it has been injected."""
    flits = buffered.arrivals.flits
    by = np.full(len(flits), NEVER, dtype=np.int64)
    own = np.flatnonzero(flits.port == 0)
    own = own[np.lexsort((flits.cycle[own], flits.node[own]))]
    tail = flits.kind & TAIL_MARK != 0
    _find_injected(own, flits.node, tail, buffered.left, config.table.control_words, by)
    return by


@compiled_loop
def _find_injected(
    own: Numbers,
    node: npt.NDArray[np.int32],
    tail: npt.NDArray[np.bool_],
    left: Numbers,
    control_words: int,
    by: Numbers,
) -> None:
    """Write the cycles of the flits ``own``, which are in order of node and injection."""
    last, after = -1, NEVER
    for place in range(len(own) - 1, -1, -1):
        flit = own[place]
        if node[flit] != last:
            last, after = node[flit], NEVER
        elif tail[flit]:
            after -= control_words
        after = min(left[flit], after) - 1
        by[flit] = after
