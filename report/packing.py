"""Columns and JSON packed into one text that is small enough for a page.

::

    base64 of zlib of   [ bytes of JSON, u4 | JSON | zeros | column | zeros | column | ... ]
                                                   ^
                        offsets of columns count bytes from here; each is a multiple of 8

JSON names a column as ``{"at": 16, "count": 3, "type": "u2"}``: little-endian numbers, unsigned
with one, two or four bytes, or ``f8`` for larger numbers.
"""

import base64
import json
import zlib
from collections.abc import Mapping
from typing import Any

import numpy as np
import numpy.typing as npt

_ALIGNED = 8
_TYPES = ("u1", "u2", "u4")
_LARGEST = 1 << 53
"""Largest number that a browser represents exactly."""


class Pack:
    """Columns of a page."""

    def __init__(self) -> None:
        self._pieces: list[bytes] = []
        self._size = 0

    def column(self, values: npt.ArrayLike) -> dict[str, Any]:
        """Add a column of numbers from 0 on; return its JSON description.

        Raises ValueError for a number below 0 or above 2^53.
        """
        numbers = np.asarray(values)
        least, most = int(numbers.min(initial=0)), int(numbers.max(initial=0))
        if least < 0 or most > _LARGEST:
            raise ValueError(f"numbers of a column must be 0 to {_LARGEST}, not {least} to {most}")
        name = next((name for name in _TYPES if most < 1 << 8 * int(name[1])), "f8")
        at = self._size
        self._append(numbers.astype(f"<{name}").tobytes())
        return {"at": at, "count": int(numbers.size), "type": name}

    def words(self, values: npt.NDArray[np.uint64]) -> dict[str, Any]:
        """Add words as two columns, the lower 32 bits and the others; further pieces likewise."""
        if values.ndim > 1:
            first, *further = map(self.words, values.T)
            return {**first, "further": further}
        low, high = values & np.uint64(0xFFFFFFFF), values >> np.uint64(32)
        return {"low": self.column(low), "high": self.column(high) if high.any() else None}

    def seal(self, content: Mapping[str, Any]) -> str:
        """Return JSON and columns as one text."""
        text = json.dumps(content, separators=(",", ":"), allow_nan=False).encode()
        front = len(text).to_bytes(4, "little") + text
        packer = zlib.compressobj(level=9)
        pieces = (front + bytes(-len(front) % _ALIGNED), *self._pieces)
        packed = b"".join([*map(packer.compress, pieces), packer.flush()])
        return base64.b64encode(packed).decode("ascii")

    def _append(self, content: bytes) -> None:
        """Add bytes, padded to the alignment of the next column."""
        padded = content + bytes(-len(content) % _ALIGNED)
        self._pieces.append(padded)
        self._size += len(padded)
