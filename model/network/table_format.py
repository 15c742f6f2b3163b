"""The format of the control words of a table row: docs/router.md, section 4."""

from dataclasses import dataclass
from functools import cached_property

import numpy as np
import numpy.typing as npt

HEADER_COUNT_BITS = 4
"""Width of the field of a table row that counts its header flits."""

MOST_HEADER_FLITS = (1 << HEADER_COUNT_BITS) - 1
"""Most header flits of a row: 15."""

Fields = tuple[tuple[str, int], ...]
"""Names and widths of fields, in the order in which they are packed."""


@dataclass(frozen=True)
class TableFormat:
    """Format of a row's control words, which stand in front of its header flits.

    ``fields`` are packed into words of ``word_width`` bits by :func:`.pack_positions`.
    """

    word_width: int
    fields: Fields

    @cached_property
    def positions(self) -> tuple[tuple[int, int], ...]:
        """Word and lowest bit of each field."""
        return pack_positions(self.fields, self.word_width)

    @property
    def control_words(self) -> int:
        """Words that the fields take."""
        return self.positions[-1][0] + 1

    def pack(self, columns: dict[str, npt.NDArray[np.int64]]) -> npt.NDArray[np.uint64]:
        """Return control words, shape (rows, control words), from a column for each field."""
        rows = len(columns[self.fields[0][0]])
        words = np.zeros((rows, self.control_words), dtype=np.uint64)
        for (name, _), (word, low) in zip(self.fields, self.positions, strict=True):
            words[:, word] |= columns[name].astype(np.uint64) << np.uint64(low)
        return words


def pack_positions(fields: Fields, word_width: int) -> tuple[tuple[int, int], ...]:
    """Return (word, lowest bit) for each (name, width) field, low bits first, none straddling.

    >>> pack_positions((("a", 10), ("b", 4), ("c", 6)), 16)
    ((0, 0), (0, 10), (1, 0))
    """
    positions = []
    word = used = 0
    for _, width in fields:
        if used + width > word_width:
            word, used = word + 1, 0
        positions.append((word, used))
        used += width
    return tuple(positions)
