"""Circles in graphs given as columns of edges."""

from collections.abc import Iterable, Mapping

import numpy as np

from .arrays import Numbers


def find_circle(edges: Numbers) -> list[int]:
    """Return the nodes of a circle in the order of its edges, from its lowest node on.

    ``edges`` has shape (edges, 2): from, to; any integers. The list is empty without a circle.
    """
    names, places = np.unique(edges, return_inverse=True)
    before, after = places.reshape(-1, 2).T
    keep = peeling_rounds(before, after, names.size)[before] < 0
    keep &= peeling_rounds(after, before, names.size)[after] < 0
    following = dict(zip(before[keep].tolist(), after[keep].tolist(), strict=True))
    found: list[int] = names[circle_ahead(following)].tolist() if following else []
    return found


def circle_ahead(following: Mapping[int, int]) -> list[int]:
    """Return the circle that a walk from the lowest node ends in, from the circle's lowest node on.

    ``following`` gives each node's next node, which must be a key as well.
    """
    walk: dict[int, None] = {}
    at = min(following)
    while at not in walk:
        walk[at] = None
        at = following[at]
    visited = list(walk)
    circle = visited[visited.index(at) :]
    lowest = circle.index(min(circle))
    return circle[lowest:] + circle[:lowest]


def peeling_rounds(before: Numbers, after: Numbers, count: int) -> Numbers:
    """Return the round, from 0, in which each of ``count`` nodes is peeled: shape (count,).

    Peeling removes, in each round, the nodes without an incoming edge. ``before`` and ``after`` are
    the ends of the edges. A node that is never removed lies on a circle or behind one; its round is
    -1. The work is proportional to the number of edges.
    """
    order = np.argsort(before, kind="stable")
    after = after[order]
    begin = np.searchsorted(before[order], np.arange(count + 1))
    waiting = np.bincount(after, minlength=count)
    peeled, number, rounds = np.flatnonzero(waiting == 0), 0, np.full(count, -1)
    while peeled.size:
        rounds[peeled] = number
        sizes = begin[peeled + 1] - begin[peeled]
        skipped = np.repeat(begin[peeled] - np.cumsum(sizes) + sizes, sizes)
        reached, times = np.unique(after[np.arange(sizes.sum()) + skipped], return_counts=True)
        waiting[reached] -= times
        peeled, number = reached[waiting[reached] == 0], number + 1
    return rounds


def strong_parts(members: Iterable[int], behind: Mapping[int, Iterable[int]]) -> list[list[int]]:
    """Return the strongly connected parts of ``members`` (R. Tarjan, 1972), without recursion.

    ``behind`` has the members that edges lead to from each one.
    """
    number: dict[int, int] = {}
    low: dict[int, int] = {}
    stack: list[int] = []
    on_stack: set[int] = set()
    found: list[list[int]] = []
    for root in members:
        if root in number:
            continue
        walk = [(root, iter(behind.get(root, ())))]
        while walk:
            unit, others = walk[-1]
            if unit not in number:
                number[unit] = low[unit] = len(number)
                stack.append(unit)
                on_stack.add(unit)
            for other in others:
                if other not in number:
                    walk.append((other, iter(behind.get(other, ()))))
                    break
                if other in on_stack:
                    low[unit] = min(low[unit], number[other])
            else:
                walk.pop()
                if walk:
                    above = walk[-1][0]
                    low[above] = min(low[above], low[unit])
                if low[unit] == number[unit]:
                    at = stack.index(unit)
                    found.append(stack[at:])
                    on_stack.difference_update(stack[at:])
                    del stack[at:]
    return found
