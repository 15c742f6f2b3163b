"""Eyes by the definition of Cang & Wu, and sends by coordinates."""

from functools import cache
from itertools import product

from eyecast.model.schedule.schedule import Schedule

Node = tuple[int, ...]
Sends = set[tuple[int, Node, Node]]


def distance(a: Node, b: Node) -> int:
    return sum(abs(x - y) for x, y in zip(a, b, strict=True))


def sends_of(schedule: Schedule) -> Sends:
    """Return (step, source, target) of each send."""
    ends = (schedule.topology.coordinates(n).tolist() for n in (schedule.source, schedule.target))
    return set(zip(schedule.step.tolist(), *(map(tuple, nodes) for nodes in ends), strict=True))


@cache
def eyes_by_definition(axes: int, k: int) -> dict[Node, Node]:
    """Return the eyes by Definition 7, by their corner (0 or 1 on each axis)."""
    corners = list(product((0, 1), repeat=axes))
    if k == 1:
        return {corner: corner for corner in corners}
    center = (2**k - 1,) * axes
    submeshes = {
        corner: [
            tuple(c * 2**k // 2 + e for c, e in zip(corner, eye, strict=True))
            for eye in eyes_by_definition(axes, k - 1).values()
        ]
        for corner in corners
    }
    return {
        corner: min(inner, key=lambda eye: distance(tuple(2 * c for c in eye), center))
        for corner, inner in submeshes.items()
    }
