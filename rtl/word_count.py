"""A count of the words that come in a step (docs/router.md, section 20, "Words that come")."""

from amaranth.hdl import Module
from amaranth.lib.wiring import Component, In, Out

from ..model.network.config import NetworkConfig
from .steps import StepClock


class WordCount(Component):
    """Counts the payload words of packets of the node's step. Used by :class:`.Lane`.

    Members
    -------
    written : In(1)
        A word is written in this cycle.
    step : In(step_bits)
        The step of its packet. Valid while ``written`` is 1.
    clock : In(StepClock)
        The node's step, in every cycle.
    come : Out(length_bits)
        The words that were written before this cycle, in its step; no more than ``message_words``
        are counted, as no row sends more.

    """

    def __init__(self, config: NetworkConfig) -> None:
        self._most = config.message_words
        super().__init__(
            {
                "written": In(1),
                "step": In(config.step_bits),
                "clock": In(StepClock(config)),
                "come": Out(config.length_bits),
            }
        )

    def elaborate(self, _platform: object) -> Module:
        """A counter, which begins anew with each step."""
        m = Module()
        counts = self.written & (self.step == self.clock.step) & (self.come < self._most)
        m.d.sync += self.come.eq(self.come + counts)
        with m.If(self.clock.rises):
            m.d.sync += self.come.eq(0)
        return m
