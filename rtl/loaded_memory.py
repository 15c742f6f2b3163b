"""The message memory of a node without run control, which the host loads and reads in reset.

Used by :class:`.NetworkInterface`; in a network with programs :class:`.SharedMemory` takes its
place.
"""

from collections.abc import Sequence
from typing import Any

from amaranth.hdl import Module, ResetSignal, Signal, Value
from amaranth.lib.memory import Memory

from ..model.network.config import NetworkConfig
from .technology import Technology


def add_loaded_memory(
    m: Module,
    config: NetworkConfig,
    technology: Technology,
    *,
    host: Any,
    host_writes: Value,
    host_word: Value,
    writes: Sequence[Any],
    reads: Sequence[Any],
    reads_to_combine: Sequence[Any],
) -> Value:
    """Add the memory, the host's in reset and else the network's. Gives the word read for the host.

    ``host_word`` is what it writes in a cycle in which ``host_writes`` is 1. ``writes`` are
    :class:`.WordWrite`, ``reads`` the senders' :class:`.WordRead` and ``reads_to_combine`` the
    combiner's; the first of the first two are those that the host shares.
    """
    m.submodules.message_memory = message = Memory(
        shape=config.flit_width,
        depth=config.message_words,
        init=[],
        attrs=technology.memory_attributes,
    )
    ports = [(message.write_port(), message.read_port()) for _ in writes]
    host_write, host_read = ports[0]
    with m.If(ResetSignal()):
        m.d.comb += [
            host_write.addr.eq(host.address),
            host_write.data.eq(host_word),
            host_write.en.eq(host_writes),
            host_read.addr.eq(host.address),
        ]
    with m.Else():
        for write, read, (write_port, read_port) in zip(writes, reads, ports, strict=True):
            m.d.comb += [
                write_port.addr.eq(write.address),
                write_port.data.eq(write.word),
                write_port.en.eq(write.enable),
                read_port.addr.eq(read.address),
            ]
    for read, (_, read_port) in zip(reads, ports, strict=True):
        m.d.comb += read.word.eq(read_port.data)
    for read in reads_to_combine:
        read_port = message.read_port()
        m.d.comb += [read_port.addr.eq(read.address), read.word.eq(read_port.data)]
        if "enable" in read.signature.members:
            m.d.comb += read_port.en.eq(read.enable)
    if not technology.look_ahead:
        return host_read.data
    # The host of a board looks at it many cycles later.
    late_word = Signal(config.flit_width, reset_less=True)
    m.d.sync += late_word.eq(host_read.data)
    return late_word
