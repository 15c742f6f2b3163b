"""Saturation: its bracketing, its statistics, and a check with handwritten traffic."""

import statistics
from itertools import pairwise

import pytest
from helpers.command import Command, result
from helpers.sweeps import points_of, sweep_of

import eyecast as face
from eyecast.sweeps.saturation import bracket, mean_and_half_width

GRID = {"kind": "saturation", "network": "mesh 4x4", "depth": 4, "cycles": 4000}
INSTALLED = "pip install 'eyecast[sweep]'"


@pytest.mark.parametrize("saturation", [0.003, 0.31, 0.5, 0.99])
def test_a_bracket_is_as_narrow_as_asked_for(saturation: float) -> None:
    low, high = bracket(lambda rate: rate < saturation, 0.01)
    assert low <= saturation <= high <= low + 0.01


def test_a_network_that_takes_everything_is_saturated_at_one() -> None:
    assert bracket(lambda _rate: True, 0.01) == (1, 1)


def test_half_a_confidence_interval() -> None:
    pytest.importorskip("scipy", reason=INSTALLED)
    mean, half = mean_and_half_width([1.0, 2.0, 3.0, 4.0, 5.0])
    # Student's t with 4 degrees of freedom at 97.5 %, from any table.
    assert (mean, half) == pytest.approx((3.0, 2.776445 * statistics.stdev(range(5)) / 5**0.5))


def test_without_scipy_it_is_refused_before_the_first_run(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(__import__("sys").modules, "scipy", None)
    with pytest.raises(face.InvalidInput, match=r"scipy must be installed .*eyecast\[sweep\]"):
        points_of(GRID)


@pytest.mark.slow
def test_traffic_by_hand_says_the_same(eyecast: Command) -> None:
    pytest.importorskip("scipy", reason=INSTALLED)
    grid = GRID | {"seeds": [1, 2, 3], "precision": 0.02}
    first, *curve = face.sweep(sweep_of(grid))
    assert [row["part"] for row in (first, *curve)] == ["saturation"] + ["load"] * len(curve)
    half = first["saturation_half_width"]
    assert 0.01 <= half < 0.1

    def by_hand(rate: float) -> dict[str, float]:
        network = ("--mesh", "4x4", "--depth", "4", "--on", "model")
        load = ("--rate", str(rate), "--cycles", "16000", "--seed", "7", "--json")
        measured: dict[str, float] = result(eyecast("traffic", *network, *load))["measures"]
        return measured

    below = by_hand(first["saturation_rate"] - half)
    above = by_hand(first["saturation_rate"] + half)
    assert below["accepted_throughput"] > 0.95 * below["offered_throughput"]
    assert above["accepted_throughput"] < 0.95 * above["offered_throughput"]
    assert above["mean_latency"] > 5 * below["mean_latency"]
    for row in curve:
        same = by_hand(row["rate"])
        # With another seed and four times the length, the result is within three intervals.
        allowed = 3 * row["latency_half_width"] + 0.2
        assert abs(same["mean_latency"] - row["mean_latency"]) < allowed
        assert row["warm_up_cycles"] + row["measured_cycles"] <= 4 * 4000
    assert all(a["mean_latency"] < b["mean_latency"] for a, b in pairwise(curve))
    assert all(row["steady"] for row in curve[:4])
