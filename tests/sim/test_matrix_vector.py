"""The example of `examples/matrix_vector`: a chip of tiles multiplies as NumPy does."""

from __future__ import annotations

import pytest

from eyecast.examples.matrix_vector.plan import GATHER, SPREAD, software
from eyecast.examples.matrix_vector.simulation import multiply


@pytest.mark.slow
def test_a_chip_multiplies_as_numpy_does() -> None:
    product = multiply(2, 2, 2, seed=3)
    assert product.right
    assert len(set(product.expected.tolist())) == 8
    spread, end = product.ends
    predicted = software(2, 2, 2).image.predicted
    # The controller is idle, starts for two cycles, and sees the end a cycle late.
    assert spread - predicted[SPREAD].cycles == 3
    busy = product.computes.any(axis=1)
    # The first tile is at work before the last one has the vector.
    assert busy[:spread].any()
    assert end > busy.nonzero()[0][-1] + predicted[GATHER].step_ends[0] // 2
