"""Signatures: 32 bits per node over all flits that its router sends; docs/router.md, section 12.

The hardware folds flits as they leave. This module folds a trace, so that a run on a board, which
prints no trace, can be checked against the cycle model.
"""

import numpy as np
import numpy.typing as npt

from ..base.errors import InvalidInput
from ..base.loops import Int, compiled_loop, inlined
from ..network.config import NetworkConfig
from .trace import Trace

_PIECE_BITS = 32
_ONES = (1 << _PIECE_BITS) - 1
_POLYNOMIAL = 0x04C11DB7


def signatures(trace: Trace, config: NetworkConfig) -> npt.NDArray[np.uint32]:
    """Fold the ``trace`` of a whole run into the signature of each node: shape (nodes,).

    A node that sends nothing has 0. Raises :class:`InvalidInput` for a row of a node that
    the network does not have.
    """
    nodes = config.topology.nodes
    if len(trace) and not 0 <= trace.node.min() <= trace.node.max() < nodes:
        found = trace.node.min() if trace.node.min() < 0 else trace.node.max()
        raise InvalidInput.of("nodes in the trace", f"0 to {nodes - 1}", int(found))
    folded = np.zeros(nodes, dtype=np.uint64)
    _fold(
        trace.cycle,
        trace.node,
        trace.port,
        trace.vc,
        trace.kind,
        # Pieces of words of 64 bits are whole pieces of a signature, which are xored.
        np.bitwise_xor.reduce(trace.data, axis=tuple(range(1, trace.data.ndim))),
        config.flit_width,
        folded,
    )
    return folded.astype(np.uint32)


@inlined
def _rotated(piece: np.uint64, places: Int) -> np.uint64:
    """Rotate a piece left by ``places`` bits."""
    places = places % _PIECE_BITS
    right = np.uint64(_PIECE_BITS - places)
    return np.uint64((piece << np.uint64(places) | piece >> right) & np.uint64(_ONES))


@inlined
def _shifted(signature: np.uint64) -> np.uint64:
    """Advance a CRC by one bit."""
    out = signature >> np.uint64(_PIECE_BITS - 1)
    return np.uint64((signature << np.uint64(1)) & np.uint64(_ONES) ^ out * np.uint64(_POLYNOMIAL))


@compiled_loop
def _fold(
    cycle: npt.NDArray[np.int64],
    node: npt.NDArray[np.int32],
    port: npt.NDArray[np.int16],
    vc: npt.NDArray[np.int16],
    kind: npt.NDArray[np.int8],
    data: npt.NDArray[np.uint64],
    flit_width: int,
    folded: npt.NDArray[np.uint64],
) -> None:
    """Fold all rows; the flits of one router in one cycle are consecutive in a trace."""
    for row in range(len(cycle)):
        here = np.uint32(node[row])
        if row == 0 or cycle[row] != cycle[row - 1] or node[row] != node[row - 1]:
            now = np.uint64(cycle[row]) & np.uint64(_ONES)
            folded[here] = _shifted(folded[here]) ^ now
        # The kind is the head mark and, above it, the tail mark. Pieces are xored, so bits W and up
        # can be rotated to their position in the piece at once.
        marks = np.uint64(kind[row]) | np.uint64(1) << np.uint64(vc[row] + 2)
        pieces = (data[row] ^ data[row] >> np.uint64(_PIECE_BITS)) & np.uint64(_ONES)
        pieces ^= _rotated(marks, flit_width)
        folded[here] ^= _rotated(pieces, 3 * port[row])
