"""Header fields as compiled loops read them: docs/router.md, section 1.

:class:`~eyecast.model.network.header.HeaderFormat` does the same for whole columns; a compiled
loop has only the field widths in its :class:`~.state.Network`.
"""

import numpy as np

from ..base.loops import field, inlined
from .state import Network


@inlined
def port_of(net: Network, word: np.uint64) -> np.int64:
    """Read the port code of the first slot, or of a delivery."""
    return field(word, 0, net.port_bits)


@inlined
def vc_of(net: Network, word: np.uint64) -> np.int64:
    """Read the VC of the first slot."""
    return field(word, net.port_bits + net.hop_bits, net.vc_bits)


@inlined
def dropped_first(net: Network, word: np.uint64) -> np.uint64:
    """Take one hop off the first slot; drop the slot after its last hop."""
    shifted = word >> np.uint64(net.port_bits + net.hop_bits + net.vc_bits)
    one_less = word - (np.uint64(1) << np.uint64(net.port_bits))
    return shifted if field(word, net.port_bits, net.hop_bits) == 0 else one_less


@inlined
def step_of(net: Network, word: np.uint64) -> np.int64:
    """Read the step of the delivery at the start of a flit."""
    return field(word, net.port_bits, net.step_bits)


@inlined
def address_of(net: Network, word: np.uint64) -> np.int64:
    """Read the address of the delivery at the start of a flit."""
    return field(word, net.port_bits + net.step_bits, net.address_bits)


@inlined
def operator_of(net: Network, word: np.uint64) -> np.int64:
    """Read the operator of the delivery at the start of a flit."""
    return field(word, net.port_bits + net.step_bits + net.address_bits, net.operator_bits)


@inlined
def window_of(net: Network, word: np.uint64) -> np.int64:
    """Read the window of the delivery at the start of a flit."""
    low = net.port_bits + net.step_bits + net.address_bits + net.operator_bits
    return field(word, low, net.window_bits)
