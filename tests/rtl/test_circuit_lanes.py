"""Circuits with a port for every link, and with switches: programs worked out from the page.

docs/router.md, section 23: a word that is read in cycle c leaves its router in cycle c + 2, and
after h links and j joins the router of its target in cycle c + 2 + h + j.
"""

from typing import Any, NamedTuple

import pytest
from amaranth.hdl import ClockDomain
from helpers.amaranth_simulation import simulate
from helpers.network_in_python import NetworkBench
from helpers.run_entries import Entry, entry_word_list, table_writes

from eyecast.model.network.config import NetworkConfig
from eyecast.model.network.neighbor_table import graph
from eyecast.model.network.topology import line, mesh

MESSAGE, STATUS = 0, 3
LOST_WORD, MISSING_WORD, BAD_ROUTE, SEND_AND_RECEIVE = 1 << 0, 1 << 2, 1 << 3, 1 << 5
UP, DOWN = 1, 2
"""Ports of a line; a word that leaves by one arrives by the other."""

THREE = {"topology": line(3), "message_words": 8, "circuits": True, "all_port": True}
STAR = graph([[-1, 1, 2, 3], [-1, 0, -1, -1], [-1, 0, -1, -1], [-1, 0, -1, -1]], [0])
"""Node 0 is a switch; its port p leads to node p, which enters and leaves by port 1."""


class Outcome(NamedTuple):
    """What a run shows: trace rows (cycle, node, port, word), cycles, flags and words."""

    rows: list[tuple[int, ...]]
    cycles: int
    flags: list[int]
    words: dict[tuple[int, int], int]


def run(
    clock: ClockDomain,
    capsys: pytest.CaptureFixture[str],
    config: NetworkConfig,
    tables: dict[int, list[Entry]],
    memory: dict[tuple[int, int], int],
    **inputs: int,
) -> Outcome:
    """Run the tables by node, with words by node and address; read the same words afterwards."""
    bench, nodes = NetworkBench(clock, config, trace=True), range(config.topology.nodes)
    writes = [(node, MESSAGE, address, word) for (node, address), word in memory.items()]
    for node in nodes:
        writes += table_writes(config, node, tables.get(node, []))
    seen: dict[str, Any] = {}

    async def testbench(ctx: Any) -> None:
        for name, value in inputs.items():
            ctx.set(getattr(bench.network, name), value)
        await bench.write(ctx, writes, barrier=False)
        seen["cycles"] = await bench.cycles_to_done(ctx, 40)
        seen["flags"] = [await bench.read(ctx, node, STATUS, 0) for node in nodes]
        ctx.set(bench.reset, 1)
        seen["words"] = {place: await bench.read(ctx, *_message(place)) for place in memory}

    simulate(bench.module, testbench)
    printed = [[*map(int, row.split())] for row in capsys.readouterr().out.splitlines()]
    # Ejection l is printed as port 64 + l.
    rows = [(row[0], row[1], row[2] if row[2] < 64 else 0, row[5]) for row in printed]
    return Outcome(sorted(rows), **seen)


def _message(place: tuple[int, int]) -> tuple[int, int, int]:
    return place[0], MESSAGE, place[1]


def test_each_lane_sends_by_its_link_and_receives_from_it(
    clock: ClockDomain, capsys: pytest.CaptureFixture[str]
) -> None:
    """Node 1 sends two words each way at once; its neighbours write them two cycles later."""
    config = NetworkConfig(**THREE)
    # 10 bits, two codes and two ejections, two pairs of addresses and two times ``receive``.
    assert len(entry_word_list(config, {})) == 1
    send = {"duration": 2, "codes": {UP: 1, DOWN: 1}, "send_address": {UP: 0, DOWN: 4}}
    tables = {1: [send]}
    for node, lane, address in ((0, UP, 5), (2, DOWN, 3)):
        taken = {"ejections": {lane: 1}, "receive": {lane: 1}, "receive_address": {lane: address}}
        tables[node] = [{}, {"duration": 2} | taken]
    words = {(1, 0): 0xA1, (1, 1): 0xA2, (1, 4): 0xB1, (1, 5): 0xB2}
    targets = {(0, 5): 0, (0, 6): 0, (2, 3): 0, (2, 4): 0}
    outcome = run(clock, capsys, config, tables, words | targets)
    assert outcome.rows == [
        *((4, 1, UP, 0xA1), (4, 1, DOWN, 0xB1)),
        *((5, 0, 0, 0xB1), (5, 1, UP, 0xA2), (5, 1, DOWN, 0xB2), (5, 2, 0, 0xA1)),
        *((6, 0, 0, 0xB2), (6, 2, 0, 0xA2)),
    ]
    # One hop, two words and 5 cycles.
    assert outcome.cycles == 8
    assert outcome.flags == [0, 0, 0]
    assert outcome.words == words | {(0, 5): 0xB1, (0, 6): 0xB2, (2, 3): 0xA1, (2, 4): 0xA2}


def joined(**others: Any) -> dict[int, list[Entry]]:
    """Return tables: nodes 0 and 2 send a word to node 1, which adds both and forks the sum.

    The sum is written by lane 1 of node 1 and by node 0.
    """
    return {
        0: [{"codes": {UP: 1}}, {"duration": 2}, {"ejections": {UP: 1}, "receive": {UP: 1}}],
        1: [
            {},
            {
                **{"first": 1 + UP, "second": 1 + DOWN, "operator": 1},
                **{"ejections": {UP: 2}, "codes": {DOWN: 1 + DOWN}, "receive": {UP: 2}},
                **{"receive_address": {UP: 7}},
            }
            | others,
        ],
        2: [{"codes": {DOWN: 1}, "send_address": {DOWN: 2}}],
    }


WORDS = {(0, 0): 5, (1, 7): 100, (2, 2): 20}


def test_a_sum_leaves_by_an_ejection_and_by_a_link(
    clock: ClockDomain, capsys: pytest.CaptureFixture[str]
) -> None:
    """The words are read in cycle 2, joined in cycle 5, and combined in memory with a third."""
    config = NetworkConfig(**THREE, operators="add")
    outcome = run(clock, capsys, config, joined(), WORDS)
    assert outcome.rows == [
        *((4, 0, UP, 5), (4, 2, DOWN, 20)),
        *((6, 1, 0, 25), (6, 1, DOWN, 25), (7, 0, 0, 25)),
    ]
    # The last entry of node 0 ends after cycle 5; with operators 5 cycles more.
    assert outcome.cycles == 11
    assert outcome.flags == [0, 0, 0]
    assert outcome.words == {(0, 0): 25, (1, 7): 125, (2, 2): 20}


def test_the_first_lanes_word_is_joined_and_a_code_without_meaning_is_flagged(
    clock: ClockDomain, capsys: pytest.CaptureFixture[str]
) -> None:
    """Node 1 adds its own word to that of node 0; output 1 of node 2 has a code that is none."""
    square = {**THREE, "topology": mesh((2, 2))}
    config = NetworkConfig(**square, operators="add")
    join = {"first": 1, "second": 1 + DOWN, "operator": 1, "ejections": {UP: 2}, "receive": {UP: 1}}
    tables = {
        0: [{"codes": {UP: 1}}],
        1: [{}, join | {"receive_address": {UP: 7}}],
        2: [{"codes": {UP: 6}}],
    }
    outcome = run(clock, capsys, config, tables, {(0, 0): 5, (1, 0): 20, (1, 7): 0})
    assert outcome.words[1, 7] == 25
    assert outcome.flags == [0, 0, BAD_ROUTE, 0]


@pytest.mark.slow
@pytest.mark.parametrize(
    ("wrong", "flags"),
    [
        ({"ejections": {UP: 3}}, BAD_ROUTE),
        ({"operator": 0}, BAD_ROUTE | LOST_WORD),
        ({"first": 1}, LOST_WORD),
        ({"ejections": {UP: 2, DOWN: 1}, "duration": 2}, MISSING_WORD),
    ],
)
def test_wrong_settings_of_lanes_set_flags(
    clock: ClockDomain, capsys: pytest.CaptureFixture[str], wrong: Entry, flags: int
) -> None:
    config = NetworkConfig(**THREE, operators="add")
    tables = joined(**wrong)
    # Node 0 expects nothing, so that every sum that leaves node 1 by the link is lost there.
    tables[0] = tables[0][:1]
    outcome = run(clock, capsys, config, tables, WORDS)
    lost = LOST_WORD if wrong.get("operator", 1) else 0
    assert outcome.flags == [lost, flags, 0]


def test_lanes_that_send_and_receive_in_one_cycle_set_a_flag_in_half_duplex(
    clock: ClockDomain, capsys: pytest.CaptureFixture[str]
) -> None:
    """Node 1 receives from node 0 in the cycle in which its other lane has a word to send."""
    config = NetworkConfig(**THREE)
    tables = {
        0: [{"codes": {UP: 1}}],
        1: [{}, {"codes": {UP: 1}, "ejections": {DOWN: 1}, "receive": {DOWN: 1}}],
        2: [{"duration": 2}, {"ejections": {DOWN: 1}}],
    }
    words = {(0, 0): 1, (1, 0): 2}
    for half_duplex in (0, 1):
        outcome = run(clock, capsys, config, tables, words, half_duplex=half_duplex)
        assert outcome.flags == [0, SEND_AND_RECEIVE * half_duplex, 0]


@pytest.mark.parametrize("all_port", [False, pytest.param(True, marks=pytest.mark.slow)])
def test_a_switch_joins_and_forks(
    clock: ClockDomain, capsys: pytest.CaptureFixture[str], all_port: bool
) -> None:
    """Nodes 1 and 2 send a word each to the switch, whose sum goes to nodes 2 and 3."""
    config = NetworkConfig(
        topology=STAR, message_words=4, circuits=True, operators="add", all_port=all_port
    )
    join = {"first": 2, "second": 3, "operator": 1, "codes": {2: 3, 3: 4}}
    taken = {"ejections": {1: 1}} if all_port else {"codes": {0: 2}}
    receive = {"duration": 1, "receive": 1, "receive_address": 3} | taken
    tables = {
        0: [{}, join],
        1: [{"codes": {1: 1}}],
        2: [{"codes": {1: 1}, "send_address": 1}, {"duration": 2}, receive],
        3: [{"duration": 3}, receive],
    }
    words = {(1, 0): 7, (2, 1): 30, (2, 3): 0, (3, 3): 0}
    outcome = run(clock, capsys, config, tables, words)
    assert outcome.rows == [
        *((4, 1, 1, 7), (4, 2, 1, 30), (6, 0, 2, 37), (6, 0, 3, 37)),
        *((7, 2, 0, 37), (7, 3, 0, 37)),
    ]
    assert outcome.cycles == 11
    assert outcome.flags == [0, 0, 0, 0]
    assert outcome.words == words | {(2, 3): 37, (3, 3): 37}


@pytest.mark.slow
@pytest.mark.parametrize("all_port", [False, True])
def test_a_switch_has_nothing_to_send_and_nowhere_to_receive(
    clock: ClockDomain, capsys: pytest.CaptureFixture[str], all_port: bool
) -> None:
    config = NetworkConfig(topology=STAR, message_words=4, circuits=True, all_port=all_port)
    wrong = {"ejections": {1: 1}} if all_port else {"codes": {0: 2}}
    tables = {0: [{"codes": {3: 1}}, wrong | {"receive": 1}], 1: [{"codes": {1: 1}}]}
    outcome = run(clock, capsys, config, tables, {(1, 0): 7})
    assert outcome.rows == [(4, 1, 1, 7)]
    assert outcome.flags == [LOST_WORD | MISSING_WORD | BAD_ROUTE, 0, 0, 0]
    assert outcome.cycles == 40
