"""Comparisons in Python: they take the same arguments as schedules and networks."""

from collections.abc import Callable
from typing import Any

import pytest
from helpers.refusals import refusal_of

import eyecast

CUBE = eyecast.hypercube(3)
TORUS = eyecast.torus((4, 4))
GATHER = {"collective": "gather", "source": 1}


def test_all_ports_are_those_of_the_schedules_and_of_the_bound() -> None:
    asked = {"source": 0, "collective": "gather", "words": 4, "ports": "all"}
    entries = eyecast.compare(CUBE, **asked)
    assert {str(entry.schedule.port_model) for entry in entries} == {"all-port"}
    assert all(min(entry.cycles.values()) >= entry.bound.value for entry in entries)
    alone = eyecast.schedule(CUBE, entries[0].name, **asked)
    assert entries[0].cycles["barrier"] == eyecast.predict(alone).cycles


@pytest.mark.parametrize(
    ("algorithm", "asked"),
    [
        ("tree", {"collective": "multicast", "targets": [(1, 0, 0), 2]}),
        ("sbt", {"ports": "half-duplex"}),
        ("nesbt", {"packet": 2}),
    ],
)
def test_what_is_asked_of_one_is_asked_of_each(algorithm: str, asked: dict[str, Any]) -> None:
    asked |= {"source": 0, "words": 8}
    (entry,) = eyecast.compare(CUBE, algorithms=[algorithm], **asked)
    made = eyecast.schedule(CUBE, entry.name, **asked)
    assert entry.schedule.path_nodes.tolist() == made.path_nodes.tolist()
    assert entry.schedule.port_model == made.port_model


def test_the_nodes_that_can_be_reached_are_served() -> None:
    broken = eyecast.with_faults(eyecast.mesh((3, 3)), [1, 3])
    (entry,) = eyecast.compare(broken, source=8, partial=True)
    assert (entry.name, entry.schedule.unserved) == ("tree", (0,))


@pytest.mark.parametrize(
    ("call", "line"),
    [
        (
            lambda: eyecast.compare(TORUS, all_port=True, **GATHER),
            "all_port must be left out beside ports",
        ),
        (
            lambda: eyecast.predict(eyecast.schedule(TORUS, "ring", **GATHER), all_port=True),
            'all_port must be left out with a schedule of one port: schedule(..., ports="all") '
            "makes one of all ports",
        ),
        (
            lambda: eyecast.compare(TORUS, ports="two", **GATHER),
            "ports must be one, half-duplex, full-duplex or all, not two",
        ),
        (
            lambda: eyecast.compare(TORUS, ports="all", algorithms=["ring", "tree"], **GATHER),
            'ports="all" must be left out on a 4x4 torus: use packed-chains',
        ),
    ],
)
def test_what_is_refused(call: Callable[[], object], line: str) -> None:
    assert refusal_of(call) == line
