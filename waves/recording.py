"""Samples of recorded signals at each falling edge of a clock.

A recording is a waveform of a simulator (VCD), or a table of a logic analyser (CSV) with a column
for each signal and a row for each cycle::

    $scope module top $end                     clk,tile_0.rst,tile_0.outputs__0__valid,...
    $var wire 1 ! clk $end                     0,1,0,...
    ...                                        0,0,1,...

It is read once, line by line: that of a large network takes gigabytes.
"""

from __future__ import annotations

import csv
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import IO

from ..model.base.errors import InvalidInput

UNDEFINED = -1
"""The value of a signal of which a bit is not known."""

_RADIX = {"HEX": 16, "BINARY": 2, "UNSIGNED": 10, "SIGNED": 10, "OCTAL": 8}


def vcd_samples(
    file: IO[bytes],
    wanted: Sequence[str],
    clock: str,
    *,
    scope: str | None = None,
    names: Mapping[str, str] | None = None,
) -> Iterator[list[int]]:
    """Yield the values of the ``wanted`` signals at every falling edge of the signal ``clock``.

    The list is the same one each time. Its last value is that of the clock.

    Parameters
    ----------
    file
        The VCD file.
    wanted, clock
        Paths of signals from the module ``scope``.
    scope
        Path of that module; by default the only one in the file that has the first wanted signal.
    names
        Full paths that take the place of some of the paths.

    Raises :class:`.InvalidInput` where a signal is missing, or where several modules have it.

    """
    declared = _declared(file)
    names = names or {}
    if scope is None:
        scope = next((_scope_with(declared, each) for each in wanted if each not in names), "")
    places: dict[bytes, list[int]] = {}
    for place, name in enumerate((*wanted, clock)):
        path = names.get(name, f"{scope}.{name}" if scope else name)
        if path not in declared:
            raise InvalidInput(f"the recording must have a signal {path}, it has none")
        places.setdefault(declared[path], []).append(place)
    values = [UNDEFINED] * (len(wanted) + 1)
    was_high = False
    for line in file:
        first = line[:1]
        if first == b"#":
            if was_high and values[-1] == 0:
                yield values
            was_high = values[-1] == 1
            continue
        word, _, code = line[1:].partition(b" ") if first in b"bB" else (first, b"", line[1:])
        for place in places.get(code.strip(), ()):
            values[place] = _number(word)


def _declared(file: IO[bytes]) -> dict[str, bytes]:
    """Read the declarations: the short name of each signal by its path."""
    declared: dict[str, bytes] = {}
    scopes: list[str] = []
    for line in file:
        match line.split():
            case [b"$scope", _, name, b"$end"]:
                scopes.append(name.decode(errors="replace"))
            case [b"$upscope", b"$end"]:
                del scopes[-1:]
            case [b"$var", _, _, code, name, *_]:
                declared[".".join((*scopes, name.decode(errors="replace")))] = code
            case [b"$enddefinitions", b"$end"]:
                return declared
    raise InvalidInput("the recording must be a VCD file, with $enddefinitions in front of values")


def _scope_with(declared: Mapping[str, bytes], name: str) -> str:
    """The path of the only module that has the signal ``name``."""
    end = f".{name}"
    found = sorted(path[: -len(end)] for path in declared if path.endswith(end))
    if not found:
        raise InvalidInput(f"the recording must have a signal {name}, it has none")
    if len(found) > 1:
        raise InvalidInput(f"--scope must say which network it is: one of {', '.join(found)}")
    return found[0]


def _number(word: bytes) -> int:
    """A value in binary digits."""
    try:
        return int(word, 2)
    except ValueError:
        return UNDEFINED


def table_samples(
    lines: Iterable[str], wanted: Sequence[str], *, names: Mapping[str, str] | None = None
) -> Iterator[list[int]]:
    """Yield the values of the ``wanted`` signals in every row of a table.

    Values are hexadecimal, unless the second row names a radix for each column as logic analysers
    write it ("Radix - UNSIGNED", "HEX", "BINARY"). A column may have a longer path that ends with a
    wanted one. Raises :class:`.InvalidInput` where a column is missing or a value is no number.
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
    """The first column of ``path``, or of a path that ends with it."""
    for place, name in enumerate(header):
        if name == path or name.endswith((f".{path}", f"/{path}")):
            return place
    raise InvalidInput(f"the recording must have a column {path}, it has none")


def _radix_of(text: str) -> int:
    """The base of the numbers that the second row names for a column."""
    return _RADIX.get(text.upper().replace("RADIX", "").strip(" -"), 16)
