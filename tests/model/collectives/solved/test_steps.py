"""Schedules of the fewest steps and cycles: known counts, agreement with best, and refusals."""

import logging
import sys
from contextlib import suppress

import pytest
from helpers.generated import generated
from helpers.refusals import refusal_of
from helpers.switch_networks import switch_star

import eyecast
from eyecast.model.collectives.declared.request import Request
from eyecast.model.collectives.registry import SOLVED, algorithms_for
from eyecast.model.collectives.shown_bounds import least_counts, schedule_bound
from eyecast.model.collectives.solved import cycles as cycles_model
from eyecast.model.collectives.solved import solver, sums
from eyecast.model.collectives.solved import steps as solved
from eyecast.model.collectives.streaming.sends import SendList
from eyecast.model.network.chiplets import chiplets
from eyecast.model.network.named_graphs import de_bruijn
from eyecast.model.network.route_layers import has_circle
from eyecast.model.network.topology import line, mesh, ring
from eyecast.model.program.circuits import times
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


def test_the_last_solution_is_kept_when_the_time_ends(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.INFO)
    minimise = solved._Model.minimise_links

    def in_no_time(model: solved._Model) -> int:
        monkeypatch.setattr(solver, "SECONDS", 0)
        return minimise(model)

    monkeypatch.setattr(solved._Model, "minimise_links", in_no_time)
    made = generated("broadcast", "optimal", line(3), words=1, source=0)
    made.check()
    assert made.steps == 2
    ended = f"TCD {made.tcd}, of which 0 may be the least: the solver's time ended"
    assert f"optimal: steps 2, proved the least; {ended}" in caplog.text


def test_paths_in_a_circle_get_vcs_that_open_it(monkeypatch: pytest.MonkeyPatch) -> None:
    around = SendList()
    for node in range(4):
        around.add(1, [node, (node + 1) % 4, (node + 2) % 4], [node])
    monkeypatch.setattr(solved._Model, "sends", lambda _: around)
    made = generated("all-gather", "optimal", ring(4), words=1, all_port=True)
    assert not has_circle(made.path_offsets, made.path_nodes, made.vcs)


def test_refusals(monkeypatch: pytest.MonkeyPatch) -> None:
    assert "optimal" not in {each.name for each in algorithms_for("scan")}
    asked = ("scan", "optimal", mesh((5, 2)))
    assert refusal_of(generated, *asked, words=1) == "nodes for optimal must be 1 to 9, not 10"
    monkeypatch.setitem(sys.modules, "ortools.sat.python", None)
    assert refusal_of(generated, "scan", "optimal", SQUARE, words=1) == (
        "algorithm must be another one without OR-tools (pip install 'eyecast[certify]'), not "
        "optimal"
    )


# ---- Schedules of the fewest cycles on circuits --------------------------------------------------


CYCLES = {
    "broadcast": (8, 9),
    "multicast": (8, None),
    "scatter": (9, 12),
    "gather": (9, 12),
    "all-gather": (9, None),
    "all-to-all": (10, None),
    "neighbor": (8, None),
    "halo": (10, None),
    "reduce": (11, 12),
    "reduce-scatter": (11, None),
    "scan": (11, None),
    "exscan": (12, None),
}
"""Cycles of 1 word and of 2 on a mesh of 2x2; None where the solver takes long."""


@pytest.mark.parametrize("collective", CYCLES)
def test_fewest_cycles(collective: str, caplog: pytest.LogCaptureFixture) -> None:
    """The model's cycles are those of the run, and no fewer than the lower bound."""
    caplog.set_level(logging.INFO)
    asked = {
        "source": None if collective in ROOTLESS else 0,
        "targets": (1, 3) if collective == "multicast" else None,
    }
    for words, cycles in zip((1, 2), CYCLES[collective], strict=True):
        if cycles is None:
            continue
        made = generated(collective, "optimal-cycles", mesh((2, 2)), words=words, **asked)
        made.check()
        said = f"optimal-cycles: no schedule takes fewer than {cycles} cycles, proved"
        assert said in [record.getMessage() for record in caplog.records]
        assert eyecast.predict(made, circuits=True).cycles == cycles
        assert cycles >= schedule_bound(made, cycles).value


def test_no_algorithm_takes_fewer_cycles_than_proved(caplog: pytest.LogCaptureFixture) -> None:
    """Sums on small networks, with several words, a root in the middle, a switch, and maxima."""
    caplog.set_level(logging.INFO)
    for topology, collective, options in (
        (mesh((3, 3)), "reduce", {"source": 4}),
        (line(4), "reduce", {"source": 0, "words": 2}),
        (mesh((3, 2)), "reduce", {"source": 5, "words": 2}),
        (line(3), "reduce-scatter", {}),
        (line(3), "scan", {"words": 2}),
        (line(3), "scan", {"operator": "max"}),
        (line(4), "exscan", {}),
        (switch_star(3), "reduce", {"source": 1}),
    ):
        asked = {"words": 1} | options
        made = generated(collective, "optimal-cycles", topology, **asked)
        made.check()
        cycles = eyecast.predict(made, circuits=True).cycles
        said = f"optimal-cycles: no schedule takes fewer than {cycles} cycles, proved"
        assert said == caplog.messages[-1]
        for other in algorithms_for(collective):
            with suppress(eyecast.InvalidInput):
                run = other.generate(Request(topology=topology, **asked))
                assert eyecast.predict(run, circuits=True).cycles >= cycles


def test_the_models_delays_are_those_of_the_compiler() -> None:
    late = times.LATER
    assert (times.READ + late, times.WRITTEN + late) == (sums.READ, sums.OLD)
    assert (cycles_model.READ, sums.BETWEEN) == (times.READ, times.COMBINED)


def test_the_search_ends_when_many_models_take_too_long(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(solver, "SECONDS", 0)
    said = refusal_of(generated, "scan", "optimal-cycles", SQUARE, words=1)
    assert said.startswith("network for optimal-cycles must be one with a schedule of 256 cycles, ")


def test_refusals_of_circuits() -> None:
    for collective, topology, words, complaint in (
        ("all-reduce", line(2), 1, "algorithm for all-reduce must be "),
        ("scan", mesh((5, 2)), 1, "nodes for optimal-cycles must be 1 to 9, not 10"),
        ("all-gather", mesh((5, 2)), 1, "nodes for optimal-cycles must be 1 to 9, not 10"),
        ("neighbor", line(3), 129, "words must be 1 to 128, not 129"),
        ("neighbor", line(3), 33, "words of all blocks for optimal-cycles must be 1 to 128"),
        ("all-gather", chiplets((2, 1), (2, 2), rate=2), 1, "network for optimal-cycles must be"),
    ):
        line_said = refusal_of(generated, collective, "optimal-cycles", topology, words=words)
        assert line_said.startswith(complaint)
