"""Schedules of custom sends: each collective, each field of a send, and each refusal."""

from dataclasses import replace

import pytest
from helpers.refusals import refusal_of

import eyecast
from eyecast import Block, Schedule, ScheduleError, Send
from eyecast.model.schedule.file import schedule_json

LINE = eyecast.line(3)
RING = eyecast.ring(4)
SQUARE = eyecast.mesh((2, 2))


def up(step: int, node: int, block: int, *, combine: bool = False) -> Send:
    """Return a send of a block to the next node of the ring."""
    return Send(step, (node, (node + 1) % 4), block, combine=combine)


ROUNDS = [(step, node) for step in (1, 2, 3) for node in range(4)]
DOWN = [Send(1, [2, 1], combine=True), Send(2, [1, 0], combine=True)]
UP = [(3, [0, 1]), (4, [1, 2])]
PAIRS = [(i, j) for i in range(3) for j in range(3) if i != j]
CASES = {
    "broadcast": (LINE, [(1, [0, 1]), (2, [1, 2])], {}),
    "multicast": (SQUARE, [(1, [(0, 0), (1, 0), (1, 1)])], {"targets": [(1, 1)]}),
    "scatter": (LINE, [(1, [0, 1], [1, 2]), (2, [1, 2], 2)], {"source": 0}),
    "gather": (LINE, [(1, [2, 1], 2), (2, [1, 0], [2, 1])], {"source": [0]}),
    "all-gather": (RING, [up(s, n, (n - s + 1) % 4) for s, n in ROUNDS], {"ports": "full-duplex"}),
    "all-to-all": (
        LINE,
        [(s, range(i, j + (1 if i < j else -1), 1 if i < j else -1), 3 * i + j)
         for s, (i, j) in enumerate(PAIRS, start=1)],
        {},
    ),
    "reduce": (LINE, DOWN, {"source": 0, "operator": "max"}),
    "reduce-scatter": (
        RING,
        [up(s, n, (n - s) % 4, combine=True) for s, n in ROUNDS],
        {"ports": "full-duplex"},
    ),
    "all-reduce": (LINE, [*DOWN, *UP], {}),
    "barrier": (LINE, [*DOWN, *UP], {}),
}  # fmt: skip


def made(collective: str, **others: object) -> Schedule:
    """Return the small schedule of a collective, with other arguments."""
    network, sends, arguments = CASES[collective]
    return eyecast.schedule_of_sends(
        network, **{"sends": sends, "collective": collective, **arguments, **others}
    )


@pytest.mark.parametrize("collective", CASES)
def test_each_collective_is_made_and_runs(collective, here):
    words = {} if collective == "barrier" else {"words": 5}
    own = made(collective, **words)
    (request,) = own.requests
    assert (own.collective, request.collective, own.algorithm) == (collective, collective, "own")
    assert request.words == {*own.blocks.words.tolist()}.pop() == words.get("words", 1)
    assert eyecast.predict(own).finished
    eyecast.write_schedule(own, here / "own.json")
    again = eyecast.read_schedule(here / "own.json")
    again.check()
    assert schedule_json(again) == schedule_json(own)


@pytest.mark.parametrize("collective", CASES)
def test_a_collective_without_its_last_send_is_refused(collective):
    _, sends, _ = CASES[collective]
    with pytest.raises(ScheduleError):
        made(collective, sends=[*sends[:-1], (9, [1, 0], 0)])


@pytest.mark.slow
def test_the_hardware_carries_out_an_own_all_reduce():
    assert eyecast.verify(made("all-reduce", words=3)).agrees


def sends_of(given: Schedule) -> list[Send]:
    """Return the sends of a schedule as records."""
    paths, blocks = given.path_offsets.tolist(), given.block_offsets.tolist()
    return [
        Send(
            step=int(given.step[n]),
            path=given.path_nodes[paths[n] : paths[n + 1]].tolist(),
            blocks=given.block_ids[blocks[n] : blocks[n + 1]].tolist(),
            combine=bool(given.combine[n]),
            stream=bool(given.stream[n]),
            vcs=given.vcs[paths[n] - n : paths[n + 1] - n - 1].tolist(),
        )
        for n in range(given.sends)
    ]


def blocks_of(given: Schedule) -> list[Block]:
    """Return the blocks of a schedule as records."""
    table = given.blocks
    return [
        Block(
            words=int(table.words[n]),
            owner=int(table.owner[n]) if table.operator[n] is None else None,
            owed=table.owed[n],
            operator=table.operator[n],
            contributors=None if table.operator[n] is None else table.contributors[n],
        )
        for n in range(len(table))
    ]


@pytest.mark.parametrize(
    ("network", "algorithm", "asked"),
    [
        (eyecast.mesh((4, 4)), "eye", {"source": (1, 1)}),
        (eyecast.hypercube(3), "sbt", {"source": 0, "collective": "scatter"}),
        (RING, "ring", {"collective": "all-gather", "block_words": [3, 0, 5, 1]}),
        (RING, "ring", {"collective": "all-reduce", "operator": "xor"}),
        (eyecast.mesh((3, 3)), "direct", {"collective": "all-to-all", "words": 2}),
        (eyecast.mesh((3, 3)), "chain", {"source": 4, "words": 64}),
        (eyecast.mesh((4, 2)), "ring", {"collective": "all-gather", "groups": "submesh 2x2"}),
        (eyecast.mesh((4, 2)), "direct", {"collective": "gather", "source": 0, "words": 2}),
        (eyecast.torus((3, 3)), "ring", {"collective": "reduce-scatter", "words": 9}),
    ],
    ids=lambda value: value if isinstance(value, str) else "",
)
def test_any_schedule_can_be_written_as_sends(network, algorithm, asked):
    """Streams, VCs, timetables, groups, unequal blocks: Python says what a schedule file says."""
    given = eyecast.schedule(network, algorithm, **asked)
    ports = "all" if given.port_model == "all-port" else given.port_model
    own = eyecast.schedule_of_sends(
        network,
        sends_of(given),
        blocks=blocks_of(given),
        ports=ports,
        timed=given.timed,
        name=given.algorithm,
        **asked,
    )
    assert schedule_json(own) == schedule_json(given)
    custom = eyecast.schedule_of_sends(
        network,
        sends_of(given),
        collective="custom",
        blocks=blocks_of(given),
        ports=ports,
        timed=given.timed,
    )
    plain = replace(given, collective="custom", groups=(), requests=(), root=None, algorithm="own")
    assert schedule_json(custom) == schedule_json(plain)


def test_a_root_or_a_multicast_need_not_be_named():
    own = eyecast.schedule_of_sends(LINE, [(2, [0, 1]), (1, [0, 1, 2])], words=4)
    assert (own.root, own.steps, own.tcd, own.collective) == (0, 2, 3, "broadcast")
    assert own.step.tolist() == [2, 1]
    assert eyecast.predict(own).finished
    assert eyecast.schedule_of_sends(LINE, [(1, [0, 1, 2])], targets=[2]).collective == "multicast"


def test_messages_are_cut_into_pieces():
    """A streamed chain: node 1 sends piece 0 on while piece 1 arrives."""
    sends = [(1, [0, 1], 0), Send(2, [0, 1], 1), Send(2, [1, 2], 0), Send(3, [1, 2], 1)]
    own = eyecast.schedule_of_sends(LINE, sends, pieces=2, words=5, ports="full-duplex")
    assert own.blocks.words.tolist() == [3, 2]
    all_gather = eyecast.schedule_of_sends(
        eyecast.line(2),
        [(1, [0, 1], [0, 1]), (1, [1, 0], [2, 3])],
        collective="all-gather",
        pieces=2,
        block_words=[4, 1],
        ports="exchange",
    )
    assert all_gather.blocks.words.tolist() == [2, 2, 1, 0]


def test_a_send_may_stream_and_have_channels():
    sends = [Send(1, [0, 1]), Send(1, [1, 2], stream=True, vcs=1)]
    own = eyecast.schedule_of_sends(LINE, sends, words=32, ports="full-duplex")
    assert (own.stream.tolist(), own.vcs.tolist()) == ([False, True], [0, 1])
    apart = eyecast.schedule_of_sends(LINE, [(1, [0, 1]), (2, [1, 2])], words=32)
    assert eyecast.predict(own).cycles < eyecast.predict(apart).cycles


def test_groups_have_their_messages_one_group_after_the_other():
    sends = [(1, [(0, 0), (1, 0)], 0), (1, [(0, 1), (1, 1)], 1)]
    own = eyecast.schedule_of_sends(
        SQUARE, sends, collective="broadcast", source=(0, 0), groups="rows"
    )
    assert own.groups == ((0, 1), (2, 3))
    assert [request.root for request in own.requests] == [0, 2]
    listed = [
        {"nodes": [(1, 0), (0, 0)], "collective": "gather", "root": 1, "block_words": [3, 2]},
        {"nodes": [2, 3], "collective": "all-gather", "words": 7},
    ]
    ends = [(1, [0, 1], 0), (1, [2, 3], 2), (1, [3, 2], 3)]
    mixed = eyecast.schedule_of_sends(SQUARE, ends, groups=listed, ports="exchange")
    assert mixed.blocks.words.tolist() == [2, 3, 7, 7]
    assert [request.collective for request in mixed.requests] == ["gather", "all-gather"]


def test_rounds_and_sends_of_groups_that_share_nodes():
    """Rows and columns at once take two steps with one port, and one with all ports."""
    rounds = [
        [(0, 1, 0, True), (1, 0, 0, True), (2, 3, 1, True), (3, 2, 1, True)],
        [(0, 2, 2, True), (2, 0, 2, True), (1, 3, 3, True), (3, 1, 3, True)],
    ]
    asked = {"collective": "all-reduce", "groups": "rows+columns", "words": 8}
    for ports, steps in (("full-duplex", 2), ("all", 1)):
        own = eyecast.schedule_of_rounds(SQUARE, rounds, ports=ports, **asked)
        assert own.steps == steps
        assert eyecast.predict(own).finished
    with pytest.raises(eyecast.InvalidInput, match="it takes block 2 out of its group"):
        eyecast.schedule_of_rounds(SQUARE, [[(0, 1, 2, True)], *rounds], **asked)
    groups = [{"nodes": [0, end], "root": 0, "words": 2} for end in (1, 2)]
    blocks = [Block(words=2, owner=0, owed=[end], group=end - 1) for end in (1, 2)]
    sends = [(1, [0, 1], 0), (2, [0, 2], 1)]
    own = eyecast.schedule_of_sends(
        SQUARE, sends, groups=groups, blocks=blocks, collective="broadcast"
    )
    assert own.blocks.group.tolist() == [0, 1]
    some = [blocks[0], replace(blocks[1], group=None)]
    said = refusal_of(eyecast.schedule_of_sends, SQUARE, sends, groups=groups, blocks=some)
    assert said == "group must be given for all blocks or for none, not for 1"


def test_only_nodes_that_take_part_are_counted():
    network = eyecast.with_faults(SQUARE, [(1, 0)])
    sends = [Send(1, [3, 2], 2), Send(2, [2, 0], [1, 2])]
    own = eyecast.schedule_of_sends(network, sends, collective="gather", source=0)
    assert own.blocks.owner.tolist() == [0, 2, 3]


def test_a_custom_collective_is_what_its_blocks_say():
    blocks = [
        Block(words=3, owner=(0, 0), owed=[(1, 1)]),
        Block(words=2, operator="min", contributors=[1, 2], owed=[2]),
    ]
    sends = [(1, [0, 1, 3], 0), Send(2, [1, 0, 2], 1, combine=True)]
    own = eyecast.schedule_of_sends(SQUARE, sends, collective="custom", blocks=blocks)
    assert (own.requests, own.root, own.unserved) == ((), None, ())
    assert eyecast.predict(own).finished


ONE = [(1, [0, 1])]
REDUCED = Block(words=1, operator="add")


@pytest.mark.parametrize(
    ("sends", "arguments", "complaint"),
    [
        ([], {}, "sends must be one or more, not none"),
        ([(1, [0])], {}, "sends[0].path must be two nodes or more, not 1"),
        ([*ONE, (1, [0, 9])], {}, "node of sends[1].path must be 0 to 2, not 9"),
        (
            [(1, [0, (9,)])],
            {},
            "node of sends[0].path must be a node of the line of 3, 0 to 2, not 9",
        ),
        ([(0, [0, 1])], {}, "sends[0].step must be 1 to 1048576, not 0"),
        ([Send("1", [0, 1])], {}, "sends[0].step must be an integer, not '1'"),
        ([(1, [0, 1], [])], {}, "sends[0].blocks must be one or more, not none"),
        ([3], {}, "sends must be Sends, or tuples of a step and a path of nodes, not 3"),
        ([(1, ["0", 1])], {}, "sends[0].path must be nodes, each a number or coordinates, not '0'"),
        ([(1, [0, 1], [True])], {}, "sends[0].blocks must be an integer, not True"),
        (
            [Send(1, [0, 1, 2], vcs=[0])],
            {},
            "sends[0].vcs must be 2 long, a VC for each link of its path, not 1",
        ),
        ([Send(1, [0, 1], vcs=256)], {}, "sends[0].vcs must be 0 to 255, not 256"),
        (ONE, {"collective": "reduce"}, "source must be given with reduce"),
        (
            ONE,
            {"collective": "all-reduce", "source": 0},
            "source must be left out with all-reduce: each node is one",
        ),
        (
            ONE,
            {"ports": "two"},
            "ports must be half-duplex, exchange, full-duplex or all, not two",
        ),
        (ONE, {"pieces": 0}, "pieces must be 1 to 16, not 0"),
        (ONE, {"pieces": 4, "words": 3}, "pieces must be 1 to 3, not 4"),
        (ONE, {"pieces": 2, "blocks": [REDUCED]}, "pieces must be left out with blocks"),
        (ONE, {"collective": "custom"}, "blocks must be given with custom"),
        (
            ONE,
            {"collective": "custom", "blocks": [REDUCED], "words": 3},
            "words must be left out with custom: blocks say it",
        ),
        (
            ONE,
            {"collective": "custom", "blocks": [REDUCED], "pieces": 2},
            "pieces must be left out with custom: blocks say it",
        ),
        (ONE, {"blocks": []}, "blocks must be one or more, not none"),
        (ONE, {"blocks": [3]}, "blocks must be Blocks, not 3"),
        (
            ONE,
            {"blocks": [Block(words=1)]},
            "blocks[0] must be a block with an owner, or with an operator and no owner",
        ),
        (
            ONE,
            {"blocks": [Block(words=-1, owner=0)]},
            "blocks[0].words must be 0 to 2147483647, not -1",
        ),
        (ONE, {"blocks": [Block(words=1, owner=3)]}, "blocks[0].owner must be 0 to 2, not 3"),
        (
            ONE,
            {"blocks": [Block(words=1, owner=0, owed=[3])]},
            "node of blocks[0].owed must be 0 to 2, not 3",
        ),
        (
            ONE,
            {"blocks": [Block(words=1, owner=0, contributors=[1])]},
            "blocks[0].contributors must be left out with an owner",
        ),
        (
            ONE,
            {"blocks": [Block(words=1, operator="mul")]},
            "blocks[0].operator must be add, min, max, min-signed, max-signed, and, or or xor, "
            "or an Operator, not mul",
        ),
    ],
)
def test_an_argument_out_of_range_is_one_line(sends, arguments, complaint):
    assert refusal_of(eyecast.schedule_of_sends, LINE, sends, **arguments) == complaint


@pytest.mark.parametrize(
    ("collective", "change", "complaint"),
    [
        ("broadcast", {"sends": [(1, [0, 1]), (1, [1, 2])]}, "send 1 (step 1, 1 -> 2): "),
        (
            "broadcast",
            {"blocks": [Block(words=3, owner=0)]},
            "words of the broadcast must be 16, as requested, not 3",
        ),
        (
            "broadcast",
            {"sends": [(1, [0, 1], 1)]},
            "send 0 (step 1, 0 -> 1): block must be 0 to 0, not 1",
        ),
        (
            "multicast",
            {"blocks": [Block(words=16, owner=0, owed=[2])]},
            "node 2 must not get the multicast, as requested",
        ),
        ("scatter", {"sends": [(1, [0, 1], 1), (2, [1, 2], 2)]}, "send 1 (step 2, 1 -> 2): "),
        ("gather", {"source": 2}, "node 2 is left out: no send brings it block 0"),
        (
            "all-gather",
            {"ports": "half-duplex"},
            "node 1 is in two sends in one step, which half-duplex forbids",
        ),
        (
            "reduce",
            {"sends": [(1, [2, 1]), DOWN[1]]},
            "node 0 is left out: its block 0 lacks what node 1 contributes",
        ),
        (
            "all-reduce",
            {"sends": [*DOWN, Send(3, [0, 1], combine=True), UP[1]]},
            "send 2 (step 3, 0 -> 1): ",
        ),
    ],
)
def test_sends_that_do_not_carry_out_the_collective_are_refused(collective, change, complaint):
    assert complaint in refusal_of(made, collective, **change, kind=ScheduleError)
