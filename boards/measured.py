"""Networks built for the boards, with their measured sizes and frequencies: ``measured.json``.

``bench/boards.py`` builds them again and writes the file.
"""

from pathlib import Path

import msgspec

MEASURED_FILE = Path(__file__).with_name("measured.json")


class MeasuredNetwork(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A network on a board.

    board, options
        The arguments of ``eyecast bitstream``.
    luts, block_rams
        As placed; on an iCE40, ``luts`` counts logic cells: a LUT and a flip-flop each.
    fmax
        The highest clock frequency in Hz.
    """

    board: str
    options: str
    luts: int
    block_rams: int
    fmax: float


def measured_networks() -> list[MeasuredNetwork]:
    """Read all networks, in the order of the file."""
    return msgspec.json.decode(MEASURED_FILE.read_bytes(), type=list[MeasuredNetwork])
