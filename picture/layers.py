"""Layers under a schedule on a mesh: its fault blocks, and what follows from them; eye regions.

Z. Jiang and J. Wu, "Fault-Tolerant Broadcasting in 2-D Wormhole-Routed Meshes", section 4:
boundaries of the fault blocks cut the mesh into polygons, and vertical lines cut these into
regions; each block has a virtual channel path.

Cang and Wu: the excess of a source over an eye has a formula for each of six regions of a 2-D mesh
(1998, Fig. 6), the TCD one for each of nine regions of a 3-D mesh (2000, Fig. 7).
"""

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.lines import Line2D
from matplotlib.patches import Patch, Rectangle

from ..model.base.errors import InvalidInput
from ..model.collectives.fault_blocks.blocks import NO_BLOCK
from ..model.collectives.fault_blocks.blocks import Rectangle as Nodes
from ..model.collectives.fault_blocks.regions import FaultRegions
from ..model.collectives.halving.eye_tcd import SOURCE_REGIONS, source_region
from ..model.network.topology import Topology
from .palette import CATEGORIES
from .places import Points
from .style import FAULT, INK

_UNDER = 0.5


def draw_layers(
    axes: Axes, topology: Topology, points: Points, names: Sequence[str], cell: float
) -> None:
    """Draw the layers ``names`` of :data:`LAYERS` or :data:`EYE_REGIONS`.

    ``points`` are the places of nodes. Raises :class:`.InvalidInput` for another network than a 2-D
    mesh with fault blocks in the paper's sense (:func:`.fault_blocks`), or than one with eyes.
    """
    if EYE_REGIONS in names:
        _draw_eye_regions(axes, _eye_regions(topology), points, cell)
    around_faults = [name for name in dict.fromkeys(names) if name in LAYERS]
    if not around_faults:
        return
    if topology.kind != "mesh" or len(topology.dims) != 2:
        raise InvalidInput.of("network for layers", "a 2-D mesh", topology.label)
    cut = FaultRegions.of(topology)
    for name in around_faults:
        LAYERS[name](axes, cut, cell)


def layer_legend(topology: Topology, names: Sequence[str]) -> list[Patch | Line2D]:
    """Return the legend of the layers ``names``; raise :class:`.InvalidInput` without eyes."""
    entries: list[Patch | Line2D] = []
    if EYE_REGIONS in names:
        entries += [
            Patch(fc=CATEGORIES[number], alpha=0.2, label=f"source in region ({name})")
            for number, name in enumerate(SOURCE_REGIONS)
            if number in _eye_regions(topology)
        ]
    return entries + [LEGEND[name]() for name in dict.fromkeys(names) if name in LEGEND]


def _box(axes: Axes, place: Nodes, **style: Any) -> None:
    """Draw the rectangle around nodes, one cell for each."""
    axes.add_patch(Rectangle((place.left - 0.5, place.bottom - 0.5), *place.sides, **style))


_BLOCK: dict[str, Any] = {"fc": "#f7d9d6", "ec": FAULT}
_REGION: dict[str, Any] = {"fc": "none", "ec": INK, "ls": "--"}
_CHANNEL: dict[str, Any] = {"color": "#7a4fb5", "alpha": 0.45, "solid_capstyle": "round"}


def _blocks(axes: Axes, cut: FaultRegions, cell: float) -> None:
    for number, place in enumerate(cut.boundaries.blocks, 1):
        _box(axes, place, lw=0.03 * cell, zorder=_UNDER, **_BLOCK)
        _name(axes, place, f"block {number}", FAULT, cell)


def _polygons(axes: Axes, cut: FaultRegions, _cell: float) -> None:
    for (x, y), number in np.ndenumerate(cut.boundaries.polygons):
        if number != NO_BLOCK:
            _shade(axes, Nodes(x, x, y, y), CATEGORIES[number % len(CATEGORIES)])


def _regions(axes: Axes, cut: FaultRegions, cell: float) -> None:
    for number, place in enumerate(cut.regions, 1):
        _box(axes, place, lw=0.02 * cell, zorder=_UNDER, **_REGION)
        _name(axes, place, f"region {number}", INK, cell)


def _channels(axes: Axes, cut: FaultRegions, cell: float) -> None:
    for block in range(len(cut.boundaries.blocks)):
        path = np.array(cut.boundaries.channel_path(block))
        axes.plot(*path.T, lw=0.16 * cell, zorder=_UNDER + 0.1, **_CHANNEL)


def _eye_regions(topology: Topology) -> list[int]:
    """Return the number of each node's region as the source of the eye broadcast."""
    k = topology.dims[0].bit_length() - 1 if topology.dims else 0
    alike = topology.kind == "mesh" and topology.dims in (2 * (1 << k,), 3 * (1 << k,))
    if not alike or k < 2 or topology.without_faults is not None:
        allowed = "a mesh of 4x4, 4x4x4 or more nodes, with sides of 2^k and without faults"
        raise InvalidInput.of(f"network for {EYE_REGIONS}", allowed, topology.label)
    return [source_region(k, place) for place in topology.coordinates(range(topology.nodes))]


def _draw_eye_regions(axes: Axes, regions: list[int], points: Points, cell: float) -> None:
    for number, (x, y) in zip(regions, points.tolist(), strict=True):
        node = Nodes(x, x, y, y)
        _shade(axes, node, CATEGORIES[number])
        _name(axes, node, SOURCE_REGIONS[number], CATEGORIES[number], cell)


def _shade(axes: Axes, place: Nodes, color: str) -> None:
    _box(axes, place, fc=color, ec="none", alpha=0.2, zorder=_UNDER - 0.1)


def _name(axes: Axes, place: Nodes, text: str, color: str, cell: float) -> None:
    """Write a name into the upper left corner of a rectangle."""
    corner = place.left - 0.46, place.bottom - 0.46
    axes.text(*corner, text, color=color, size=0.12 * cell, ha="left", va="top", zorder=7)


EYE_REGIONS = "eye-regions"
"""The layer that is about a mesh without faults."""

LAYERS: dict[str, Callable[[Axes, FaultRegions, float], None]] = {
    "blocks": _blocks,
    "polygons": _polygons,
    "regions": _regions,
    "channels": _channels,
}
"""Layers under a schedule around faults, by name."""

LEGEND: dict[str, Callable[[], Patch | Line2D]] = {
    "blocks": lambda: Patch(label="fault block", **_BLOCK),
    "polygons": lambda: Patch(fc=CATEGORIES[0], alpha=0.2, label="polygon, a colour for each"),
    "regions": lambda: Patch(label="region, in its order", **_REGION),
    "channels": lambda: Line2D([], [], lw=6, label="virtual channel path of a block", **_CHANNEL),
}
"""The legend of these layers, by name."""
