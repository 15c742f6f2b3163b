"""Ports of memories: words that are read, and words that are written.

Used by :class:`.Sender` and :class:`.Receiver` for the message memory, by :class:`.Lane`, which
hands both on to :class:`.NetworkInterface`, and by :class:`.Table` for what the host writes.
"""

from amaranth.hdl import Cat, Value
from amaranth.lib.wiring import In, Out, Signature


class WordRead(Signature):
    """Reads of a memory whose answers come a cycle late; the directions are the reader's.

    Members
    -------
    address : Out(address_bits)
        The place that is read in this cycle, in every cycle.
    word : In(width)
        The word at the ``address`` of the last cycle. Valid in every cycle but the first.
    damaged : In(1)
        Only with ``parity``: that word is not the one that was written.
    enable : Out(1)
        Only with ``enabled``: in a cycle in which it is 0 nothing is read, and ``word`` stays.

    """

    def __init__(
        self, address_bits: int, width: int, *, parity: bool = False, enabled: bool = False
    ) -> None:
        further = {"damaged": In(1)} if parity else {}
        if enabled:
            further["enable"] = Out(1)
        super().__init__({"address": Out(address_bits), "word": In(width), **further})


class WordWrite(Signature):
    """Writes to a memory; the directions are the writer's.

    Members
    -------
    enable : Out(1)
        A word is written at the end of this cycle.
    address : Out(address_bits)
        The place that it is written to. Valid while ``enable`` is 1.
    word : Out(width)
        The word. Valid while ``enable`` is 1.

    """

    def __init__(self, address_bits: int, width: int) -> None:
        super().__init__({"enable": Out(1), "address": Out(address_bits), "word": Out(width)})


def stored(word: Value, *, parity: bool) -> Value:
    """A word as a memory holds it: with ``parity``, the xor of its bits is above it."""
    return Cat(word, word.xor()) if parity else word


def is_damaged(held: Value) -> Value:
    """Tell whether a word that was :func:`stored` with parity has an odd number of other bits."""
    return held.xor()
