"""Drawn schedules of forks, joins, relays, streams and tokens as circuits, against NumPy."""

import json
from collections import Counter
from dataclasses import replace
from pathlib import Path
from random import Random

import numpy as np
import pytest
from helpers.drawn_trees import NETWORKS, ROOM, config_of, drawn_case, features_of
from helpers.schedules import Send, build

from eyecast.model.base.errors import InvalidInput
from eyecast.model.compare.case import Case
from eyecast.model.network.config import NetworkConfig, Timing
from eyecast.model.network.topology import line, mesh
from eyecast.model.program.compiler import Compiled
from eyecast.model.schedule.blocks import NO_OWNER, Blocks

COUNTS = Path(__file__).parents[3] / "bench/drawn_circuits.json"


def count(network: str, seeds: range) -> Counter[str]:
    """Compare drawn programs of a network with NumPy; count them and their features."""
    seen, config = Counter[str](), config_of(network)
    for seed in seeds:
        case = drawn_case(Random(seed), config)
        seen += Counter(refused=1) if case is None else features_of(case)
    return seen


def test_drawn_schedules_leave_what_numpy_reckons() -> None:
    seen = sum((count(network, range(6)) for network in NETWORKS), Counter[str]())
    assert min(seen[each] for each in ("forks", "joins", "joins in routers", "streams")) > 9
    assert seen["sends of several operators"] > 20
    assert seen["tokens"] > 5
    assert seen["refused"] < 5


@pytest.mark.slow
@pytest.mark.parametrize("network", NETWORKS)
def test_many_drawn_schedules_leave_what_numpy_reckons(network: str) -> None:
    assert count(network, range(60))["refused"] < 6


def test_the_kept_counts_are_of_ten_thousand_programs_on_all_networks() -> None:
    counts = json.loads(COUNTS.read_text())
    assert [*counts] == [*NETWORKS]
    assert sum(each["programs"] for each in counts.values()) >= 10_000


def combining(words: tuple[int, int], *, ports: str = "half-duplex") -> tuple[Compiled, Case]:
    """Node 0 combines a block by add and one by max into node 2 of a line."""
    blocks = Blocks(
        np.array([NO_OWNER] * 2), ((), ()), np.array(words), ((0, 1, 2),) * 2, ("add", "max")
    )
    made = build(line(3), [Send(1, [0, 1, 2], [0, 1], combine=True)], blocks, "custom", ports)
    config = NetworkConfig(topology=line(3), **ROOM)
    compiled = Compiled.of(replace(made, circuits=True, root=None), config)
    return compiled, Case.of(compiled, timing=Timing.BARRIER, seed=3)


def test_a_send_of_two_operators_has_an_entry_for_each() -> None:
    compiled, case = combining((2, 3))
    start, end = case.payload.memory(case.program.config), case.predicted.memory
    assert (end[2, :2] == (start[0, :2] + start[2, :2]) % 2**32).all()
    assert (end[2, 2:5] == np.maximum(start[0, 2:5], start[2, 2:5])).all()
    assert sorted({*compiled.program.receive.flat}) == [0, 2, 3]


def test_a_token_is_a_zero_behind_all_blocks() -> None:
    compiled, case = combining((0, 0))
    assert compiled.layout.token == 0
    assert case.payload.loads(case.program.config)[-1][:2] == (0, 0)
    assert {*case.predicted.trace.data.tolist()} == {0}
    assert len(case.predicted.trace) == 3


def test_trees_of_two_operators_that_are_wrong_block_by_block_are_refused() -> None:
    """By all ports, block 0 leaves node 0 twice in one step, by two trees."""
    blocks = Blocks(
        np.array([NO_OWNER] * 2), ((), ()), np.ones(2, np.int64), ((0, 1, 2),) * 2, ("add", "max")
    )
    sends = [Send(1, [0, 1], [0, 1], combine=True), Send(1, [0, 2, 3, 1], [0], combine=True)]
    made = build(mesh((2, 2)), sends, blocks, "custom", "all-port")
    config = NetworkConfig(topology=mesh((2, 2)), all_port=True, **ROOM)
    with pytest.raises(InvalidInput, match="combine must have one operator each"):
        Compiled.of(replace(made, circuits=True, root=None), config)
