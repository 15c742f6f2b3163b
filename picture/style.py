"""Colours and sizes that pictures share."""

from collections.abc import Iterable

import matplotlib as mpl
import numpy as np
from matplotlib.path import Path as Curve

from ..model.collectives.registry import ALGORITHMS
from .palette import CATEGORIES

LARGEST_NUMBERED_SIDE = 16
"""Longest side of a mesh whose nodes show a number."""

LARGEST_NUMBERED_SPAN = 26.0
"""Longest side, in cells, of any other drawing whose nodes show a number."""

STEPS = mpl.colors.LinearSegmentedColormap.from_list(
    "steps", ["#5636c9", "#1f7ad1", "#0f9b8e", "#6c9a0a", "#d08a00"], 257
)
"""Colours of steps and of loads, from the first to the last; the page of a run has the same."""

INK, QUIET, HOLDER, FAINT = "#1b1b2f", "#6f7183", "#9a9cae", "#d9dbe3"
FAULT, DISABLED = "#b3261e", "#f3dfb9"
SWITCH_LINE = "#6f7183"
SLOW, SLOW_DASHES = "#b8d8d8", (0, (0.25, 0.25))
EYE_LINE, EYE_WHITE = "#0b7a75", "#e2f3f1"
EYE = Curve(
    [(-0.46, 0), (0, -0.57), (0.46, 0), (0, 0.57), (-0.46, 0), (-0.46, 0)],
    [Curve.MOVETO, *4 * [Curve.CURVE3], Curve.CLOSEPOLY],
)


def categories_of(names: Iterable[str]) -> list[int]:
    """Return the number of a category for each name, different ones as long as there are enough.

    A name that begins with an algorithm gets that algorithm's own category, if it is free.
    """
    own = {each: number for number, each in enumerate(dict.fromkeys(a.name for a in ALGORITHMS))}
    taken: list[int] = []
    for name in names:
        wanted = own.get(name.partition(", ")[0], len(taken))
        free = [(wanted + more) % len(CATEGORIES) for more in range(len(CATEGORIES))]
        taken.append(next((each for each in free if each not in taken), free[0]))
    return taken


def text_color(background: str) -> str:
    """Return the dark or the light colour, whichever is legible on ``background``."""
    luminance = np.dot(mpl.colors.to_rgb(background), (0.3, 0.59, 0.11))
    return INK if luminance > 0.55 else "white"
