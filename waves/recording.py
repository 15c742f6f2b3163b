"""Samples of a simulator's recording (VCD) at each falling edge of a clock.

A VCD file is a stream of words between blanks (IEEE 1364-2005, section 18); lines mean nothing::

    $scope module top $end
    $var wire 1 ! clk $end
    $upscope $end $enddefinitions $end
    #0 0! #5 1! #10 0!

It is read once, piece by piece, because a large network's recording takes gigabytes.
"""

from collections import deque
from collections.abc import Iterator, Sequence
from itertools import chain
from typing import IO

from ..model.base.errors import InvalidInput
from .wanted import UNDEFINED, Declared, Wanted, declare, joined

_PIECE_BYTES = 1 << 11
_TIME, _END = ord("#"), b"$end"
_VECTOR = b"bBrRsS"
"""First letters of the values that stand in front of an identifier code, with a blank between."""

_DIGITS = {b"0": 0, b"1": 1, **dict.fromkeys((b"x", b"X", b"z", b"Z"), UNDEFINED)}


def vcd_samples(file: IO[bytes], wanted: Wanted) -> Iterator[list[int]]:
    """Return the values of the ``wanted`` signals at every falling edge of the last one, the clock.

    The same list may come each time. An empty list stands for cycles that are not recorded, as
    between ``$dumpoff`` and ``$dumpon``. Raises :class:`.InvalidInput` if the file has no
    declarations, and as :meth:`.Wanted.found_in` does.
    """
    words = chain.from_iterable(_words(file))
    signals = wanted.found_in(_declared(words))
    samples = _samples(words, [bytes(piece.key) for pieces in signals for piece in pieces])
    if all(len(pieces) == 1 for pieces in signals):
        return samples
    return (joined(values, signals) if values else values for values in samples)


def _words(file: IO[bytes]) -> Iterator[list[bytes]]:
    """Yield the words of the file piece by piece; a last word without a blank is incomplete."""
    rest = b""
    while piece := file.read(_PIECE_BYTES):
        words = (rest + piece).split()
        rest = b"" if piece[-1:].isspace() else words.pop()
        yield words


def _declared(words: Iterator[bytes]) -> Declared:
    """Read the declarations: the identifier code and the bits of each signal."""
    declared: Declared = {}
    scopes: list[str] = []
    for command in words:
        match command, list(iter(words.__next__, _END)):
            case b"$scope", [_, *name]:
                scopes.append(_text(name))
            case b"$upscope", _:
                del scopes[-1:]
            case b"$var", [_, bits, code, *name] if bits.isdigit():
                declare(declared, ".".join((*scopes, _text(name))), int(bits), code)
            case b"$enddefinitions", _:
                return declared
    raise InvalidInput("the recording must be a VCD file, with $enddefinitions in front of values")


def _text(name: list[bytes]) -> str:
    return b"".join(name).decode(errors="replace")


def _samples(words: Iterator[bytes], codes: Sequence[bytes]) -> Iterator[list[int]]:
    """Yield the values of ``codes`` at every falling edge of the last one."""
    values = [UNDEFINED] * len(codes)
    places: dict[bytes, list[int]] = {}
    for place, code in enumerate(codes):
        places.setdefault(code, []).append(place)
    scalars = {
        digit + code: (found, value)
        for code, found in places.items()
        for digit, value in _DIGITS.items()
    }
    before = UNDEFINED
    # A gigabyte has a hundred million words, nearly all of unwanted signals.
    for word in chain(words, [b"#"]):
        first = word[0]
        if first == _TIME:
            clock = values[-1]
            if clock == 0 and before == 1:
                yield values
            elif clock == UNDEFINED and before != UNDEFINED:
                yield []
            before = clock
        elif first in _VECTOR:
            for place in places.get(next(words, b""), ()):
                values[place] = _number(word[1:])
        elif word in scalars:
            found, value = scalars[word]
            for place in found:
                values[place] = value
        elif word == b"$dumpoff":
            values[:] = [UNDEFINED] * len(codes)
        elif word == b"$comment":
            deque(iter(words.__next__, _END), maxlen=0)


def _number(digits: bytes) -> int:
    """Return a value in binary digits as a number."""
    try:
        return int(digits, 2)
    except ValueError:
        return UNDEFINED
