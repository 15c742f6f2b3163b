"""cocotb tests of the monitor of an interface, beside the cycle model.

The folder that ``EYECAST_RUN`` names has a program and its image.
"""

import os
from pathlib import Path
from typing import Any

import cocotb
from cocotb.clock import Clock
from cocotb.triggers import FallingEdge

from eyecast.model.cycle.any_run import run_any
from eyecast.model.image.image_file import read_image
from eyecast.model.program.file import read_program
from eyecast.model.run.trace import Flit
from eyecast.testbench import HostDriver, InterfaceMonitor
from eyecast.testbench.monitor import Sampler

PERIOD = 2
NODE = 1
FOLDER = Path(os.environ["EYECAST_RUN"])


@cocotb.test()
async def test_the_monitor_sees_what_the_interface_does(dut: Any) -> None:
    """The delivered flits, the last step and the end of the node are those of the model."""
    program, image = read_program(FOLDER / "program.json"), read_image(FOLDER / "image.csv")
    predicted = run_any(program, image.memory, timing=image.timing)
    Clock(dut.clk, PERIOD, unit="step").start()
    host = HostDriver(dut)
    await host.load(image.writes)
    monitor = InterfaceMonitor(dut, program.config, NODE, Sampler(dut))
    delivered: list[Flit] = []
    for lane in monitor.ejections:
        lane.on_flit(delivered.append)
    cocotb.start_soon(host.start(barrier=image.timing == "barrier", half_duplex=image.half_duplex))
    steps = []
    while not steps or not monitor.finished:
        await FallingEdge(dut.clk)
        steps.append(monitor.step)
        assert not monitor.flagged
    assert await host.wait(1000 * PERIOD)
    ours = [flit for flit in predicted.trace if flit.node == NODE and flit.port == 0]
    assert [(flit.cycle, flit.data) for flit in delivered] == [(f.cycle, f.data) for f in ours]
    assert monitor.step == predicted.step[NODE]
    assert steps == sorted(steps, key=lambda step: -1 if step is None else step)
