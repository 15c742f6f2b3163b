"""The numbers to multiply, and NumPy's product."""

import numpy as np
import numpy.typing as npt

Factors = npt.NDArray[np.int16]


def drawn(size: int, seed: int) -> tuple[Factors, Factors]:
    """Draw a matrix and a vector of any 16-bit numbers."""
    draw = np.random.default_rng(seed)
    matrix = draw.integers(-(1 << 15), 1 << 15, (size, size), dtype=np.int16)
    return matrix, draw.integers(-(1 << 15), 1 << 15, size, dtype=np.int16)


def expected(matrix: Factors, vector: Factors) -> npt.NDArray[np.int32]:
    """Multiply in 32 bits: sums wrap around, as those of the chip do."""
    return (matrix.astype(np.int64) @ vector.astype(np.int64)).astype(np.int32)
