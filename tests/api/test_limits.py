"""Limits of size: asked before anything is made, and in Python as at the command line."""

from collections.abc import Callable

import pytest
from helpers.refusals import refusal_of
from helpers.switch_networks import switch_star

import eyecast
from eyecast.model.collectives.algorithm import Algorithm
from eyecast.model.collectives.declared.algorithm import ALL
from eyecast.model.collectives.declared.request import Request
from eyecast.model.collectives.limits import LIMITS
from eyecast.model.collectives.registry import find_algorithm
from eyecast.model.network.chiplets import chiplets
from eyecast.model.network.faults import with_faults
from eyecast.model.network.topology import Topology, hypercube, mesh, ring, torus
from eyecast.model.schedule.collective import ROOTLESS

LARGE, LARGER, LARGEST = mesh((32, 32)), mesh((64, 64)), mesh((64, 128))
HUBS = switch_star(128)
UNEVEN = chiplets((16, 16), (8, 8), latency=2, rate=2)
ROUND = ring(2187)
FEW = torus((32, 64))
APART = with_faults(ring(1026), [5])
TOO_LARGE = [
    ("all-gather", "greedy", LARGEST, "nodes for all-gather", "4096", 8192),
    ("reduce-scatter", "circulant", LARGEST, "nodes for reduce-scatter", "4096", 8192),
    ("all-gather", "stream-ring", LARGEST, "nodes for stream-ring", "4096", 8192),
    ("all-gather", "rings", LARGER, "nodes for rings", "2048", 4096),
    ("all-reduce", "stream-ring", torus((128, 256)), "nodes for stream-ring", "16384", 32768),
    ("all-to-all", "sbnt", hypercube(12), "nodes for all-to-all", "2048", 4096),
    ("all-to-all", "direct", LARGE, "nodes for direct", "512", 1024),
    ("all-to-all", "row-column", LARGE, "nodes for row-column", "256", 1024),
    ("all-to-all", "gossip", ring(17), "nodes for gossip", "16", 17),
    ("gather", "direct", LARGER, "nodes for direct", "2048", 4096),
    ("scatter", "recursive-doubling", LARGER, "nodes for recursive-doubling", "2048", 4096),
    ("scatter", "packed-chains", LARGE, "nodes for packed-chains", "512", 1024),
    (
        *("all-gather", "ring", torus((512, 8)), "nodes for ring"),
        *("2048 where a side is longer than 256", 4096),
    ),
    ("all-reduce", "recursive-halving", LARGER, "nodes for recursive-halving", "2048", 4096),
    ("all-gather", "ring", APART, "nodes for ring", "1024 where there are no axes", 1025),
    (
        *("reduce-scatter", "stream-ring", ROUND, "nodes for stream-ring"),
        *("1024 unless sides and words are powers of two", 2187),
    ),
    (
        "all-reduce",
        "stream-ring",
        FEW,
        "nodes for stream-ring",
        "1024 unless words are as many",
        2048,
    ),
    ("barrier", "trivance-whole", ROUND, "nodes for trivance-whole", "2048", 2187),
    ("all-reduce", "combs", LARGER, "nodes times the longer side for combs", "131072", 262144),
    ("scan", "hillis-steele", LARGEST, "nodes for hillis-steele", "4096", 8192),
    ("all-reduce", "overlapped", UNEVEN, "nodes for overlapped", "4096", 16384),
    (
        *("broadcast", "packed-trees", HUBS, "nodes for packed-trees"),
        *("128 where some only pass words on", 129),
    ),
    ("all-gather", "light-ring", LARGE, "nodes for light-ring", "128", 1024),
    ("reduce", "joining-tree", LARGEST, "nodes for joining-tree", "4096", 8192),
    ("multicast", "light-tree", LARGEST, "targets for light-tree", "4096", 8191),
]
"""Collective, algorithm, network; what is counted, the most, and the number of the network."""


@pytest.mark.parametrize(
    ("collective", "name", "topology", "counted", "most", "count"),
    TOO_LARGE,
    ids=lambda value: value if isinstance(value, str) else "",
)
def test_size_is_asked_before_anything_is_made(
    collective: str,
    name: str,
    topology: Topology,
    counted: str,
    most: str,
    count: int,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def too_early(*_: object) -> None:
        pytest.fail("it is made before its size is asked")

    found = find_algorithm(collective, name)
    monkeypatch.setattr(Algorithm, "_made", too_early)
    request = Request(
        topology=topology,
        words=16 if topology is FEW else topology.nodes,
        source=None if collective in ROOTLESS else 1,
        targets=tuple(range(topology.nodes)) if collective == "multicast" else None,
        all_port=found.ports == (ALL,),
    )
    helps = f"{collective} in groups" if collective in counted else "another algorithm"
    line = f"{counted} must be at most {most} ({helps}, or a smaller network, helps), not {count}"
    assert refusal_of(found.generate, request) == line


def test_every_limit_is_tried() -> None:
    tried = {
        limit
        for limit in LIMITS
        for collective, name, *_, most, _ in TOO_LARGE
        if limit.most == int(most.split()[0])
        and name in (limit.algorithms or (name,))
        and collective in (limit.collectives or (collective,))
    }
    assert tried == {*LIMITS}


LARGER = "(predict takes up to 1048576)"


@pytest.mark.parametrize(
    ("call", "sides", "line"),
    [
        (eyecast.verify, 64, f"at most 1024 for hardware, not 4096 {LARGER}"),
        (
            lambda made: eyecast.traffic(made.topology),
            64,
            f"at most 1024 for hardware, not 4096 {LARGER}",
        ),
        (
            lambda made: eyecast.compare(made.topology, source=0),
            512,
            f"at most 65536 for a comparison, not 262144 {LARGER}",
        ),
    ],
    ids=["verify", "traffic", "compare"],
)
def test_python_has_the_limits_of_the_command_line(
    call: Callable[[eyecast.Schedule], object], sides: int, line: str
) -> None:
    made = eyecast.schedule(eyecast.mesh((sides, sides)), "eye", source=0, words=1)
    assert refusal_of(call, made) == f"nodes of the {sides}x{sides} mesh must be {line}"
