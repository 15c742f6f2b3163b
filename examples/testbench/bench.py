"""A testbench in cocotb for an exported network: it loads, runs and judges a program."""

import cocotb
from cocotb.clock import Clock

from eyecast import read_program
from eyecast.model.image.host_port import CONTROLLER, Register
from eyecast.model.image.image_file import read_image
from eyecast.testbench import ControllerDriver, NetworkMonitor, Scoreboard
from eyecast.testbench.controller_driver import Command


@cocotb.test()
async def test_every_node_is_delivered(dut):
    """Every packet arrives as and when the golden model says."""
    program, image = read_program("program.json"), read_image("image.csv")
    Clock(dut.clk, 2, unit="ns").start()
    host = ControllerDriver(dut)
    await host.reset()
    await host.load(image.writes)
    await host.write(0, CONTROLLER, Register.ENABLE, 1)
    scoreboard = Scoreboard(program, image.memory, timing=image.timing)
    scoreboard.watch(NetworkMonitor(dut, program.config))
    await host.start()
    assert not dut.interrupt.value, "the interrupt comes too early"
    assert await host.wait(2000, "ns"), "the run is not done"
    scoreboard.check_done(int(dut.cycle.value))
    assert dut.done.value and dut.interrupt.value, "done and interrupt tell the end"
    await host.command(Command.ACKNOWLEDGE)
    assert not dut.interrupt.value, "the interrupt ends with the acknowledge"
    for node, first, words in image.after:
        for address, word in enumerate(words, first):
            assert await host.read(node, 0, address) == word, f"node {node}, word {address}"
