"""Blocks of requests: one for each message, or several pieces, with all their columns."""

from eyecast.model.network.topology import mesh
from eyecast.model.schedule.blocks import NO_OWNER, Blocks
from eyecast.model.schedule.requested import Requested
from eyecast.model.schedule.requested_blocks import blocks_of


def columns(blocks: Blocks) -> list[tuple[object, ...]]:
    """Return owner, owed nodes, words, contributors and operator of each block."""
    numbers = zip(blocks.owner.tolist(), blocks.owed, blocks.words.tolist(), strict=True)
    others = zip(blocks.contributors, blocks.operator, strict=True)
    return [(*number, *other) for number, other in zip(numbers, others, strict=True)]


def test_a_broadcast_in_pieces() -> None:
    request = Requested(collective="broadcast", words=5, root=1)
    whole = [(1, None, 3, (), None), (1, None, 2, (), None)]
    assert columns(blocks_of(mesh((3,)), [request], (), 2)) == whole


def test_requests_of_two_groups() -> None:
    gather = Requested(collective="gather", words=(4, 2), root=3)
    add = Requested(collective="all-reduce", words=3, operator="add")
    found = columns(blocks_of(mesh((2, 2)), [gather, add], [(1, 3), (0, 2)], 2))
    pieces = [(1, (3,), 2), (1, (3,), 2), (3, (3,), 1), (3, (3,), 1)]
    assert found == [
        *((*piece, (), None) for piece in pieces),
        (NO_OWNER, (0, 2), 2, (0, 2), "add"),
        (NO_OWNER, (0, 2), 1, (0, 2), "add"),
    ]


def test_a_reduction_of_all_nodes() -> None:
    request = Requested(collective="reduce", words=2, root=0, operator="max")
    assert columns(blocks_of(mesh((3,)), [request], (), 1)) == [(NO_OWNER, (0,), 2, None, "max")]
