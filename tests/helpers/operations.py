"""Drawn operations of ranks, and a judge of the steps given to their messages."""

from collections import defaultdict, deque
from collections.abc import Sequence

from hypothesis import strategies as st

from eyecast.formats.operations import WORD_BYTES, Operation, OperationKind
from eyecast.model.schedule.schedule import Schedule

RANKS = 5


@st.composite
def drawn_operations(draw: st.DrawFn) -> list[Operation]:
    """Draw sends, receives and local operations of ranks, with dependencies but no deadlock.

    The list is an order in which they can be carried out one by one; a receive comes after its
    send. The message of tag t has t + 1 words.
    """
    pairs = st.tuples(st.integers(0, RANKS - 1), st.integers(0, RANKS - 1))
    messages = draw(st.lists(pairs.filter(lambda pair: pair[0] != pair[1]), max_size=10))
    story: list[Operation] = []
    for tag, (source, target) in enumerate(messages):
        size = WORD_BYTES * (tag + 1)
        at = draw(st.integers(0, len(story)))
        story.insert(at, Operation(OperationKind.SEND, source, f"send {tag}", target, size, tag))
        at = draw(st.integers(at + 1, len(story)))
        story.insert(
            at, Operation(OperationKind.RECEIVE, target, f"receive {tag}", source, size, tag)
        )
    for number in range(draw(st.integers(0, 4))):
        rank = draw(st.integers(0, RANKS - 1))
        story.insert(
            draw(st.integers(0, len(story))), Operation(OperationKind.LOCAL, rank, f"l {number}")
        )
    for place, operation in enumerate(story):
        earlier = [other for other in range(place) if story[other].rank == operation.rank]
        for other in earlier:
            relation = draw(st.sampled_from(["none", "none", "after", "beside"]))
            if relation != "none":
                getattr(operation, relation).append(other)
    return story


def require_in_time(operations: Sequence[Operation], step_of: dict[int, int]) -> None:
    """Carry the operations out in the order of the list; require that no send is too late.

    ``step_of`` is the step of each message, by its tag; steps count from 1. A receive ends when it
    has begun and its message has arrived.
    """
    begun: list[int] = []
    ended: list[int] = []
    for operation in operations:
        times = [ended[other] for other in operation.after]
        begin = max(times + [begun[other] for other in operation.beside], default=0)
        begun.append(begin)
        if operation.kind is OperationKind.LOCAL:
            ended.append(begin)
        elif operation.kind is OperationKind.SEND:
            assert step_of[operation.tag] > begin
            ended.append(step_of[operation.tag])
        else:
            ended.append(max(begin, step_of[operation.tag]))


def message_rows(schedule: Schedule) -> list[tuple[int, int, int, int]]:
    """Return step, source, target and words of every message, sorted."""
    words = schedule.blocks.words.tolist()
    sizes = [
        sum(words[block] for block in schedule.block_ids[begin:end].tolist())
        for begin, end in zip(schedule.block_offsets, schedule.block_offsets[1:], strict=False)
    ]
    columns = (schedule.step.tolist(), schedule.source.tolist(), schedule.target.tolist(), sizes)
    return sorted(zip(*columns, strict=True))


def order_kept(first: Schedule, second: Schedule) -> bool:
    """Tell whether each node sends and receives the same in both, in the same order of steps."""

    def stories(schedule: Schedule) -> dict[int, list[set[tuple[int, int, int]]]]:
        by_node: defaultdict[int, defaultdict[int, set[tuple[int, int, int]]]]
        by_node = defaultdict(lambda: defaultdict(set))
        for step, source, target, words in message_rows(schedule):
            for node in (source, target):
                by_node[node][step].add((source, target, words))
        return {node: [steps[step] for step in sorted(steps)] for node, steps in by_node.items()}

    return stories(first) == stories(second)


def carried_out(ranks: Sequence[Sequence[tuple[str, int, int, list[int]]]]) -> int:
    """Carry out each rank's operations as soon as possible; return how many end.

    An operation is (``send`` or ``recv``, peer, tag, operations of the rank that it requires).
    """
    arrived: set[tuple[int, int, int]] = set()
    done = [set[int]() for _ in ranks]
    waiting = deque((rank, place) for rank, each in enumerate(ranks) for place in range(len(each)))
    turned_away = 0
    while waiting and turned_away < len(waiting):
        rank, place = waiting.popleft()
        verb, peer, tag, required = ranks[rank][place]
        here = verb == "send" or (peer, rank, tag) in arrived
        if not here or not done[rank].issuperset(required):
            waiting.append((rank, place))
            turned_away += 1
            continue
        turned_away = 0
        done[rank].add(place)
        if verb == "send":
            arrived.add((rank, peer, tag))
    return sum(map(len, done))
