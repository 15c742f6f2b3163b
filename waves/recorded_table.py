"""Samples of a logic analyser's table: a column for each signal, a row for each cycle.

The header names the columns; comments may stand above it. A row of radixes may follow, as Vivado
and ChipScope write it. Without it values are hexadecimal::

    Sample in Buffer,TRIGGER,top/noc/tile_0/outputs__0__valid,top/noc/tile_0/outputs__0__flit[33:0]
    Radix - UNSIGNED,UNSIGNED,BINARY,HEX
    0,0,1,10000002c
"""

import csv
from collections.abc import Iterable, Iterator, Sequence

from ..model.base.errors import InvalidInput, one_of
from .wanted import Declared, Piece, Wanted, declare, joined

_RADIXES = {"HEX": 16, "BINARY": 2, "UNSIGNED": 10, "SIGNED": 10, "OCTAL": 8}
_MARK = "RADIX"


def table_samples(lines: Iterable[str], wanted: Wanted) -> Iterator[list[int]]:
    """Yield the values of the ``wanted`` signals in every row of a table.

    Raises :class:`.InvalidInput` as :meth:`.Wanted.found_in` does, and for a value that is no
    number of its column's radix and bits.
    """
    numbered = enumerate(lines, 1)
    named = ((number, line) for number, line in numbered if line.strip() and line[0] not in "#;")
    above, header = next(named, (0, ""))
    separator = max(",;\t", key=header.count)
    (names,) = csv.reader([header], delimiter=separator)
    declared: Declared = {}
    for column, name in enumerate(names):
        declare(declared, name, None, column)
    signals = wanted.found_in(declared)
    pieces = [piece for each in signals for piece in each]
    radixes = ["HEX"] * len(names)
    rows = csv.reader((line for _, line in numbered), delimiter=separator)
    for row in filter(None, rows):
        if row[0].strip().upper().startswith(_MARK):
            radixes = [text.upper().replace(_MARK, "").strip(" -") for text in row]
            _require_radixes(names, radixes, pieces)
            continue
        where = f"the recording, line {above + rows.line_num}"
        yield joined(_values(where, names, row, radixes, pieces), signals)


def _require_radixes(names: Sequence[str], radixes: Sequence[str], pieces: Sequence[Piece]) -> None:
    """Refuse a column of ``pieces`` without a radix, or with an unknown one."""
    for piece in pieces:
        radix = next(iter(radixes[int(piece.key) :][:1]), "none")
        if radix not in _RADIXES:
            name = names[int(piece.key)]
            raise InvalidInput(f"column {name} must have radix {one_of([*_RADIXES])}, not {radix}")


def _values(
    where: str,
    names: Sequence[str],
    row: Sequence[str],
    radixes: Sequence[str],
    pieces: Sequence[Piece],
) -> Iterator[int]:
    """Yield the value of each piece in a row; a negative number becomes its two's complement."""
    for column, bits, _ in pieces:
        radix, text = radixes[int(column)], "".join(row[int(column) :][:1]).strip()
        limit = 1 << (bits or 0)
        try:
            value = int(text, _RADIXES[radix])
        except ValueError:
            value = limit
        if radix == "SIGNED" and -limit // 2 <= value < 0:
            value += limit
        if not 0 <= value < limit:
            allowed = f"{bits} bits (radix {radix})"
            column_name = names[int(column)]
            raise InvalidInput(f"{where}: {column_name} must have {allowed}, not {text!r}")
        yield value
