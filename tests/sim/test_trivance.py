"""Trivance with whole messages on the hardware: two messages meet in words that are being sent."""

import pytest
from helpers.drawn_reductions import case_of, wrong_nodes
from helpers.generated import generated
from helpers.verified import verified

from eyecast.model.network.topology import Topology, ring, torus


@pytest.mark.slow
@pytest.mark.parametrize(
    ("network", "steps"), [(ring(9), 2), (torus((9, 3)), 3), (ring(27), 4)], ids=str
)
def test_all_sums_are_right_on_hardware(network: Topology, steps: int) -> None:
    made = generated("all-reduce", "trivance-whole", network, words=5, all_port=True)
    made.check()
    assert made.steps == steps
    case = case_of(made, 2)
    (result,) = verified([case])
    assert wrong_nodes(case, result.measured.memory) == []
