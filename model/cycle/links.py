"""The links of the cycle model and their registers: docs/router.md, section 2.

With R registers, what leaves in cycle t arrives at the end of cycle t + R. It waits in one of R + 1
stages, which take turns: the one filled in this cycle is emptied R cycles later, and with R = 0 at
the end of this very cycle. The link between an interface and its router has no registers: what goes
on it is put at once into the stage that is emptied in this cycle.
"""

from __future__ import annotations

import numpy as np

from ..base.loops import Int, index, inlined, lanes_of
from .state import CREDIT_OVERFLOW, EMPTIED, FILLED, Lists, Network, Registers, set_flag, wake


@inlined
def launch(now: Registers, stage: Int, channel: Int, kind: Int, word: np.uint64) -> None:
    """Put a flit into a stage of the links, for an input channel."""
    entry = index(stage * len(now.next_vc) + now.flights[stage])
    now.flight_channel[entry] = channel
    now.flight_kind[entry] = kind
    now.flight_data[entry] = word
    now.flights[stage] += 1


@inlined
def give_credit(net: Network, now: Registers, number: Int, channel: Int) -> None:
    """Send a credit back over the link of input channel ``channel``, buffer ``number``."""
    from_interface = number < lanes_of(net) * net.vcs
    stage = index(now.total[EMPTIED] if from_interface else now.total[FILLED])
    entry = index(stage * len(now.buffered) + now.returns[stage])
    now.return_channel[entry] = net.upstream[channel]
    now.returns[stage] += 1


@inlined
def take_credit(net: Network, now: Registers, lists: Lists, channel: Int) -> None:
    """Count a credit that has come back."""
    node = np.int64(net.channel_node[channel])
    if now.credits[channel] == net.depth:
        set_flag(now, lists, node, CREDIT_OVERFLOW)
    else:
        now.credits[channel] += 1
    of_senders = channel - len(now.buffered)
    if of_senders >= 0 and now.waiting[index(of_senders // net.vcs)]:
        wake(now, lists, node)
