"""The histogram of packet latencies."""

import numpy as np
import numpy.typing as npt
from matplotlib.figure import Figure

from .style import INK

MOST_BARS = 60


def draw_latencies(latency: npt.NDArray[np.int64], title: str) -> Figure:
    """Draw how many packets took how many cycles, with the median and the 99th percentile."""
    figure = Figure(figsize=(7, 4), layout="constrained")
    axes = figure.add_subplot()
    largest = int(latency.max(initial=1))
    bars = min(MOST_BARS, largest)
    axes.hist(latency, bins=bars, range=(0, largest), color="#31688e")
    for share, style in ((50, "-"), (99, "--")) if latency.size else ():
        value = float(np.percentile(latency, share))
        name = "median" if share == 50 else "99th percentile"
        axes.axvline(value, color="#c04a2b", ls=style, label=f"{name}: {value:.0f} cycles")
    axes.set_title(title, loc="left", size="medium", weight="bold", color=INK, wrap=True)
    axes.set_xlabel("latency, cycles")
    axes.set_ylabel("packets")
    axes.spines[["top", "right"]].set_visible(False)
    if latency.size:
        axes.legend(frameon=False)
    return figure
