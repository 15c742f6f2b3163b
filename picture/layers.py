"""Layers under a schedule on a 2-D mesh: its fault blocks, and what follows from them; regions.

Z. Jiang and J. Wu, "Fault-Tolerant Broadcasting in 2-D Wormhole-Routed Meshes", section 4:
boundaries of the fault blocks cut the mesh into polygons, and vertical lines cut these into
regions; each block has a virtual channel path.

Cang and Wu (1998), Fig. 6: the excess of a source over an eye has a formula for each of six
regions.
"""

from __future__ import annotations

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
from .style import CATEGORIES, FAULT, INK

_CHANNEL = "#7a4fb5"
_UNDER = 0.5


def draw_layers(axes: Axes, topology: Topology, names: Sequence[str], cell: float) -> list[Any]:
    """Draw the layers ``names`` of :data:`LAYERS` or :data:`EYE_REGIONS`; return their legend.

    Raises :class:`.InvalidInput` for another network than a 2-D mesh, if it has no fault blocks in
    the paper's sense (:func:`.fault_blocks`), or no eye.
    """
    if not names:
        return []
    if topology.kind != "mesh" or len(topology.dims) != 2:
        raise InvalidInput.of("network for layers", "a 2-D mesh", topology.label)
    chosen = dict.fromkeys(names)
    handles: list[Any] = []
    if EYE_REGIONS in chosen:
        handles.append(_eye_regions(axes, topology, cell))
        del chosen[EYE_REGIONS]
    cut = FaultRegions.of(topology) if chosen else None
    return handles + [LAYERS[name](axes, cut, cell) for name in chosen if cut is not None]


def _box(axes: Axes, place: Nodes, **style: Any) -> None:
    """Draw the rectangle around nodes, one cell for each."""
    axes.add_patch(Rectangle((place.left - 0.5, place.bottom - 0.5), *place.sides, **style))


def _blocks(axes: Axes, cut: FaultRegions, cell: float) -> Patch:
    style: dict[str, Any] = {"fc": "#f7d9d6", "ec": FAULT, "lw": 0.03 * cell, "zorder": _UNDER}
    for number, place in enumerate(cut.boundaries.blocks, 1):
        _box(axes, place, **style)
        _name(axes, place, f"block {number}", FAULT, cell)
    return Patch(fc=style["fc"], ec=FAULT, label="fault block")


def _polygons(axes: Axes, cut: FaultRegions, _cell: float) -> Patch:
    for (x, y), number in np.ndenumerate(cut.boundaries.polygons):
        if number != NO_BLOCK:
            place = Nodes(x, x, y, y)
            color = CATEGORIES[number % len(CATEGORIES)]
            _box(axes, place, fc=color, ec="none", alpha=0.2, zorder=_UNDER - 0.1)
    return Patch(fc=CATEGORIES[0], alpha=0.2, label="polygon, a colour for each")


def _regions(axes: Axes, cut: FaultRegions, cell: float) -> Patch:
    for number, place in enumerate(cut.regions, 1):
        _box(axes, place, fc="none", ec=INK, ls="--", lw=0.02 * cell, zorder=_UNDER)
        _name(axes, place, f"region {number}", INK, cell)
    return Patch(fc="none", ec=INK, ls="--", label="region, in its order")


def _channels(axes: Axes, cut: FaultRegions, cell: float) -> Line2D:
    style: dict[str, Any] = {"color": _CHANNEL, "alpha": 0.45, "solid_capstyle": "round"}
    for block in range(len(cut.boundaries.blocks)):
        path = np.array(cut.boundaries.channel_path(block))
        axes.plot(*path.T, lw=0.16 * cell, zorder=_UNDER + 0.1, **style)
    return Line2D([], [], lw=6, label="virtual channel path of a block", **style)


def _eye_regions(axes: Axes, topology: Topology, cell: float) -> Patch:
    """Draw in which region each node would be as the source of the eye broadcast."""
    side = topology.dims[0]
    k = side.bit_length() - 1
    if topology.dims != (1 << k, 1 << k) or k < 2 or topology.without_faults is not None:
        allowed = "a 2^k x 2^k mesh of 4x4 nodes or more, without faults"
        raise InvalidInput.of(f"network for {EYE_REGIONS}", allowed, topology.label)
    for x, y in np.ndindex(side, side):
        number, place = source_region(k, (x, y)), Nodes(x, x, y, y)
        _box(axes, place, fc=CATEGORIES[number], ec="none", alpha=0.2, zorder=_UNDER - 0.1)
        _name(axes, place, SOURCE_REGIONS[number], CATEGORIES[number], cell)
    return Patch(fc=CATEGORIES[0], alpha=0.2, label="region of a node as the source, (i) to (vi)")


def _name(axes: Axes, place: Nodes, text: str, color: str, cell: float) -> None:
    """Write a name into the upper left corner of a rectangle."""
    corner = place.left - 0.46, place.bottom - 0.46
    axes.text(*corner, text, color=color, size=0.12 * cell, ha="left", va="top", zorder=7)


EYE_REGIONS = "eye-regions"
"""The layer that is about a mesh without faults."""

LAYERS: dict[str, Callable[[Axes, FaultRegions, float], Patch | Line2D]] = {
    "blocks": _blocks,
    "polygons": _polygons,
    "regions": _regions,
    "channels": _channels,
}
"""Layers under a schedule around faults, by name."""
