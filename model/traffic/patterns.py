"""Patterns of traffic: who sends to whom (Dally & Towles 2004, section 3.2)."""

from collections.abc import Callable, Sequence
from functools import partial

import numpy as np
import numpy.typing as npt

from ..base.errors import InvalidInput
from ..network.topology import Topology

Nodes = npt.NDArray[np.int64]

HOTSPOT_SHARE = 0.2
"""Share of the hotspot pattern's packets that go to hot nodes; the others are uniform."""

Pattern = Callable[[Topology, Nodes, np.random.Generator], Nodes]
"""A function that draws a target for each source; a packet to its own source is not sent.

It raises :class:`.InvalidInput` for a network that the pattern does not serve.
"""


def _uniform(topology: Topology, sources: Nodes, draw: np.random.Generator) -> Nodes:
    working = topology.working_nodes
    if len(working) == 1:
        return sources
    step = draw.integers(1, len(working), sources.size)
    place = (np.searchsorted(working, sources) + step) % len(working)
    targets: Nodes = working[place]
    return targets


def _complement(topology: Topology, sources: Nodes, _draw: np.random.Generator) -> Nodes:
    nodes = np.flatnonzero(topology.has_interface)
    opposite: Nodes = nodes[::-1][np.searchsorted(nodes, sources)]
    return opposite


def _hotspot(
    topology: Topology, sources: Nodes, draw: np.random.Generator, *, hot: Sequence[int] = ()
) -> Nodes:
    targets = _uniform(topology, sources, draw)
    working = topology.working_nodes
    chosen = draw.random(sources.size) < HOTSPOT_SHARE
    if len(hot) > 1:
        targets[chosen] = draw.choice(np.array(hot), int(chosen.sum()))
    else:
        targets[chosen] = hot[0] if hot else working[len(working) // 2]
    return targets


def hotspot(hot: Sequence[int]) -> Pattern:
    """Return the hotspot pattern with these hot nodes, each as likely."""
    return partial(_hotspot, hot=hot)


def _on_grid(move: Callable[[Nodes, Nodes], Nodes], name: str, *, equal: bool = False) -> Pattern:
    """Return a pattern of a grid; ``move`` gets coordinates, (packets, axes), and the sides.

    With ``equal`` all sides must be equal.
    """

    def pattern(topology: Topology, sources: Nodes, _draw: np.random.Generator) -> Nodes:
        sides = np.array(topology.dims)
        if not sides.size or (equal and len(set(topology.dims)) > 1):
            allowed = "a grid of equal sides" if equal else "a grid"
            raise InvalidInput.of(f"network for the {name} pattern", allowed, topology.label)
        places = move(topology.coordinates(sources), sides)
        columns = tuple(np.moveaxis(places, -1, 0))
        return np.asarray(np.ravel_multi_index(columns, topology.dims, order="F"), dtype=np.int64)

    return pattern


def _on_bits(move: Callable[[Nodes, int], Nodes], name: str, *, even: bool = False) -> Pattern:
    """Return a pattern of the bits of a node's number, which ``move`` gets with their count.

    Switches are not numbered. With ``even`` the number of bits must be even.
    """

    def pattern(topology: Topology, sources: Nodes, _draw: np.random.Generator) -> Nodes:
        nodes = np.flatnonzero(topology.has_interface)
        bits = len(nodes).bit_length() - 1
        if len(nodes) != 1 << bits or (even and bits % 2):
            allowed = f"one of {'4' if even else '2'}^n nodes"
            given = f"the {topology.label} of {len(nodes)}"
            raise InvalidInput.of(f"network for the {name} pattern", allowed, given)
        targets: Nodes = nodes[move(np.searchsorted(nodes, sources), bits)]
        return targets

    return pattern


def _rotated(number: Nodes, bits: int, places: int) -> Nodes:
    """Return numbers of ``bits`` bits, rotated to the left."""
    return (number << places | number >> (bits - places)) & ((1 << bits) - 1)


def _reversed(number: Nodes, bits: int) -> Nodes:
    """Return numbers of ``bits`` bits, read backwards."""
    return sum((number >> bit & 1) << bits - 1 - bit for bit in range(bits)) + 0 * number


PATTERNS: dict[str, Pattern] = {
    "uniform": _uniform,
    "transpose": _on_grid(lambda at, _: np.roll(at, 1, axis=-1), "transpose", equal=True),
    "complement": _complement,
    "hotspot": _hotspot,
    "neighbor": _on_grid(lambda at, sides: (at + 1) % sides, "neighbor"),
    "tornado": _on_grid(lambda at, sides: (at + (sides + 1) // 2 - 1) % sides, "tornado"),
    "shuffle": _on_bits(lambda number, bits: _rotated(number, bits, min(bits, 1)), "shuffle"),
    "bit-complement": _on_bits(lambda number, bits: number ^ (1 << bits) - 1, "bit-complement"),
    "bit-reverse": _on_bits(_reversed, "bit-reverse"),
    "bit-transpose": _on_bits(
        lambda number, bits: _rotated(number, bits, bits // 2), "bit-transpose", even=True
    ),
}
"""Patterns by name; s_i is coordinate or bit i of the source, t_i of the target.

- uniform: any other node. hotspot: a share of :data:`HOTSPOT_SHARE` to hot nodes, which are one
  node in the middle unless others are named, the rest uniformly.
- On grids of sides k: transpose (x, y) to (y, x), neighbor t_i = s_i + 1 mod k, tornado
  t_i = s_i + ⌈k/2⌉ - 1 mod k.
- On b bits of the node's number (2^b nodes, not counting switches): shuffle t_i = s_(i - 1 mod b),
  bit-complement t_i = 1 - s_i, bit-reverse t_i = s_(b - 1 - i), bit-transpose
  t_i = s_(i + b/2 mod b).
- complement: the opposite node of any network, N - 1 - s; of 2^b nodes as bit-complement.

Faulty nodes and switches neither send nor receive: their packets are left out."""


def patterns_for(topology: Topology) -> list[str]:
    """Return the names of the patterns that serve ``topology``."""
    draw, served = np.random.default_rng(0), []
    for name, pattern in PATTERNS.items():
        try:
            pattern(topology, topology.working_nodes[:1], draw)
        except InvalidInput:
            continue
        served.append(name)
    return served
