"""Networks that have been built for the boards, and what came out: a file beside this one.

``bench/boards.py`` builds them anew and writes the file.
"""

from __future__ import annotations

from pathlib import Path

import msgspec

MEASURED_FILE = Path(__file__).with_name("measured.json")


class MeasuredNetwork(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A network on a board.

    board, options
        What to give to ``eyecast bitstream``.
    luts, block_rams
        As placed: on an iCE40 logic cells, which have a LUT and a flip-flop each.
    fmax
        In Hz.
    """

    board: str
    options: str
    luts: int
    block_rams: int
    fmax: float


def measured_networks() -> list[MeasuredNetwork]:
    """All of them, in the order of the file."""
    return msgspec.json.decode(MEASURED_FILE.read_bytes(), type=list[MeasuredNetwork])
