"""Streams and windows in a network, in Amaranth's own simulator, reckoned by hand.

Section 20 of docs/router.md: a chain takes the cycles of its first send, and h + 3 for each further
one, with operators h + 4 + D.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest
from amaranth.hdl import ClockDomain
from helpers.amaranth_simulation import simulate
from helpers.network_in_python import NetworkBench, cycle_of_error, run_by_hand
from helpers.programs import DOWN, UP, program, put

from eyecast.model.network.topology import mesh, ring
from eyecast.model.program.row import Row
from eyecast.rtl.host_port import HostSpace, StatusWord
from eyecast.sim.loading import prepare

PAIR, THREE = mesh((2,)), mesh((3,))
SEND_AND_RECEIVE, BAD_ROW = 1 << 5, 1 << 6
SLOW = pytest.mark.slow


def streams(row: Row, lead: int = 0, **fields: int) -> Row:
    """The row, which sends on what comes."""
    return replace(row, stream=1, lead=lead, **fields)


@pytest.mark.parametrize(
    "limits",
    [
        {},
        pytest.param({"operators": "add"}, marks=SLOW),
        pytest.param({"look_ahead": True}, marks=SLOW),
        pytest.param({"contention_free": True}, marks=SLOW),
        pytest.param({"all_port": True, "operators": "add"}, marks=SLOW),
    ],
)
def test_a_chain_takes_little_more_than_its_first_send(
    clock: ClockDomain, limits: dict[str, Any]
) -> None:
    """Half-duplex: a node may send on what it receives."""
    options = {"look_ahead": limits.pop("look_ahead", False)}
    late = "operators" in limits
    lane = 2 if "all_port" in limits else 1
    # With an operator every node adds what it has.
    first = replace(put(1, (UP, 1), length=4, target=8), operator=int(late))
    then = replace(first, source_address=8, stream=lane, operator=int(late))
    limits = {"message_words": 16, "streams": True, **limits}
    ports = {"receive_ports": {1: [2], 2: [2]}} if "all_port" in limits else {}
    made = program({0: [first], 1: [then]}, {1: [1], 2: [1]}, THREE, "half-duplex", **ports, **limits)
    control_words = made.config.table.control_words
    there = {8: 100, 9: 200, 10: 300, 11: 400} if late else {8: 0, 9: 0, 10: 0, 11: 0}
    run_by_hand(
        clock,
        made,
        {0: {0: 1, 1: 2, 2: 3, 3: 4}, 1: there, 2: there},
        {
            1: {8 + i: there[8 + i] + i + 1 for i in range(4)},
            2: {8 + i: 2 * there[8 + i] + i + 1 for i in range(4)},
        },
        cycles=control_words + (1 + 4 + 4 + late) + (1 + 3 + late) - 2,
        half_duplex=True,
        **options,
    )


def test_words_run_round_a_window(clock: ClockDomain) -> None:
    """Three nodes on a ring: each sends its own two words, then what comes, in one step.

    Six words lie in a window of eight; two places of it are nobody's.
    """
    rows, own = {}, {}
    for node in range(3):
        # What comes, from the node below, lies behind the words of a node's own.
        first = 8 + (7 - 2 * node) % 8
        own[node] = {first: 10 * node + 1, 8 + (first + 1) % 8: 10 * node + 2}
        rows[node] = [
            streams(put(1, (UP, 1), length=4, source=first, target=first), lead=2, window=3)
        ]
    made = program(rows, {node: [1] for node in rows}, ring(3), message_words=16, streams=True)
    # Each node's third word is the first that came: it leaves h + 3 cycles behind that.
    ...


def test_placeholder() -> None:
    pass
