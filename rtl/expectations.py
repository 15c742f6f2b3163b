"""The host's space of expectations (docs/router.md, section 6)."""

from amaranth.hdl import Module, Signal
from amaranth.lib.wiring import Component, In, Out

from ..model.network.config import NetworkConfig, bits_for
from .host_map import expectation_words
from .memory_ports import WordWrite


class Expectations(Component):
    """The words that say what a node expects. Used by :class:`.NetworkInterface` without programs.

    Members
    -------
    write : In(WordWrite)
        Writes of the host, in reset only.
    words : array of Out(flit_width)
        The words by address; reset leaves them as they are.

    """

    def __init__(self, config: NetworkConfig) -> None:
        count = expectation_words(config)
        super().__init__(
            {
                "write": In(WordWrite(bits_for(count - 1), config.flit_width)),
                "words": Out(config.flit_width).array(count),
            }
        )

    def elaborate(self, _platform: object) -> Module:
        """Keep each word."""
        m = Module()
        for address, word in enumerate(self.words):
            kept = Signal.like(word, name=f"expectation_{address}", reset_less=True)
            with m.If(self.write.enable & (self.write.address == address)):
                m.d.sync += kept.eq(self.write.word)
            m.d.comb += word.eq(kept)
        return m
