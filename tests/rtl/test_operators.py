"""Operators in a network, in Amaranth's own simulator: words, cycles and flags reckoned by hand.

The step of a send over h links with L words takes h + L + 5 + D cycles (docs/router.md, section
19), so that a run takes as many more than in section 5.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from amaranth.hdl import ClockDomain
from helpers.combining import TWICE, cycles_of
from helpers.network_in_python import run_by_hand
from helpers.programs import DOWN, UP, program, put

from eyecast.model.network.config import NetworkConfig
from eyecast.model.network.topology import mesh
from eyecast.model.program.program import Program
from eyecast.model.program.row import Row

PAIR, THREE = mesh((2,)), mesh((3,))
BAD_WRITE = 1 << 7


def by(operator: int, row: Row) -> Row:
    """The row, its words combined: 2o - 1 by operator o in place, 2o across."""
    return replace(row, operator=operator)


def memory_of(made: Program, words: dict[int, dict[int, int]]) -> Any:
    """Memories of 0, but for some words of some nodes."""
    memory = np.zeros((made.config.topology.nodes, made.config.message_words), dtype=np.uint64)
    for node, held in words.items():
        for address, word in held.items():
            memory[node, address] = word
    return memory


def test_an_exchange_sends_what_was_there_before(clock: ClockDomain) -> None:
    """Both nodes add across in one step; the next one sends the sums from the other half."""
    rows = {
        0: [by(2, put(1, (UP, 1), length=2, target=4)), put(2, (UP, 1), length=1, source=5)],
        1: [by(2, put(1, (DOWN, 1), length=2, target=4))],
    }
    made = program(rows, {0: [1], 1: [1, 2]}, PAIR, "exchange", operators="add", message_words=8)
    memory = memory_of(made, {0: {0: 1, 1: 2, 4: 99}, 1: {0: 10, 1: 20, 4: 99}})
    sums = {0: 1, 1: 2, 4: 11, 5: 22}, {0: 22, 1: 20, 4: 11, 5: 22}
    run_by_hand(clock, made, memory, sums, cycles=cycles_of(made, [(1, 2), (1, 1)]))


@pytest.mark.parametrize(("depth", "registers"), [(2, 0), pytest.param(1, 2, marks=pytest.mark.slow)])
def test_two_packets_meet_in_every_word(clock: ClockDomain, depth: int, registers: int) -> None:
    """One flit after the other, as they take turns at port 0: each word is the sum of three."""
    far = by(1, put(1, (UP, 1, 0), length=4, target=1))
    near = by(1, put(2, (DOWN, 1, 1), length=4, target=1))
    made = program(
        {0: [far], 2: [near]},
        {1: [1, 2]},
        THREE,
        operators="max,add" if depth == 1 else "add",
        vcs=2,
        depth=depth,
        link_registers=registers,
        message_words=8,
    )
    if depth == 1:
        made = program({0: [by(3, far)], 2: [by(3, near)]}, {1: [1, 2]}, THREE, operators="max,add", vcs=2, depth=1, link_registers=2, message_words=8)
    memory = memory_of(made, {0: {i: 10 + i for i in range(4)}, 1: {i: 1000 for i in range(1, 5)}, 2: {i: 200 + i for i in range(4)}})
    sums = {0: 0, **{1 + i: 1210 + 2 * i for i in range(4)}, 5: 0}
    run_by_hand(clock, made, memory, ({}, sums, {}), timing="self-timed")
