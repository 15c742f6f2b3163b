"""Schedules of the fewest steps: least counts that are known, agreement with best, refusals."""

import logging
import sys

import pytest
from helpers.generated import generated
from helpers.refusals import refusal_of
from helpers.switch_networks import switch_star

from eyecast.model.collectives.registry import SOLVED, algorithms_for
from eyecast.model.collectives.shown_bounds import least_counts
from eyecast.model.collectives.solved import steps as solved
from eyecast.model.network.named_graphs import de_bruijn
from eyecast.model.network.topology import line, mesh, ring
from eyecast.model.schedule.collective import ROOTLESS, Collective

SQUARE = mesh((2, 2))
COUNTS = {
    "broadcast": ((2, 3), (2, 3)),
    "multicast": ((1, 2), (1, 2)),
    "scatter": ((2, 3), (2, 3)),
    "gather": ((2, 3), (2, 3)),
    "all-gather": ((2, 8), (2, 8)),
    "all-to-all": ((2, 8), (2, 8)),
    "neighbor": ((2, 8), (1, 8)),
    "halo": ((2, 8), (2, 8)),
    "reduce": ((2, 3), (2, 3)),
    "reduce-scatter": ((2, 8), (2, 8)),
    "all-reduce": ((2, 8), (2, 8)),
    "barrier": ((2, 8), (2, 8)),
    "scan": ((2, 6), (2, 5)),
    "exscan": ((2, 8), (2, 6)),
}
"""Steps and TCD on a mesh of 2x2, with one port and with all."""


@pytest.fixture(autouse=True)
def _with_a_solver() -> None:
    pytest.importorskip("ortools", reason="the solver (extra certify) is missing")


@pytest.mark.parametrize("collective", COUNTS)
def test_fewest_steps_and_least_tcd_of_every_collective(collective: str) -> None:
    assert {each.collective for each in SOLVED} == {*Collective} == COUNTS.keys()
    asked = {
        "words": 3,
        "source": None if collective in ROOTLESS else 0,
        "targets": (3,) if collective == "multicast" else None,
    }
    for all_port, counts in zip((False, True), COUNTS[collective], strict=True):
        made = generated(collective, "optimal", SQUARE, all_port=all_port, **asked)
        made.check()
        assert (made.steps, made.tcd) == counts
        least = least_counts(made)
        assert least["steps"] <= made.steps and least.get("tcd", 0) <= made.tcd


def test_other_networks_ports_and_operators() -> None:
    """On a ring of 3 sums take 3 steps and maxima 2; a path leads one way, or past a switch."""
    for topology, collective, options, counts in (
        (line(3), "all-gather", {"duplex": "half-duplex"}, (4, 4)),
        (ring(3), "all-reduce", {}, (3, 4)),
        (ring(3), "all-reduce", {"operator": "max"}, (2, 6)),
        (de_bruijn(2, 2), "reduce-scatter", {}, (2, 10)),
        (switch_star(4), "scan", {}, (2, 10)),
    ):
        made = generated(collective, "optimal", topology, words=1, **options)
        made.check()
        assert (topology, made.steps, made.tcd) == (topology, *counts)


def test_what_is_proved_is_said(caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.INFO)
    generated("broadcast", "optimal", line(3), words=1, source=0)
    said = "optimal: steps 2, proved the least; TCD 2, proved the least"
    assert said in [record.getMessage() for record in caplog.records]
    assert solved.proof(5, 4) == "5, of which 4 may be the least: the solver's time ended"


def test_refusals(monkeypatch: pytest.MonkeyPatch) -> None:
    assert "optimal" not in {each.name for each in algorithms_for("scan")}
    asked = ("scan", "optimal", mesh((5, 2)))
    assert refusal_of(generated, *asked, words=1) == "nodes for optimal must be 1 to 9, not 10"
    monkeypatch.setitem(sys.modules, "ortools.sat.python", None)
    assert refusal_of(generated, "scan", "optimal", SQUARE, words=1) == (
        "algorithm must be another one without OR-tools (pip install 'eyecast[certify]'), not "
        "optimal"
    )
