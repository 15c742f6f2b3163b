"""Networks with a controller in the simulator, in several runs without a reset between them.

The controller loads, starts and reads the network. Every flit and the end equal the cycle model's.
"""

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
import pytest
from helpers.command import Command, refusal, result
from helpers.generated import generated
from helpers.programs import UP, program, put, words
from helpers.switch_networks import switch_star
from helpers.verified import verified
from helpers.whole_jobs import whole_job

import eyecast
from eyecast.model.compare.case import Case
from eyecast.model.compare.waiting import waiting
from eyecast.model.cycle.control import Control
from eyecast.model.cycle.model import run
from eyecast.model.network.config import TIMINGS, Timing
from eyecast.model.network.topology import Topology, hypercube, mesh, torus
from eyecast.model.program.certified import compile_certified
from eyecast.model.program.program import Program
from eyecast.model.run.run import EndState, HardwareRun, Prediction
from eyecast.model.run.trace import first_difference
from eyecast.sim.build import build_simulator
from eyecast.sim.simulator import simulate

PAIR = mesh((2, 1))
LIMITS: dict[str, Any] = {"programs": 2, "tile_ports": True, "parity": True, "message_words": 16}
THERE, BACK = UP, UP + 1
LIMIT = 60


def cases(topology: Topology, name: str, hold: Sequence[int] | None = None, **limits: Any) -> Any:
    """Return the cases of a broadcast on a network, in both timings."""
    collective, algorithm = name.split()
    source = None if collective.startswith("all") else topology.nodes - 1
    all_port = limits.get("all_port", False)
    made = generated(collective, algorithm, topology, words=3, source=source, all_port=all_port)
    compiled = compile_certified(made, limits)
    held = None if hold is None else np.array(hold)
    return [Case.of(compiled, timing=timing, seed=1, hold=held) for timing in TIMINGS]


def outcomes(
    programs: Sequence[Program], timing: Timing
) -> Iterator[tuple[Program, Prediction, HardwareRun]]:
    """Run handwritten programs of one network one after another, within ``LIMIT``."""
    jobs = [whole_job(each, timing, LIMIT) for each in programs]
    measured = simulate(build_simulator(programs[0].config), jobs)
    for each, seen in zip(programs, measured, strict=True):
        yield each, run(each, words(each), timing=timing, control=Control(limit=LIMIT)), seen


def require_agreement(hold: Sequence[int] | None, made: Sequence[Case]) -> None:
    for each in verified(made):
        assert each.checks[-1].name == "end"
        if hold is not None:
            assert each.measured.cycles > max(hold)


@pytest.mark.parametrize("hold", [None, [0, 25]])
def test_tiles_of_a_pair_may_be_late(hold: Sequence[int] | None) -> None:
    require_agreement(hold, cases(PAIR, "all-gather ring", hold, **LIMITS))


@pytest.mark.slow
@pytest.mark.parametrize(
    ("topology", "name", "limits"),
    [
        (torus((3, 2)), "all-gather ring", {"vcs": 2, "barrier_registers": 3}),
        (hypercube(2), "all-to-all sbnt", {"all_port": True, "tile_ports": True}),
        (hypercube(2), "scatter sbnt", {"all_port": True, "parity": True}),
        (switch_star(3), "broadcast tree", {"link_registers": 1, "depth": 4}),
        (mesh((2, 2)), "broadcast eye", {"contention_free": True, "steps": 40}),
    ],
    ids=["torus", "all-port", "all-port parity", "switches", "contention-free"],
)
def test_other_networks(topology: Topology, name: str, limits: dict[str, Any]) -> None:
    require_agreement(None, cases(topology, name, programs=1, **limits))


def wrong_and_sound() -> list[Program]:
    """Return programs that fail, hang and succeed in turn; the last equals the first."""
    sound = {0: [put(1, (THERE, 1), length=3, target=4)]}
    made = [
        (sound, {1: [1]}),
        ({0: [put(1, (BACK, 1))]}, {1: [1]}),
        ({0: [put(1, (THERE, 1), length=2)]}, {1: [1, 2]}),
        ({0: [put(1, (THERE, 1), length=2, target=15)]}, {1: [1]}),
        (sound, {1: [1]}),
    ]
    return [program(rows, receives, PAIR, **LIMITS) for rows, receives in made]


@pytest.mark.parametrize("timing", TIMINGS)
def test_a_run_that_fails_or_hangs_says_why_and_the_next_one_is_as_ever(timing: Timing) -> None:
    told, ends = [], []
    for made, predicted, measured in outcomes(wrong_and_sound(), timing):
        assert measured.ending == predicted.ending
        difference = first_difference(predicted.trace, measured.trace)
        assert difference is None, difference.describe()
        assert (measured.memory == predicted.memory).all()
        assert (measured.flags == predicted.flags).all()
        ends.append(predicted.ending.state)
        told.append(waiting(made, measured)[:2])
    done, failed, late = EndState
    assert ends == [done, failed, late, failed, done]
    first, nowhere, hangs, beyond, last = told
    assert first == last == []
    assert nowhere[0] == (
        "the controller: failed in cycle 4; node 0 is the first that has set bad_route"
    )
    assert hangs == [
        "the controller: timed out in cycle 59; node 1 is the first that has not finished",
        "node 1 is in step 2, waits for a receive in step 2",
    ]
    assert beyond[0].endswith("node 1 is the first that has set bad_write")


def test_commands_and_python(eyecast: Command) -> None:
    line = ("--mesh", "2x1", "--source", "0,0", "--algorithm", "tree", "--words", "3")
    line += ("--programs", "2", "--tile-ports", "--parity", "--message-words", "16")
    held = ("--hold", "0,0:30")
    early = result(eyecast("predict", *line, "--json"))["cycles"]
    late = result(eyecast("predict", *line, *held, "--json"))["cycles"]
    # The row could begin in cycle 2, but begins in cycle 31.
    assert late == early + 29
    found = result(eyecast("verify", *line, *held, "--json"))
    assert found["agrees"]
    assert found["checks"][-1]["measured"] == "done"
    assert eyecast("predict", *line[:-4], "--hold", "0,0:3") == refusal("--hold needs --tile-ports")
    for wrong in ("0,0", "0,0:x", "5,0:3"):
        assert eyecast("predict", *line, "--hold", wrong).status == 2


def test_python_holds_tiles() -> None:
    made = eyecast.schedule(eyecast.mesh((2, 1)), "tree", source=0, words=3)
    result = eyecast.verify(made, hold={(0, 0): 30}, **LIMITS)
    assert result.agrees
    assert result.measured.cycles == eyecast.predict(made, **LIMITS).cycles + 29
