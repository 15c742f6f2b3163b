"""A count of the words that come in a step (docs/router.md, section 20, "Words that come").

::

    cycle t      cycle t + 1   cycle t + 2
    written ──► last ───────► before, some
"""

from amaranth.hdl import Module, Shape, signed
from amaranth.lib.wiring import Component, In, Out, Signature

from ..model.network.config import NetworkConfig
from .steps import StepClock

OFFSET = -2
"""So much more than the number of words the register of a count holds: it is compared with the
complement of a ``lead``, which is -1 - ``lead`` (see :mod:`.row_of_streams`)."""


def count_shape(config: NetworkConfig) -> Shape:
    """Shape of a count that has room for all words of the message memory, and for less than 0."""
    return signed(config.address_bits + 2)


class ComingWords(Signature):
    """The words of a step that have come at a lane; the directions are a :class:`WordCount`'s.

    Members
    -------
    last : Out(1)
        A word was written in the last cycle, in the step of this cycle. In every cycle.
    before : Out(count_shape)
        The number of words that were written before that, less 2. Valid from the second cycle of
        the step on. Of more than ``message_words`` it is any number above.
    some : Out(1)
        There are such words. In every cycle.

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
        A word is written in this cycle.
    step : In(step_bits)
        The step of its packet. Valid while ``written`` is 1.
    clock : In(StepClock)
        The node's step, in every cycle.
    come : Out(ComingWords)
        The words of the step.

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
        """Return a counter a cycle late, so that late inputs pass through only one register."""
        m = Module()
        come = self.come
        # No row sends more words than this bit says, but for those of its ``lead``.
        enough = come.before[self._enough_bit] & ~come.before[-1]
        m.d.sync += [
            come.last.eq(self.written & (self.step == self.clock.step)),
            come.before.eq(come.before + (come.last & ~enough)),
            come.some.eq(come.some | come.last),
        ]
        with m.If(self.clock.rises):
            m.d.sync += [come.last.eq(0), come.before.eq(OFFSET), come.some.eq(0)]
        return m
