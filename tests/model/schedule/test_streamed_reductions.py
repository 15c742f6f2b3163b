"""Reductions that stream: refusals of check(), and random ones against counted words."""

import re
from collections import Counter
from dataclasses import replace
from itertools import pairwise, product
from random import Random

import numpy as np
import pytest
from helpers.schedules import Send, build, complaint
from helpers.streamed_contributions import Held, carried_out, packets_of

from eyecast.model.network.topology import mesh, ring
from eyecast.model.schedule.blocks import Blocks
from eyecast.model.schedule.rules import ScheduleError
from eyecast.model.schedule.schedule import Schedule
from eyecast.model.schedule.streams import streams_of

LINE = mesh((4, 1))


def reduction(
    sends: list[Send],
    streams: str,
    owed: tuple[tuple[int, ...] | None, ...] = ((0,),),
    replaced: tuple[int, ...] = (),
    words: tuple[int, ...] | None = None,
    contributors: tuple[int, ...] | None = None,
) -> Schedule:
    """Return a reduction on a ring of four; ``streams`` has + for a send that streams, else -."""
    blocks = Blocks.reduced_to(owed, words or (2,) * len(owed), "add")
    blocks = replace(blocks, contributors=(contributors,) * len(owed))
    made = build(ring(4), sends, blocks, "custom", "all-port")
    combine = ~np.isin(np.arange(len(sends)), replaced)
    return replace(made, root=None, combine=combine, stream=np.array([s == "+" for s in streams]))


CHAIN = [Send(1, [3, 2]), Send(1, [2, 1]), Send(1, [1, 0])]
BACK = [Send(1, [0, 1]), Send(1, [1, 2]), Send(1, [2, 3])]


def test_a_chain_is_combined_in_one_step() -> None:
    reduction(CHAIN, "-++").check()
    assert "lacks what node 3 contributes" in complaint(reduction(CHAIN, "--+"))


def test_a_chain_goes_there_and_back_in_one_step() -> None:
    reduction(CHAIN + BACK, "-+++++", (None,), replaced=(3, 4, 5)).check()
    # The returning value must not be combined: the node's contribution is in it already.
    message = complaint(reduction(CHAIN[2:] + BACK[:1], "-+"))
    assert "is combined twice" in message
    # Node 0 sends the value from before the step.
    message = complaint(reduction(CHAIN + BACK, "-++-++", (None,), replaced=(3, 4, 5)))
    assert "and one of the two replaces it" in message


def test_a_ring_leaves_each_node_its_block() -> None:
    turn = [Send(1, [n, (n - 1) % 4], [(n + k) % 4 for k in (1, 2, 3)]) for n in range(4)]
    owed = tuple((node,) for node in range(4))
    made = reduction(turn, "++++", owed)
    made.check()
    assert streams_of(made).lead.tolist() == [2] * 4
    early = [Send(1, [n, (n - 1) % 4], [(n + k) % 4 for k in (0, 1, 2)]) for n in range(4)]
    assert "lacks what node" in complaint(reduction(early, "++++", owed))


@pytest.mark.parametrize(
    ("sends", "streams", "words"),
    [
        (
            [Send(1, [0, 1]), Send(1, [2, 1]), Send(1, [1, 0])],
            "--+",
            "send 2 (step 1, 1 -> 0): it streams words of two packets",
        ),
        (
            [Send(1, [0, 1]), Send(1, [1, 2]), Send(1, [1, 0])],
            "-+-",
            "send 1 (step 1, 1 -> 2): it streams block 0, which leaves as it was before by send 2 "
            "(step 1, 1 -> 0)",
        ),
        (
            [Send(1, [n, (n + 1) % 4]) for n in range(4)],
            "++++",
            "its stream waits for itself",
        ),
        ([Send(1, [3, 2]), Send(2, [2, 1])], "-+", "nothing of it comes to its source in its step"),
    ],
)
def test_what_is_refused(sends: list[Send], streams: str, words: str) -> None:
    assert words in complaint(reduction(sends, streams))


def test_what_comes_from_elsewhere_while_a_block_streams_is_refused() -> None:
    """Node 1 streams combined words while another packet replaces them with unrelated ones."""
    sends = [Send(1, [0, 1]), Send(1, [1, 2]), Send(1, [2, 1])]
    message = complaint(reduction(sends, "-+-", replaced=(2,)))
    assert "and one of the two replaces it" in message
    # The returning value contains the sent value.
    reduction(sends, "-++", ((1, 2),), replaced=(2,), contributors=(0, 1, 2)).check()


def drawn(random: Random) -> Schedule:
    """Draw chains of one step around a ring, most with a way back, of one or two blocks.

    Some sends are then changed. Each port sends and receives at most once.
    """
    links: dict[tuple[int, int], tuple[list[int], bool, bool]] = {}
    for _ in range(random.randint(1, 2)):
        first, way = random.randrange(4), random.choice((1, -1))
        nodes = [(first + way * place) % 4 for place in range(random.randint(2, 4))]
        carried = random.choice(([0], [1], [0, 1], [1, 0]))
        links |= {link: (carried, place > 0, True) for place, link in enumerate(pairwise(nodes))}
        if random.random() < 0.6:
            links |= dict.fromkeys(pairwise(reversed(nodes)), (carried, True, False))
    for link in random.sample([*links], random.randint(0, 1)):
        carried, stream, combine = links.pop(link)
        change = random.randrange(4)
        if change < 3:
            links[link] = (carried, stream ^ (change == 0), combine ^ (change == 1))
    sends = [Send(1, [*link], carried) for link, (carried, _, _) in links.items()]
    streams = "".join("-+"[stream] for _, stream, _ in links.values())
    replaced = [place for place, (_, _, combine) in enumerate(links.values()) if not combine]
    words = (random.choice((1, 2)), 1)
    return reduction(sends, streams, ((), ()), tuple(replaced), words)


def outcomes(schedule: Schedule, random: Random) -> list[Held]:
    """Return the values after the step, one for each choice of delays."""
    streams, words = streams_of(schedule), schedule.blocks.words.tolist()
    feeders = dict(zip(streams.send.tolist(), streams.feeder.tolist(), strict=True))
    leads = dict(zip(streams.send.tolist(), streams.lead.tolist(), strict=True))
    packets = packets_of(schedule, feeders, leads)
    held = {
        (node, (block, word)): Counter([node])
        for node, block in product(range(4), range(2))
        for word in range(words[block])
    }
    # Each packet alone late, each alone early, and some random delays.
    number = range(2 * len(packets))
    delays = [[30 if (a == b) == late else 1 for a in number] for b in number for late in (0, 1)]
    delays += [[random.choice((1, 2, 40)) for _ in number] for _ in range(5)]
    halves = [(each[: len(packets)], each[len(packets) :]) for each in delays]
    found = [carried_out(packets, held, *each) for each in halves]
    assert all(each is not None for each in found)
    return [each for each in found if each is not None]


ORDER = "comes at any time by|one of the two replaces it"


def test_drawn_steps_are_accepted_exactly_if_no_time_decides_and_nothing_counts_twice() -> None:
    random, seen = Random(7), Counter()
    for _ in range(150):
        made = drawn(random)
        if not made.sends:
            continue
        try:
            made.check()
        except ScheduleError as error:
            kind = re.search(f"{ORDER}|combined twice|leaves as it was", str(error))
            if kind is None or kind[0] == "leaves as it was":
                # No stream, or one for which the memories have no room.
                continue
            found = outcomes(made, random)
            seen[kind[0]] += 1
            if kind[0] == "combined twice":
                assert any(max(word.values()) > 1 for held in found for word in held.values())
            else:
                assert any(held != found[0] for held in found), str(error)
            continue
        found = outcomes(made, random)
        assert all(held == found[0] for held in found)
        assert max(max(word.values()) for word in found[0].values()) == 1
        came = Counter(zip(made.target.tolist(), made.step.tolist(), strict=True))
        seen["several come" if made.stream.any() and max(came.values()) > 1 else "right"] += 1
    assert min(seen[kind] for kind in ("right", "several come", "combined twice")) > 2, seen
