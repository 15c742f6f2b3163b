"""Checks of programs with operators and streams: docs/router.md, sections 19 and 20."""

from typing import Any

import numpy as np
import pytest
from helpers.all_port_programs import all_port
from helpers.programs import DOWN, UP, program, put

from eyecast.model.base.errors import InvalidInput
from eyecast.model.network.config import Timing
from eyecast.model.network.topology import mesh, torus
from eyecast.model.program.checks import require_timing
from eyecast.model.program.deadlock import DeadlockError, StreamDeadlockError, certify
from eyecast.model.program.program import Program
from eyecast.model.program.row import Row
from eyecast.model.program.streams import feeders

BARRIER, SELF_TIMED = Timing.BARRIER, Timing.SELF_TIMED
IN_PLACE, ACROSS = 1, 2


def ring(*rows: Row, nodes: int = 4, **limits: Any) -> Program:
    """Return a program for a ring in which node n sends ``rows[n]`` in step 1."""
    sent = {node: [row] for node, row in enumerate(rows)}
    receives = {node: [1] for node in range(nodes)}
    return program(sent, receives, torus((nodes,)), streams=True, **limits)


def sends_on(node: int, *route: tuple[int, ...], **fields: int) -> Row:
    """Return a row of step 1 that streams to addresses that no other row uses."""
    given = {"length": 4, "stream": 1, "source": 32 * node, "target": 32 * node + 16, **fields}
    return put(1, *(route or ((UP, 1),)), **given)  # type: ignore[arg-type]


# ---- Feeders ---------------------------------------------------------------------------------


def test_the_feeder_of_a_row_is_the_packet_of_its_step_that_comes() -> None:
    rows = {
        0: [put(1, (UP, 2)), put(2, (UP, 1))],
        1: [put(1, (UP, 2)), sends_on(1)],
        2: [sends_on(2), put(2, (DOWN, 1), stream=1)],
    }
    rows[1][1] = put(2, (UP, 2), stream=1)
    made = program(rows, {}, streams=True)
    # Row 1 (node 0, step 2) feeds row 3; row 0 (node 0, step 1) feeds row 4; no row feeds row 5.
    assert feeders(made).tolist() == [-1, -1, -1, 1, 0, -1]


def test_in_an_all_port_network_the_feeder_comes_by_the_port_that_is_streamed() -> None:
    rows = {
        0: [put(1, (1, 1))],
        3: [put(1, (2, 1))],
        1: [put(1, (1, 1), stream=2), put(1, (2, 1), stream=1)],
    }
    # The rows of node 1 are 1 and 2, that of node 3 is 3.
    assert feeders(all_port(rows, {}, streams=True)).tolist() == [-1, 3, 0, -1]


@pytest.mark.parametrize(
    ("rows", "refusal"),
    [
        ([], "of a packet of its step that comes, not of none"),
        ([put(2, (UP, 1), length=9)], "of a packet of its step that comes, not of none"),
        ([put(1, (UP, 2), length=9)], "of a packet of its step that comes, not of none"),
        ([put(1, (UP, 1), length=3)], "of a packet that has its words, not of one too short"),
        ([put(1, (UP, 1), length=4), put(1, (UP, 1), length=4)], "of one packet of its step, not"),
        (
            [put(1, (UP, 1), length=9, continued=1), put(1, (UP, 1), length=9)],
            "of a packet that is one message, not of a continued one",
        ),
        ([put(1, (UP, 1), length=4)], ""),
    ],
)
def test_a_row_streams_one_whole_packet_that_comes(rows: list[Row], refusal: str) -> None:
    made = program({0: rows, 1: [sends_on(1)]}, {}, streams=True)
    if not refusal:
        made.check()
        return
    with pytest.raises(InvalidInput, match=f"node 1, row 0: stream must be {refusal}"):
        made.check()


@pytest.mark.parametrize(("lead", "short"), [(0, True), (1, True), (2, False), (9, False)])
def test_the_words_of_the_lead_need_not_come(lead: int, short: bool) -> None:
    rows = {0: [put(1, (UP, 1), length=2)], 1: [sends_on(1, lead=lead)]}
    made = program(rows, {}, streams=True)
    if short:
        with pytest.raises(InvalidInput, match="too short"):
            made.check()
    else:
        made.check()


def test_a_ring_must_have_a_lead_somewhere() -> None:
    ring(*(sends_on(node, lead=int(node == 2)) for node in range(4))).check()
    with pytest.raises(InvalidInput, match="not wait in a circle: node 0, node 3, node 2, node 1"):
        ring(*(sends_on(node) for node in range(4))).check()
    # A chain that begins at a circle is not part of the circle.
    rows = {0: [sends_on(0)], 1: [sends_on(1), sends_on(1, (DOWN, 1))], 2: [sends_on(2)]}
    with pytest.raises(InvalidInput, match=r"circle: node (0, node 1|1, node 0)$"):
        program(rows, {}, streams=True).check()


# ---- Overwritten words -------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("fields", "refused"),
    [
        ({"target": 16}, True),
        ({"target": 19}, True),
        ({"target": 20}, False),
        ({"target": 13}, True),
        ({"target": 12}, False),
        ({"target": 12, "operator": ACROSS}, False),
        ({"target": 18, "operator": 0}, True),
        # 22, 23, then 16, 17 of a window of 8 words.
        ({"target": 22, "window": 3}, True),
        ({"target": 20, "window": 3}, False),
    ],
)
def test_no_packet_is_written_to_words_that_a_row_of_its_step_sends(
    fields: dict[str, int], refused: bool
) -> None:
    rows = {
        0: [put(1, (UP, 1), **{"length": 4, "operator": IN_PLACE, **fields})],
        1: [put(1, (UP, 1), source=16, length=4), put(2, (UP, 1), source=12, length=16)],
    }
    made = program(rows, {}, streams=True, operators="add")
    if not refused:
        made.check()
        return
    with pytest.raises(InvalidInput, match="node 0, row 0: target must be apart from the words"):
        made.check()


def test_a_row_that_streams_reads_what_comes() -> None:
    rows = {
        0: [put(1, (UP, 1), target=16, length=4, operator=IN_PLACE)],
        1: [put(1, (UP, 1), source=16, length=4, stream=1)],
    }
    program(rows, {}, streams=True, operators="add").check()


def test_self_timed_what_comes_must_lie_apart_from_what_earlier_steps_send() -> None:
    rows = {
        0: [put(2, (UP, 1), target=16, length=4)],
        1: [put(1, (UP, 1), source=16, length=4), put(3, (UP, 1), source=16, length=4)],
    }
    made = program(rows, {}, operators="add")
    made.check()
    require_timing(made, BARRIER)
    with pytest.raises(InvalidInput, match="words that its node sends in step 1"):
        require_timing(made, SELF_TIMED)
    # A row of a later step sends the arrived words; without combining there is no check.
    rows[1] = rows[1][1:]
    require_timing(program(rows, {}, operators="add"), SELF_TIMED)
    rows[1] = [put(1, (UP, 1), source=16, length=4)]
    require_timing(program(rows, {}), SELF_TIMED)


def test_what_is_found_to_be_overwritten_is_what_word_by_word_is() -> None:
    draw = np.random.default_rng(7)
    seen = set()
    for _ in range(60):
        rows: dict[int, list[Row]] = {node: [] for node in range(4)}
        for _ in range(int(draw.integers(2, 9))):
            node = int(draw.integers(4))
            ways = [port for port in (UP, DOWN) if 0 <= node + (1 if port == UP else -1) < 4]
            window = int(draw.integers(0, 4))
            length = int(draw.integers(0, 6 if window == 0 else min(6, 2**window + 1)))
            addresses = {"source": int(draw.integers(40)), "target": int(draw.integers(40))}
            way = int(draw.choice(ways))
            step = int(draw.integers(1, 4))
            rows[node].append(put(step, (way, 1), length=length, window=window, **addresses))
        rows = {node: sorted(own, key=lambda row: row.step) for node, own in rows.items()}
        made = program(rows, {}, streams=True, operators="add")
        for timing in Timing:
            wrong = any(
                {*_words(read.source_address, read)} & {*_words(written.target_address, written)}
                for node, own in rows.items()
                for written in own
                for read in rows[node + (1 if written.route[0].port == UP else -1)]
                if read.step == written.step or (timing is SELF_TIMED and read.step < written.step)
            )
            seen.add((timing, wrong))
            try:
                made.check()
                require_timing(made, timing)
            except InvalidInput:
                assert wrong
            else:
                assert not wrong
    assert len(seen) == 4


def _words(begin: int, row: Row) -> list[int]:
    """Return the addresses of a row's words from ``begin`` on."""
    size = 2**row.window if row.window else 1 << 20
    return [begin - begin % size + (begin + place) % size for place in range(row.length)]


# ---- Deadlock ----------------------------------------------------------------------------------


def test_a_ring_that_shares_no_link_is_free_of_deadlock() -> None:
    certify(ring(*(sends_on(node, lead=4, length=12) for node in range(4))))


def test_a_ring_whose_packets_take_links_of_each_other_is_not() -> None:
    # Two links for each packet on one VC: the channels form a circle, even without streams.
    around = [sends_on(node, (UP, 2), lead=4, length=12) for node in range(4)]
    with pytest.raises(DeadlockError, match="these routes can deadlock"):
        certify(ring(*around))
    # On a line, packets up and down make no circle of channels. But node 1's packet may hold the
    # link that node 0's packet needs, while node 1's packet waits for node 0's words.
    rows = {
        0: [put(1, (UP, 2), length=4)],
        1: [put(1, (UP, 2), length=4, stream=1)],
        2: [put(1, (DOWN, 1), length=4, stream=1)],
    }
    with pytest.raises(StreamDeadlockError, match=r"node [012], row 0, node [012], row 0"):
        certify(program(rows, {}, streams=True))
    # If all its words are its own, node 1's packet waits for none.
    for lead in (3, 4):
        rows[1] = [put(1, (UP, 2), length=4, stream=1, lead=lead)]
        if lead == 4:
            certify(program(rows, {}, streams=True))
            continue
        with pytest.raises(StreamDeadlockError):
            certify(program(rows, {}, streams=True))
    rows[1] = [put(1, (UP, 2), length=4, stream=1)]
    # On another VC it does not hold the link.
    rows[0] = [put(1, (UP, 2, 1), length=4)]
    certify(program(rows, {}, streams=True, vcs=2))
    # If it streams a packet of another step, there is no circle either.
    rows[0] = [put(1, (UP, 2), length=4)]
    rows[1] = [put(1, (UP, 2), length=4)]
    certify(program(rows, {}, streams=True))


def test_a_sender_sends_one_packet_after_the_other() -> None:
    # Node 1 streams the packet of node 2, and then sends what node 2 streams.
    rows = {
        1: [put(1, (UP, 2), length=4, stream=1), put(1, (UP, 1), length=4)],
        2: [put(1, (DOWN, 1), length=4, stream=1)],
    }
    with pytest.raises(StreamDeadlockError, match="node 1, row 0, node 2, row 0, node 1, row 1"):
        certify(program(rows, {}, streams=True))
    rows[1].reverse()
    certify(program(rows, {}, streams=True))


def test_packets_wait_for_each_other_at_the_way_out() -> None:
    # Both packets to node 1 leave there on VC 0. Node 2's packet streams words that node 3 sends on
    # from node 1, and they come after node 0's packet.
    rows = {
        0: [put(1, (UP, 1), length=4)],
        2: [put(1, (DOWN, 1), length=4, stream=1)],
        3: [put(1, (DOWN, 1), length=4, stream=1)],
        1: [put(1, (UP, 2), length=4, stream=1)],
    }
    with pytest.raises(StreamDeadlockError):
        certify(program(rows, {}, streams=True))


# ---- Returning words -------------------------------------------------------------------------

UP_WORDS = put(1, (UP, 1), length=4, operator=IN_PLACE)
DOWN_WORDS = put(1, (DOWN, 1), length=4, operator=IN_PLACE)
GOES_ON = put(1, (UP, 1), length=4, operator=IN_PLACE, stream=DOWN)
COMES_BACK = put(1, (DOWN, 1), length=4, stream=UP)
TURNS = put(1, (DOWN, 1), length=4, stream=DOWN)


def there_and_back(first: Row = UP_WORDS, on: Row = GOES_ON, back: Row = COMES_BACK) -> Program:
    """Return a program that combines node 0's words at nodes 1 and 2 and sends them back."""
    rows = {0: [first], 1: [on, back], 2: [TURNS]}
    receives = {0: [(1, UP)], 1: [(1, UP), (1, DOWN)], 2: [(1, DOWN)]}
    return all_port(rows, receives, mesh((3,)), operators="add", streams=True)


def test_words_may_come_back_to_where_they_were_read() -> None:
    there_and_back().check()


@pytest.mark.parametrize(
    "changes",
    [
        {"first": put(1, (UP, 1), source=1, length=4, operator=IN_PLACE)},
        {"on": put(1, (UP, 1), length=4, operator=IN_PLACE)},
        {"back": put(1, (DOWN, 1), length=4)},
        {"back": put(1, (DOWN, 1), length=4, stream=UP, lead=1)},
    ],
    ids=["from elsewhere", "sent on as it was", "sent back as it was", "sent back too early"],
)
def test_words_that_come_back_must_be_made_of_those_that_left(changes: dict[str, Row]) -> None:
    with pytest.raises(InvalidInput, match="apart from the words that its node sends in step 1"):
        there_and_back(**changes).check()


@pytest.mark.parametrize(
    ("above", "line"),
    [
        ([], "apart from the words that its node sends in step 1, not among them"),
        ([put(1, (DOWN, 1), length=4, stream=DOWN)], "as they come back, not among them"),
    ],
    ids=["from one side", "from both sides"],
)
def test_words_that_come_back_are_sent_by_no_other_row(above: list[Row], line: str) -> None:
    """Refuse a program in which node 1 sends its words to both sides."""
    rows = {0: [put(1, (UP, 1), length=4, stream=UP)], 1: [UP_WORDS, DOWN_WORDS], 2: above}
    receives = {0: [(1, UP)], 1: [(1, DOWN)], 2: [(1, DOWN)]}
    made = all_port(rows, receives, mesh((3,)), operators="add", streams=True)
    with pytest.raises(InvalidInput, match=line):
        made.check()


def test_a_lead_is_read_at_any_time() -> None:
    """Refuse a lead of words that other packets may overwrite before node 1 reads them."""
    leads = put(1, (UP, 1), length=4, stream=DOWN, lead=2, source=6, target=8)
    comes = put(1, (UP, 1), length=4, target=8)
    for target, refused in ((0, False), (5, True)):
        rows = {0: [comes], 1: [leads], 2: [put(1, (DOWN, 1), length=2, target=target)]}
        receives = {1: [(1, UP), (1, DOWN)], 2: [(1, DOWN)]}
        made = all_port(rows, receives, mesh((3,)), operators="add", streams=True)
        if refused:
            with pytest.raises(InvalidInput, match="apart from the words"):
                made.check()
        else:
            made.check()
