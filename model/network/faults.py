"""Topologies without their faulty nodes and links.

Node numbers and ports stay; only links are removed. A faulty node keeps its number without links.
A faulty link is removed in its own direction only; the opposite link stays::

    0 <--> 1 <--> 2 <--> 3      with faulty node 3 and faulty link (0, 1):      0 <--- 1 <--> 2    3
"""

from collections.abc import Collection, Iterable
from dataclasses import replace

import numpy as np
import numpy.typing as npt

from ..base.errors import InvalidInput, require_range
from .topology import NO_LINK, Topology


def with_faults(
    topology: Topology,
    faulty_nodes: Iterable[int] = (),
    faulty_links: Iterable[tuple[int, int]] = (),
) -> Topology:
    """Return ``topology`` without the links of ``faulty_nodes`` and without ``faulty_links``.

    A faulty link is a directed pair (from, to) of nodes, and means all parallel links from the one
    to the other. Earlier faults of ``topology`` stay. Raises :class:`InvalidInput` for a node that
    does not exist and for a pair without a link.
    """
    whole = topology.without_faults or topology
    nodes = sorted({*topology.faulty_nodes, *faulty_nodes})
    links = sorted({*topology.faulty_links, *faulty_links})
    for node in nodes:
        require_range("faulty node", node, 0, whole.nodes - 1)
    for begin, end in links:
        for node in (begin, end):
            require_range("node of a faulty link", node, 0, whole.nodes - 1)
    if not nodes and not links:
        return whole
    links_lost = _links_lost(whole, np.array(links, dtype=np.int64).reshape(-1, 2))
    neighbor, peer = whole.neighbor.copy(), whole.peer.copy()
    # Links into a faulty node are removed too, because a link may lack its opposite.
    lost = np.isin(whole.neighbor, nodes) | links_lost
    lost[nodes] = True
    neighbor[lost] = peer[lost] = NO_LINK
    return replace(
        whole,
        neighbor=neighbor,
        peer=peer,
        faulty_nodes=tuple(nodes),
        faulty_links=tuple(links),
        without_faults=whole,
    )


def _links_lost(whole: Topology, links: npt.NDArray[np.int64]) -> npt.NDArray[np.bool_]:
    """Mark ``links`` (from, to), shape (links, 2), in the table of ``whole``; refuse others."""
    begins = np.arange(whole.nodes)[:, np.newaxis]
    keys = np.where(whole.neighbor == NO_LINK, -1, begins * whole.nodes + whole.neighbor)
    wanted = links[:, 0] * whole.nodes + links[:, 1]
    for place in np.flatnonzero(~np.isin(wanted, keys))[:1]:
        ends = (whole.coordinates(node).tolist() for node in links[place])
        given = ":".join(",".join(map(str, end)) for end in ends)
        raise InvalidInput.of("faulty link", f"a link of the {whole.label}", given)
    return np.isin(keys, wanted)


def draw_faults(
    topology: Topology,
    part: float,
    *,
    seed: int = 1,
    keep: Collection[int] = (),
    part_name: str = "random faults",
    seed_name: str = "seed",
) -> list[int]:
    """Draw faulty nodes: ``part`` of all nodes, rounded, but none of the nodes to ``keep``.

    The seed and the number of nodes fix an order of all nodes. The first nodes in it that are not
    kept fail, so kept nodes are replaced by later ones and change nothing else. Raises
    :class:`InvalidInput`, naming ``part_name`` or ``seed_name``, for a part below 0 or from 1 on,
    and for a negative seed.
    """
    if not 0 <= part < 1:
        raise InvalidInput.of(part_name, "0 to less than 1", part)
    require_range(seed_name, seed, 0)
    order = np.random.default_rng(seed).permutation(topology.nodes)
    drawn: list[int] = order[~np.isin(order, list(keep))][: round(part * topology.nodes)].tolist()
    return drawn
