"""Types of whole arrays, and columns that nobody can change."""

import numpy as np
import numpy.typing as npt

from .errors import InvalidInput

Numbers = npt.NDArray[np.int64]
Int32s = npt.NDArray[np.int32]
Words = npt.NDArray[np.uint64]


def freeze(table: object, *columns: str, dtype: type[np.generic]) -> None:
    """Make each of ``columns`` of a frozen dataclass a read-only array of ``dtype``."""
    for column in columns:
        array = np.ascontiguousarray(getattr(table, column), dtype=dtype)
        if array.ndim != 1:
            raise InvalidInput.of(column, "an array with one axis", f"with {array.ndim}")
        array.setflags(write=False)
        object.__setattr__(table, column, array)
