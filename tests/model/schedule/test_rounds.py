"""Rounds as schedules: drawn ones against the judge and the cycle model, and orders of blocks."""

from collections import Counter
from itertools import permutations
from random import Random

import numpy as np
import pytest
from helpers.carried_out import carried_out
from helpers.drawn_requests import draw_network
from helpers.schedule_judge import problems

from eyecast.model.base.errors import InvalidInput
from eyecast.model.network.port_model import PortModel
from eyecast.model.network.route_layers import safe_routes
from eyecast.model.network.topology import Topology
from eyecast.model.schedule.adjacent import adjacent_order
from eyecast.model.schedule.blocks import CUSTOM, NO_OWNER, Blocks
from eyecast.model.schedule.rounds import RoundSend, ordered_by_rounds, schedule_of_rounds
from eyecast.model.schedule.schedule import Schedule

Held = dict[tuple[int, int], Counter[int]]
"""The contributions in the value of each node and block."""


def drawn_rounds(
    random: Random, nodes: list[int], held: Held, blocks: int
) -> list[list[RoundSend]]:
    """Draw rounds whose sends combine disjoint values or replace smaller ones; update ``held``."""
    rounds = []
    for _ in range(random.randint(1, 5)):
        before, changed, sends = dict(held), set(), []
        for source in random.sample(nodes, random.randint(1, len(nodes))):
            target = random.choice([node for node in nodes if node != source])
            carried: dict[bool, list[int]] = {True: [], False: []}
            for block in random.sample(range(blocks), random.randint(1, blocks)):
                value, there = before.get((source, block)), held.get((target, block))
                if value is None or (target, block) in changed:
                    continue
                if there is not None and not there & value:
                    carried[True].append(block)
                    held[target, block] = there + value
                elif there is None or len(value) > len(there):
                    carried[False].append(block)
                    held[target, block] = value
                else:
                    continue
                changed.add((target, block))
            sends += [
                RoundSend(source, target, each, mark) for mark, each in carried.items() if each
            ]
        rounds.append(sends)
    return rounds


def is_judged(network: Topology) -> bool:
    """Tell whether three nodes or more reach each other, by links that the judge can tell apart."""
    nodes = network.working_nodes
    ends = [[end for end in row if end >= 0] for row in network.neighbor.tolist()]
    if nodes.size < 3 or not (network.dims or all(len({*row}) == len(row) for row in ends)):
        return False
    try:
        safe_routes(network, np.repeat(nodes, nodes.size), np.tile(nodes, nodes.size))
    except InvalidInput:
        return False
    return True


def drawn(seed: int) -> Schedule:
    """Draw the schedule of rounds on a small network, with blocks of several kinds."""
    random, draw = Random(seed), np.random.default_rng(seed)
    network = draw_network(draw)
    while not is_judged(network):
        network = draw_network(draw)
    nodes = network.working_nodes.tolist()
    owners = [random.choice([NO_OWNER, random.choice(nodes)]) for _ in range(random.randint(1, 6))]
    held: Held = {}
    for block, owner in enumerate(owners):
        for node in nodes if owner == NO_OWNER else [owner]:
            held[node, block] = Counter([node])
    rounds = drawn_rounds(random, nodes, held, len(owners))
    whole = [len(nodes) if owner == NO_OWNER else 1 for owner in owners]
    owed = tuple(
        tuple(node for node in nodes if len(held.get((node, block), ())) == count)
        for block, count in enumerate(whole)
    )
    operators = tuple("add" if owner == NO_OWNER else None for owner in owners)
    contributors = tuple(tuple(nodes) if operator else () for operator in operators)
    words = draw.integers(1, 9, len(owners))
    blocks = Blocks(np.array(owners), owed, words, contributors, operators)
    ports = random.choice([PortModel.FULL_DUPLEX, PortModel.ALL_PORT])
    return schedule_of_rounds(network, CUSTOM, "drawn", ports, None, blocks, rounds)


def require_right(seed: int) -> None:
    made = drawn(seed)
    made.check()
    assert problems(made) == set()
    if seed % 10 == 0:
        carried_out(made)
        carried_out(made, circuits=True)


@pytest.mark.parametrize(
    ("first", "last"), [(0, 31), pytest.param(31, 181, marks=pytest.mark.slow)]
)
def test_drawn_rounds_are_carried_out(first: int, last: int) -> None:
    for seed in range(first, last):
        require_right(seed)


@pytest.mark.parametrize("seed", [807, 993, 1333])
def test_a_word_is_combined_only_after_the_one_that_it_replaced(seed: int) -> None:
    require_right(seed)


def test_a_circle_whose_paths_share_a_link_gets_vcs() -> None:
    made = drawn(532)
    made.check()
    assert problems(made) == set() and made.pairs_sharing_links == 2
    carried_out(made)


def test_an_order_is_found_if_there_is_one() -> None:
    random = Random(1)

    def runs(order: tuple[int, ...] | list[int], sets: list[list[int]]) -> int:
        places = ({order.index(block) for block in each} for each in sets)
        return sum(len({at for at in each if at - 1 not in each}) for each in places)

    found = Counter()
    for _ in range(100):
        count = random.randint(3, 6)
        sets = [
            random.sample(range(count), random.randint(1, count))
            for _ in range(random.randint(3, 6))
        ]
        made = adjacent_order(count, sets)
        assert sorted(made) == [*range(count)]
        assert runs(made, sets) <= runs([*range(count)], sets)
        possible = any(runs(each, sets) == len(sets) for each in permutations(range(count)))
        assert (runs(made, sets) == len(sets)) == possible
        found[possible] += 1
    assert min(found.values()) > 10


def test_long_rounds_have_the_order_of_single_blocks() -> None:
    """Rows of many blocks wait for the same rows as if each block were looked at."""
    nodes, draw = np.arange(64), np.random.default_rng(3)
    rounds = [
        [RoundSend(node, node ^ 1 << bit, np.flatnonzero(draw.random(64) < 0.2)) for node in nodes]
        for bit in range(6)
    ]
    words = np.ones(65, np.int32)
    copied = Blocks(nodes, (None,) * 64, words[:64])
    # A reduced block, which no send carries, makes the search one for each block.
    mixed = Blocks(np.append(nodes, -1), (None,) * 65, words, ((),) * 65, (*(None,) * 64, "add"))
    for keeps_rounds in (False, True):
        one, other = (
            ordered_by_rounds(blocks, rounds, keeps_rounds=keeps_rounds)
            for blocks in (copied, mixed)
        )
        assert one.after == other.after
        assert [*one.units] == [*other.units]
        assert any(one.after)
