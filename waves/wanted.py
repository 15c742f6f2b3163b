r"""Signals to read from a recording, found there under any spelling of their paths.

Tools write one path in many ways: ``/top/noc/tile_0/rst[0:0]`` of Vivado, ``top.noc.\tile_0 .rst``
of a netlist and ``tile_0<0>`` of ChipScope. Here a dot stands between the parts of a path, and a
range of bits belongs to no name. Some simulators declare a vector bit by bit; its pieces are found
together.
"""

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import NamedTuple, TypeAlias

from ..model.base.errors import InvalidInput
from .names import NETWORK

UNDEFINED = -1
"""Value of a signal with an unknown bit."""

_SPELLINGS = str.maketrans("/<(>)", ".[[]]", "\\ \t\r\n")
_RANGE = re.compile(r"(.+)\[([0-9]+)(?::([0-9]+))?\]")


class Piece(NamedTuple):
    """Bits of a signal that a recording declares together.

    key
        Name of their values: an identifier code (VCD), or a column's number (CSV).
    bits
        Their number; None if the declaration does not say it.
    low
        Place of their lowest bit in the signal.
    """

    key: bytes | int
    bits: int | None
    low: int


Declared: TypeAlias = dict[str, tuple[Piece, ...]]
"""Signals of a recording by path."""


def declare(declared: Declared, name: str, bits: int | None, key: bytes | int) -> None:
    """Add a declaration. ``name`` is a full path in any spelling, and may end with a range."""
    path, bits, low = _spelled(name, bits)
    declared[path] = (*declared.get(path, ()), Piece(key, bits, low))


def _spelled(name: str, bits: int | None = None) -> tuple[str, int | None, int]:
    """Return path, bits and lowest bit of a signal. An index that is no bit belongs to the path."""
    path = name.translate(_SPELLINGS).strip(".")
    found = _RANGE.fullmatch(path) if path.endswith("]") else None
    if found:
        ends = int(found[2]), int(found[3] or found[2])
        width = max(ends) - min(ends) + 1
        if bits in (None, width):
            return found[1], width, min(ends)
    return path, bits, 0


@dataclass(frozen=True)
class Wanted:
    """The signals to read from a recording.

    widths
        Their bits, by their paths from a module; None for any number.
    scope
        Path of that module; None for the only one that has these signals.
    names
        Full paths that replace some of the paths.
    absent
        Path of an instance that the module must not have.
    """

    widths: Mapping[str, int | None]
    scope: str | None = None
    names: Mapping[str, str] = field(default_factory=dict)
    absent: str | None = None

    def found_in(self, declared: Declared) -> list[list[Piece]]:
        """Return the pieces of each signal.

        Raises :class:`.InvalidInput` if a signal is missing or has another width, if several
        modules have it, or if ``absent`` exists.
        """
        scope = "" if self.scope is None else _spelled(self.scope)[0]
        if self.scope is None:
            unnamed = (name for name in self.widths if name not in self.names)
            scope = next((_scope_with(declared, name) for name in unnamed), "")
        if self.absent:
            absent = _below(scope, self.absent)
            if any(path.startswith(f"{absent}.") for path in declared):
                found = f"it has {absent}, which this network has not"
                raise InvalidInput(f"the recording must be of this network, {found}")
        paths = {
            name: _spelled(self.names[name])[0] if name in self.names else _below(scope, name)
            for name in self.widths
        }
        return [_pieces(declared, paths[name], width) for name, width in self.widths.items()]


def _pieces(declared: Declared, path: str, width: int | None) -> list[Piece]:
    """Return the pieces of a signal of ``width`` bits, the lowest first."""
    if path not in declared:
        raise _missing(path)
    by_place = {piece.low: piece for piece in declared[path]}
    lowest = min(by_place)
    pieces = [piece._replace(low=low - lowest) for low, piece in sorted(by_place.items())]
    # A column without a range has all bits.
    if len(pieces) == 1 and pieces[0].bits is None:
        return [pieces[0]._replace(bits=width)]
    place = 0
    for piece in pieces:
        place = place + (piece.bits or 0) if piece.low == place else -1
    if width not in (None, place):
        found = f"not {place}" if place > 0 else "whose pieces do not fit together"
        raise InvalidInput(
            f"signal {path} of the recording must have {width} bits in this network, {found}"
        )
    return pieces


def _missing(signal: str) -> InvalidInput:
    """Return the error of a signal that the recording has not, or has by another name."""
    before = f"the recording must have a signal {signal}, it has none ("
    return InvalidInput.around(before, "names", " tells its name there)")


def joined(values: Iterable[int], signals: Iterable[Iterable[Piece]]) -> list[int]:
    """Return the value of each signal from the values of all pieces."""
    rest, whole = iter(values), list[int]()
    for pieces in signals:
        parts = [(next(rest), piece.low) for piece in pieces]
        known = all(value != UNDEFINED for value, _ in parts)
        whole.append(sum(value << low for value, low in parts) if known else UNDEFINED)
    return whole


def _below(scope: str, path: str) -> str:
    """Return the full path of ``path`` in ``scope``."""
    return f"{scope}.{path}" if scope else path


def _scope_with(declared: Iterable[str], name: str) -> str:
    """Return the path of the only module with the signal ``name``; "" if it has no module."""
    end = f".{name}"
    found = sorted(
        path[: -len(name)].rstrip(".") for path in declared if path == name or path.endswith(end)
    )
    if not found and any(path.startswith(f"{NETWORK}.node_") for path in declared):
        raise InvalidInput(
            "the recording must have the hardware's signals, as signals.vcd of verify --signals "
            "has; waves are for a viewer"
        )
    if not found:
        raise _missing(name)
    if len(found) > 1:
        each = ", ".join(scope or "''" for scope in found)
        raise InvalidInput(f"--scope must say which network it is: one of {each}")
    return found[0]
