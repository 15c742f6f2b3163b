"""A node's accesses by its host, its flags and its status words (docs/router.md, sections 6, 16).

Used by :class:`.NetworkInterface`, by :class:`.CircuitInterface`, and by :class:`.SwitchStatus`.
"""

from collections.abc import Mapping
from typing import Any

from amaranth.hdl import C, Cat, Module, Mux, ResetSignal, Signal, Value
from amaranth.lib import data
from amaranth.lib.wiring import PureInterface

from ...model.network.config import NetworkConfig, bits_for
from .host_map import HostSpace, status_words
from .host_port import Flag, flags_layout


def carried_out(m: Module, host: PureInterface, node: Value, may: Value | None = None) -> Signal:
    """Answer a controller's requests to ``node``; return a bit, high in the cycle of each.

    A request is carried out once, in its first cycle in which ``may`` is 1. Core reset has no
    effect here.
    """
    asked, now = Signal(name="asked"), Signal(name="now")
    served = Signal(reset_less=True)
    answered = Signal(reset_less=True)
    m.d.comb += [
        asked.eq(host.valid & (host.node == node)),
        now.eq(asked & ~served & (C(1) if may is None else may)),
        host.answered.eq(answered),
    ]
    m.d.sync += [served.eq(asked & (served | now)), answered.eq(now)]
    return now


def host_writes(
    config: NetworkConfig, host: PureInterface, selected: Value, space: HostSpace
) -> Value:
    """Return 1 if the host writes to ``space`` of a node that is ``selected`` in this cycle.

    Without programs the host writes in reset only.
    """
    writes = selected & host.write & (host.space == space)
    return writes if config.programs else writes & ResetSignal()


def gathered(
    m: Module, host: PureInterface, written: Value, parts: int, name: str
) -> tuple[Value, Value]:
    """Gather a word that the host writes in ``parts``, each at its own address, lowest first.

    Keep each part until the host writes the last one. Return whether it does, and the whole word.
    ``written`` is 1 in a cycle in which the host writes a part; ``name`` names the registers.
    """
    number = host.address[: bits_for(parts - 1)]
    kept: list[Value] = []
    for part in range(parts - 1):
        kept.append(Signal.like(host.write_data, name=f"{name}_{part}", reset_less=True))
        with m.If(written & (number == part)):
            m.d.sync += kept[-1].eq(host.write_data)
    return written & (number == parts - 1), Cat(kept, host.write_data)


def kept_flags(m: Module, causes: Mapping[Flag, Value]) -> data.View:
    """Return flags that are set at the end of their cause's cycle, and stay until reset."""
    kept = Signal(flags_layout(parity=Flag.PARITY in causes))
    for flag, value in causes.items():
        with m.If(value):
            m.d.sync += kept[flag.member].eq(1)
    return kept


def words_of(config: NetworkConfig, bits: Value) -> list[Value]:
    """Split bits, or a wide word, into host words, the lowest first."""
    width = config.narrow_width
    return [bits[low : low + width] for low in range(0, len(bits), width)]


def status_answer(
    m: Module, config: NetworkConfig, host: PureInterface, words: Mapping[int, Any], selected: Value
) -> Signal:
    """Return the status word at the host's address, one cycle late.

    ``words`` are by address. The answer is 0 if the host asks for another word or space, or if this
    node is not ``selected``.
    """
    asked = Signal(config.narrow_width)
    status_word = Signal.like(asked, reset_less=True)
    with m.Switch(host.address[: bits_for(status_words(config) - 1)]):
        for address, word in words.items():
            with m.Case(address):
                m.d.comb += asked.eq(word)
    is_status = selected & (host.space == HostSpace.STATUS)
    m.d.sync += status_word.eq(Mux(is_status, asked, 0))
    return status_word
