"""The least TCD of a broadcast in any number of steps, by a search without boxes.

A broadcast is a chain of growing sets of nodes. From one set to the next, a different node sends to
each new node; not every node must send. Sends of one step may share links here, so the result is a
lower bound for every contention-free broadcast.
"""

from functools import cache
from itertools import product

FAR = 1 << 30


def least_tcds_in(dims: tuple[int, ...], steps: int) -> list[int]:
    """Return the least TCD from each node of a mesh in ``steps`` steps; up to 10 nodes."""
    places = [place[::-1] for place in product(*map(range, dims[::-1]))]
    apart = [[sum(abs(a - b) for a, b in zip(p, q, strict=True)) for q in places] for p in places]
    everyone = (1 << len(places)) - 1

    @cache
    def assigned(senders: int, new: int) -> int:
        """Return the least hops by which ``senders`` reach all of ``new``, one node each."""
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
        """Return the least hops to reach all nodes from the set ``has`` in ``left`` steps."""
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
