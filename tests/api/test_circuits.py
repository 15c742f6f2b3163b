"""Every function of the face, with packets and with circuits: it works, or refuses in one line."""

import inspect
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from helpers.refusals import refusal_of
from helpers.sweeps import sweep_of

import eyecast

NETWORK = eyecast.mesh((2, 2))
OF_NETWORKS = {
    *("algorithms", "binary_tree", "chiplets", "de_bruijn", "diagonal_mesh", "graph", "hypercube"),
    *("line", "mesh", "read_network", "ring", "star_tree", "torus"),
    *("with_faults", "with_random_faults", "schedule", "schedule_of_rounds"),
    *("schedule_of_sends", "transmit", "transmit_schedule"),
}
"""Functions that know no routers."""

BROADCAST = {"kind": "collective", "network": "mesh 2x2", "algorithm": "eye", "source": "0,0"}
MADE = {
    False: eyecast.schedule(NETWORK, source=0),
    True: eyecast.schedule(NETWORK, "light-tree", source=0),
}


def wrote(made: eyecast.Schedule, given: dict[str, Any]) -> Any:
    program = eyecast.compile(made, **given)
    eyecast.write_program(program, "x.json")
    return program


Call = Callable[[eyecast.Schedule, dict[str, Any]], Any]
CALLS: dict[str, Call] = {
    "compare": lambda _, given: eyecast.compare(NETWORK, source=0, words=2, **given),
    "compile": lambda made, given: eyecast.compile(made, **given),
    "draw": lambda made, _: eyecast.draw(made, "x.svg"),
    "measures": lambda made, _: eyecast.measures(made),
    "play": lambda made, given: eyecast.play(made, **given),
    "predict": lambda made, given: eyecast.predict(made, **given),
    "read_program": lambda made, given: wrote(made, given) == eyecast.read_program("x.json"),
    "read_schedule": lambda made, _: (
        eyecast.write_schedule(made, "x.json"),
        eyecast.read_schedule("x.json"),
    ),
    "sweep": lambda _, given: eyecast.sweep(sweep_of(BROADCAST | given)),
    "traffic": lambda _, given: eyecast.traffic(NETWORK, cycles=20, **given),
    "verify": lambda made, given: eyecast.verify(made, **given),
    "workload": lambda _, given: (
        Path("w.csv").write_text("id,rank,what,amount,after\nsum,all,all-reduce,4,\n"),
        eyecast.workload(NETWORK, "w.csv", **given),
    ),
    "write_program": wrote,
    "write_report": lambda made, given: eyecast.write_report(made, "x.html", **given),
    "write_schedule": lambda made, _: eyecast.write_schedule(made, "x.json"),
}
REFUSED = {
    ("traffic", True): "circuits must be left out with traffic, which routers arbitrate",
}


def test_every_function_is_here() -> None:
    functions = (getattr(eyecast, name) for name in eyecast.api.__all__)
    assert CALLS.keys() | OF_NETWORKS == {
        each.__name__ for each in functions if inspect.isfunction(each)
    }


@pytest.mark.parametrize("circuits", [False, True], ids=["packets", "circuits"])
@pytest.mark.parametrize(
    "name",
    [pytest.param(name, marks=[pytest.mark.slow] * (name == "verify")) for name in CALLS],
)
def test_it_works_or_says_why_not(name: str, circuits: bool, here: Path) -> None:
    given = {"circuits": True} if circuits else {}
    if (name, circuits) in REFUSED:
        said = refusal_of(CALLS[name], MADE[circuits], given)
        assert said == REFUSED[name, circuits]
    else:
        CALLS[name](MADE[circuits], given)
    if name in ("compile", "play", "predict", "verify", "write_report") and circuits:
        assert refusal_of(CALLS[name], MADE[True], {}) == (
            "a schedule with trees needs a network with circuits (circuits)"
        )
        for idle in ("depth", "steps"):
            assert refusal_of(CALLS[name], MADE[True], {"circuits": True, idle: 9}) == (
                f"{idle} must be left out with circuits: it changes nothing there"
            )


def test_a_wrong_call_names_its_function() -> None:
    for call, said in (
        (eyecast.schedule, "schedule() missing a required argument: 'network'"),
        (
            lambda: eyecast.measures(MADE[False], wide=1),
            "measures() got an unexpected keyword argument 'wide'",
        ),
    ):
        with pytest.raises(TypeError) as caught:
            call()
        assert str(caught.value) == said
