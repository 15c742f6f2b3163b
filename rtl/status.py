"""A node's status: its flags, and the words that a host reads (docs/router.md, section 6).

Used by :class:`.NetworkInterface`, and by :class:`.SwitchStatus` for a switch, which has none.
"""

from collections.abc import Mapping
from typing import Any

from amaranth.hdl import Module, Mux, Signal, Value
from amaranth.lib import data

from ..model.network.config import NetworkConfig, bits_for
from .host_map import HostSpace, status_words
from .host_port import Flag, flags_layout


def kept_flags(m: Module, causes: Mapping[Flag, Value]) -> data.View:
    """Return flags that are set at the end of their cause's cycle, and stay until reset."""
    kept = Signal(flags_layout(parity=Flag.PARITY in causes))
    for flag, value in causes.items():
        with m.If(value):
            m.d.sync += kept[flag.member].eq(1)
    return kept


def words_of(config: NetworkConfig, bits: Signal) -> list[Value]:
    """Split bits into host words, the lowest first."""
    width = config.flit_width
    return [bits[low : low + width] for low in range(0, len(bits), width)]


def status_answer(
    m: Module, config: NetworkConfig, host: Any, words: Mapping[int, Any], selected: Value
) -> Signal:
    """Return the status word at the host's address, one cycle late.

    ``words`` are by address. The answer is 0 if the host asks for another word or space, or if this
    node is not ``selected``.
    """
    asked = Signal(config.flit_width)
    status_word = Signal.like(asked, reset_less=True)
    with m.Switch(host.address[: bits_for(status_words(config) - 1)]):
        for address, word in words.items():
            with m.Case(address):
                m.d.comb += asked.eq(word)
    is_status = selected & (host.space == HostSpace.STATUS)
    m.d.sync += status_word.eq(Mux(is_status, asked, 0))
    return status_word
