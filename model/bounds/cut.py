"""Cuts of a network: a set of nodes, and the words that must leave it by its links."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction

import numpy as np
import numpy.typing as npt

NodeSet = npt.NDArray[np.bool_]


@dataclass(frozen=True, eq=False)
class Cut:
    """A set of nodes, the words that must leave it, and the number of directed links out of it.

    ``inside`` has shape (nodes,), bool.
    """

    inside: NodeSet
    words: int
    links: int

    @property
    def ratio(self) -> Fraction:
        """Words per link: a lower bound on the cycles."""
        return Fraction(self.words, self.links)
