"""All-reduces whose pieces are combined and copied at the same time, over slow links."""

from collections import Counter

import numpy as np
import pytest

from eyecast.model.base.errors import InvalidInput
from eyecast.model.collectives.streaming.overlapped import overlapped_all_reduce
from eyecast.model.network.chiplets import chiplets
from eyecast.model.network.faults import with_faults
from eyecast.model.network.topology import mesh
from eyecast.model.schedule.schedule import Schedule

SLOW = chiplets((2, 2), (2, 2), latency=8, rate=4)


@pytest.fixture(scope="module")
def made() -> Schedule:
    return overlapped_all_reduce(SLOW, 512, "add")


def test_every_piece_crosses_the_fewest_slow_links_both_ways(made: Schedule) -> None:
    """Four chiplets are joined by three slow links: three sends combine, three copy."""
    made.check()
    assert (made.distances == 1).all()
    sends = made.block_sends
    slow = made.send_rates[sends] == 4
    for combine in (True, False):
        chosen = slow & (made.combine[sends] == combine)
        assert {*Counter(made.block_ids[chosen].tolist()).values()} == {3}
    every = np.bincount(made.block_ids, minlength=len(made.blocks))
    assert (every == 2 * 15).all()


def test_a_slow_link_carries_one_piece_a_step_and_others_up_to_four(made: Schedule) -> None:
    carried = np.diff(made.block_offsets)
    assert carried[made.send_rates == 4].max() == 1
    assert 1 < carried[made.send_rates == 1].max() <= 4


def test_slow_links_are_about_equally_busy(made: Schedule) -> None:
    uses = np.unique(made.links[made.send_rates == 4], return_counts=True)[1]
    assert len(uses) == 16
    assert uses.max() - uses.min() <= 4


def test_pieces_are_combined_while_others_are_copied(made: Schedule) -> None:
    combining, copying = made.step[made.combine], made.step[~made.combine]
    assert np.intersect1d(combining, copying).size > made.steps / 2


def test_few_steps_leave_a_slow_link_idle() -> None:
    """Four chiplets need six crossings of a piece; 32 slow links share them."""
    made = overlapped_all_reduce(chiplets((2, 2), (4, 4), latency=8, rate=4), 4096, "add")
    assert made.steps <= 6 * len(made.blocks) / 32 + 20


def test_a_message_of_one_word_is_one_piece() -> None:
    made = overlapped_all_reduce(SLOW, 1, "add")
    made.check()
    assert len(made.blocks) == 1


def test_overlapped_is_for_links_that_differ_in_rate_and_join_all_nodes() -> None:
    allowed = "network for overlapped must be one whose links differ in rate, not a 4x2 mesh"
    with pytest.raises(InvalidInput, match=allowed):
        overlapped_all_reduce(mesh((4, 2)), 16, "add")
    torn = with_faults(chiplets((2, 1), (2, 1), rate=4), faulty_links=[(0, 1)])
    with pytest.raises(InvalidInput, match="must be one in which links that lead both ways join"):
        overlapped_all_reduce(torn, 16, "add")
