"""Limits of size: asked before anything is made, and in Python as at the command line."""

from collections.abc import Callable

import pytest
from helpers.refusals import refusal_of

import eyecast
from eyecast.model.collectives.algorithm import MOST_NODES, Algorithm
from eyecast.model.collectives.declared.algorithm import ALL
from eyecast.model.collectives.declared.request import Request
from eyecast.model.collectives.exchanges import swing
from eyecast.model.collectives.registry import ALGORITHMS
from eyecast.model.network.topology import mesh, torus
from eyecast.model.schedule.collective import Collective


def too_early(*_: object) -> None:
    pytest.fail("it is made before its size is asked")


def test_blocks_for_each_pair_of_nodes_are_refused_before_they_are_made(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(Algorithm, "_made", too_early)
    for each in ALGORITHMS:
        most = MOST_NODES.get(each.collective)
        if most is None or (each.collective == Collective.ALL_REDUCE and each.keeps_whole):
            continue
        request = Request(topology=mesh((64, most // 32)), words=1, all_port=each.ports == (ALL,))
        helps = f"({each.collective} in groups, or a smaller network, helps)"
        line = f"nodes for {each.collective} must be at most {most} {helps}, not {2 * most}"
        assert refusal_of(each.generate, request) == line


def test_rounds_are_made_after_their_size_is_asked(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(swing, "_rounds", lambda *_: map(too_early, range(1)))
    line = "nodes for swing must be 1 to 2048, not 4096"
    assert refusal_of(swing.swing_all_gather, torus((64, 64)), 1) == line


@pytest.mark.parametrize(
    ("call", "sides", "line"),
    [
        (eyecast.verify, 64, "at most 1024 for hardware, not 4096"),
        (lambda made: eyecast.traffic(made.topology), 64, "at most 1024 for hardware, not 4096"),
        (
            lambda made: eyecast.compare(made.topology, source=0),
            512,
            "at most 65536 for a comparison, not 262144",
        ),
    ],
    ids=["verify", "traffic", "compare"],
)
def test_python_has_the_limits_of_the_command_line(
    call: Callable[[eyecast.Schedule], object], sides: int, line: str
) -> None:
    made = eyecast.schedule(eyecast.mesh((sides, sides)), "eye", source=0, flits=1)
    assert refusal_of(call, made) == f"nodes of the {sides}x{sides} mesh must be {line}"
