"""Cuts of a network: a set of nodes, and the words that must leave it by its links.

A link of rate r carries a word every r cycles (docs/router.md, section 24). So the links out of a
set of nodes carry as many words a cycle as the sum of 1 / r of each.
"""

from dataclasses import dataclass
from fractions import Fraction

import numpy as np
import numpy.typing as npt

from ..base.arrays import Numbers
from ..network.topology import NO_LINK, Topology

NodeSet = npt.NDArray[np.bool_]


@dataclass(frozen=True, eq=False)
class Cut:
    """A set of nodes, the words that must leave it, and the number of directed links out of it.

    ``inside`` has shape (nodes,), bool. ``capacity`` is how many words the links carry in a cycle.
    """

    inside: NodeSet
    words: int
    links: int
    capacity: Fraction

    @property
    def ratio(self) -> Fraction:
        """Words per capacity: a lower bound on the cycles."""
        return self.words / self.capacity


def shares(topology: Topology) -> tuple[Numbers, int]:
    """Return the words that each directed link carries in a number of cycles, and this number.

    Links are in the order of :func:`~..network.links.directed_links`.
    """
    rates = topology.rates[topology.neighbor != NO_LINK]
    cycles = int(np.lcm.reduce(np.unique(rates), initial=1))
    return cycles // rates, cycles
