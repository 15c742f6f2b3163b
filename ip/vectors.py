"""The vector files of a package's bench: writes, flits, and expected words."""

from collections.abc import Iterator

from ..model.base.arrays import Words
from ..model.network.config import PIECE_BITS, NetworkConfig
from ..model.run.trace import Trace

CYCLES_OF_AN_ACCESS = 120
"""More cycles than any access takes with its checks."""

CYCLES_BESIDE = 40_000
"""More cycles than everything else takes: refused accesses and stopped runs."""


class Vectors:
    """Lines of the vector files; the bench gets a range by its first line and the one after it."""

    def __init__(self, config: NetworkConfig) -> None:
        self._data_digits = data_bits(config) // 4
        self._lines: dict[str, list[str]] = {"writes": [], "flits": [], "words": [], "nodes": []}
        self._ranges: dict[tuple[str, ...], str] = {}
        self.most_cycles = CYCLES_BESIDE
        self.most_run = 0
        self.runs = 0

    def add(self, name: str, lines: list[str]) -> str:
        """Add lines to a file unless it has them; return their range as arguments of a task."""
        known = self._lines[name]
        self.most_cycles += CYCLES_OF_AN_ACCESS * len(lines)
        key = name, *lines
        if key not in self._ranges:
            self._ranges[key] = f"{len(known)}, {len(known) + len(lines)}"
            known += lines
        return self._ranges[key]

    def add_flits(self, trace: Trace, before: int) -> str:
        """Add the flits of a run that leave before a cycle."""
        every = _flits(trace, self._data_digits)
        return self.add("flits", [line for line in every if int(line[:8], 16) < before])

    def add_run(self, cycles: int) -> None:
        """Count a run and its cycles."""
        self.runs += 1
        self.most_run = max(self.most_run, cycles)
        self.most_cycles += 2 * cycles + 100 * CYCLES_OF_AN_ACCESS

    def counts(self) -> dict[str, int]:
        """Return the line counts of the files, and the counts of runs and cycles."""
        names = {"WRITES": "writes", "FLITS": "flits", "WORDS": "words", "TILE_LINES": "nodes"}
        return {
            **{name: len(self._lines[file]) for name, file in names.items()},
            "NUMBER_OF_RUNS": self.runs,
            "MOST_RUN": self.most_run,
            "MOST_CYCLES": self.most_cycles,
        }

    def files(self) -> dict[str, str]:
        """Return the files by name; an extra last line keeps each from being empty."""
        digits = {"writes": 34, "flits": 20 + self._data_digits, "words": 34, "nodes": 32}
        return {
            f"{name}.hex": "\n".join([*lines, "0" * digits[name], ""])
            for name, lines in self._lines.items()
        }


def data_bits(config: NetworkConfig) -> int:
    """Return the bits of a flit's data in the vectors; the highest ones are 0."""
    return 72 if config.flit_width <= PIECE_BITS else config.flit_width + 8


def _flits(trace: Trace, digits: int) -> Iterator[str]:
    """Yield a line for each flit: cycle, node, port, VC, marks (tail, head), digits of its data."""
    for cycle, node, port, vc, kind, data in trace:
        yield f"{cycle:08x}{node:04x}{port:04x}{vc:02x}{kind:02x}{data:0{digits}x}"


def word_lines(words: Words) -> list[str]:
    """Return a line for each row (node, space, address, word)."""
    return [f"{n:08x}{s:02x}{a:08x}{w:016x}" for n, s, a, w in words.tolist()]
