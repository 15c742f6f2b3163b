"""The row of each flit and the cycles in which it moves, for hand-drawn programs of one packet."""

from helpers.programs import LINE, UP, program, put, simulated

from eyecast.model.run.hops import expected_hops
from eyecast.model.run.trace import Trace
from eyecast.report.following import NEVER, follow

MADE = program({0: [put(1, (UP, 3), length=2)]}, {3: [1]})
"""A packet of three flits from node 0 to node 3, through nodes 1 and 2."""


def test_the_hops_of_a_packet_are_counted_from_its_sender() -> None:
    hops = expected_hops(MADE)
    assert hops.row.tolist() == [0, 0, 0, 0]
    assert hops.hop.tolist() == [0, 1, 2, 3]
    assert hops.channel.tolist() == [node * LINE.ports + UP for node in range(3)] + [3 * LINE.ports]
    assert hops.flits.tolist() == [3, 3, 3, 3]
    assert hops.target.tolist() == [3]


def test_a_flit_leaves_by_the_next_hop_alone() -> None:
    whole = simulated(MADE).trace
    # The flits that leave node 1 are missing: the cycle is unknown, although node 2 sends them.
    trace = Trace(*(column[whole.node != 1] for column in whole.columns))
    followed = follow(MADE, trace, expected_hops(MADE))
    assert followed.row.tolist() == [0] * 9
    assert (followed.left[trace.node == 0] == NEVER).all()
    delivered = trace.cycle[trace.node == 3].tolist()
    assert followed.left[trace.node == 2].tolist() == delivered
    assert followed.left[trace.node == 3].tolist() == [cycle + 1 for cycle in delivered]
