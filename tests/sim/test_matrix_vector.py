"""The example of `examples/matrix_vector`: a chip of tiles multiplies like NumPy."""

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
    # Counted from the cycle after the answer: two cycles before cycle 0 (docs/router.md, 16).
    assert spread == predicted[SPREAD].cycles + 2
    busy = product.computes.any(axis=1).nonzero()[0]
    # The first tile works before the last tile has the vector; the last tile holds its node.
    assert busy[0] < spread < busy[-1] < end
    assert end > spread + predicted[GATHER].cycles
