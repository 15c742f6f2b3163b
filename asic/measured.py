"""Networks measured in libraries of standard cells: ``measured.json``, by ``bench/asic.py``."""

from pathlib import Path

import msgspec

from .measure import Energy, Part

USUAL_WIDTH = 32
"""Bits of a word, except in networks with wide words."""
MEASURED_FILE = Path(__file__).with_name("measured.json")


class MeasuredNetwork(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A network on an 8x8 mesh, in a library.

    parts
        The router and the interface; in networks with circuits also the tile, with the run table.
    algorithm, cycles
        The broadcast of 64 words from a corner of the 8x8 mesh, as the cycle model predicts it.
    energy
        By run ("broadcast", "uniform"): on a 3x3 mesh, whose middle router has all links.
    flit_width
        Bits of a word.
    all_reduce
        Only for networks with an operator: cycles of an all-reduce on the 8x8 mesh, by the bytes
        of each node.
    """

    variant: str
    library: str
    parts: dict[str, Part]
    algorithm: str
    cycles: int
    energy: dict[str, Energy] = {}
    flit_width: int = USUAL_WIDTH
    all_reduce: dict[int, int] = {}

    @property
    def node_area(self) -> float:
        """Area of a node in µm² without memories that a chip has as macros."""
        if "tile" in self.parts:
            return self.parts["tile"].area
        return self.parts["router"].area + self.parts["interface"].area

    @property
    def period(self) -> float:
        """Clock period of the slowest part in s."""
        return max(part.period for part in self.parts.values())

    @property
    def name(self) -> str:
        """The variant without the bits of a word."""
        return self.variant.partition(f", {self.flit_width} bits")[0]

    @property
    def link_rate(self) -> float:
        """Bits that a link of the router moves in a second."""
        return self.flit_width / self.parts["router"].period

    @property
    def time_area(self) -> float:
        """Time of the broadcast times the area of all 64 nodes, in µs × mm²."""
        return self.cycles * self.period * 1e6 * 64 * self.node_area * 1e-6


def measured_networks() -> list[MeasuredNetwork]:
    """Read all networks, in the order of the file."""
    return msgspec.json.decode(MEASURED_FILE.read_bytes(), type=list[MeasuredNetwork])
