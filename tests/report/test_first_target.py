"""The line of a page that says to which node a root sends first, and why."""

import re

import numpy as np
import pytest

import eyecast
from eyecast.model.collectives.halving.eye import eyes
from eyecast.model.collectives.halving.rectangle import rectangle_eyes
from eyecast.model.network.topology import Topology, mesh
from eyecast.report.first_target import first_target


def test_the_line_of_a_broadcast_from_a_corner() -> None:
    assert first_target(eyecast.schedule(mesh((8, 8)), "eye", source=0)) == (
        "Node (0,0) sends first to node (5,2), the nearest eye of the other half (from an eye, a "
        "broadcast crosses the fewest links). By way of node (5,2) the message reaches 32 nodes, "
        "those from (4,0) to (7,7)."
    )


def test_a_line_without_a_reason_and_without_a_box() -> None:
    line = first_target(eyecast.schedule(eyecast.ring(5), "tree", source=0, flits=4))
    said = r"Node 0 sends first to node (\d)\. By way of node \1 the message reaches \d nodes?\."
    assert re.fullmatch(said, line)


@pytest.mark.parametrize(
    "made",
    [
        eyecast.schedule(mesh((4, 4)), "packed-trees", source=0, ports="all"),
        eyecast.schedule(mesh((4, 4)), "best", collective="gather", source=0),
        eyecast.schedule(mesh((4, 4)), "ring", collective="all-reduce"),
        eyecast.schedule(mesh((1, 1)), "tree", source=0),
    ],
    ids=["all ports", "gather", "all-reduce", "one node"],
)
def test_what_has_no_first_target_has_no_line(made: eyecast.Schedule) -> None:
    assert first_target(made) == ""


@pytest.mark.parametrize("network", [mesh((8, 8)), mesh((4, 4, 4)), mesh((7, 6)), mesh((12, 5))])
def test_the_first_target_is_the_nearest_eye_of_the_half_that_it_serves(network: Topology) -> None:
    """The reason that the line gives, by the eyes of a network as large as the half."""
    algorithm = "eye" if len(set(network.dims)) == 1 else "rectangle"
    for source in range(network.nodes):
        made = eyecast.schedule(network, algorithm, source=source, flits=1)
        first = int(made.target[made.step == 1][0])
        reached = {first}
        for sender, target in zip(made.source.tolist(), made.target.tolist(), strict=True):
            reached |= {target} if sender in reached else set()
        line = first_target(made)
        assert f"first to node {name(network, first)}, the nearest eye of the other half" in line
        assert f"reaches {len(reached)} nodes, those from" in line
        places = network.coordinates(sorted(reached))
        low = places.min(axis=0)
        half = mesh(tuple((places.max(axis=0) - low + 1).tolist()))
        found = half.coordinates(rectangle_eyes(half)) + low
        far = np.abs(found - network.coordinates(source)).sum(axis=1)
        nearest = {tuple(place) for place in found[far == far.min()].tolist()}
        assert tuple(network.coordinates(first).tolist()) in nearest
        if algorithm == "eye":
            assert first in eyes(network)


def name(network: Topology, node: int) -> str:
    return f"({','.join(map(str, network.coordinates(node).tolist()))})"
