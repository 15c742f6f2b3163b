"""Links, distances and equality of topologies, for tests."""

from collections.abc import Iterator
from itertools import product

from eyecast.model.network.topology import Topology


def links(topology: Topology) -> Iterator[tuple[int, int, int, int]]:
    """Return every link as (node, port, node at its end, port at its end)."""
    for node, port in product(range(topology.nodes), range(topology.ports)):
        if topology.neighbor[node, port] >= 0:
            end = int(topology.neighbor[node, port]), int(topology.peer[node, port])
            yield node, port, *end


def neighbors(topology: Topology) -> dict[int, set[int]]:
    """Return the nodes to which each node has a link."""
    rows = enumerate(topology.neighbor.tolist())
    return {node: {end for end in row if end >= 0} for node, row in rows}


def distances(ends: dict[int, set[int]], source: int) -> dict[int, int]:
    """Return the number of links to each node in reach of ``source``, without the product's code.

    ``ends`` has the nodes to which each node has a link.
    """
    found = {source: 0}
    ahead = [source]
    for node in ahead:
        for end in ends[node]:
            if end not in found:
                found[end] = found[node] + 1
                ahead.append(end)
    return found


def assert_same(one: Topology, other: Topology) -> None:
    for name in ("kind", "dims", "wrapped", "label", "faulty_nodes", "faulty_links", "switches"):
        assert getattr(one, name) == getattr(other, name)
    assert one.neighbor.tolist() == other.neighbor.tolist()
    assert one.peer.tolist() == other.peer.tolist()
