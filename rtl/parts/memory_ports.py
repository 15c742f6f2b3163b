"""Read and write ports of memories, and the parity of their words.

Used by :class:`.Sender`, :class:`.Receiver` and :class:`.Lane` for the message memory, and by
:class:`.Table` for the writes of the host.
"""

from collections.abc import Iterator

from amaranth.hdl import Cat, Value
from amaranth.lib.wiring import In, Member, Out, Signature

from ...model.network.config import NetworkConfig


class WordRead(Signature):
    """Reads of a memory that answers one cycle later; the directions are the reader's.

    Members
    -------
    address : Out(address_bits)
        The address that is read in this cycle.
    word : In(width)
        The word at the ``address`` of the last cycle. Valid in every cycle except the first.
    damaged : In(1)
        Only with ``parity``: high if ``word`` is not the word that was written.
    enable : Out(1)
        Only with ``enabled``: low in a cycle without a read, after which ``word`` stays the same.

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
        High in a cycle at whose end a word is written.
    address : Out(address_bits)
        The word's address. Valid while ``enable`` is 1.
    word : Out(width)
        The word. Valid while ``enable`` is 1.

    """

    def __init__(self, address_bits: int, width: int) -> None:
        super().__init__({"enable": Out(1), "address": Out(address_bits), "word": Out(width)})


def memory_members(config: NetworkConfig, *, ahead: bool = False) -> dict[str, Member]:
    """Return the members of a message memory for the lanes, as for :class:`.SharedMemory`.

    With ``ahead`` reads of the words to combine have an ``enable``.
    """
    bits, width, lanes = config.address_bits, config.flit_width, config.lanes
    write = WordWrite(bits, width)
    members = {
        "writes": In(write).array(lanes),
        "reads": In(WordRead(bits, width, parity=config.parity)).array(lanes),
    }
    if config.operators:
        read = WordRead(bits, width, parity=config.parity, enabled=ahead)
        members |= {"reads_to_combine": In(read).array(lanes), "stored": Out(write).array(lanes)}
    return members


def stored(word: Value, *, parity: int) -> Value:
    """Return a word as a memory holds it: above it, ``parity`` bits, each the xor of its share.

    The shares are equally long, the lowest first.
    """
    return Cat(word, *(share.xor() for share in _shares(word, parity))) if parity else word


def is_damaged(held: Value, *, parity: int = 1) -> Value:
    """Tell whether an odd number of bits of a share, as :func:`stored`, have changed."""
    if parity == 1:
        return held.xor()
    word, bits = held[:-parity], held[-parity:]
    return Cat(
        share.xor() ^ bit for share, bit in zip(_shares(word, parity), bits, strict=True)
    ).any()


def _shares(word: Value, parity: int) -> Iterator[Value]:
    """Yield the equal shares of a word."""
    size = len(word) // parity
    return (word[low : low + size] for low in range(0, len(word), size))
