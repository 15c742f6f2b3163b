"""Links with drawn registers and rates: the hardware does what the cycle model predicts."""

from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from helpers.verified import require_agreement

import eyecast


@pytest.mark.slow
@pytest.mark.parametrize("side", [3, 8])
def test_drawn_links_are_as_predicted_flit_for_flit(side: int) -> None:
    draw = np.random.default_rng(side)
    mesh = eyecast.mesh((side, side))
    drawn = replace(
        mesh,
        link_registers_of=draw.integers(0, 4, mesh.neighbor.shape),
        link_rate_of=draw.integers(1, 4, mesh.neighbor.shape) if side == 3 else None,
    )
    for algorithm, asked in (("tree", {"source": 0}), ("ring", {"collective": "all-gather"})):
        made = eyecast.schedule(drawn, algorithm, words=4, **asked)
        require_agreement(eyecast.verify(made, depth=4, message_words=256 if side == 8 else 64))


@pytest.mark.slow
@pytest.mark.parametrize(
    ("collective", "algorithm", "flits", "asked"),
    [
        ("broadcast", "paced", 256, {"source": 0, "ports": "all"}),
        ("all-gather", "greedy", 16, {"ports": "all"}),
        ("all-reduce", "overlapped", 512, {"ports": "all"}),
        ("all-to-all", "direct", 4, {}),
    ],
)
def test_four_chiplets_are_as_predicted_flit_for_flit(
    collective: str, algorithm: str, flits: int, asked: dict[str, Any]
) -> None:
    four = eyecast.chiplets((2, 2), (2, 2), latency=8, rate=4)
    made = eyecast.schedule(four, algorithm, collective=collective, words=flits, **asked)
    require_agreement(eyecast.verify(made, depth=4))
