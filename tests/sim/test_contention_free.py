"""Routers without arbitration: the same trace if no two flits meet, a flag if they do."""

import dataclasses

import numpy as np
import pytest
from helpers.verified import verified

from eyecast.model.base.errors import InvalidInput
from eyecast.model.collectives.halving.eye import eye_broadcast
from eyecast.model.compare import case as case_module
from eyecast.model.compare.case import Case
from eyecast.model.cycle.model import run
from eyecast.model.network.config import NetworkConfig
from eyecast.model.network.segment import Segment
from eyecast.model.network.topology import mesh
from eyecast.model.program.compiler import Compiled
from eyecast.model.program.program import Program
from eyecast.model.program.row import Row
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
