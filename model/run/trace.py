"""Traces: every flit that leaves a router, as columns; docs/router.md, section 7.

The file is CSV, one row per flit, sorted by cycle, then node, then port, deliveries of one cycle
and node by ejection port::

    cycle,node,port,vc,kind,data
    2,0,1,0,head,2c
    3,1,0,0,single,1c

Numbers are decimal; ``data`` is the flit's bits in lower-case hex, without ``0x`` and without
leading zeros (0 is ``0``); every line, the last one too, ends with a line feed. The data of wide
words (docs/router.md, section 25) may have 128 digits.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, fields
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple, overload

import numpy as np
import numpy.typing as npt

from ..base.arrays import Words, as_integers, as_words, low_pieces, words_differ
from ..base.errors import InvalidInput
from ..base.files import write_pieces_atomically
from ..base.frames import data_frame, stream_of
from ..base.notebook import ShowsItself

if TYPE_CHECKING:
    from pandas import DataFrame

HEAD_MARK = 1
TAIL_MARK = 2
KINDS = ("body", "head", "tail", "single")
"""Names of the kinds of flit: ``KINDS[HEAD_MARK * head + TAIL_MARK * tail]``."""

COLUMNS = ("cycle", "node", "port", "vc", "kind", "data")
_HEADER = ",".join(COLUMNS) + "\n"
_ROWS_PER_PIECE = 1 << 18
_COMMA, _LINE_FEED = b",\n"
_DIGITS_OF_PIECE = 16
_DIGIT_VALUES = np.full(256, 16, dtype=np.uint64)
_DIGIT_VALUES[np.frombuffer(b"0123456789abcdef", dtype=np.uint8)] = np.arange(16)


class Flit(NamedTuple):
    """One row of a trace."""

    cycle: int
    node: int
    port: int
    vc: int
    kind: int
    data: int

    def __str__(self) -> str:
        """Write the row as it stands in a file."""
        return f"{self.cycle},{self.node},{self.port},{self.vc},{KINDS[self.kind]},{self.data:x}"


@dataclass(frozen=True, eq=False)
class Trace(ShowsItself):
    """One row per flit that leaves an output port; columns of equal length.

    Rows are in order of (cycle, node, port); :meth:`sort` restores that order. Deliveries of one
    node and cycle have port 0 and are in the order of its ejection ports. ``trace.to_pandas()``,
    ``polars.DataFrame(trace)`` and ``pyarrow.table(trace)`` are tables without a copy.

    Attributes
    ----------
    cycle
        The cycle in which the flit leaves; 0 is the first cycle after reset.
    node
        The node whose router it leaves.
    port
        The output port; 0 is delivery to the node.
    vc
        The virtual channel of the output.
    kind
        Index into ``KINDS``.
    data
        The flit's bits; for wide words their pieces, shape (rows, pieces).
    """

    cycle: npt.NDArray[np.int64]
    node: npt.NDArray[np.int32]
    port: npt.NDArray[np.int16]
    vc: npt.NDArray[np.int16]
    kind: npt.NDArray[np.int8]
    data: npt.NDArray[np.uint64]

    def __len__(self) -> int:
        return len(self.cycle)

    @overload
    def __getitem__(self, index: int) -> Flit: ...

    @overload
    def __getitem__(self, index: slice) -> Trace: ...

    def __getitem__(self, index: int | slice) -> Flit | Trace:
        if isinstance(index, slice):
            return Trace(*(column[index] for column in self.columns))
        cycle, node, port, vc, kind = (int(column[index]) for column in self.columns[:-1])
        return Flit(cycle, node, port, vc, kind, as_integers(self.data[[index]])[0])

    def __iter__(self) -> Iterator[Flit]:
        return map(Flit, *(as_integers(column) for column in self.columns))

    @property
    def columns(self) -> tuple[npt.NDArray[Any], ...]:
        """The six columns, in the order of ``COLUMNS``."""
        return tuple(getattr(self, field.name) for field in fields(self))

    @property
    def header_data(self) -> Words:
        """The low bits of every flit, up to 64: all that a header has."""
        return low_pieces(self.data)

    @property
    def _flat_columns(self) -> dict[str, npt.NDArray[Any]]:
        """The six columns by name; wide data are Python's integers."""
        columns = dict(zip(COLUMNS, self.columns, strict=True))
        if self.data.ndim > 1:
            columns["data"] = np.array(as_integers(self.data), dtype=object)
        return columns

    def to_pandas(self) -> DataFrame:
        """Return the trace as a data frame, whose columns are not copied.

        Raises :class:`.InvalidInput` without pandas.
        """
        return data_frame(self._flat_columns)

    def __arrow_c_stream__(self, requested_schema: object = None) -> object:
        """Return the trace as a stream of Arrow, which Polars, pandas and DuckDB read.

        Raises :class:`.InvalidInput` without pyarrow.
        """
        return stream_of(self._flat_columns, requested_schema)

    @classmethod
    def empty(cls, rows: int = 0, pieces: int = 1) -> Trace:
        """Make a trace of ``rows`` rows of zeros, for words of so many ``pieces``."""
        return cls(
            cycle=np.zeros(rows, dtype=np.int64),
            node=np.zeros(rows, dtype=np.int32),
            port=np.zeros(rows, dtype=np.int16),
            vc=np.zeros(rows, dtype=np.int16),
            kind=np.zeros(rows, dtype=np.int8),
            data=np.zeros((rows, pieces) if pieces > 1 else rows, dtype=np.uint64),
        )

    @classmethod
    def from_flits(cls, flits: Sequence[tuple[int, ...]], pieces: int = 1) -> Trace:
        """Make a trace of ``flits`` in any order, except deliveries: in ejection-port order.

        Words have so many ``pieces``.
        """
        trace = cls.empty(len(flits), pieces)
        for column, values in zip(trace.columns[:-1], zip(*flits, strict=True), strict=False):
            column[:] = values
        trace.data[:] = as_words([flit[-1] for flit in flits], pieces)
        return trace.sort()

    @classmethod
    def join(cls, traces: list[Trace]) -> Trace:
        """Put the rows of one or more traces one after another; one trace is not copied.

        The list is empty then, so that the memory of a trace is free as soon as it is copied.
        """
        if len(traces) == 1:
            return traces.pop()
        data, place = traces[0].data, 0
        joined = cls.empty(sum(map(len, traces)), data.shape[1] if data.ndim > 1 else 1)
        while traces:
            trace = traces.pop(0)
            for column, rows in zip(joined.columns, trace.columns, strict=True):
                column[place : place + len(trace)] = rows
            place += len(trace)
        return joined

    def first_rows(self, rows: int) -> Trace:
        """Return the first ``rows`` rows, not copied."""
        return Trace(*(column[:rows] for column in self.columns))

    def sort(self) -> Trace:
        """Return the rows in order of (cycle, node, port); equal rows keep their order."""
        order = np.lexsort((self.port, self.node, self.cycle))
        return Trace(*(column[order] for column in self.columns))

    def write_csv(self, path: str | Path) -> None:
        """Write the trace as CSV, whole or not at all.

        Raises :class:`.InvalidInput` if ``path`` cannot be written.
        """
        write_pieces_atomically(path, self._csv_pieces())

    def _csv_pieces(self) -> Iterator[bytes]:
        """Yield the file piece by piece: as text it takes many times the memory of the columns."""
        row = "%d,%d,%d,%d,%s,%x\n".__mod__
        yield _HEADER.encode()
        for begin in range(0, len(self), _ROWS_PER_PIECE):
            piece = slice(begin, begin + _ROWS_PER_PIECE)
            numbers = [as_integers(column[piece]) for column in self.columns]
            numbers[4] = [KINDS[kind] for kind in numbers[4]]
            yield "".join(map(row, zip(*numbers, strict=True))).encode()

    @classmethod
    def read_csv(cls, path: str | Path, pieces: int = 1) -> Trace:
        """Read a file written by :meth:`write_csv`, or by any other program in the same format.

        Words have so many ``pieces``.
        Rows may be in any order, except deliveries: in ejection-port order.
        Raises :class:`.InvalidInput` naming the file and its first bad line.
        """
        path = Path(path)
        try:
            content = path.read_bytes()
        except OSError as error:
            raise InvalidInput.of(f"trace {path}", "readable", f"{error.strerror}") from error
        if not content.startswith(_HEADER.encode()):
            found = content.split(b"\n", 1)[0][:80].decode("ascii", "replace")
            raise InvalidInput.of(f"{path}, line 1", _HEADER.strip(), repr(found))
        body = np.frombuffer(content, dtype=np.uint8, offset=len(_HEADER))
        starts, widths = _fields(path, body)
        trace = cls.empty(len(starts), pieces)
        for place, column in enumerate(trace.columns):
            name, start, width = COLUMNS[place], starts[:, place], widths[:, place]
            if name == "kind":
                column[:] = _kinds(body, start, width)
                valid = column >= 0
            elif name == "data":
                by_piece = column.reshape(len(starts), pieces)
                valid = _read_data(body, start, width, by_piece)
            else:
                numbers, valid = _numbers(body, start, width, 10)
                valid &= numbers <= np.uint64(np.iinfo(column.dtype).max)
                column[:] = numbers.astype(column.dtype)
            if not valid.all():
                line = int(np.argmin(valid))
                text = body[start[line] : start[line] + min(width[line], 40)].tobytes()
                raise _bad_field(f"{path}, line {line + 2}", name, text, pieces)
        return trace.sort()


def _fields(
    path: Path, body: npt.NDArray[np.uint8]
) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.int64]]:
    """Return the first byte and the width of each field, both of shape (lines, columns)."""
    separators = np.flatnonzero((body == _COMMA) | (body == _LINE_FEED))
    lines = len(separators) // len(COLUMNS)
    ends = separators[: lines * len(COLUMNS)].reshape(lines, len(COLUMNS))
    expected = [_COMMA] * (len(COLUMNS) - 1) + [_LINE_FEED]
    whole = (body[ends] == expected).all(axis=1)
    good_bytes = int(ends[-1, -1]) + 1 if lines else 0
    if not whole.all() or good_bytes != len(body):
        line = int(np.argmin(whole)) if not whole.all() else lines
        allowed = f"{len(COLUMNS)} fields and a line feed"
        raise InvalidInput(f"{path}, line {line + 2}: a row must be {allowed}")
    starts = np.concatenate(([0], separators + 1))[:-1].reshape(ends.shape)
    return starts, ends - starts


def _numbers(
    body: npt.NDArray[np.uint8],
    starts: npt.NDArray[np.int64],
    widths: npt.NDArray[np.int64],
    base: int,
) -> tuple[npt.NDArray[np.uint64], npt.NDArray[np.bool_]]:
    """Return the values of fields, and whether each field is a valid number."""
    most_digits = _DIGITS_OF_PIECE if base == 16 else 19
    values = np.zeros(len(starts), dtype=np.uint64)
    valid = (widths >= 1) & (widths <= most_digits)
    for place in range(min(int(widths.max(initial=0)), most_digits)):
        here = np.flatnonzero(place < widths)
        digits = _DIGIT_VALUES[body[starts[here] + place]]
        valid[here] &= digits < base
        values[here] = values[here] * np.uint64(base) + digits
    return values, valid


def _read_data(
    body: npt.NDArray[np.uint8],
    starts: npt.NDArray[np.int64],
    widths: npt.NDArray[np.int64],
    data: Words,
) -> npt.NDArray[np.bool_]:
    """Read hex fields into ``data``, shape (rows, pieces); return whether each is valid."""
    valid: npt.NDArray[np.bool_] = (widths >= 1) & (widths <= _DIGITS_OF_PIECE * data.shape[1])
    for piece in range(data.shape[1]):
        # The lowest piece is the field's last digits.
        end = starts + np.maximum(widths - piece * _DIGITS_OF_PIECE, 0)
        begin = np.maximum(end - _DIGITS_OF_PIECE, starts)
        numbers, right = _numbers(body, begin, end - begin, 16)
        there = end > starts
        data[there, piece] = numbers[there]
        valid &= right | ~there
    return valid


def _kinds(
    body: npt.NDArray[np.uint8],
    starts: npt.NDArray[np.int64],
    widths: npt.NDArray[np.int64],
) -> npt.NDArray[np.int8]:
    """Return the kinds of flit that fields name, -1 for an unknown name."""
    values = np.full(len(starts), -1, dtype=np.int8)
    for kind, name in enumerate(KINDS):
        same = np.flatnonzero(widths == len(name))
        for place, letter in enumerate(name.encode()):
            same = same[body[starts[same] + place] == letter]
        values[same] = kind
    return values


def _bad_field(where: str, column: str, text: bytes, pieces: int) -> InvalidInput:
    """Return the error for an invalid field."""
    bits = 4 * _DIGITS_OF_PIECE * pieces
    allowed = {"kind": "head, body, tail or single", "data": f"a hex number of at most {bits} bits"}
    default = "a whole number in its range"
    found = repr(text.decode("ascii", "replace"))
    return InvalidInput.of(f"{where}: {column}", allowed.get(column, default), found)


@dataclass(frozen=True, eq=False)
class Difference:
    """First difference of two traces: row ``index``, and its flit in each, None past the end."""

    index: int
    first: Flit | None
    second: Flit | None
    traces: tuple[Trace, Trace]

    def describe(self, names: tuple[str, str] = ("model", "hardware"), around: int = 3) -> str:
        """Show up to ``around`` rows before and after the difference, both traces side by side."""
        rows = range(
            max(self.index - around, 0),
            min(self.index + around + 1, max(len(trace) for trace in self.traces)),
        )
        table = [["row", *names]]
        for row in rows:
            mark = ">" if row == self.index else ""
            both = [str(trace[row]) if row < len(trace) else "-" for trace in self.traces]
            table.append([f"{mark}{row}", *both])
        widths = [max(len(line[place]) for line in table) for place in range(3)]
        return "\n".join(
            f"{row:>{widths[0]}}  {first:<{widths[1]}}  {second}" for row, first, second in table
        )


def first_difference(first: Trace, second: Trace) -> Difference | None:
    """Find the first row in which two traces differ in any column; None if they are equal."""
    rows = min(len(first), len(second))
    same = np.ones(rows, dtype=bool)
    for one, other in zip(first.columns, second.columns, strict=True):
        same &= ~words_differ(one[:rows], other[:rows])
    if same.all():
        if len(first) == len(second):
            return None
        index = rows
    else:
        index = int(np.argmin(same))
    here = [trace[index] if index < len(trace) else None for trace in (first, second)]
    return Difference(index, here[0], here[1], (first, second))
