"""The hardware against the cycle model: every source, both timings, bit for bit."""

import pytest

from eyecast.model.collectives.halving.eye import eye_broadcast, source_tcd
from eyecast.model.compare.case import Case
from eyecast.model.network.config import NetworkConfig
from eyecast.model.network.topology import mesh
from eyecast.model.program.compiler import Compiled
from eyecast.sim.verify import verify

MESSAGE_LENGTHS = (1, 4, 64)


def cases(side, flits, vcs, timing, sources, **limits):
    topology = mesh((side, side))
    config = NetworkConfig(topology=topology, vcs=vcs, **limits)
    return [
        Case.of(
            Compiled.of(eye_broadcast(topology, source, flits), config), timing=timing, seed=source
        )
        for source in sources
    ]


def assert_agrees(result):
    __tracebackhide__ = True
    wrong = [check for check in result.checks if not check.agrees]
    found = "" if result.difference is None else result.difference.describe()
    assert not wrong, f"from node {result.case.schedule.root}: {wrong}\n{found}"


def assert_as_the_paper_says(result, side):
    """Steps, TCD and, in barrier timing, cycles, each from a formula and not from the model."""
    schedule, hardware = result.case.schedule, result.measured
    k = side.bit_length() - 1
    x, y = schedule.root % side, schedule.root // side
    measured = {check.name: check.measured for check in result.checks}
    assert measured["nodes delivered"] == side * side
    assert measured["steps"] == 2 * k
    assert measured["TCD"] == source_tcd(k, x, y)
    if result.case.timing == "barrier":
        flits = schedule.blocks.words[0]
        control_words = result.case.program.config.table.control_words
        # docs/router.md, section 5.
        expected = control_words + sum(h + flits + 4 for h in schedule.longest_per_step) - 2
        assert hardware.cycles == expected
        assert measured["stalled flits"] == 0


def meshes_and_lengths():
    """All meshes with all lengths; of 8x8, where a length takes half a minute, one by default."""
    for side, vcs in ((4, 1), (4, 2), (8, 1), (8, 2)):
        for flits in MESSAGE_LENGTHS:
            is_slow = side == 8 and (vcs, flits) != (1, 1)
            yield pytest.param(side, vcs, flits, marks=pytest.mark.slow if is_slow else ())


@pytest.mark.parametrize("timing", ["barrier", "self-timed"])
@pytest.mark.parametrize(("side", "vcs", "flits"), list(meshes_and_lengths()))
def test_every_source(side, vcs, flits, timing):
    every = cases(side, flits, vcs, timing, range(side * side))
    for result in verify(every):
        assert_agrees(result)
        assert_as_the_paper_says(result, side)


@pytest.mark.slow
@pytest.mark.parametrize("timing", ["barrier", "self-timed"])
def test_16x16_from_a_corner_and_an_eye(timing):
    for result in verify(cases(16, 16, 1, timing, [0, 5 + 16 * 5])):
        assert_agrees(result)
        assert_as_the_paper_says(result, 16)


@pytest.mark.slow
def test_the_largest_network_32x32():
    """Its simulator takes seven minutes of CPU and 1.3 GB to build, from an empty cache."""
    for result in verify(cases(32, 16, 1, "barrier", [0])):
        assert_agrees(result)
        assert_as_the_paper_says(result, 32)


@pytest.mark.parametrize(
    "limits",
    [
        # The header takes two flits, and the first is dropped on the way: with 10 bits by default.
        pytest.param({"flit_width": 16}, marks=pytest.mark.slow),
        {"flit_width": 10, "message_words": 16, "steps": 7},
        # By default other tests have networks as wide, and as shallow: traffic on a ring, and a
        # tree broadcast on one.
        pytest.param({"flit_width": 64, "depth": 3}, marks=pytest.mark.slow),
        # Every flit waits for its credit.
        pytest.param({"depth": 1}, marks=pytest.mark.slow),
        pytest.param(
            {"depth": 16, "vcs": 3, "message_words": 5, "steps": 4, "table_words": 9},
            marks=pytest.mark.slow,
        ),
    ],
)
@pytest.mark.parametrize("timing", ["barrier", "self-timed"])
def test_other_configurations(limits, timing):
    vcs = limits.get("vcs", 1)
    others = {name: value for name, value in limits.items() if name != "vcs"}
    for result in verify(cases(4, 5, vcs, timing, [0, 5, 11], **others)):
        assert_agrees(result)


def test_a_single_node_and_a_pair_of_rows():
    for side in (1, 2):
        for result in verify(cases(side, 4, 1, "barrier", range(side * side))):
            assert_agrees(result)
