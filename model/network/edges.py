"""Graphs given as a list of edges, as in most file formats for graphs.

An edge links two nodes both ways, or one way. A one-way edge becomes a pair of links, one each way,
because ports come in pairs; the link back is marked faulty (:func:`.with_faults`). Edges from a
node to itself are left out, because no message could use them. An edge that adds no link is
ignored.
"""

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from .faults import with_faults
from .named_graphs import one_way_tables
from .neighbor_table import with_switches
from .topology import NO_LINK, Topology


@dataclass(frozen=True, eq=False)
class Edges:
    """A graph of ``nodes`` nodes as edges.

    ``ends`` has shape (edges, 2), int64: the two nodes of each edge, both in range. ``one_way`` has
    shape (edges,), bool: true if the edge leads only from the first to the second. ``switches`` are
    the nodes without a network interface. ``names`` are the names of the nodes, by number, if the
    file has names.
    """

    nodes: int
    ends: npt.NDArray[np.int64]
    one_way: npt.NDArray[np.bool_]
    switches: tuple[int, ...] = ()
    names: tuple[str, ...] = ()

    def topology(self) -> Topology:
        """Return the graph as a network; a node's ports are in the order of its neighbours.

        Names that are all numbers are dropped, because a number means the number of a node.
        Raises :class:`.InvalidInput` if all nodes are switches.
        """
        both = np.concatenate((self.ends, self.ends[:, ::-1]))
        tables = one_way_tables(self.nodes, both[:, 0], both[:, 1])
        names = () if all(map(str.isdecimal, self.names)) else self.names
        topology = Topology("graph", (), *tables, name=f"graph of {self.nodes}", node_names=names)
        topology = with_switches(topology, self.switches)
        if not self.one_way.any():
            return topology
        return with_faults(topology, (), self._missing_ways(topology))

    @property
    def loops(self) -> int:
        """Number of edges that lead from a node to itself."""
        return int((self.ends[:, 0] == self.ends[:, 1]).sum())

    @property
    def repeated(self) -> int:
        """Number of edges between two nodes that add no link to the edges before them."""
        apart = self.ends[:, 0] != self.ends[:, 1]
        ends, both_ways = self.ends[apart], ~self.one_way[apart]
        edge = np.arange(len(ends))
        keys = np.concatenate((self._keys(ends), self._keys(ends[both_ways, ::-1])))
        edge = np.concatenate((edge, edge[both_ways]))
        order = np.argsort(edge, kind="stable")
        _, firsts = np.unique(keys[order], return_index=True)
        return len(ends) - len(np.unique(edge[order][firsts]))

    def _keys(self, ends: npt.NDArray[np.int64]) -> npt.NDArray[np.int64]:
        """Return one number for each pair of nodes."""
        return ends[:, 0] * self.nodes + ends[:, 1]

    def _missing_ways(self, topology: Topology) -> list[tuple[int, int]]:
        """Return the links of ``topology`` without an edge, as (from, to)."""
        begins, ports = np.nonzero(topology.neighbor != NO_LINK)
        links = np.stack((begins, topology.neighbor[begins, ports].astype(np.int64)), axis=1)
        wanted = np.concatenate((self.ends, self.ends[~self.one_way, ::-1]))
        missing = np.setdiff1d(self._keys(links), self._keys(wanted))
        return [divmod(key, self.nodes) for key in missing.tolist()]
