"""The links of the cycle model and their registers: docs/router.md, section 2.

With R registers, what leaves in cycle t arrives at the end of cycle t + R. It waits in one of R + 1
stages, which take turns: the one filled in this cycle is emptied R cycles later, and with R = 0 at
the end of this very cycle. The link between an interface and its router has no registers.
"""

from __future__ import annotations

import numpy as np

from .cycle_compiler import Int, index, inlined
from .cycle_state import CREDIT_OVERFLOW, STAGE, Lists, Network, Registers, set_flag, wake


@inlined
def send(
    net: Network, now: Registers, output_line: Int, vc: Int, kind: Int, word: np.uint64
) -> None:
    """Put a flit on the link of an output port."""
    stage = index(now.total[STAGE])
    entry = index(stage * len(now.vc_turn) + now.flights[stage])
    now.flight_channel[entry] = net.downstream[output_line] * net.vcs + vc
    now.flight_kind[entry] = kind
    now.flight_data[entry] = word
    now.flights[stage] += 1


@inlined
def give_credit(net: Network, now: Registers, lists: Lists, node: Int, port: Int, vc: Int) -> None:
    """Send a credit back over the link of an input port."""
    feeder = index(net.upstream[index(node * net.ports + port)] * net.vcs + vc)
    if port == 0:
        take_credit(net, now, lists, feeder)
        if now.waiting[node]:
            wake(now, lists, node)
    else:
        stage = index(now.total[STAGE])
        entry = index(stage * len(now.credits) + now.returns[stage])
        now.return_channel[entry] = feeder
        now.returns[stage] += 1


@inlined
def take_credit(net: Network, now: Registers, lists: Lists, channel: Int) -> None:
    """Count a credit that has come back."""
    if now.credits[channel] == net.depth:
        node = np.int64(net.line_node[net.channel_line[channel]])
        set_flag(now, lists, node, CREDIT_OVERFLOW)
    else:
        now.credits[channel] += 1
