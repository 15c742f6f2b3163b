"""An order of blocks in which sends carry adjacent blocks, wherever an order allows it.

A block has the same address in all nodes, in the order of the schedule's list. Blocks that are not
adjacent cost a row and a header each. A PQ-tree holds all orders in which the sets so far are
adjacent: the children of a *free* node may be permuted, and those of a *fixed* node only reversed.
Each set of blocks narrows the orders, or is left out if none would remain::

    sends of      {0, 4} {1, 5} {2, 6} {3, 7} {0, 2, 4, 6}
    order         1 5 3 7 0 4 2 6

(K. S. Booth & G. S. Lueker, "Testing for the Consecutive Ones Property, Interval Graphs, and Graph
Planarity Using PQ-Tree Algorithms", J. Computer and System Sciences 13(3), 1976.)
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass
from itertools import pairwise

from ..base.arrays import Int32s

DEEPEST = 200
"""Most levels of a tree; a set that would make it deeper is left out."""
MOST_WORK = 1 << 21
"""Most blocks of all sets together, and most sets times blocks: a search of a few seconds."""

NONE, SOME, ALL = 0, 1, 2
"""How many blocks of a tree a set has."""


@dataclass(frozen=True, eq=False)
class _Tree:
    """A block, or a node of the tree; ``blocks`` are those below it, in their present order."""

    blocks: tuple[int, ...]
    children: tuple[_Tree, ...] = ()
    fixed: bool = False

    @property
    def depth(self) -> int:
        return 1 + max((each.depth for each in self.children), default=0)


def adjacent_order(blocks: int, sets: Sequence[Sequence[int] | Int32s]) -> list[int]:
    """Return the blocks 0 to ``blocks`` - 1 in an order that cuts the ``sets`` into few runs.

    Sets that occur often count first. The order is 0, 1, 2, … unless another one has fewer runs.
    """
    given = range(blocks)
    if sum(map(len, sets)) > MOST_WORK:
        return [*given]
    often = Counter(frozenset(map(int, each)) for each in sets if len(each) > 1)
    if len(often) * blocks > MOST_WORK or _runs(given, often) == often.total():
        return [*given]
    tree = _free([_Tree((block,)) for block in given])
    for each in sorted(often, key=lambda each: (-often[each], len(each), sorted(each))):
        with suppress(_NoOrderError):
            narrowed = _narrowed(tree, each)
            tree = narrowed if narrowed.depth <= DEEPEST else tree
    return min(([*given], [*tree.blocks]), key=lambda order: _runs(order, often))


def _runs(order: Sequence[int], often: Counter[frozenset[int]]) -> int:
    """Return the number of runs into which ``order`` cuts all sets, each as often as it occurs."""
    place = {block: number for number, block in enumerate(order)}
    total = 0
    for each, times in often.items():
        places = sorted(place[block] for block in each)
        total += times * (1 + sum(after > before + 1 for before, after in pairwise(places)))
    return total


def _free(children: Sequence[_Tree]) -> _Tree:
    """Return a node whose ``children`` may be permuted; a single child is itself."""
    if len(children) == 1:
        return children[0]
    return _Tree(tuple(block for each in children for block in each.blocks), tuple(children))


def _fixed(children: Sequence[_Tree]) -> _Tree:
    """Return a node whose ``children`` may be reversed; two children may also be permuted."""
    made = _free(children)
    return _Tree(made.blocks, made.children, fixed=len(children) > 2)


class _NoOrderError(Exception):
    """No order is left in which all sets so far are adjacent."""


def _narrowed(tree: _Tree, wanted: frozenset[int]) -> _Tree:
    """Return the tree in which ``wanted``, all below it, are adjacent too.

    Other blocks may stand at both sides of them. Raises :class:`_NoOrderError`.
    """
    if len(tree.blocks) == len(wanted):
        return tree
    kinds = _kinds(tree, wanted)
    place = [number for number, kind in enumerate(kinds) if kind]
    first, last = place[0], place[-1]
    before, after = tree.children[:first], tree.children[last + 1 :]
    if first == last:
        children = [*before, _narrowed(tree.children[first], wanted), *after]
        return _fixed(children) if tree.fixed else _free(children)
    partial = [number for number in place if kinds[number] == SOME]
    if tree.fixed:
        if kinds[first + 1 : last].count(ALL) < last - first - 1:
            raise _NoOrderError
        left, right = (_sorted_out(tree.children[end], wanted) for end in (first, last))
        return _fixed([*before, *left, *tree.children[first + 1 : last], *right[::-1], *after])
    if len(partial) > 2:
        raise _NoOrderError
    ends = [_sorted_out(tree.children[number], wanted) for number in partial]
    left, right = [*ends, [], []][:2]
    whole = [tree.children[number] for number in place if kinds[number] == ALL]
    others = [each for each, kind in zip(tree.children, kinds, strict=True) if kind == NONE]
    return _free([*others, _fixed([*left, *_together(whole), *right[::-1]])])


def _sorted_out(tree: _Tree, wanted: frozenset[int]) -> list[_Tree]:
    """Return trees in an order in which the ``wanted`` blocks come last."""
    if not tree.children:
        return [tree]
    kinds = _kinds(tree, wanted)
    if len({*kinds}) == 1 and kinds[0] != SOME:
        return [tree]
    none, some, all_ = (
        [each for each, kind in zip(tree.children, kinds, strict=True) if kind == wish]
        for wish in (NONE, SOME, ALL)
    )
    if len(some) > 1:
        raise _NoOrderError
    middle = _sorted_out(some[0], wanted) if some else []
    if not tree.fixed:
        return [*_together(none), *middle, *_together(all_)]
    if kinds == sorted(kinds):
        return [*none, *middle, *all_]
    if kinds == sorted(kinds, reverse=True):
        return [*none[::-1], *middle, *all_[::-1]]
    raise _NoOrderError


def _together(trees: Sequence[_Tree]) -> list[_Tree]:
    """Return a free node of ``trees``, if there are any."""
    return [_free(trees)] if trees else []


def _kinds(tree: _Tree, wanted: frozenset[int]) -> list[int]:
    """Return for each child whether ``NONE``, ``SOME`` or ``ALL`` of its blocks are wanted."""
    counts = [(sum(map(wanted.__contains__, each.blocks)), each) for each in tree.children]
    return [
        NONE if count == 0 else ALL if count == len(each.blocks) else SOME for count, each in counts
    ]
