"""Flits that cross links, counted from a trace."""

import numpy as np
import numpy.typing as npt

from ..network.topology import Topology
from .trace import Trace

_PIECE_ROWS = 1 << 22


def link_flits(topology: Topology, trace: Trace) -> npt.NDArray[np.int64]:
    """Count the flits that crossed each link: shape (nodes, ports); column 0 is deliveries."""
    counts = np.zeros(topology.nodes * topology.ports, dtype=np.int64)
    # In pieces, because the trace of a million packets takes half a gigabyte.
    for begin in range(0, len(trace), _PIECE_ROWS):
        rows = slice(begin, begin + _PIECE_ROWS)
        lines = trace.node[rows].astype(np.int64) * topology.ports + trace.port[rows]
        counts += np.bincount(lines, minlength=counts.size)
    return counts.reshape(topology.nodes, topology.ports)
