"""Trees of sends: check_trees() against a second checker, and what is counted once."""

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
    "sums": "makes two sums",
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


def drawn_join(random: Random, root: int) -> list[list[int]]:
    """The ways of some nodes to the root; those that cross one link go on alike."""
    topology, behind, ways = mesh(SIDES), {}, []
    for node in random.sample(range(NODES), random.randint(1, 6)):
        way = [node]
        while way[-1] != root and len(way) < 9:
            near = [each for each in topology.neighbor[way[-1]].tolist() if each >= 0]
            way.append(behind.get(tuple(way[-2:]), random.choice(near)))
        if way[-1] == root and len(way) > 1:
            ways.append(way)
            behind |= {(a, b): c for a, b, c in zip(way, way[1:], way[2:], strict=False)}
    return ways


def drawn(random: Random) -> list[Send]:
    """Forks and joins of some steps, with blocks of their own."""
    sends = []
    for step in range(1, random.randint(2, 4)):
        blocks = random.sample(range(4), random.randint(1, 2))
        join = random.random() < 0.5
        root = random.randrange(NODES)
        ways = [way[::-1] if join else way for way in drawn_paths(random, root)]
        if join and random.random() < 0.5:
            ways = drawn_join(random, root) or ways
        for way in ways:
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
    for tree in forks.values():
        if not members & {*tree}:
            links = {link for number in tree for link in pairwise(sends[number].path)}
            nodes = Counter(link[1] for link in links)
            if sends[tree[0]].path[0] in nodes or max(nodes.values()) > 1:
                found.add("path")
            found |= doubles(sends, tree)
    for tree in several:
        found |= doubles(sends, tree) | join_problems([sends[number].path for number in tree])
    return found


def doubles(sends: list[Send], tree: list[int]) -> set[str]:
    """The rule that a tree has each pair of a source and a target once."""
    ends = [(sends[number].path[0], sends[number].path[-1]) for number in tree]
    return set() if len(ends) == len({*ends}) else {"twice"}


def join_problems(paths: list[list[int]]) -> set[str]:
    """The rules that a join breaks: where words go on, and the words that take each link."""
    behind, takes, found = defaultdict(set), defaultdict(set), set()
    for path in paths:
        hops = [("own", path[0]), *pairwise(path), (path[-1], "end")]
        for came, out in pairwise(hops):
            behind[came].add(out)
            takes[out].add(came)
        if path[-1] in path[:-1]:
            found.add("path")
    if any(len(outs) > 1 for came, outs in behind.items() if came[0] != "own"):
        found.add("path")
    if any(len(outs) > 1 for came, outs in behind.items() if came[0] == "own"):
        found |= {"path", "twice"}
    if max(map(len, takes.values())) > 2:
        found.add("words")
    if (
        max(Counter(out[0] for out, words in takes.items() if len(words) > 1).values(), default=0)
        > 1
    ):
        found.add("sums")
    return found


def test_check_agrees_with_the_second_checker() -> None:
    random, seen = Random(31), Counter()
    for trial in range(250):
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
    assert {*seen} == {None, *KINDS} - {"sums"}
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


def test_a_join_makes_one_sum_at_a_node() -> None:
    sends = [Send(1, path, combine=True) for path in ([4, 5, 6, 10], [5, 6, 10], [1, 5, 9, 10])]
    assert not problems(sends)
    check_trees(circuits(sends))
    sends.append(Send(1, [7, 6, 5, 9, 10], combine=True))
    assert problems(sends) == {"sums"}
    with pytest.raises(ScheduleError, match="its tree makes two sums at node 5, where it can make"):
        check_trees(circuits(sends))


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
