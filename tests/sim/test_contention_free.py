"""Routers without arbitration: the same trace if no two flits meet, a flag if they do."""

import dataclasses

import numpy as np
import pytest
from helpers.soak.programs import MESSAGE_WORDS, programs
from helpers.soak.samples import sampled
from helpers.verified import verified
from helpers.whole_jobs import whole_job

from eyecast.model.base.errors import InvalidInput
from eyecast.model.collectives.halving.eye import eye_broadcast
from eyecast.model.compare import case as case_module
from eyecast.model.compare.case import Case
from eyecast.model.cycle.model import run
from eyecast.model.network.config import NetworkConfig
from eyecast.model.network.segment import Segment
from eyecast.model.network.topology import mesh
from eyecast.model.program.compiler import Compiled
from eyecast.model.program.payload import random_words
from eyecast.model.program.program import Program
from eyecast.model.program.row import Row
from eyecast.model.run.trace import first_difference
from eyecast.rtl.parts.host_port import Flag
from eyecast.sim.build import build_simulator
from eyecast.sim.loading import prepare
from eyecast.sim.simulator import simulate

TOPOLOGY = mesh((2, 2))
CONFIG = NetworkConfig(topology=TOPOLOGY, contention_free=True)


def cases(config, timing):
    topology = config.topology
    return [
        Case.of(Compiled.of(eye_broadcast(topology, source, 5), config), timing=timing, seed=source)
        for source in range(topology.nodes)
    ]


@pytest.mark.parametrize(
    ("registers", "side"),
    [(0, 2), pytest.param(2, 4, marks=pytest.mark.slow)],
)
def test_every_source_as_on_buffered_routers(registers, side):
    changes = {"topology": mesh((side, side)), "link_registers": registers}
    config = dataclasses.replace(CONFIG, depth=2 * registers + 2, **changes)
    list(verified([*cases(config, "barrier"), *cases(config, "self-timed")]))


def test_two_flits_that_meet_set_a_flag():
    rows = [()] * TOPOLOGY.nodes
    rows[0] = (Row(1, (Segment(1, 1, 0),), 0, 0, 1),)
    rows[3] = (Row(1, (Segment(4, 1, 0),), 0, 0, 1),)
    receives = [()] * TOPOLOGY.nodes
    receives[1] = (1,)
    program = Program.from_rows(CONFIG, "full-duplex", tuple(rows), tuple(receives))
    job = prepare(program, [], timing="barrier", read_words=0, cycle_limit=100)
    (measured,) = simulate(build_simulator(CONFIG), [job])
    assert measured.flags[1] >> Flag.OVERFLOW & 1
    assert not measured.flags[[0, *range(2, TOPOLOGY.nodes)]].any()
    assert not measured.finished


def test_a_program_that_waits_is_refused(monkeypatch):
    def waiting(*arguments, **options):
        predicted = run(*arguments, **options)
        return dataclasses.replace(predicted, stalled_flits=np.ones(TOPOLOGY.nodes, dtype=int))

    monkeypatch.setattr(case_module, "run_any", waiting)
    with pytest.raises(InvalidInput, match="flits that wait must be none in a contention-free"):
        Case.of(Compiled.of(eye_broadcast(TOPOLOGY, 0, 5), CONFIG), timing="barrier", seed=0)


@pytest.mark.slow
def test_drawn_programs_in_which_no_flit_waits_run_as_on_buffered_routers():
    """A program in which a flit waits sets a flag."""
    direct = dataclasses.replace(
        CONFIG,
        **{"topology": mesh((6,)), "streams": True, "vcs": 2, "message_words": MESSAGE_WORDS},
        table_words=1 << 10,
    )
    buffered = dataclasses.replace(direct, contention_free=False)
    memory = random_words(direct, (6, MESSAGE_WORDS), 1)
    cases, same = (sampled(programs(each, 1, (1, 6)), 0, 100) for each in (direct, buffered))
    jobs = [whole_job(made, "barrier", 1500, memory) for made in cases]
    free = waited = 0
    for made, measured in zip(same, simulate(build_simulator(direct), jobs), strict=True):
        predicted = run(made, memory, timing="barrier", cycle_limit=1500)
        if predicted.finished and not predicted.stalled_flits.any():
            assert first_difference(predicted.trace, measured.trace) is None
            assert (measured.finished, measured.cycles) == (True, predicted.cycles)
            for name in ("memory", "arrived", "flags", "stalled_flits"):
                assert (getattr(measured, name) == getattr(predicted, name)).all()
            free += 1
        else:
            assert measured.flags.any()
            waited += 1
    assert min(free, waited) > 10
