"""The canonical order of a sum: which two parts are added, whatever the algorithm.

Floating-point sums depend on the order of adding. In the *canonical* order the contributors of a
block have ranks, from 0, by ascending node number. Ranks are added in pairs, then pairs in pairs,
as in a binary tree. If the number of ranks is no power of two, the last part is smaller::

    rank       0   1   2   3   4   5   6
               └─┬─┘   └─┬─┘   └─┬─┘   │
                 └───┬───┘       └──┬──┘      ((0 + 1) + (2 + 3)) + ((4 + 5) + 6)
                     └───────┬──────┘

Every part is an interval of ranks: i·2^k … (i + 1)·2^k - 1, as far as there are ranks. So the
intervals of two values tell whether the two may be added. The operator must be commutative, as
floating-point addition is: which of the two is the first operand is left open.
"""

import numpy as np
import numpy.typing as npt

from ..base.arrays import Numbers

CANONICAL = "canonical"
"""The name of the order, as a user asks for it."""


def are_neighbours(
    low: tuple[Numbers, Numbers], high: tuple[Numbers, Numbers], ranks: Numbers
) -> npt.NDArray[np.bool_]:
    """Tell for pairs of intervals whether the canonical order adds the two.

    ``low`` and ``high`` have the first rank and the end of each interval, ``ranks`` the number of
    all contributors. All arrays have one shape, and so has the result.
    """
    (first, middle), (second, end) = low, high
    size = middle - first
    power_of_two = size & (size - 1) == 0
    whole = (first % (2 * size) == 0) & (end == np.minimum(first + 2 * size, ranks))
    added: npt.NDArray[np.bool_] = power_of_two & (middle == second) & whole
    return added
