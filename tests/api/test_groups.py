"""Groups and unequal blocks in Python, with the same results as at the command line."""

import json
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
from helpers.refusals import refusal_of

import eyecast

CUBE = eyecast.hypercube(3)
NETWORK = eyecast.mesh((4, 2))
PAIRS = [
    {"nodes": [(1, 0), (0, 0)], "root": (0, 0), "words": 5},
    {"nodes": [6, 7], "collective": "all-gather", "block_words": np.array([0, 3])},
]


def test_groups_are_named_in_three_ways(tmp_path: Path) -> None:
    rows = eyecast.schedule(NETWORK, "tree", groups="rows", source=(1, 1))
    assert rows.groups == ((0, 1, 2, 3), (4, 5, 6, 7))
    assert sorted(rows.blocks.owner.tolist()) == [1, 5]
    listed = eyecast.schedule(NETWORK, "ring", groups=PAIRS)
    path = tmp_path / "groups.json"
    groups = [
        {"nodes": [0, 1], "root": 0, "words": 5},
        {"nodes": [6, 7], "collective": "all-gather", "block_words": [0, 3]},
    ]
    path.write_text(json.dumps({"format": "eyecast-groups", "version": 1, "groups": groups}))
    read = eyecast.schedule(NETWORK, "ring", groups=path)
    for made in (listed, read):
        assert made.groups == ((0, 1), (6, 7))
        assert made.send_words.tolist() == [5, 3]
        assert made.source.tolist() == [0, 7]
    assert eyecast.predict(listed).cycles == eyecast.predict(read).cycles


def test_unequal_blocks_are_numbers_or_rows() -> None:
    words = np.arange(8)
    gathered = eyecast.schedule(NETWORK, "ring", collective="all-gather", block_words=words)
    assert gathered.blocks.words.tolist() == words.tolist()
    pairs = [[0] * 8 for _ in range(8)]
    pairs[2][3] = 4
    exchanged = eyecast.schedule(NETWORK, "best", collective="all-to-all", block_words=pairs)
    assert (exchanged.sends, exchanged.send_words.tolist()) == (1, [4])


@pytest.mark.parametrize(
    ("network", "name"),
    [
        *((NETWORK, name) for name in ("ring", "row-column", "direct")),
        *((CUBE, name) for name in ("brg", "sbt", "nesbt", "sbnt")),
    ],
)
def test_what_a_node_has_for_itself_does_not_travel(network: eyecast.Topology, name: str) -> None:
    pairs = np.arange(64).reshape(8, 8)
    np.fill_diagonal(pairs, 0)
    without, counted = (
        eyecast.schedule(network, name, collective="all-to-all", block_words=pairs + own)
        for own in (0, 20 * np.eye(8, dtype=int))
    )
    assert counted.send_words.tolist() == without.send_words.tolist()
    assert counted.path_nodes.tolist() == without.path_nodes.tolist()
    bound = eyecast.measures(without)["least"]["cycles"]
    assert eyecast.measures(counted)["least"]["cycles"] == bound
    assert eyecast.predict(counted).cycles == eyecast.predict(without).cycles >= bound


def test_all_algorithms_are_compared_on_the_same_groups() -> None:
    entries = eyecast.compare(NETWORK, collective="all-gather", groups="rows", words=3)
    alone = eyecast.schedule(NETWORK, "ring", collective="all-gather", groups="rows", words=3)
    cycles = {entry.name: entry.cycles["barrier"] for entry in entries}
    assert cycles["ring"] == eyecast.predict(alone).cycles
    assert {"ring", "recursive-doubling"} <= {*cycles}
    unequal = eyecast.compare(NETWORK, collective="all-gather", block_words=[0] * 7 + [4])
    assert {entry.name for entry in unequal} >= {"ring", "recursive-doubling"}


def schedule(algorithm: str = "ring", **asked: object) -> Callable[[], eyecast.Schedule]:
    return lambda: eyecast.schedule(NETWORK, algorithm, **asked)


@pytest.mark.parametrize(
    ("call", "line"),
    [
        (
            schedule(groups=PAIRS, source=0),
            "source must be left out with groups of a list: each has a root",
        ),
        (
            schedule(groups=3),
            "groups must be rows, columns, submesh 4x4, a file, or a list of groups with nodes, "
            "not 3",
        ),
        (
            schedule(groups=[{"nodes": [0, 9], "root": 0}]),
            "node of group 0 must be 0 to 7, not 9",
        ),
        (
            schedule(groups=[{"nodes": [0, 1], "root": 0, "size": 3}]),
            "groups[0]: Object contains unknown field size",
        ),
        (
            schedule(groups=[{**PAIRS[1], "block_words": 5}]),
            "groups[0].block_words: Expected array | null, got int",
        ),
        (
            schedule(groups=[{**PAIRS[1], "block_words": [1.5, 2]}]),
            "groups[0].block_words[0]: Expected int | array, got float",
        ),
        (
            schedule(collective="all-gather", block_words="3, 4"),
            "block words must be a number for each node, or a row of numbers for each source, "
            "not '3, 4'",
        ),
        (
            lambda: eyecast.compare(NETWORK, collective="all-gather", block_words=[1, 2]),
            "block words must be 8, one for each node, not 2",
        ),
        (
            lambda: eyecast.compare(
                NETWORK, groups=[{"nodes": [0, 1], "root": 0, "algorithm": "ring"}]
            ),
            "groups must be groups of which at least one names no algorithm, to be compared, "
            "not a list",
        ),
    ],
)
def test_what_is_refused(call: Callable[[], object], line: str) -> None:
    assert refusal_of(call) == line
