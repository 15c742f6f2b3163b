"""Search the all-to-alls of one word on tori with circuits that ``symmetric`` then looks up.

    python bench/symmetric.py [--seconds 60] [--sides 4,5,6]

All nodes send alike, so a torus of n x n nodes has n² - 1 messages to place: one for each distance,
with a path and a cycle in which it leaves. Each of six resources carries one word a cycle: the port
out, the port in, and the links in each of the four directions. A message takes the place with the
fewest others in its way, which must then look for another one. Once all have a place, the search
goes on for a cycle less.
"""

import json
import time
from collections.abc import Iterator
from itertools import product

import click
import numpy as np
import numpy.typing as npt

from eyecast.api import predict
from eyecast.model.base.arrays import Numbers
from eyecast.model.base.compiled import compiled
from eyecast.model.base.files import write_atomically
from eyecast.model.collectives.direct.symmetric import (
    SYMMETRIC_FILE,
    WAYS,
    known_paths,
    plan_of,
)
from eyecast.model.network.topology import torus

MORE_PATHS = 10
"""Drawn paths of a message, beside those with one turn."""
MOVES = 1 << 14
"""Moves of a try."""
OUT, IN = 4, 5
"""The ports among the resources; 0 to 3 are the links in each direction."""
OVERHEAD = 6
"""Cycles of a run in addition to those of a plan."""
FREE = -1
OFTEN, LONG, LOTS = 0.3, 0.1, 0.2
"""What a message counts for each time it was in the way, for each hop, and at random."""


def paths_of(side: int, draw: np.random.Generator) -> Iterator[list[tuple[int, ...]]]:
    """Yield for each distance shortest paths, as directions: those of one turn, and some more."""
    for up, right in product(range(side), repeat=2):
        if up or right:
            found = set()
            for each in product(*(_shortest(side, hops) for hops in (right, up))):
                lines = [[2 * axis + (hops < 0)] * abs(hops) for axis, hops in enumerate(each)]
                whole = [*lines[0], *lines[1]]
                found |= {tuple(whole), (*lines[1], *lines[0])}
                found |= {tuple(draw.permutation(whole).tolist()) for _ in range(MORE_PATHS)}
            yield sorted(found)


def _shortest(side: int, hops: int) -> list[int]:
    """Return the shortest ways to go ``hops`` up a ring: both if they are equally long."""
    return [way for way in (hops, hops - side) if 2 * abs(way) <= side and (way or not hops)]


@compiled
def _place(
    first: Numbers, paths: npt.NDArray[np.int8], length: Numbers, cycles: int, seed: int
) -> tuple[Numbers, Numbers]:
    """Place all messages in ``cycles``; return the cycle and the path of each, or ``FREE``.

    Message m has the paths ``first[m]`` to ``first[m + 1] - 1``, all ``length[m]`` long.
    """
    np.random.seed(seed)
    count, width = len(length), cycles + paths.shape[1] + 1
    holder = np.full((6, width), FREE)
    begin, taken, often = np.full(count, FREE), np.full(count, FREE), np.zeros(count)
    used, at = np.zeros(paths.shape[1] + 2, np.int64), np.zeros(paths.shape[1] + 2, np.int64)
    for _ in range(MOVES):
        waiting = np.flatnonzero(begin == FREE)
        if len(waiting) == 0:
            return begin, taken
        one = waiting[np.argmax(length[waiting] + 3 * np.random.random(len(waiting)))]
        hops, best, where, way = length[one], np.inf, 0, first[one]
        for path in range(first[one], first[one + 1]):
            for cycle in range(cycles - hops + 1):
                value, last = LOTS * np.random.random(), FREE
                for place in range(hops + 2):
                    resource = paths[path, place] if place < hops else OUT + place - hops
                    time_there = cycle if place == hops else cycle + min(place, hops)
                    other = holder[resource, time_there]
                    if other not in (FREE, last):
                        value += 1 + OFTEN * often[other] + LONG * length[other]
                        last = other
                        if value > best:
                            break
                if value < best:
                    best, where, way = value, cycle, path
        begin[one], taken[one] = where, way
        for place in range(hops + 2):
            used[place] = paths[way, place] if place < hops else OUT + place - hops
            at[place] = where if place == hops else where + min(place, hops)
        for place in range(hops + 2):
            other = holder[used[place], at[place]]
            if other not in (FREE, one):
                begin[other] = FREE
                often[other] += 1
                holder[:] = np.where(holder == other, FREE, holder)
            holder[used[place], at[place]] = one
    return np.full(count, FREE), taken


def found(side: int, seconds: float, most: int) -> list[str]:
    """Return paths in the order in which they leave: the best plan below ``most`` cycles, or none.

    The cycles are those from the first word that leaves to the last that arrives.
    """
    listed = [*paths_of(side, np.random.default_rng(0))]
    first = np.cumsum([0, *map(len, listed)])
    length = np.array([len(each[0]) for each in listed])
    paths = np.zeros((first[-1], length.max()), np.int8)
    for row, path in enumerate(path for each in listed for path in each):
        paths[row, : len(path)] = path
    best: list[str] = []
    end, seed, cycles = time.monotonic() + seconds, 0, most - 1
    while time.monotonic() < end:
        begin, taken = _place(first, paths, length, cycles, seed)
        seed += 1
        if (begin != FREE).all():
            cycles = int((begin + length).max()) - 1
            hops = [paths[taken[each], : length[each]] for each in np.argsort(begin)]
            best = ["".join(WAYS[way] for way in each) for each in hops]
    return best


def cycles_of(side: int, paths: list[str]) -> int:
    """Return the cycles of one word by this plan, as the cycle model counts them."""
    return predict(plan_of(torus((side, side)), 1, paths), circuits=True).cycles


@click.command()
@click.option("--seconds", default=60.0, show_default=True, help="Time for each side.")
@click.option("--sides", default="3,4,5,6,7,8,9,10,11,12", show_default=True)
def main(seconds: float, sides: str) -> None:
    """Search, and keep the plans that are better than those in the file."""
    kept = known_paths()
    for side in map(int, sides.split(",")):
        before = cycles_of(side, kept[side]) if side in kept else 4 * side * side
        paths = found(side, seconds, before - OVERHEAD)
        if paths:
            kept[side] = paths
        click.echo(f"{side}x{side}: {before} -> {cycles_of(side, kept[side])} cycles")
        text = ",\n".join(f'"{side}": {json.dumps(kept[side])}' for side in sorted(kept))
        write_atomically(SYMMETRIC_FILE, f"{{\n{text}\n}}\n")


if __name__ == "__main__":
    main()
