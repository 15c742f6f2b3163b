"""All-reduce on all ports of a mesh, on trees that together use all links equally.

Every word of an all-reduce must cross N - 1 links to be reduced, and N - 1 to reach all nodes. A
*comb* is a tree of links that does so: all columns and one row, its *spine*, or all rows and one
column. It uses each of its links once in each direction. The message is cut into pieces, equally
many for rows and columns, each with its own comb::

    |  |  |  |         1. all columns towards the spine, combining: from both ends together
    +--+--+--+         2. the spine, combining to its end and back again in the same step
    |  |  |  |         3. all columns away from the spine

Step 1 of a piece uses the column links towards the spine, step 3 those away from it. So step 3 of
one piece and step 1 of the comb's next piece run together and use each column link once. At the
same time a comb with a column as spine uses all rows. After one such step for each comb, one step
serves all spines, each on its own row or column. So links are idle only in the first and last
steps, and while words pass nodes. In a square of side n, n + 1 steps of w words carry 2 n w words
of the message, as near as possible to the least, 2 (N - 1) words on all links. With more groups of
pieces the first and last steps are shorter, but there are more steps. The number of groups with the
fewest expected cycles is chosen.
"""

from collections.abc import Iterable
from dataclasses import dataclass
from itertools import pairwise, zip_longest

import numpy as np

from ...base.arrays import Numbers
from ...base.errors import require_range
from ...base.ragged import even_shares
from ...network.port_model import PortModel
from ...network.topology import Topology
from ...schedule.blocks import Blocks
from ...schedule.collective import Collective
from ...schedule.duration import COMBINED_CYCLES, STEP_CYCLES, STREAM_CYCLES
from ...schedule.schedule import Schedule
from ..declared.algorithm import ALL, Declared
from .sends import SendList

LARGEST = 1 << 17
"""Most nodes times the longer side times the groups: a quarter of the sends."""
FURTHER = 3
"""Numbers of groups that are tried above the best number so far."""


@dataclass(frozen=True)
class _Sweep:
    """Blocks that go along lines of ``axis``, from coordinate ``begin`` to ``end``, in one step.

    If ``at`` is None they go on all lines. Otherwise they go on the line with coordinate ``at`` and
    come back. ``combine`` is for the way there: on the way back words replace.
    """

    axis: int
    begin: int
    end: int
    combine: bool
    blocks: tuple[int, ...]
    at: int | None = None

    @property
    def hops(self) -> int:
        """Links that the blocks pass on one line, with the way back."""
        return abs(self.end - self.begin) * (1 if self.at is None else 2)


Step = list[_Sweep]


def combs_all_reduce(topology: Topology, words: int, operator: str) -> Schedule:
    """All-reduce ``words`` words by ``operator`` on all ports of a mesh.

    Raises :class:`.InvalidInput` unless the topology is a line or a mesh of two axes without
    faults.
    """
    require_range("words", words, 1)
    sides = (*topology.dims, 1)[:2]
    if not topology.whole_grid or topology.wrapped or len(topology.dims) > 2:
        raise topology.refusal("combs", "a mesh of one or two axes without faults")
    size = topology.nodes * teeth(topology)
    steps, lengths = _plan(sides, words, max(1, LARGEST // size))
    sends = SendList()
    for number, sweeps in enumerate(steps, start=1):
        for sweep in sweeps:
            _add(sends, sides, sweep, number)
    blocks = Blocks.reduced_to((None,) * len(lengths), lengths, operator)
    ports, name = PortModel.ALL_PORT, Collective.ALL_REDUCE
    return sends.schedule("combs", topology, name, ports, None, blocks)


def teeth(topology: Topology) -> int:
    """Return the longer side, or 1 for a line, which is a spine without teeth."""
    sides = (*topology.dims, 1)[:2]
    return max(sides) if min(sides) > 1 else 1


def _add(sends: SendList, sides: tuple[int, ...], sweep: _Sweep, step: int) -> None:
    """Add the sends of a sweep, line by line."""
    strides = (1, sides[0])
    along, across = strides[sweep.axis], strides[1 - sweep.axis]
    way = 1 if sweep.end > sweep.begin else -1
    lines = range(sides[1 - sweep.axis]) if sweep.at is None else (sweep.at,)
    for line in lines:
        places = range(sweep.begin, sweep.end + way, way)
        nodes = [place * along + line * across for place in places]
        for place, path in enumerate(pairwise(nodes)):
            sends.add(step, path, sweep.blocks, stream=place > 0, combine=sweep.combine)
        if sweep.at is not None:
            for path in pairwise(reversed(nodes)):
                sends.add(step, path, sweep.blocks, stream=True)


def _plan(sides: tuple[int, ...], words: int, most: int) -> tuple[list[Step], Numbers]:
    """Return the steps with the fewest expected cycles, and the words of the blocks.

    There are at most ``most`` groups.
    """
    if min(sides) == 1:
        spine = _Sweep(int(sides[1] > 1), 0, max(sides) - 1, combine=True, blocks=(0,), at=0)
        return [[spine]] if spine.hops else [], np.array([words])
    slots = max(sides)
    least, best = None, 0
    plan: tuple[list[Step], Numbers] = ([], np.zeros(0, np.int64))
    for groups in range(1, max(1, min(most, words // (2 * slots))) + 1):
        shares = even_shares(words, 2 * slots * groups)
        steps = _steps(sides, groups, shares)
        cycles = _cycles(steps, shares)
        if least is None or cycles < least:
            least, best, plan = cycles, groups, (steps, shares[shares > 0])
        elif groups > best + FURTHER:
            break
    return plan


def _cycles(steps: list[Step], lengths: Numbers) -> int:
    """Estimate the cycles of all steps."""
    again = STREAM_CYCLES + COMBINED_CYCLES
    return sum(
        STEP_CYCLES
        + COMBINED_CYCLES
        + max(
            int(lengths[[*sweep.blocks]].sum()) + sweep.hops + again * (sweep.hops - 1)
            for sweep in sweeps
        )
        for sweeps in steps
    )


@dataclass(frozen=True)
class _Combs:
    """The combs of a group of pieces with teeth along ``axis`` and spines across.

    Each of ``slots`` pieces has a comb; several may have the same one. Their blocks have numbers
    from ``first`` on; blocks from ``count`` on do not exist.
    """

    sides: tuple[int, ...]
    axis: int
    slots: int
    first: int
    count: int

    def _spine(self, slot: int) -> int:
        """Return the coordinate of a piece's spine along the teeth."""
        return slot * self.sides[self.axis] // self.slots

    def _blocks(self, slots: Iterable[int]) -> tuple[int, ...]:
        return tuple(self.first + slot for slot in slots if self.first + slot < self.count)

    def sweeps(self, slot: int, *, away: bool) -> list[_Sweep]:
        """Return the sweeps of a piece from both ends of the teeth to its spine, or ``away``."""
        spine, blocks = self._spine(slot), self._blocks([slot])
        ends = [end for end in (0, self.sides[self.axis] - 1) if end != spine and blocks]
        if away:
            return [_Sweep(self.axis, spine, end, combine=False, blocks=blocks) for end in ends]
        return [_Sweep(self.axis, end, spine, combine=True, blocks=blocks) for end in ends]

    def spines(self) -> list[_Sweep]:
        """Return the sweeps of all spines, to their ends and back."""
        last = self.sides[1 - self.axis] - 1
        found = []
        for spine in range(self.sides[self.axis]):
            blocks = self._blocks(slot for slot in range(self.slots) if self._spine(slot) == spine)
            if blocks:
                found.append(_Sweep(1 - self.axis, 0, last, combine=True, blocks=blocks, at=spine))
        return found

    def alone(self, *, away: bool) -> list[list[_Sweep]]:
        """Return the sweeps of all pieces up, and those down; the longest first, to pair them."""
        found = [each for slot in range(self.slots) for each in self.sweeps(slot, away=away)]
        found.sort(key=lambda sweep: -sweep.hops)
        return [[each for each in found if (each.end > each.begin) == up] for up in (True, False)]


def _steps(sides: tuple[int, ...], groups: int, lengths: Numbers) -> list[Step]:
    """Return the steps of ``groups`` groups of pieces, without empty blocks."""
    slots, count = max(sides), int(np.count_nonzero(lengths))
    pairs = [
        [_Combs(sides, axis, slots, (2 * group + axis) * slots, count) for axis in range(2)]
        for group in range(groups)
    ]
    steps = _together(pairs[0], away=False)
    for group, pair in enumerate(pairs):
        steps.append([sweep for combs in pair for sweep in combs.spines()])
        for slot in range(slots if group + 1 < groups else 0):
            here = [sweep for combs in pair for sweep in combs.sweeps(slot, away=True)]
            following = pairs[group + 1]
            here += [sweep for combs in following for sweep in combs.sweeps(slot, away=False)]
            steps.append(here)
    steps += _together(pairs[-1], away=True)
    return steps


def _together(pair: list[_Combs], *, away: bool) -> list[Step]:
    """Return the steps of a group's sweeps to the spines, or ``away``, without another group."""
    ways = [way for combs in pair for way in combs.alone(away=away)]
    return [[sweep for sweep in sweeps if sweep] for sweeps in zip_longest(*ways)]


ALGORITHM = Declared(
    Collective.ALL_REDUCE,
    "combs",
    lambda asked: combs_all_reduce(asked.topology, asked.words, asked.combining),
    networks="lines and 2-D meshes",
    steps="more for longer messages",
    takes=("all_port", "operator"),
    ports=(ALL,),
)
