"""Runs for test pages: correct, crowded, and wrong."""

from dataclasses import fields, replace
from typing import Any

import numpy as np
from helpers.programs import changed

import eyecast
from eyecast.model.compare.case import Case
from eyecast.model.compare.checks import Verification, compare
from eyecast.model.compare.traffic_case import TrafficCase
from eyecast.model.cycle.model import run
from eyecast.model.network.config import NetworkConfig
from eyecast.model.network.segment import Segment
from eyecast.model.network.topology import mesh, ring, torus
from eyecast.model.program.compiler import fit
from eyecast.model.program.payload import empty_memory
from eyecast.model.program.program import Program
from eyecast.model.program.row import Row
from eyecast.model.run.run import HardwareRun, Run
from eyecast.model.traffic.program import traffic_program
from eyecast.model.traffic.traffic import draw_traffic
from eyecast.report.contents import Report
from eyecast.report.reports import report_prediction

HOSTILE = "</script><script>alert(1)</script><img src=x onerror=alert(2)>\u2028&lt;\x1b[31m{{data}}"
"""A name that must be escaped in HTML."""


def predicted(schedule: eyecast.Schedule, timing: str = "barrier", **parameters: Any) -> Case:
    """Predict a schedule on a network with room for it."""
    all_port = schedule.port_model == "all-port"
    config = NetworkConfig(topology=schedule.topology, all_port=all_port, **parameters)
    return Case.of(fit(config, [schedule])[1][0], timing=timing, seed=0)


def hostile_case() -> Case:
    made = eyecast.schedule(mesh((2, 2)), "eye", source=0, words=1)
    return predicted(replace(made, algorithm=HOSTILE, collective="custom"))


def crowd(seed: int = 3, **parameters: Any) -> TrafficCase:
    """Return traffic in which flits wait for each other."""
    parameters = {"vcs": 2, "link_registers": 1, "table_words": 1 << 12, **parameters}
    config = NetworkConfig(topology=torus((4, 4)), steps=1, timed_rows=True, **parameters)
    traffic = draw_traffic(config.topology, "uniform", rate=0.5, flits=4, cycles=150, seed=seed)
    return TrafficCase.of(traffic, traffic_program(traffic, config, seed), seed=seed)


def stuck_ring() -> Report:
    """Return the page of three packets on a ring: each holds the link that the next one needs."""
    config = NetworkConfig(topology=ring(3), steps=1, timed_rows=True)
    rows = [[Row(1, (Segment(1, 2, 0),), 0, 0, 9, start=0)] for _ in range(3)]
    program = Program.from_rows(config, "full-duplex", rows, [()] * 3, awaited=[1] * 3)
    stuck = run(program, empty_memory(config), timing="self-timed", cycle_limit=500)
    assert not stuck.finished
    return report_prediction("a ring", program, stuck, "self-timed")


def wrong_verification() -> Verification:
    """Return the result of a broadcast whose third send of node 0 leaves the mesh."""
    case = predicted(eyecast.schedule(mesh((4, 4)), "eye", source=0, words=4))
    rows = [list(node_rows) for node_rows in case.program.rows]
    rows[0][2] = replace(rows[0][2], route=(Segment(2, 1, 0),))
    memory = case.payload.memory(case.program.config)
    found = run(changed(case.program, rows=rows), memory, timing=case.timing, cycle_limit=300)
    nothing = np.zeros(16, dtype=np.int64)
    measured = HardwareRun(
        **{field.name: getattr(found, field.name) for field in fields(Run)},
        sender_state=nothing.reshape(16, 1),
        signature=nothing.astype(np.uint32),
        seconds=0,
    )
    return compare(case, measured)
