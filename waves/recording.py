"""Samples of recorded signals at each falling edge of a clock.

A recording is a waveform of a simulator (VCD), or a table of a logic analyser (CSV) with a column
for each signal and a row for each cycle::

    $scope module top $end                     clk,tile_0.rst,tile_0.outputs__0__valid,...
    $var wire 1 ! clk $end                     0,1,0,...
    ...                                        0,0,1,...

It is read once, line by line, because a large network's recording takes gigabytes.
"""

import csv
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import IO

from ..model.base.errors import InvalidInput
from .names import NETWORK

UNDEFINED = -1
"""Value of a signal with an unknown bit."""

_TIME, _COMMAND = b"#$"
_VECTOR = b"bB"
_LINE_ENDS = (b"\n", b"\r\n", b" \n")
"""Text after a signal's short name; a last line without it is incomplete."""

_RADIX = {"HEX": 16, "BINARY": 2, "UNSIGNED": 10, "SIGNED": 10, "OCTAL": 8}


def vcd_samples(
    file: IO[bytes],
    wanted: Sequence[str],
    clock: str,
    *,
    scope: str | None = None,
    names: Mapping[str, str] | None = None,
    bits: Mapping[str, int] | None = None,
    absent: str | None = None,
) -> Iterator[list[int]]:
    """Yield the values of the ``wanted`` signals at every falling edge of the signal ``clock``.

    The same list is yielded each time. Its last value is the clock's.

    Parameters
    ----------
    file
        The VCD file.
    wanted, clock
        Paths of signals from the module ``scope``.
    scope
        Path of that module; by default the only one in the file that has the first wanted signal.
    names
        Full paths that replace some of the paths.
    bits
        Widths of some of the wanted signals.
    absent
        Path of an instance that the module must not have.

    Raises :class:`.InvalidInput` if a signal is missing or has another width, if several modules
    have it, or if ``absent`` exists.

    """
    declared = _declared(file)
    if scope is None:
        named = names or {}
        scope = next((_scope_with(declared, each) for each in wanted if each not in named), "")
    if absent and any(path.startswith(f"{_below(scope, absent)}.") for path in declared):
        found = f"it has {_below(scope, absent)}, which this network has not"
        raise InvalidInput(f"the recording must be of this network, {found}")
    paths = [(names or {}).get(name, _below(scope, name)) for name in (*wanted, clock)]
    widths = [(bits or {}).get(name) for name in (*wanted, clock)]
    yield from _values(file, _places(declared, paths, widths), len(paths))


def _places(
    declared: Mapping[str, tuple[bytes, int]], paths: Sequence[str], widths: Sequence[int | None]
) -> dict[bytes, list[int]]:
    """Return the positions of signals in ``paths``, by the end of a value's line."""
    places: dict[bytes, list[int]] = {}
    for place, (path, width) in enumerate(zip(paths, widths, strict=True)):
        if path not in declared:
            raise InvalidInput(f"the recording must have a signal {path}, it has none")
        code, bits = declared[path]
        if width not in (None, bits):
            allowed = f"{width} bits in this network, not {bits}"
            raise InvalidInput(f"signal {path} of the recording must have {allowed}")
        for end in _LINE_ENDS:
            places.setdefault(code + end, []).append(place)
    return places


def _values(
    file: IO[bytes], places: Mapping[bytes, list[int]], signals: int
) -> Iterator[list[int]]:
    """Yield the values of signals at every falling edge of the last one."""
    values = [UNDEFINED] * signals
    was_high = False
    # A gigabyte has fifty million lines, nearly all of unwanted signals.
    for line in file:
        first = line[0]
        if first == _TIME:
            if was_high and values[-1] == 0:
                yield values
            was_high = values[-1] == 1
            continue
        word, code = line[:1], line[1:]
        if first in _VECTOR:
            word, _, code = code.partition(b" ")
        found = places.get(code)
        if found is not None and first != _COMMAND:
            for place in found:
                values[place] = _number(word)
    if was_high and values[-1] == 0:
        yield values


def _below(scope: str, path: str) -> str:
    """Return the full path of ``path`` in ``scope``."""
    return f"{scope}.{path}" if scope else path


def _declared(file: IO[bytes]) -> dict[str, tuple[bytes, int]]:
    """Read the declarations: short name and width of each signal, by its path."""
    declared: dict[str, tuple[bytes, int]] = {}
    scopes: list[str] = []
    for line in file:
        match line.split():
            case [b"$scope", _, name, b"$end"]:
                scopes.append(name.decode(errors="replace"))
            case [b"$upscope", b"$end"]:
                del scopes[-1:]
            case [b"$var", _, bits, code, name, *_] if bits.isdigit():
                path = ".".join((*scopes, name.decode(errors="replace")))
                declared[path] = code, int(bits)
            case [b"$enddefinitions", b"$end"]:
                return declared
    raise InvalidInput("the recording must be a VCD file, with $enddefinitions in front of values")


def _scope_with(declared: Iterable[str], name: str) -> str:
    """Return the path of the only module with the signal ``name``."""
    end = f".{name}"
    found = sorted(path[: -len(end)] for path in declared if path.endswith(end))
    if not found and any(path.startswith(f"{NETWORK}.node_") for path in declared):
        raise InvalidInput(
            "the recording must have the hardware's signals, as signals.vcd of verify --signals "
            "has; waves are for a viewer"
        )
    if not found:
        raise InvalidInput(f"the recording must have a signal {name}, it has none")
    if len(found) > 1:
        raise InvalidInput(f"--scope must say which network it is: one of {', '.join(found)}")
    return found[0]


def _number(word: bytes) -> int:
    """Return a value in binary digits as a number."""
    try:
        return int(word, 2)
    except ValueError:
        return UNDEFINED


def table_samples(
    lines: Iterable[str], wanted: Sequence[str], *, names: Mapping[str, str] | None = None
) -> Iterator[list[int]]:
    """Yield the values of the ``wanted`` signals in every row of a table.

    Values are hexadecimal, unless the second row names a radix for each column, as logic analysers
    write it ("Radix - UNSIGNED", "HEX", "BINARY"). A column's path may have further parts before a
    wanted path. Raises :class:`.InvalidInput` if a column is missing or a value is no number.
    """
    rows = csv.reader(lines)
    header = [name.strip() for name in next(rows, [])]
    columns = [_column(header, (names or {}).get(name, name)) for name in wanted]
    radix = [16] * len(header)
    for number, row in enumerate(rows, 2):
        if number == 2 and row and row[0].strip().upper().startswith("RADIX"):
            radix = [_radix_of(text) for text in row]
            continue
        try:
            yield [int(row[column].strip(), radix[column]) for column in columns]
        except (ValueError, IndexError):
            allowed = "a number in each column"
            raise InvalidInput(f"the recording, line {number}: must have {allowed}") from None


def _column(header: Sequence[str], path: str) -> int:
    """Return the first column of ``path``, or of a path that ends with it."""
    for place, name in enumerate(header):
        if name == path or name.endswith((f".{path}", f"/{path}")):
            return place
    raise InvalidInput(f"the recording must have a column {path}, it has none")


def _radix_of(text: str) -> int:
    """Return the radix that the second row names for a column."""
    return _RADIX.get(text.upper().replace("RADIX", "").strip(" -"), 16)
