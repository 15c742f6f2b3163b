"""The links of the cycle model and their registers: docs/router.md, section 2.

With R registers, a flit that leaves in cycle t arrives at the end of cycle t + R. Until then it is
in one of the stages, which take turns, one for each cycle: a flit goes into the stage that is
emptied R cycles later; with R = 0, at the end of the same cycle. The link between an interface and
its router has no registers. Links may differ in R (section 24).

A credit is a free slot of the buffer downstream. So a flit is put into that slot when it leaves,
and the stage has only the buffer's number: the flit is not seen there before it arrives.
"""

import numpy as np

from ..base.loops import Int, index, inlined
from .state import (
    BLOCK,
    CREDIT_OVERFLOW,
    CYCLE,
    EMPTIED,
    FRONTS,
    OVERFLOW,
    Buffer,
    Lists,
    Network,
    Output,
    Registers,
    set_flag,
    wake,
)


@inlined
def _stage(net: Network, now: Registers, registers: Int) -> Int:
    """Return the stage that is emptied after this many further cycles."""
    stage = now.total[EMPTIED] + registers
    return index(stage if stage < net.stages else stage - net.stages)


@inlined
def put_flit(net: Network, now: Registers, output: Output, kind: Int, word: np.uint64) -> None:
    """Put a flit into the slot downstream of which an output VC has a credit."""
    flit = index(output.downstream * net.depth + output.slot)
    now.data[flit] = word
    now.kind[flit] = kind
    output.slot = output.slot + 1 if output.slot + 1 < net.depth else 0
    output.credits -= 1


@inlined
def launch(net: Network, now: Registers, output: Output) -> None:
    """Put the number of a flit's buffer into a stage of the links."""
    stage = _stage(net, now, output.registers)
    now.flight_channel[index(stage * len(now.lines) + now.flights[stage])] = output.downstream
    now.flights[stage] += 1


@inlined
def give_credit(net: Network, now: Registers, buffer: Buffer) -> None:
    """Put a credit for an input buffer into a stage of the links."""
    stage = _stage(net, now, buffer.registers)
    now.return_channel[index(stage * len(now.buffers) + now.returns[stage])] = buffer.upstream
    now.returns[stage] += 1


@inlined
def arrive(net: Network, now: Registers, lists: Lists, channel: Int) -> None:
    """Let a flit that was put into a buffer be seen there from the next cycle on."""
    buffer, next_cycle = now.buffers[channel], now.total[CYCLE] + 1
    count, since = np.int64(buffer.count), buffer.at_front_since
    # A slot freed in this same cycle counts as full.
    if count + np.int64(since == next_cycle) >= net.depth:
        set_flag(now, lists, np.int64(net.channel_node[channel]), OVERFLOW)
        return
    buffer.count = count + 1
    buffer.at_front_since = next_cycle if count == 0 else since
    passing = np.int64(buffer.passing)
    set_candidate(net, now, np.int64(buffer.wanted), np.int64(count == 0) & passing)
    note_front(now, lists, channel, np.int64(count == 0) & (passing ^ 1))


@inlined
def note_front(now: Registers, lists: Lists, channel: Int, there: Int) -> None:
    """List the front flit of a buffer without a route for the next cycle, if ``there`` is 1."""
    entry = now.total[FRONTS]
    lists.fronts[index(entry)] = channel
    now.total[FRONTS] = entry + np.int64(there)


@inlined
def take_credit(net: Network, now: Registers, lists: Lists, channel: Int) -> None:
    """Count a returned credit; wake a sender that waits for it."""
    output = now.outputs[channel]
    if output.credits == net.depth:
        set_flag(now, lists, np.int64(net.channel_node[channel]), CREDIT_OVERFLOW)
        return
    output.credits += 1
    if output.credits > 1:
        return
    of_senders = channel - len(now.buffers)
    if of_senders < 0:
        number = index(channel >> net.vc_bits)
        now.lines[number].credited |= np.int64(1) << (channel - (number << net.vc_bits))
        ask_if_ready(now, number)
    elif now.senders[index(of_senders >> net.vc_bits)].waiting:
        wake(now, lists, np.int64(net.channel_node[channel]))


@inlined
def set_candidate(net: Network, now: Registers, channel: Int, there: Int) -> None:
    """Note that an output VC has a candidate, if ``there`` is 1."""
    number = index(channel >> net.vc_bits)
    now.lines[number].candidates |= np.int64(there) << (channel - (number << net.vc_bits))
    ask_if_ready(now, number)


@inlined
def ask_if_ready(now: Registers, number: Int) -> None:
    """Put an output into the set of those with a ready VC, if it has one."""
    line = now.lines[number]
    ready = np.int64(line.candidates & line.credited != 0)
    now.asked[index(number // BLOCK)] |= ready << (number % BLOCK)
