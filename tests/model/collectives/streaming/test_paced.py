"""Greedy schedules where links differ: proved, and a link brings as much as its rate allows."""

import numpy as np
import pytest

from eyecast.model.base.errors import InvalidInput
from eyecast.model.collectives.streaming.greedy import greedy_all_gather, greedy_broadcast
from eyecast.model.network.chiplets import chiplets
from eyecast.model.network.topology import mesh
from eyecast.model.schedule.schedule import Schedule

SLOW = chiplets((2, 1), (2, 2), latency=8, rate=4)


def most_blocks(made: Schedule, rate: int) -> int:
    """The most blocks that a send carries over a link of this rate."""
    carried = np.diff(made.block_offsets)
    return int(carried[made.send_rates == rate].max())


@pytest.mark.parametrize("made", [greedy_all_gather(SLOW, 64), greedy_broadcast(SLOW, 0, 512)])
def test_a_slow_link_brings_one_piece_while_others_bring_four(made: Schedule) -> None:
    made.check()
    assert (made.distances == 1).all()
    assert most_blocks(made, 4) == 1
    assert 1 < most_blocks(made, 1) <= 4


def test_paced_is_for_links_that_differ() -> None:
    with pytest.raises(InvalidInput, match="network for paced must be one whose links differ"):
        greedy_broadcast(mesh((4, 2)), 0, 16)
