"""All-to-all on a mesh by rows and columns, both at once.

A block goes along a row and then along a column, or first along a column and then along a row: the
first where its goal is an even number of rows away, the second where it is an odd one. So rows and
columns carry as much at any time, and the links in the middle of each, which half of all blocks
must cross, are all busy. What several blocks of a node have in common of their way goes together::

    (0,0) --- all that is for column 2, in rows 0, 2, ... ---> (2,0)      then down the column
      |
      '------ all that is for row 1, in pieces -------------> (0,1)       then along the row

On 8x8 the links in the middle need 32 steps. A step has 4 w words for blocks of w, and four packets
of w in the second half, whose blocks came one by one.

With all ports, links alone are shared. The messages of one line in one direction are intervals, and
are dealt to as few steps as the busiest link has messages: each, by where it begins, to the first
step that is free there again. So 32 steps are found, the first ways all before the second::

    step 1    |0 -> 3      |3 ----> 5|5 -> 7|
    step 2    |0 ---------> 4|4 ---------> 7|

With one port the sends are packed into steps greedily, those first whose ports and links have the
most left to carry. A send waits for all that brings what it carries; of some tries, by other lots,
the one with the fewest steps is kept: 43 steps.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import pairwise

import numpy as np

from ...base.errors import InvalidInput, require_range, with_article
from ...network.port_model import PortModel
from ...network.topology import Topology
from ...schedule.collective import Collective
from ...schedule.schedule import Schedule
from ...schedule.table import Blocks
from ..halving.boxes import is_whole_grid
from .sends import SendList

TRIES = 2
LOAD_POWER = 12
"""How much more a port or link counts that has more left to carry."""
MOST_NODES = 256

Place = tuple[int, int]
Pair = tuple[Place, Place]


@dataclass
class _Message:
    """A message from one node to another along a line, and the messages that it waits for."""

    source: Place
    target: Place
    pairs: list[Pair]
    after: list[int]


def row_column_all_to_all(topology: Topology, words: int, *, all_port: bool = False) -> Schedule:
    """All-to-all of ``words`` words from each node to each other one, on a mesh.

    With one port, or on all ports. Raises :class:`.InvalidInput` for what is no mesh of two axes
    without faults, or too large.
    """
    require_range("flits", words, 1)
    sides = topology.dims
    if not is_whole_grid(topology) or topology.wrapped or len(sides) != 2 or min(sides) < 2:
        allowed, given = "a mesh of two axes without faults", with_article(topology.label)
        raise InvalidInput.of("network for row-column", allowed, given)
    require_range("nodes for row-column", topology.nodes, 4, MOST_NODES)
    messages = _messages(sides[0], sides[1])
    steps = _coloured_steps(messages) if all_port else _packed_steps(messages)
    order = [pair for message in messages for pair in message.pairs if message.source == pair[0]]
    number = {pair: block for block, pair in enumerate(order)}
    node = {place: place[0] + sides[0] * place[1] for pair in order for place in pair}
    sends = SendList()
    for step, message in sorted(zip(steps, messages, strict=True), key=lambda each: each[0]):
        path = [node[place] for place in _way(message.source, message.target)]
        sends.add(step, path, [number[pair] for pair in message.pairs])
    blocks = Blocks(
        np.array([node[source] for source, _ in order], np.int32),
        tuple((node[target],) for _, target in order),
        np.full(len(order), words, np.int32),
    )
    ports = PortModel.ALL_PORT if all_port else PortModel.FULL_DUPLEX
    name = Collective.ALL_TO_ALL
    return sends.schedule("row-column", topology, name, ports, None, blocks)


def _messages(width: int, height: int) -> list[_Message]:
    """All messages, those of the first ways before those that wait for them."""
    places = [(x, y) for y in range(height) for x in range(width)]
    first: list[_Message] = []
    for x, y in places:
        even = [row for row in range(height) if (row - y) % 2 == 0]
        for column in (column for column in range(width) if column != x):
            pairs = [((x, y), (column, row)) for row in even]
            first.append(_Message((x, y), (column, y), pairs, []))
        for row in (row for row in range(height) if (row - y) % 2):
            pairs = [((x, y), (column, row)) for column in range(width)]
            first += _cut((x, y), (x, row), pairs, len(even), {})
    bringer = {pair: number for number, each in enumerate(first) for pair in each.pairs}
    then: list[_Message] = []
    for x, y in places:
        for row in (row for row in range(height) if row != y and (row - y) % 2 == 0):
            pairs = [((source, y), (x, row)) for source in range(width)]
            then += _cut((x, y), (x, row), pairs, (height + 1) // 2, bringer)
        for column in (column for column in range(width) if column != x):
            pairs = [((x, row), (column, y)) for row in range(height) if (row - y) % 2]
            then += _cut((x, y), (column, y), pairs, len(pairs), bringer)
    return first + then


def _cut(
    source: Place, target: Place, pairs: Sequence[Pair], most: int, bringer: dict[Pair, int]
) -> Iterable[_Message]:
    """Messages of at most ``most`` blocks each, as equal as can be."""
    count = -(-len(pairs) // most)
    for part in range(count):
        some = [*pairs[len(pairs) * part // count : len(pairs) * (part + 1) // count]]
        after = [bringer[pair] for pair in some if pair[0] != source]
        yield _Message(source, target, some, sorted({*after}))


def _way(source: Place, target: Place) -> list[Place]:
    """The places of a straight way, both ends included."""
    (x, y), (column, row) = source, target
    along, up = int(np.sign(column - x)), int(np.sign(row - y))
    hops = abs(column - x) + abs(row - y)
    return [(x + along * hop, y + up * hop) for hop in range(hops + 1)]


def _coloured_steps(messages: Sequence[_Message]) -> list[int]:
    """The step of each message, the fewest in which no link is shared; second ways after first."""
    steps = [0] * len(messages)
    before = 0
    for second in (False, True):
        # The end of the last message of each step so far, by line and direction.
        ends: dict[object, list[int]] = {}
        some = [number for number, each in enumerate(messages) if bool(each.after) == second]
        for number in sorted(some, key=lambda each: _interval(messages[each])[1:]):
            line, begin, end = _interval(messages[number])
            reached = ends.setdefault(line, [])
            free = [step for step, last in enumerate(reached) if last <= begin]
            if not free:
                free = [len(reached)]
                reached.append(end)
            reached[free[0]] = end
            steps[number] = before + free[0] + 1
        before = max(map(len, ends.values()))
    return steps


def _interval(message: _Message) -> tuple[object, int, int]:
    """The line and direction of a message, and from where to where along that it goes."""
    (x, y), (column, row) = message.source, message.target
    begin, end, line = (x, column, ("row", y)) if y == row else (y, row, ("column", x))
    way = 1 if end > begin else -1
    return (line, way), way * begin, way * end


def _packed_steps(messages: Sequence[_Message]) -> list[int]:
    """The step of each message, so that none shares a port or link; the fewest of some tries."""
    tries = (_steps(messages, np.random.default_rng(seed)) for seed in range(TRIES))
    return min(tries, key=max)


def _steps(messages: Sequence[_Message], draw: np.random.Generator) -> list[int]:
    """The step of each message, so that none shares a port or link of a step with another."""
    numbers: dict[object, int] = {}
    used = []
    for message in messages:
        way = _way(message.source, message.target)
        links = pairwise(way)
        keys: list[object] = [("out", way[0]), ("in", way[-1]), *links]
        used.append(np.array([numbers.setdefault(key, len(numbers)) for key in keys]))
    load = np.bincount(np.concatenate(used), minlength=len(numbers)).astype(float)
    steps = [0] * len(messages)
    left = list(range(len(messages)))
    step = 0
    while left:
        step += 1
        weight = load**LOAD_POWER
        ready = [each for each in left if all(0 < steps[a] < step for a in messages[each].after)]
        scores = [weight[used[each]].sum() * draw.uniform(0.5, 1) for each in ready]
        busy = np.zeros(len(numbers), np.bool_)
        for place in np.argsort(scores)[::-1].tolist():
            each = ready[place]
            if not busy[used[each]].any():
                busy[used[each]] = True
                load[used[each]] -= 1
                steps[each] = step
        left = [each for each in left if not steps[each]]
    return steps
