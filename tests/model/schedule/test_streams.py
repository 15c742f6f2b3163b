"""Streams: refusals of check(), and random schedules against a simulation word by word."""

from collections import Counter
from dataclasses import replace
from itertools import product
from random import Random

import numpy as np
import pytest
from helpers.schedules import Send, build, complaint
from helpers.streamed_contributions import carried_out, packets_of

from eyecast.model.network.topology import ring
from eyecast.model.schedule.blocks import Blocks
from eyecast.model.schedule.rules import ScheduleError
from eyecast.model.schedule.schedule import Schedule
from eyecast.model.schedule.streams import streams_of


def streaming(
    sends: list[Send],
    streams: list[bool],
    blocks: Blocks,
    nodes: int = 4,
    ports: str = "full-duplex",
) -> Schedule:
    made = build(ring(nodes), sends, blocks, "custom", ports)
    return replace(made, root=None, stream=np.array(streams))


def owned(*owners: int, words: int = 2) -> Blocks:
    return Blocks(np.array(owners), ((),) * len(owners), np.full(len(owners), words))


def test_a_chain_streams_without_a_lead() -> None:
    sends = [Send(1, [0, 1]), Send(1, [1, 2]), Send(1, [2, 3])]
    made = streaming(sends, [False, True, True], owned(0))
    made.check()
    found = streams_of(made)
    assert (found.send.tolist(), found.feeder.tolist(), found.lead.tolist()) == (
        [1, 2],
        [0, 1],
        [0, 0],
    )


def test_a_ring_leads_by_its_own_block() -> None:
    sends = [
        Send(1, [node, (node - 1) % 4], [(node + k) % 4 for k in range(3)]) for node in range(4)
    ]
    made = streaming(sends, [True] * 4, owned(0, 1, 2, 3))
    made.check()
    assert streams_of(made).lead.tolist() == [2, 2, 2, 2]


def test_a_ring_without_a_lead_waits_for_itself() -> None:
    sends = [Send(1, [node, (node - 1) % 4]) for node in range(4)]
    # The first node has the block before the step, and so no word to wait for.
    assert "nothing of it comes" in complaint(streaming(sends, [True] * 4, owned(0)))
    sends = [Send(1, [0, 3, 2]), Send(1, [2, 1]), Send(1, [1, 0])]
    message = complaint(streaming(sends, [True] * 3, owned(3)))
    assert message.endswith("its stream waits for itself, around 0 -> 2 -> 1 -> 0")
    message = complaint(streaming([Send(1, [0, 1]), Send(1, [1, 0])], [True] * 2, owned(3)))
    assert message == "send 0 (step 1, 0 -> 1): its stream waits for itself, around 1 -> 0 -> 1"


@pytest.mark.parametrize(
    ("sends", "streams", "blocks", "words"),
    [
        ([Send(1, [0, 1])], [True], owned(0), "send 0 (step 1, 0 -> 1): it streams, but nothing"),
        (
            [Send(1, [0, 1]), Send(2, [1, 2])],
            [False, True],
            owned(0),
            "send 1 (step 2, 1 -> 2): it streams, but nothing of it comes to its source",
        ),
        (
            [Send(1, [0, 1], [0, 1]), Send(1, [1, 2], [1, 0])],
            [False, True],
            owned(0, 0),
            "send 1 (step 1, 1 -> 2): it would send words 2 words before they come",
        ),
        (
            [Send(1, [0, 1], [0]), Send(1, [1, 2], [0, 1])],
            [False, True],
            owned(0, 1),
            "send 1 (step 1, 1 -> 2): it would wait for 4 words of send 0 (step 1, 0 -> 1), which "
            "has 2",
        ),
        (
            [Send(1, [0, 1], [0, 1]), Send(1, [1, 2], [0, 0])],
            [False, True],
            owned(0, 0),
            "send 1 (step 1, 1 -> 2): it carries block 0 twice",
        ),
        (
            [Send(1, [0, 1]), Send(1, [1, 2])],
            [False, False],
            owned(0),
            "send 1 (step 1, 1 -> 2): node 1 gets block 0 only by send 0 (step 1, 0 -> 1)",
        ),
    ],
)
def test_what_is_refused(
    sends: list[Send], streams: list[bool], blocks: Blocks, words: str
) -> None:
    assert complaint(streaming(sends, streams, blocks)).startswith(words)


def test_words_of_two_packets_are_refused() -> None:
    sends = [Send(1, [0, 1], [0]), Send(1, [2, 1], [1]), Send(1, [1, 0], [0, 1])]
    made = streaming(sends, [False, False, True], owned(0, 2), ports="all-port")
    assert "it streams words of two packets" in complaint(made)


def drawn(random: Random) -> Schedule:
    """Draw up to four sends of one step between neighbors; a node sends and gets at most one."""
    nodes, blocks = 4, [random.randrange(4) for _ in range(3)]
    lengths = np.array([random.choice((1, 1, 1, 2)) for _ in blocks])
    way = random.choice((1, -1))
    sends, streams = [], []
    for node in range(nodes):
        if random.random() < 0.85:
            carried = random.sample(range(3), random.randint(1, 3))
            sends.append(Send(1, [node, (node + way) % nodes], carried))
            streams.append(random.random() < 0.8)
    return streaming(sends, streams, Blocks(np.array(blocks), ((),) * 3, lengths))


def works(schedule: Schedule, leads: dict[int, int], delays: list[int]) -> bool:
    """Tell whether all words leave, each after its arrival at the source."""
    into = {target: send for send, target in enumerate(schedule.target.tolist())}
    streams, sources = schedule.stream.tolist(), schedule.source.tolist()
    # A send to whose source nothing comes waits for itself, and so for ever.
    feeders = {n: into.get(sources[n], n) for n in range(schedule.sends) if streams[n]}
    words = schedule.blocks.words.tolist()
    held = {
        (owner, (block, word)): Counter([owner])
        for block, owner in enumerate(schedule.blocks.owner.tolist())
        for word in range(words[block])
    }
    packets = packets_of(schedule, feeders, leads)
    return carried_out(packets, held, [0] * len(packets), delays) is not None


def test_drawn_schedules_are_accepted_exactly_if_their_words_are_there() -> None:
    random, accepted, refused = Random(1), 0, 0
    while accepted < 2 or refused < 4:
        made = drawn(random)
        if not made.sends:
            continue
        delays = [[1] * made.sends, [9] * made.sends]
        delays += [[random.choice((1, 2, 9)) for _ in range(made.sends)]]
        try:
            made.check()
        except ScheduleError as error:
            refused += 1
            if "nothing of it comes" not in str(error):
                most = np.where(made.stream, made.send_words, 1).tolist()
                for leads in product(*map(range, most)):
                    chosen = dict(enumerate(leads))
                    assert not all(works(made, chosen, each) for each in delays), str(error)
        else:
            accepted += 1
            found = streams_of(made)
            leads = dict(zip(found.send.tolist(), found.lead.tolist(), strict=True))
            assert all(works(made, leads, each) for each in delays)
