"""Schedules of the fewest cycles on circuits: least counts that are known, loops, refusals."""

import logging

import pytest
from helpers.generated import generated
from helpers.refusals import refusal_of

import eyecast
from eyecast.model.collectives.shown_bounds import schedule_bound
from eyecast.model.network.chiplets import chiplets
from eyecast.model.network.topology import line, mesh
from eyecast.model.schedule.collective import ROOTLESS

CYCLES = {
    "broadcast": (8, 10),
    "multicast": (8, 10),
    "scatter": (9, 15),
    "gather": (9, 15),
    "all-gather": (9, None),
    "all-to-all": (10, None),
    "neighbor": (8, None),
    "halo": (10, None),
}
"""Cycles of 1 word and of 3 on a mesh of 2x2; None where the solver takes long."""


@pytest.fixture(autouse=True)
def _with_a_solver() -> None:
    pytest.importorskip("ortools", reason="the solver (extra certify) is missing")


@pytest.mark.parametrize("collective", CYCLES)
def test_fewest_cycles(collective: str, caplog: pytest.LogCaptureFixture) -> None:
    """The model's cycles are those of the run, and no fewer than the lower bound."""
    caplog.set_level(logging.INFO)
    asked = {
        "source": None if collective in ROOTLESS else 0,
        "targets": (1, 3) if collective == "multicast" else None,
    }
    for words, cycles in zip((1, 3), CYCLES[collective], strict=True):
        if cycles is None:
            continue
        made = generated(collective, "optimal-cycles", mesh((2, 2)), words=words, **asked)
        made.check()
        said = f"optimal-cycles: no schedule takes fewer than {cycles} cycles, proved"
        assert said in [record.getMessage() for record in caplog.records]
        assert eyecast.predict(made, circuits=True).cycles == cycles
        assert cycles >= schedule_bound(made, cycles).value


def test_refusals() -> None:
    for collective, topology, words, complaint in (
        ("all-gather", mesh((5, 2)), 1, "nodes for optimal-cycles must be 1 to 9, not 10"),
        ("neighbor", line(3), 129, "words must be 1 to 128, not 129"),
        ("neighbor", line(3), 33, "words of all blocks for optimal-cycles must be 1 to 128"),
        ("all-gather", chiplets((2, 1), (2, 2), rate=2), 1, "network for optimal-cycles must be"),
    ):
        line_said = refusal_of(generated, collective, "optimal-cycles", topology, words=words)
        assert line_said.startswith(complaint)
