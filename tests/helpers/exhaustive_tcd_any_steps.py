"""The least TCD of a broadcast in any number of steps, by a search that knows nothing of boxes.

A broadcast is a chain of growing sets of nodes; from one set to the next each new node is sent to
by a node of its own. Not every node must send. That sends of one step must not share links is left
out, so that what is found is a lower bound for every contention-free broadcast.
"""

from __future__ import annotations

from functools import cache
from itertools import product

FAR = 1 << 30


def least_tcds_in(dims: tuple[int, ...], steps: int) -> list[int]:
    """The least TCD from each node of a mesh in ``steps`` steps, node 0 first; up to 10 nodes."""
    places = [place[::-1] for place in product(*map(range, dims[::-1]))]
    apart = [[sum(abs(a - b) for a, b in zip(p, q, strict=True)) for q in places] for p in places]
    everyone = (1 << len(places)) - 1

    @cache
    def assigned(senders: int, new: int) -> int:
        """The least hops by which each of ``new`` has a message from one of ``senders``."""
        if not new:
            return 0
        first = (new & -new).bit_length() - 1
        return min(
            (
                apart[node][first] + assigned(senders & ~(1 << node), new & new - 1)
                for node in members(senders)
            ),
            default=FAR,
        )

    def members(nodes: int) -> list[int]:
        return [node for node in range(len(places)) if nodes >> node & 1]

    @cache
    def least(has: int, left: int) -> int:
        """The least hops to reach everyone from the set ``has`` in ``left`` steps."""
        if has == everyone:
            return 0
        if has.bit_count() << left <= everyone.bit_count() - 1:
            return FAR
        missing = everyone & ~has
        best, new = FAR, missing
        while new:
            if new.bit_count() <= has.bit_count():
                best = min(best, assigned(has, new) + least(has | new, left - 1))
            new = new - 1 & missing
        return best

    return [least(1 << node, steps) for node in range(len(places))]
