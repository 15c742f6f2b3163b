"""Links with drawn registers and rates: the hardware does what the cycle model predicts."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

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
        made = eyecast.schedule(drawn, algorithm, flits=4, **asked)
        result = eyecast.verify(made, depth=4, message_words=256 if side == 8 else 64)
        assert result.agrees, [str(check) for check in result.checks if not check.agrees]
