"""The directed links of a network as two columns."""

import numpy as np

from ..base.arrays import Numbers
from .topology import NO_LINK, Topology


def directed_links(topology: Topology) -> tuple[Numbers, Numbers]:
    """Return the begins and the ends of all directed links, parallel links included."""
    begins, ports = np.nonzero(topology.neighbor != NO_LINK)
    return begins.astype(np.int64), topology.neighbor[begins, ports].astype(np.int64)


def linked_pairs(topology: Topology) -> tuple[Numbers, Numbers]:
    """Return :func:`directed_links` in ascending order, with parallel links only once."""
    begins, ends = directed_links(topology)
    _, single = np.unique(begins * topology.nodes + ends, return_index=True)
    return begins[single], ends[single]
