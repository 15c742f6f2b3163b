"""Whole columns and JSON in one text, small enough to lie in a page.

::

    base64 of zlib of   [ bytes of JSON, u4 | JSON | zeros | column | zeros | column | ... ]
                                                   ^
                        columns are counted in bytes from here; each begins at a multiple of 8

JSON names a column as ``{"at": 16, "count": 3, "type": "u2"}``: little-endian numbers, unsigned of
one, two or four bytes, or ``f8`` where a number is larger.
"""

from __future__ import annotations

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
"""The largest number that a browser has exactly."""


class Pack:
    """Columns that are put together for a page."""

    def __init__(self) -> None:
        self._pieces: list[bytes] = []
        self._size = 0

    def column(self, values: npt.ArrayLike) -> dict[str, Any]:
        """Add a column of whole numbers from 0 on; returns how JSON names it.

        Raises ValueError for a number below 0, or above 2^53.
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
        """Add words of up to 64 bits as two columns: the lower 32 bits and the others."""
        low, high = values & np.uint64(0xFFFFFFFF), values >> np.uint64(32)
        return {"low": self.column(low), "high": self.column(high) if high.any() else None}

    def seal(self, content: Mapping[str, Any]) -> str:
        """Put JSON in front of all columns, and make one text of it."""
        text = json.dumps(content, separators=(",", ":"), allow_nan=False).encode()
        front = len(text).to_bytes(4, "little") + text
        packer = zlib.compressobj(level=9)
        pieces = (front + bytes(-len(front) % _ALIGNED), *self._pieces)
        packed = b"".join([*map(packer.compress, pieces), packer.flush()])
        return base64.b64encode(packed).decode("ascii")

    def _append(self, content: bytes) -> None:
        """Add bytes, and zeros up to where the next column may begin."""
        padded = content + bytes(-len(content) % _ALIGNED)
        self._pieces.append(padded)
        self._size += len(padded)
