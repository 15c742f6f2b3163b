"""Networks with links in one direction only, for tests."""

import numpy as np

from eyecast.model.network.edges import Edges
from eyecast.model.network.topology import Topology


def dead_end() -> Topology:
    """Return 0 -> 1 -> 2 without links back."""
    return Edges(3, np.array([[0, 1], [1, 2]]), np.ones(2, np.bool_)).topology()
