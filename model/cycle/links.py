"""The links of the cycle model and their registers: docs/router.md, section 2.

With R registers, a flit that leaves in cycle t arrives at the end of cycle t + R. Until then it is
in one of the stages, which take turns, one for each cycle: a flit goes into the stage that is
emptied R cycles later; with R = 0, at the end of the same cycle. The link between an interface and
its router has no registers. Links may differ in R (section 24).
"""

import numpy as np

from ..base.loops import Int, index, inlined
from .state import CREDIT_OVERFLOW, EMPTIED, Lists, Network, Registers, set_flag, wake


@inlined
def _stage(net: Network, now: Registers, registers: Int) -> Int:
    """Return the stage that is emptied after this many further cycles."""
    stage = now.total[EMPTIED] + registers
    return index(stage if stage < net.stages else stage - net.stages)


@inlined
def launch(net: Network, now: Registers, channel: Int, kind: Int, word: np.uint64) -> None:
    """Put a flit for input channel ``channel`` into a stage of the links."""
    stage = _stage(net, now, net.channel_registers[channel])
    entry = index(stage * len(now.next_vc) + now.flights[stage])
    now.flight_channel[entry] = channel
    now.flight_kind[entry] = kind
    now.flight_data[entry] = word
    now.flights[stage] += 1


@inlined
def give_credit(net: Network, now: Registers, channel: Int) -> None:
    """Send a credit for input channel ``channel`` back over its link."""
    stage = _stage(net, now, net.channel_registers[channel])
    entry = index(stage * len(now.buffered) + now.returns[stage])
    now.return_channel[entry] = net.upstream[channel]
    now.returns[stage] += 1


@inlined
def take_credit(net: Network, now: Registers, lists: Lists, channel: Int) -> None:
    """Count a returned credit; wake a sender that waits for it."""
    node = np.int64(net.channel_node[channel])
    if now.credits[channel] == net.depth:
        set_flag(now, lists, node, CREDIT_OVERFLOW)
    else:
        now.credits[channel] += 1
    of_senders = channel - len(now.buffered)
    if of_senders >= 0 and now.waiting[index(of_senders // net.vcs)]:
        wake(now, lists, node)
