"""Trees of sends: check_trees() against a second checker, and what is counted once."""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from copy import deepcopy
from dataclasses import replace
from itertools import pairwise
from pathlib import Path
from random import Random

import numpy as np
import pytest
from helpers.schedules import Send, build, listed

from eyecast.model.collectives.lower_bounds import counted_costs
from eyecast.model.collectives.shown_bounds import least_counts, schedule_bound
from eyecast.model.network.topology import mesh
from eyecast.model.schedule.blocks import NO_OWNER, Blocks
from eyecast.model.schedule.cost import count_cost
from eyecast.model.schedule.file import read_schedule, write_schedule
from eyecast.model.schedule.rules import ScheduleError
from eyecast.model.schedule.schedule import Schedule
from eyecast.model.schedule.trees import check_trees

SIDES = (4, 3)
NODES = 12

KINDS = {
    "kinds": "of a fork and of a join",
    "twice": "twice in its tree",
    "path": "comes back|meets|parts",
    "words": "words of its tree meet",
}


def circuits(sends: list[Send], blocks: Blocks | None = None, collective: str = "broadcast"):
    made = build(SIDES, sends, blocks, collective, "full-duplex")
    return replace(made, circuits=True)


def drawn_paths(random: Random, root: int) -> list[list[int]]:
    """The ways from the root to some nodes, in a tree drawn from the links."""
    topology = mesh(SIDES)
    ways = {root: [root]}
    while len(ways) < NODES:
        here = random.choice([*ways])
        there = random.choice([node for node in topology.neighbor[here].tolist() if node >= 0])
        ways.setdefault(there, [*ways[here], there])
    del ways[root]
    return random.sample([*ways.values()], random.randint(1, len(ways)))


def drawn(random: Random) -> list[Send]:
    """Forks and joins of some steps, with blocks of their own."""
    sends = []
    for step in range(1, random.randint(2, 4)):
        blocks = random.sample(range(4), random.randint(1, 2))
        join = random.random() < 0.5
        for path in drawn_paths(random, random.randrange(NODES)):
            way = path[::-1] if join else path
            sends.append(Send(step, way, random.sample(blocks, len(blocks)), combine=join))
    random.shuffle(sends)
    return sends


def sabotage(random: Random, sends: list[Send]) -> None:
    """Change one thing at random."""
    send, other = random.choice(sends), random.choice(sends)
    match random.randrange(6):
        case 0:
            sends.append(deepcopy(send))
        case 1:
            send.step = other.step
        case 2:
            send.blocks = list(other.blocks)
        case 3:
            send.combine = not send.combine
        case 4:
            at = random.randrange(len(send.path))
            near = mesh(SIDES).neighbor[send.path[at]]
            send.path[at + 1 : at + 1] = [random.choice(near[near >= 0].tolist()), send.path[at]]
        case 5:
            send.path[-1:] = other.path[:1] if other.path[0] != send.path[0] else other.path[-1:]


def problems(sends: list[Send]) -> set[str]:
    """The rules that trees break, by sets of links."""
    forks, joins = defaultdict(list), defaultdict(list)
    for number, send in enumerate(sends):
        mark = (send.step, frozenset(send.blocks), send.combine)
        forks[*mark, send.path[0]].append(number)
        if send.combine:
            joins[*mark, send.path[-1]].append(number)
    found = set()
    several = [tree for tree in joins.values() if len(tree) > 1]
    members = {number for tree in several for number in tree}
    split = [tree for tree in forks.values() if len(tree) > 1]
    if members & {number for tree in split for number in tree}:
        found.add("kinds")
    for tree, end in [
        *((tree, 1) for tree in forks.values() if not members & {*tree}),
        *((tree, 0) for tree in several),
    ]:
        links = {link for number in tree for link in pairwise(sends[number].path)}
        nodes = Counter(link[end] for link in links)
        common = sends[tree[0]].path[0 if end else -1]
        ends = [(sends[number].path[0], sends[number].path[-1]) for number in tree]
        if len(ends) != len({*ends}):
            found.add("twice")
        if common in nodes or max(nodes.values()) > 1:
            found.add("path")
        words = Counter([link[1] for link in links] + [sends[number].path[0] for number in tree])
        if end == 0 and max(words.values()) > 2:
            found.add("words")
    return found


def test_check_agrees_with_the_second_checker() -> None:
    random, seen = Random(31), Counter()
    for trial in range(500):
        sends = drawn(random)
        for _ in range(trial % 3):
            sabotage(random, sends)
        expected, kind = problems(sends), None
        try:
            check_trees(circuits(sends))
        except ScheduleError as error:
            (kind,) = (name for name, words in KINDS.items() if re.search(words, str(error)))
        assert kind in expected if expected else kind is None, (expected, kind, sends)
        seen[kind] += 1
    assert {*seen} == {None, *KINDS}
    assert min(seen.values()) > 9


def corner_fork() -> list[Send]:
    """A broadcast of node 0 in one tree: along row 0, and down each column."""
    paths = ([*range(x + 1), *range(x + 4, x + 4 * y + 1, 4)] for y in range(3) for x in range(4))
    return [Send(1, path) for path in paths if len(path) > 1]


def test_a_fork_is_one_send_of_its_port_and_of_its_links() -> None:
    fork = circuits(corner_fork())
    fork.check()
    assert (fork.sends, fork.tcd, fork.links_used, fork.steps) == (11, 11, 11, 1)
    assert (fork.largest_link_load, fork.pairs_sharing_links) == (1, 0)
    assert count_cost(fork).busiest_link == 4
    assert counted_costs(fork).word_hops == 11 * 4
    assert counted_costs(fork).node_words == 4
    assert least_counts(fork) == {"steps": 1, "tcd": 11}
    assert schedule_bound(fork).value == 5 + 4
    alone = replace(fork, circuits=False)
    assert alone.tcd == alone.hops > 11
    with pytest.raises(ScheduleError, match="node 0 is the source of two sends"):
        alone.check()


def reduced(owed: tuple[int, ...] | None = (0,)) -> Blocks:
    one = np.ones(1, np.int32)
    return Blocks(NO_OWNER * one, (owed,), 4 * one, (None,), ("add",))


def test_a_join_takes_two_words_at_a_node() -> None:
    joins = [Send(1, send.path[::-1], combine=True) for send in corner_fork()]
    with pytest.raises(ScheduleError, match="3 words of its tree meet at node 1, where 2 can"):
        circuits(joins, reduced(), "reduce").check()
    # Down the columns first, and then along row 0.
    columns = [Send(1, [*range(n, -1, -4)], combine=True) for n in range(4, 12)]
    row = [Send(2, [*range(n, -1, -1)], combine=True) for n in range(1, 4)]
    made = circuits([*columns, *row], reduced(), "reduce")
    made.check()
    assert (made.steps, made.tcd, counted_costs(made).node_words) == (2, 11, 8)


def test_trees_need_a_port_model_with_forks() -> None:
    fork = circuits(corner_fork())
    replace(fork, port_model="all-port").check()
    with pytest.raises(ScheduleError, match="of a tree"):
        replace(fork, port_model="exchange").check()


def test_two_trees_do_not_share_a_port_or_link() -> None:
    blocks = Blocks(np.zeros(2, np.int32), (None, None), np.ones(2, np.int32))
    fork = [*corner_fork(), *(replace(send, blocks=[1]) for send in corner_fork())]
    with pytest.raises(ScheduleError, match="the source of two sends"):
        circuits(fork, blocks).check()
    for send in fork[11:]:
        send.step = 2
    circuits(fork, blocks).check()


def test_files_keep_the_mark(tmp_path: Path) -> None:
    made = circuits(corner_fork())
    write_schedule(made, tmp_path / "fork.json")
    text = (tmp_path / "fork.json").read_text()
    assert '"version":2' in text
    assert '"circuits":true' in text
    again = read_schedule(tmp_path / "fork.json")
    assert isinstance(again, Schedule)
    assert again.circuits
    assert (again.tcd, [s.path for s in listed(again)]) == (11, [s.path for s in corner_fork()])
