"""Streams and windows in a network, in Amaranth's own simulator, with cycles by hand.

By section 20 of docs/router.md, a chain takes the cycles of its first send, and h + 3 for each
further send; with operators h + 4 + D.
"""

from dataclasses import replace
from typing import Any

import pytest
from amaranth.hdl import ClockDomain
from helpers.network_in_python import run_by_hand
from helpers.programs import UP, program, put

from eyecast.model.network.topology import mesh, ring
from eyecast.model.program.row import Row

PAIR, THREE = mesh((2,)), mesh((3,))
SLOW = pytest.mark.slow


def streams(row: Row, lead: int = 0, **fields: int) -> Row:
    """Return the row as one that streams."""
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
    """Half-duplex: a node may send on the words that it receives."""
    options = {"look_ahead": limits.pop("look_ahead", False)}
    late = "operators" in limits
    lane = 2 if "all_port" in limits else 1
    # With an operator every node adds its own words.
    first = replace(put(1, (UP, 1), length=4, target=8), operator=int(late))
    then = replace(first, source_address=8, stream=lane, operator=int(late))
    limits = {"message_words": 16, "streams": True, **limits}
    ports = {"receive_ports": {1: [2], 2: [2]}} if "all_port" in limits else {}
    made = program(
        {0: [first], 1: [then]}, {1: [1], 2: [1]}, THREE, "half-duplex", **ports, **limits
    )
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
    """Each of three nodes on a ring sends its own two words, then the arriving words, in one step.

    The six words are in a window of eight, 8 to 15; the first address differs at every node.
    """
    nodes = range(3)
    own = [8 + (7 - 2 * node) % 8 for node in nodes]
    places = [[8 + (first + word) % 8 for word in range(6)] for first in own]
    rows = {
        node: [
            streams(
                put(1, (UP, 1), length=4, source=own[node], target=places[(node + 1) % 3][2]),
                lead=2,
                window=3,
            )
        ]
        for node in nodes
    }
    made = program(rows, {node: [1] for node in nodes}, ring(3), message_words=16, streams=True)
    run_by_hand(
        clock,
        made,
        {n: {places[n][0]: 10 * n + 1, places[n][1]: 10 * n + 2} for n in nodes},
        # A node's own words come first, then those of the node below it, then those of the third.
        {
            n: {places[n][2 * ago + word]: 10 * ((n - ago) % 3) + 1 + word}
            for n in nodes
            for ago in range(3)
            for word in range(2)
        },
        # Word i is injected four cycles after word i - 2, not two.
        cycles=made.config.table.control_words + (1 + 4 + 4) + 2 - 2,
    )
