"""Links and equality of topologies, for tests."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import product

from eyecast.model.network.topology import Topology


def links(topology: Topology) -> Iterator[tuple[int, int, int, int]]:
    """Return every link as (node, port, node at its end, port at its end)."""
    for node, port in product(range(topology.nodes), range(topology.ports)):
        if topology.neighbor[node, port] >= 0:
            end = int(topology.neighbor[node, port]), int(topology.peer[node, port])
            yield node, port, *end


def assert_same(one: Topology, other: Topology) -> None:
    for name in ("kind", "dims", "wrapped", "label", "faulty_nodes", "faulty_links", "switches"):
        assert getattr(one, name) == getattr(other, name)
    assert one.neighbor.tolist() == other.neighbor.tolist()
    assert one.peer.tolist() == other.peer.tolist()
