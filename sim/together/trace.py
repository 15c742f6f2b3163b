"""The trace of tiles that are simulated together, as bit planes: a word has a bit of each tile.

A record has the flits of one word of tiles that leave by one port in one cycle, as 64-bit words,
lowest byte first::

    header    bits 0 to 6: how many planes a node's number has; bit 7: 1, as no text begins so;
              8 to 15: how many planes a VC has; 16 to 23: how many a flit has;
              24 to 31: the port; 32 to 63: the cycle
    enable    bit i is 1 if tile i of the word sends a flit
    planes    those of the node, of the VC, of the kind (2 planes) and of the flit, the lowest bit
              of each first
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from ...model.run.trace import Trace

MARK = 0x80
"""Lowest first byte of a trace of records; text begins with a smaller byte."""
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
    marks = printed.port << 24 | sizes[2] << 16 | sizes[1] << 8 | MARK | sizes[0]
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
    sizes = [header & 0x7F, header >> 8 & 0xFF, KIND_PLANES, header >> 16 & 0xFF]
    records = words.reshape(-1, HEADER_WORDS + sum(sizes))
    starts = range(0, len(records), RECORDS_AT_ONCE)
    return Trace.join([_rows(records[first : first + RECORDS_AT_ONCE], sizes) for first in starts])


def _rows(records: npt.NDArray[np.uint64], sizes: Sequence[int]) -> Trace:
    """Return the flits of some records; ``sizes`` are the numbers of planes."""
    enabled = np.ascontiguousarray(records[:, 1:2]).view(np.uint8)
    record, tile = np.nonzero(np.unpackbits(enabled, axis=1, bitorder="little"))
    planes = records[record, HEADER_WORDS:] >> tile.astype(np.uint64)[:, None] & np.uint64(1)
    parts = np.split(planes, np.cumsum(sizes)[:-1], axis=1)
    node, vc, kind, data = (
        part @ (np.uint64(1) << np.arange(size, dtype=np.uint64))
        for part, size in zip(parts, sizes, strict=True)
    )
    header = records[record, 0]
    trace = Trace.empty(len(record))
    found = header >> np.uint64(32), node, header >> np.uint64(24) & np.uint64(0xFF), vc, kind, data
    for column, values in zip(trace.columns, found, strict=True):
        column[:] = values
    return trace
