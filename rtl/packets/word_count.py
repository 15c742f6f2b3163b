"""A count of the words that arrive in a step (docs/router.md, section 20, "Words that come").

::

    cycle t      cycle t + 1   cycle t + 2
    written ──► last ───────► before, some
"""

from amaranth.hdl import Module, Shape, signed
from amaranth.lib.wiring import Component, In, Out, Signature

from ...model.network.config import NetworkConfig
from .steps import StepClock

OFFSET = -2
"""Offset of a count's register from the number of words.

A sender compares the register with ``ahead``, which starts at -1 - ``lead``: see
:mod:`.row_of_streams`.
"""


def count_shape(config: NetworkConfig) -> Shape:
    """Return the shape of a count: signed, with room for all words of the message memory."""
    return signed(config.address_bits + 2)


class ComingWords(Signature):
    """The current step's words that have arrived at a lane; directions are a :class:`WordCount`'s.

    Members
    -------
    last : Out(1)
        High in the cycle after a word of the current step was written.
    before : Out(count_shape)
        The number of the step's words written before the last cycle, minus 2. Valid from the
        second cycle of the step on. The count stops at some number above ``message_words``.
    some : Out(1)
        High if the step's words were written before the last cycle.

    """

    def __init__(self, config: NetworkConfig) -> None:
        super().__init__(
            {"last": Out(1), "before": Out(count_shape(config), init=OFFSET), "some": Out(1)}
        )


class WordCount(Component):
    """Counts the payload words of packets of the node's step. Used by :class:`.Lane`.

    Members
    -------
    written : In(1)
        High in a cycle at whose end a word is written.
    step : In(step_bits)
        The step of the word's packet. Valid while ``written`` is 1.
    clock : In(StepClock)
        The node's step, in every cycle.
    come : Out(ComingWords)
        The arrived words of the current step.

    """

    def __init__(self, config: NetworkConfig) -> None:
        self._enough_bit = config.address_bits
        super().__init__(
            {
                "written": In(1),
                "step": In(config.step_bits),
                "clock": In(StepClock(config)),
                "come": Out(ComingWords(config)),
            }
        )

    def elaborate(self, _platform: object) -> Module:
        """Count one cycle late, because the inputs are known late in their cycle."""
        m = Module()
        come = self.come
        # The count may stop here: no row needs more arrived words than this.
        enough = come.before[self._enough_bit] & ~come.before[-1]
        m.d.sync += [
            come.last.eq(self.written & (self.step == self.clock.step)),
            come.before.eq(come.before + (come.last & ~enough)),
            come.some.eq(come.some | come.last),
        ]
        with m.If(self.clock.rises):
            m.d.sync += [come.last.eq(0), come.before.eq(OFFSET), come.some.eq(0)]
        return m
