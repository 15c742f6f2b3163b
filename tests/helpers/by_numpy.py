"""Operators by NumPy, lane by lane; no code here is the product's."""

from collections.abc import Callable
from typing import Any

import numpy as np
import numpy.typing as npt

BY_NUMPY: dict[str, Callable[..., Any]] = {
    "add": np.add,
    "min": np.minimum,
    "max": np.maximum,
    "min-signed": np.minimum,
    "max-signed": np.maximum,
    "and": np.bitwise_and,
    "or": np.bitwise_or,
    "xor": np.bitwise_xor,
}
"""NumPy's operators; lanes are integers of their width, signed for the signed ones."""


def combined(
    name: str,
    there: npt.NDArray[np.uint64],
    coming: npt.NDArray[np.uint64],
    bits: int,
    own: Callable[..., Any] | None = None,
) -> npt.NDArray[np.uint64]:
    """Combine words of ``bits`` bits, or pieces of 64 bits, by the operator of this name.

    ``own`` is the meaning of a custom operator. Without lanes, words are shifted to the top of 64
    bits: their carries then get lost there, and their signs are the signs of the lanes.
    """
    function, _, lane = name.partition(":")
    up = np.uint64(0 if lane or own else 64 - bits)
    kind = f"<{'i' if function.endswith('signed') else 'u'}{int(lane or 64) // 8}"
    x, y = ((words << up).astype("<u8").view(kind) for words in (there, coming))
    if own:
        result = own(*(lanes.astype(np.uint64) for lanes in (x, y)), np.uint64(lane or bits))
    else:
        result = BY_NUMPY[function](x, y)
    narrow = result.astype(kind).view("<u8").astype(np.uint64)
    return narrow >> up & np.uint64((1 << bits) - 1)
