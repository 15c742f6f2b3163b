r"""Any graph, given as a table of neighbours.

Row n of the table is ``Topology.neighbor[n]``. Entry p is the node to which port p leads, -1 if it
has no link; entry 0, the node's own port, is always -1. The example is a triangle with a tail, with
the port numbers at both ends of each link::

    [0]1---1[1]                 0: [-1,  1,  2, -1]
       2   2                    1: [-1,  0,  2, -1]
        \ /                     2: [-1,  1,  0,  3]
        2 1                     3: [-1,  2, -1, -1]
        [2]3---1[3]

Links come in pairs, one each way between the same two ports, because the credits of a link run
beside the opposite link. So there must be as many links n -> m as m -> n. If there are several, the
lowest port of n is paired with the lowest port of m, and so on. A link that works only one way is a
pair with a faulty link (:func:`.with_faults`).

Some nodes may be switches, which forward packets and have no network interface: in a fat tree, all
nodes except the leaves.
"""

from collections.abc import Iterable, Sequence
from dataclasses import replace

import numpy as np
import numpy.typing as npt

from ..base.errors import InvalidInput, require_range
from .topology import LARGEST_NODE_COUNT, NO_LINK, Topology


def graph(neighbor: Sequence[Sequence[int]], switches: Iterable[int] = ()) -> Topology:
    """Return the graph of a table: port p of node n leads to node ``neighbor[n][p]``, or -1.

    ``switches`` are the nodes without a network interface. Raises :class:`InvalidInput` that names
    the entry or the two nodes at fault: an empty or ragged table, a node that does not exist, a
    link from a node to itself, a link without a way back; a switch out of range, or only switches.

    >>> graph([[-1, 1, 1], [-1, 0, 0]]).peer.tolist()
    [[-1, 1, 2], [-1, 1, 2]]
    """
    table = _table(neighbor)
    nodes, ports = np.nonzero(table != NO_LINK)
    ends = table[nodes, ports]
    rising, falling = nodes < ends, nodes > ends
    # Sort the links of both directions alike: by lower node, higher node and port.
    up = np.flatnonzero(rising)[np.lexsort((ports[rising], ends[rising], nodes[rising]))]
    down = np.flatnonzero(falling)[np.lexsort((ports[falling], nodes[falling], ends[falling]))]
    _require_ways_back(
        np.stack((nodes[up], ends[up]), axis=1), np.stack((ends[down], nodes[down]), axis=1)
    )
    peer = np.full_like(table, NO_LINK)
    peer[nodes[up], ports[up]] = ports[down]
    peer[nodes[down], ports[down]] = ports[up]
    topology = Topology("graph", (), table, peer, name=f"graph of {len(table)}")
    return with_switches(topology, switches)


def with_switches(topology: Topology, switches: Iterable[int]) -> Topology:
    """Return the graph ``topology`` in which ``switches`` have no network interface.

    Raises :class:`InvalidInput` for a switch that does not exist, and if no other node is left.
    """
    given = tuple(sorted(set(switches)))
    for switch in given:
        require_range("switch", switch, 0, topology.nodes - 1)
    if len(given) == topology.nodes:
        raise InvalidInput.of("switches", "fewer than all nodes", f"all {len(given)}")
    return replace(topology, switches=given)


def _table(neighbor: Sequence[Sequence[int]]) -> npt.NDArray[np.int32]:
    """Return the rows as an array; refuse entries that are neither a node nor an allowed -1."""
    nodes = len(neighbor)
    if not 1 <= nodes <= LARGEST_NODE_COUNT:
        raise InvalidInput.of("neighbor", f"1 to {LARGEST_NODE_COUNT} rows long", nodes)
    ports = len(neighbor[0])
    if ports < 1:
        raise InvalidInput.of("neighbor[0]", "one entry or more, for port 0 and the links", ports)
    for node, row in enumerate(neighbor):
        if len(row) != ports:
            raise InvalidInput.of(f"neighbor[{node}]", f"{ports} long as neighbor[0] is", len(row))
    given = np.array(neighbor)
    if not np.issubdtype(given.dtype, np.integer):
        raise InvalidInput.of("neighbor", "a table of integers", f"one of {given.dtype}")
    for wrong, allowed in (
        ((given < NO_LINK) | (given >= nodes), f"-1 (no link) or 0 to {nodes - 1}"),
        ((given != NO_LINK) & (np.arange(ports) == 0), "-1, as port 0 is the node's own"),
        (given == np.arange(nodes)[:, np.newaxis], "another node or -1"),
    ):
        for node, port in np.argwhere(wrong)[:1]:
            raise InvalidInput.of(f"neighbor[{node}][{port}]", allowed, given[node, port])
    return given.astype(np.int32)


def _require_ways_back(up: npt.NDArray[np.int64], down: npt.NDArray[np.int64]) -> None:
    """Require as many links up as down between any two nodes.

    ``up`` and ``down`` hold the pair (lower node, higher node) of each link, in ascending order.
    """
    common = min(len(up), len(down))
    differ = (up[:common] != down[:common]).any(axis=1)
    place = int(differ.argmax()) if differ.any() else common
    pairs = [tuple(links[place].tolist()) for links in (up, down) if place < len(links)]
    if pairs:
        low, high = min(pairs)
        counts = [int((links == (low, high)).all(axis=1).sum()) for links in (up, down)]
        raise InvalidInput.of(
            f"links {low} -> {high} and {high} -> {low}",
            "equally many",
            f"{counts[0]} and {counts[1]}",
        )
