"""Points on the simulated hardware."""

import pytest
from helpers.sweeps import BROADCAST, sweep_of

import eyecast as face
from eyecast.sim import verify as on_hardware
from eyecast.sim.simulator import SimulatorError

GRID = BROADCAST | {"algorithm": ["eye", "tree"], "source": ["0,0", "1,0"], "on": "hardware"}


@pytest.mark.slow
def test_the_hardware_does_as_the_model_says() -> None:
    traffic = {"kind": "traffic", "network": "mesh 2x2", "cycles": 200, "on": ["hardware", "model"]}
    rows = face.sweep(sweep_of(GRID | {"on": ["hardware", "model"]}, traffic))
    assert len(rows) == 10
    for hardware, model in zip(rows[::2], rows[1::2], strict=True):
        assert (hardware["on"], hardware["status"], hardware["agrees"]) == (
            "hardware",
            "done",
            True,
        )
        assert (hardware["trace"], hardware["cycles"]) == (model["trace"], model["cycles"])


@pytest.mark.slow
def test_what_ends_the_simulator_fails_and_the_others_go_on(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    compare, calls = on_hardware.compare, []

    def failing(case: object, measured: object) -> object:
        calls.append(case)
        if len(calls) == 2:
            raise SimulatorError("it ended")
        return compare(case, measured)  # type: ignore[arg-type]

    monkeypatch.setattr(on_hardware, "compare", failing)
    rows = face.sweep(sweep_of(GRID))
    assert [row["status"] for row in rows].count("done") == 3
    (failed,) = (row for row in rows if row["status"] != "done")
    assert (failed["status"], failed["error"]) == ("failed", "SimulatorError: it ended")
