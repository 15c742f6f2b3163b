"""Messages of an all-to-all by rows and columns, and their straight paths.

If a block's target is an even number of rows away, it goes along its row and then a column. If the
number is odd, it goes along its column first. Blocks of a node with a common part of their path go
together, in pieces of about the same length::

    (0,0) --- all blocks for column 2, rows 0, 2, ... -------> (2,0)      then down the column
      |
      '------ all blocks for row 1, in pieces --------------> (0,1)       then along the row
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

Place = tuple[int, int]
Pair = tuple[Place, Place]


@dataclass
class Message:
    """A message of blocks (``pairs``) along a line; ``after`` are the messages it waits for."""

    source: Place
    target: Place
    pairs: list[Pair]
    after: list[int]


@dataclass(frozen=True)
class Passage:
    """The path of a message: ``hops`` hops from ``begin``, up (``way`` 1) or down (-1) a line.

    ``line`` is the axis of the path and the coordinate on the other axis; ``side`` is the line's
    length. If the line is not ``wrapped``, ``begin`` counts from the end from which the message
    comes.
    """

    line: tuple[int, int]
    way: int
    begin: int
    hops: int
    side: int
    wrapped: bool


def messages_of(width: int, height: int) -> list[Message]:
    """Return all messages: first those along the first lines, then those that wait for them."""
    places = [(x, y) for y in range(height) for x in range(width)]
    first: list[Message] = []
    for x, y in places:
        even = [row for row in range(height) if (row - y) % 2 == 0]
        for column in (column for column in range(width) if column != x):
            pairs = [((x, y), (column, row)) for row in even]
            first.append(Message((x, y), (column, y), pairs, []))
        for row in (row for row in range(height) if (row - y) % 2):
            pairs = [((x, y), (column, row)) for column in range(width)]
            first += _cut((x, y), (x, row), pairs, len(even), {})
    bringer = {pair: number for number, each in enumerate(first) for pair in each.pairs}
    then: list[Message] = []
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
) -> Iterable[Message]:
    """Yield messages of at most ``most`` blocks each, as equal as possible."""
    count = -(-len(pairs) // most)
    for part in range(count):
        some = [*pairs[len(pairs) * part // count : len(pairs) * (part + 1) // count]]
        after = [bringer[pair] for pair in some if pair[0] != source]
        yield Message(source, target, some, sorted({*after}))


def passage_of(message: Message, sides: Sequence[int], wrapped: Sequence[int]) -> Passage:
    """Return the shorter path of ``message`` on a grid with ``sides`` and ``wrapped`` axes.

    If both directions round a ring are equally long, it goes up from an even coordinate, and down
    from an odd one.
    """
    axis = 0 if message.source[1] == message.target[1] else 1
    begin, end, side = message.source[axis], message.target[axis], sides[axis]
    line = axis, message.source[1 - axis]
    if axis in wrapped and side > 2:
        around = (end - begin) % side
        up = 2 * around + begin % 2 <= side
        return Passage(line, 1 if up else -1, begin, around if up else side - around, side, True)
    up = end > begin
    return Passage(
        line, 1 if up else -1, begin if up else side - 1 - begin, abs(end - begin), side, False
    )


def way_of(message: Message, passage: Passage) -> list[Place]:
    """Return the coordinates of the nodes that ``message`` passes, both ends included."""
    axis, places = passage.line[0], []
    for hop in range(passage.hops + 1):
        place = [*message.source]
        place[axis] = (place[axis] + passage.way * hop) % passage.side
        places.append((place[0], place[1]))
    return places
