"""Streams and streamed reductions: refusals, and random schedules against a simulation."""

import re
from collections import Counter
from dataclasses import replace
from itertools import pairwise, product
from random import Random

import numpy as np
import pytest
from helpers.generated import generated
from helpers.schedules import Send, build, complaint
from helpers.streamed_contributions import Held, carried_out, packets_of

import eyecast
from eyecast.model.collectives.streaming.rings import stream_ring, stream_ring_reduce_scatter
from eyecast.model.network.config import NetworkConfig
from eyecast.model.network.topology import mesh, ring
from eyecast.model.program.compiler import fit
from eyecast.model.schedule.blocks import Blocks
from eyecast.model.schedule.rules import ScheduleError
from eyecast.model.schedule.schedule import Schedule
from eyecast.model.schedule.stream_runs import stream_runs
from eyecast.model.schedule.streams import streams_of
from eyecast.model.schedule.unrolled import unrolled


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


# ---- Streamed reductions -------------------------------------------------------------------------


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


@pytest.mark.usefixtures("_both_proofs")
def test_a_chain_is_combined_in_one_step() -> None:
    reduction(CHAIN, "-++").check()
    assert "lacks what node 3 contributes" in complaint(reduction(CHAIN, "--+"))


@pytest.mark.usefixtures("_both_proofs")
def test_a_chain_goes_there_and_back_in_one_step() -> None:
    reduction(CHAIN + BACK, "-+++++", (None,), replaced=(3, 4, 5)).check()
    # The returning value must not be combined: the node's contribution is in it already.
    message = complaint(reduction(CHAIN[2:] + BACK[:1], "-+"))
    assert "is combined twice" in message
    # Node 0 sends the value from before the step.
    message = complaint(reduction(CHAIN + BACK, "-++-++", (None,), replaced=(3, 4, 5)))
    assert "and one of the two replaces it" in message


@pytest.mark.usefixtures("_both_proofs")
def test_a_ring_leaves_each_node_its_block() -> None:
    turn = [Send(1, [n, (n - 1) % 4], [(n + k) % 4 for k in (1, 2, 3)]) for n in range(4)]
    owed = tuple((node,) for node in range(4))
    made = reduction(turn, "++++", owed)
    made.check()
    assert streams_of(made).lead.tolist() == [2] * 4
    early = [Send(1, [n, (n - 1) % 4], [(n + k) % 4 for k in (0, 1, 2)]) for n in range(4)]
    assert "lacks what node" in complaint(reduction(early, "++++", owed))


@pytest.mark.usefixtures("_both_proofs")
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
        ([Send(1, [n, (n + 1) % 4]) for n in range(4)], "++++", "its stream waits for itself"),
        ([Send(1, [3, 2]), Send(2, [2, 1])], "-+", "nothing of it comes to its source in its step"),
    ],
)
def test_streamed_reductions_that_are_refused(sends: list[Send], streams: str, words: str) -> None:
    assert words in complaint(reduction(sends, streams))


@pytest.mark.usefixtures("_both_proofs")
def test_what_comes_from_elsewhere_while_a_block_streams_is_refused() -> None:
    """Node 1 streams combined words while another packet replaces them with unrelated ones."""
    sends = [Send(1, [0, 1]), Send(1, [1, 2]), Send(1, [2, 1])]
    message = complaint(reduction(sends, "-+-", replaced=(2,)))
    assert "and one of the two replaces it" in message
    # The returning value contains the sent value.
    reduction(sends, "-++", ((1, 2),), replaced=(2,), contributors=(0, 1, 2)).check()


def drawn_reduction(random: Random) -> Schedule:
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


@pytest.mark.usefixtures("_both_proofs")
def test_drawn_steps_are_accepted_exactly_if_no_time_decides_and_nothing_counts_twice() -> None:
    random, seen = Random(7), Counter()
    for _ in range(150):
        made = drawn_reduction(random)
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


# ---- Runs of memory in rings ---------------------------------------------------------------------


def test_every_node_has_the_run_of_its_place_on_the_ring() -> None:
    runs, disordered = stream_runs(stream_ring_reduce_scatter(ring(5), 3, "add"))
    assert disordered == set()
    for node in range(5):
        run = [5 * node + (node - back) % 5 for back in (1, 2, 3, 4, 5)]
        assert [runs[number] for number in run] == [run] * 5


def test_rings_of_two_axes_have_none_but_where_lines_begin() -> None:
    _, disordered = stream_runs(stream_ring(mesh((4, 4)), 4))
    assert disordered == {node for node in range(16) if node % 4}


def test_rings_in_windows_that_turn_both_ways_have_none() -> None:
    """Node 0 sends 1 2 .. 7 before its own block one way, its own before 1 2 .. 6 the other."""
    _, disordered = stream_runs(generated("all-reduce", "stream-ring", ring(8), words=32))
    assert disordered == {*range(8)}


def test_runs_are_kept_in_memories_of_any_size() -> None:
    made = stream_ring(ring(5), 3)
    for words in (16, 1 << 10):
        (compiled,) = fit(NetworkConfig(topology=ring(5), message_words=words), [made])[1]
        layout = compiled.layout
        assert layout.size == 15
        for node in range(5):
            order = sorted(range(5), key=lambda block, node=node: layout.address(node, block))
            ahead = [(node - back) % 5 for back in (1, 2, 3, 4)]
            assert [block for block in order if block != node] == ahead


# ---- Streams cut into steps ----------------------------------------------------------------------


@pytest.mark.parametrize("flits", [4, 64])
@pytest.mark.parametrize(
    ("collective", "algorithm"),
    [
        ("broadcast", "chain"),
        ("all-gather", "stream-ring"),
        ("reduce", "chain"),
        ("reduce-scatter", "stream-ring"),
        ("all-reduce", "combs"),
    ],
)
def test_unrolled_schedules_are_right(collective: str, algorithm: str, flits: int) -> None:
    options = {"source": (0, 0)} if collective in ("broadcast", "reduce") else {}
    if algorithm == "combs":
        options = {"ports": "all"}
    network = eyecast.mesh((4, 4))
    streamed = eyecast.schedule(network, algorithm, collective=collective, words=flits, **options)
    assert streamed.stream.any()
    plain = unrolled(streamed)
    plain.check()
    assert not plain.stream.any()
    assert plain.steps > streamed.steps
    carried = [np.bincount(each.block_ids).tolist() for each in (streamed, plain)]
    assert carried[0] == carried[1]
