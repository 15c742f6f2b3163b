"""Links for the soak: drawn registers and rates, so that links differ."""

from dataclasses import replace

import numpy as np

from ..network.topology import Topology

LONGEST_DRAWN_LINK, SLOWEST_DRAWN_LINK = 5, 3
"""Most registers of a link, and most cycles between two of its flits, where links differ."""


def draw_links(draw: np.random.Generator, topology: Topology) -> Topology:
    """Draw for a quarter of the networks the registers, and for some the rates, of the links."""
    if draw.integers(4):
        return topology
    shape = topology.neighbor.shape
    registers = draw.integers(0, LONGEST_DRAWN_LINK + 1, shape)
    rates = draw.integers(1, SLOWEST_DRAWN_LINK + 1, shape) if draw.integers(2) else None
    return replace(topology, link_registers_of=registers, link_rate_of=rates)
