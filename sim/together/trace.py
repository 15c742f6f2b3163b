"""The trace of tiles that are simulated together, as bit planes: a word has a bit of each tile.

A record has the flits of one word of tiles that leave by one port in one cycle, as 64-bit words,
lowest byte first::

    header    bits 0 to 6: how many planes a node's number has; bit 7: 1, as no text begins so;
              8 to 13: how many planes a VC has; 14 to 23: how many a flit has;
              24 to 31: the port; 32 to 63: the cycle
    enable    bit i is 1 if tile i of the word sends a flit
    planes    those of the node, of the VC, of the kind (2 planes) and of the flit, the lowest bit
              of each first
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

import numpy as np
import numpy.typing as npt

from ...model.network.config import PIECE_BITS
from ...model.run.trace import Trace

MARK = 0x80
"""Lowest first byte of a trace of records; text begins with a smaller byte."""
VC_LOW, FLIT_LOW, PORT_LOW, CYCLE_LOW = 8, 14, 24, 32
"""Lowest bits of the numbers of a header."""
HEADER_WORDS = 2
KIND_PLANES = 2
RECORDS_AT_ONCE = 1 << 12


@dataclass(frozen=True)
class Printed:
    """A trace line for a flit that leaves ``port``, printed at the clock's edge if ``enable`` is 1.

    ``enable`` is a gate. ``cycle`` to ``data`` are the line's numbers, with a gate for each bit,
    the lowest first.
    """

    enable: int
    port: int
    cycle: list[int]
    node: list[int]
    vc: list[int]
    kind: list[int]
    data: list[int]


def print_line(printed: Printed, mask: str, text: Callable[[int], str]) -> str:
    """Return the Verilog statement that writes the records of a word of tiles.

    ``mask`` has a bit for each tile that exists; ``text`` returns the Verilog of a gate.
    """
    sizes = len(printed.node), len(printed.vc), len(printed.data)
    counts = sizes[2] << FLIT_LOW | sizes[1] << VC_LOW | sizes[0]
    marks = printed.port << PORT_LOW | MARK | counts
    planes = [*printed.node, *printed.vc, *printed.kind, *printed.data]
    enable = f"({text(printed.enable)} & {mask})"
    # The cycle is the same for all tiles.
    cycle = (f"{text(bit)}[0]" for bit in reversed(printed.cycle))
    record = [*(text(plane) for plane in reversed(planes)), enable, *cycle, f"32'h{marks:x}"]
    values = ",\n      ".join(record)
    # $fwrite, because $write stops at a zero byte. 1 is the standard output.
    return f'    if (|{enable}) $fwrite(1, "%u", {{{values}}});'


def is_by_planes(content: bytes) -> bool:
    """Tell whether a printed trace has records instead of lines."""
    return content[:1] >= bytes([MARK])


def rows_of_planes(content: bytes) -> Trace:
    """Return the flits in the records of a trace, in any order.

    Raises :class:`ValueError` if the last record is not whole.
    """
    words = np.frombuffer(content, dtype="<u8")
    header = int(words[0])
    sizes = [
        header % MARK,
        header % (1 << FLIT_LOW) >> VC_LOW,
        KIND_PLANES,
        header % (1 << PORT_LOW) >> FLIT_LOW,
    ]
    records = words.reshape(-1, HEADER_WORDS + sum(sizes))
    starts = range(0, len(records), RECORDS_AT_ONCE)
    return Trace.join([_rows(records[first : first + RECORDS_AT_ONCE], sizes) for first in starts])


def _rows(records: npt.NDArray[np.uint64], sizes: Sequence[int]) -> Trace:
    """Return the flits of some records; ``sizes`` are the numbers of planes."""
    enabled = np.ascontiguousarray(records[:, 1:2]).view(np.uint8)
    record, tile = np.nonzero(np.unpackbits(enabled, axis=1, bitorder="little"))
    planes = records[record, HEADER_WORDS:] >> tile.astype(np.uint64)[:, None] & np.uint64(1)
    parts = np.split(planes, np.cumsum(sizes)[:-1], axis=1)
    *numbers, data = parts
    node, vc, kind = (_number(part) for part in numbers)
    pieces = [_number(data[:, low : low + PIECE_BITS]) for low in range(0, sizes[-1], PIECE_BITS)]
    header = records[record, 0]
    port = header >> np.uint64(PORT_LOW) & np.uint64(0xFF)
    found = [header >> np.uint64(CYCLE_LOW), node, port, vc, kind]
    return trace_of_columns(found, np.stack(pieces, axis=1))


def _number(planes: npt.NDArray[np.uint64]) -> npt.NDArray[np.uint64]:
    """Return the numbers that planes of shape (flits, bits) hold."""
    number: npt.NDArray[np.uint64] = planes @ (
        np.uint64(1) << np.arange(planes.shape[1], dtype=np.uint64)
    )
    return number


def trace_of_columns(
    numbers: Sequence[npt.NDArray[np.uint64]], data: npt.NDArray[np.uint64]
) -> Trace:
    """Return a trace of its columns before ``data``, and of data of shape (rows, pieces)."""
    trace = Trace.empty(len(data))
    *columns, _ = trace.columns
    for column, values in zip(columns, numbers, strict=True):
        column[:] = values
    return replace(trace, data=data[:, 0] if data.shape[1] == 1 else data)
