"""Sends and receives of ranks, as in GOAL and Chakra, and their messages.

Each rank has operations: sends, receives and local ones. An operation begins when the operations in
``after`` have ended and those in ``beside`` have begun. The k-th send and the k-th receive of the
same two ranks and tag are one message. A send ends when its message is on the way, a receive when
it has begun and its message has arrived::

    rank 0            rank 1                     messages
    a: send to 1      b: receive from 0          1. 0 -> 1
                      c: local, after b
                      d: send to 2, after c      2. 1 -> 2, after message 1

The data of a message is unknown, so each message is its own block, and the collective is custom. In
the other direction, a rank begins the operations of a step when those of its previous step have
ended, like a self-timed node.
"""

from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from enum import Enum, auto
from heapq import heapify, heappop, heappush
from itertools import groupby

import numpy as np

from ..model.base.errors import InvalidInput
from ..model.base.files import InputFile, input_name
from ..model.schedule.blocks import CUSTOM, Blocks
from ..model.schedule.ordered import CircleError, OrderedSends, packed_schedule
from ..model.schedule.schedule import Schedule
from ..model.schedule.unrolled import unrolled
from .format import Setting
from .ranks import OMITTED as RANKS_OMIT
from .ranks import nodes_of_ranks

WORD_BYTES = 4
"""Bytes of a word in formats that count bytes: a flit of 32 bits."""

OMITTED = {
    **RANKS_OMIT,
    "collective": "collective",
    "root": "root",
    "combine": "which messages are combined",
    "block_ids": "which blocks are in a message",
    "block_offsets": "which blocks are in a message",
    "blocks": "which blocks are in a message",
}
"""Facts of a schedule that messages do not contain."""

LARGEST_OPERATIONS = 4_000_000
LARGEST_SIZE = ((1 << 31) - 1) * WORD_BYTES
"""Most bytes of a message: a block has at most 2^31 - 1 words."""

LARGEST_SEARCH = 1 << 25
"""Most operations that the search for awaited messages visits: half a minute."""


class OperationKind(Enum):
    """Kinds of operations."""

    SEND = auto()
    RECEIVE = auto()
    LOCAL = auto()


@dataclass(slots=True)
class Operation:
    """One operation of ``rank``.

    ``place`` locates it in error messages: "tree.goal, line 7". ``peer`` is the other rank,
    ``size`` the message's bytes, of a local operation its time. ``after`` and ``beside`` are
    indices into the list of operations.
    """

    kind: OperationKind
    rank: int
    place: str
    peer: int = -1
    size: int = 0
    tag: int = 0
    after: list[int] = field(default_factory=list)
    beside: list[int] = field(default_factory=list)


def schedule_of(
    operations: Sequence[Operation], ranks: int, file: InputFile, setting: Setting, algorithm: str
) -> Schedule:
    """Return the messages of ``operations`` as a schedule on the network of ``setting``.

    Raises :class:`InvalidInput` with the place of a send without a receive or the reverse, of two
    sizes of one message, or of a circular wait; and for more ranks than nodes.
    """
    nodes = nodes_of_ranks(setting.topology, ranks, f"ranks of {input_name(file)}")
    messages = sorted(_messages(operations))
    message_of = {place: number for number, pair in enumerate(messages) for place in pair}
    search = _Search(operations, message_of)
    sent = [operations[send] for send, _ in messages]
    sends = OrderedSends(
        source=[nodes[operation.rank] for operation in sent],
        target=[nodes[operation.peer] for operation in sent],
        blocks=[(message,) for message in range(len(sent))],
        after=[search.awaited_by(send) for send, _ in messages],
    )
    words = [max(1, -(-operation.size // WORD_BYTES)) for operation in sent]
    blocks = Blocks(
        np.array(sends.source, np.int32),
        tuple((target,) for target in sends.target),
        np.array(words, np.int32),
    )
    try:
        return packed_schedule(
            setting.topology, CUSTOM, algorithm, setting.ports, None, blocks, sends
        )
    except CircleError as error:
        raise _circle([sent[message].place for message in error.circle]) from error


def _circle(places: Sequence[str]) -> InvalidInput:
    """Return the error for operations that wait for each other."""
    others = f", by way of {places[1]}" if len(places) > 1 else ""
    more = f" and {len(places) - 2} more" if len(places) > 2 else ""
    return InvalidInput(f"{places[0]}: waits for itself{others}{more}")


Ends = tuple[int, int, int]
"""Source, target and tag of a message."""


@dataclass(frozen=True)
class End:
    """A send or a receive: its index, the size of its message, and its place in a file."""

    index: int
    size: int
    place: str


class Messages:
    """Sends and receives: the k-th of both of the same ranks and tag are one message."""

    def __init__(self) -> None:
        self.sends: defaultdict[Ends, list[End]] = defaultdict(list)
        self.receives: defaultdict[Ends, list[End]] = defaultdict(list)

    def matched(self, unit: str) -> Iterator[tuple[End, End]]:
        """Yield send and receive of each message; refuse one alone, and two sizes of a message."""
        for ends in sorted(self.sends.keys() | self.receives.keys()):
            sent, received = self.sends[ends], self.receives[ends]
            source, target, tag = ends
            what = f"message {source} -> {target} of tag {tag}"
            common = min(len(sent), len(received))
            for alone, missing in ((sent[common:], "receive"), (received[common:], "send")):
                if alone:
                    raise InvalidInput(f"{alone[0].place}: {what} has no {missing}")
            for one, other in zip(sent, received, strict=True):
                if one.size != other.size:
                    complaint = f"must have the {one.size} {unit} that are sent, not {other.size}"
                    raise InvalidInput(f"{other.place}: {what} {complaint}")
                yield one, other


def _messages(operations: Sequence[Operation]) -> Iterator[tuple[int, int]]:
    """Yield send and receive of each message, matched in the order of their begin."""
    messages = Messages()
    for number in _in_order(operations):
        each = operations[number]
        end = End(number, each.size, each.place)
        if each.kind is OperationKind.SEND:
            messages.sends[each.rank, each.peer, each.tag].append(end)
        elif each.kind is OperationKind.RECEIVE:
            messages.receives[each.peer, each.rank, each.tag].append(end)
    for send, receive in messages.matched("bytes"):
        yield send.index, receive.index


def _in_order(operations: Sequence[Operation]) -> list[int]:
    """Return the operations' indices, each after those it waits for, otherwise in file order."""
    missing = [len(each.after) + len(each.beside) for each in operations]
    behind: list[list[int]] = [[] for _ in operations]
    for place, operation in enumerate(operations):
        for other in (*operation.after, *operation.beside):
            behind[other].append(place)
    ready = [place for place, count in enumerate(missing) if not count]
    heapify(ready)
    order: list[int] = []
    while ready:
        order.append(heappop(ready))
        for place in behind[order[-1]]:
            missing[place] -= 1
            if not missing[place]:
                heappush(ready, place)
    if len(order) == len(operations):
        return order
    walk: dict[int, None] = {}
    at = next(place for place, count in enumerate(missing) if count)
    while at not in walk:
        walk[at] = None
        operation = operations[at]
        at = next(other for other in (*operation.after, *operation.beside) if missing[other])
    visited = list(walk)
    raise _circle([operations[place].place for place in visited[visited.index(at) :]])


class _Search:
    """Search for the messages that a send waits for, backwards through its rank's operations.

    ``message_of`` is the message of each send and receive.
    """

    def __init__(self, operations: Sequence[Operation], message_of: dict[int, int]) -> None:
        self._operations = operations
        self._message_of = message_of
        self._looked_at = 0

    def awaited_by(self, send: int) -> list[int]:
        """Return messages that have left or arrived before operation ``send`` begins.

        It may omit messages that a returned message waits for.
        """
        found: list[int] = []
        begun, ended = {send}, set[int]()
        looking = [send]
        while looking:
            operation = self._operations[looking.pop()]
            self._count(operation)
            new = set(operation.after) - ended
            sends = {place for place in new if self._operations[place].kind is OperationKind.SEND}
            # These sends began after their own predecessors had ended, so those need no visit.
            implied = {other for place in sends for other in self._operations[place].after}
            ended |= new | implied
            rest = new - sends - implied
            received = {
                place for place in rest if self._operations[place].kind is OperationKind.RECEIVE
            }
            found += [self._message_of[place] for place in sends - implied | received]
            further = (rest | set(operation.beside)) - begun
            begun |= further
            looking += further
        return sorted(found)

    def _count(self, operation: Operation) -> None:
        self._looked_at += 1 + len(operation.after) + len(operation.beside)
        if self._looked_at > LARGEST_SEARCH:
            raise InvalidInput(f"{operation.place}: has more before it than can be followed")


def operations_of(schedule: Schedule) -> list[list[Operation]]:
    """Return the sends and receives of each rank (a working node), step by step.

    Tags are indices of sends in the unrolled schedule; ``after`` has indices into the rank's list.
    """
    schedule = unrolled(schedule)
    working = schedule.topology.working_nodes.tolist()
    rank_of = {node: rank for rank, node in enumerate(working)}
    begins = schedule.block_offsets[:-1]
    words = np.add.reduceat(schedule.blocks.words[schedule.block_ids].astype(np.int64), begins)
    steps: list[list[tuple[int, Operation]]] = [[] for _ in working]
    columns = (schedule.step, schedule.source, schedule.target, words * WORD_BYTES)
    rows = zip(*(column.tolist() for column in columns), strict=True)
    for tag, (step, source, target, size) in enumerate(rows):
        ends = rank_of[source], rank_of[target]
        for kind, (rank, peer) in ((OperationKind.SEND, ends), (OperationKind.RECEIVE, ends[::-1])):
            steps[rank].append((step, Operation(kind, rank, "", peer, size, tag)))
    return [_one_after_another(each) for each in steps]


def _one_after_another(steps: list[tuple[int, Operation]]) -> list[Operation]:
    """Return a rank's operations in order of steps, each after those of the previous step."""
    operations: list[Operation] = []
    last: list[int] = []
    for _, group in groupby(sorted(steps, key=lambda each: each[0]), key=lambda each: each[0]):
        now = []
        for _, operation in group:
            operation.after = last
            now.append(len(operations))
            operations.append(operation)
        last = now
    return operations
