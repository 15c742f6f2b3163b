"""Dimension-order routes on a mesh: the whole way along axis 0, then along axis 1, and so on.

::

    source --- - --- +          axis 0 first: x, then y
                     |
                   target

With the links of a mesh as channels these routes can never wait for each other in a circle, because
no route turns from a later axis to an earlier one (Dally & Seitz, "Deadlock-Free Message
Routing in Multiprocessor Interconnection Networks", IEEE Trans. Computers C-36(5), 1987).
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from .topology import Topology


def dimension_order(
    topology: Topology, sources: npt.NDArray[np.integer], targets: npt.NDArray[np.integer]
) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.int32]]:
    """Dimension-order paths on a mesh, axis 0 first, as ``(path_offsets, path_nodes)``.

    ``sources`` and ``targets`` are nodes, shape (sends,). Path *i* is
    ``path_nodes[path_offsets[i]:path_offsets[i + 1]]``, both ends included; ``path_offsets`` has
    shape (sends + 1,). The work is proportional to the length of the result, whatever the number of
    axes.
    """
    sends = sources.size
    strides = np.concatenate(([1], np.cumprod(topology.dims)[:-1]))
    hops = topology.coordinates(targets) - topology.coordinates(sources)

    # A path is a run of equal differences between node numbers for each axis, after one jump from
    # the end of the path before it to its own source: one running sum makes all paths.
    differences = np.empty((sends, 1 + len(topology.dims)), dtype=np.int32)
    differences[:1, 0] = sources[:1]
    differences[1:, 0] = sources[1:] - targets[:-1]
    differences[:, 1:] = np.sign(hops) * strides
    lengths = np.ones(differences.shape, dtype=np.int32)
    lengths[:, 1:] = np.abs(hops)

    path_nodes = np.cumsum(np.repeat(differences.ravel(), lengths.ravel()), dtype=np.int32)
    path_offsets = np.zeros(sends + 1, dtype=np.int64)
    np.cumsum(lengths.sum(axis=1), out=path_offsets[1:])
    return path_offsets, path_nodes
