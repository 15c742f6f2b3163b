"""A testbench in cocotb for an exported network: it loads, runs and judges a program."""

import cocotb
from cocotb.clock import Clock

from eyecast import read_program
from eyecast.model.image.image_file import read_image
from eyecast.testbench import HostDriver, NetworkMonitor, Scoreboard


@cocotb.test()
async def test_every_node_is_delivered(dut):
    """Every packet arrives as and when the golden model says."""
    program, image = read_program("program.json"), read_image("image.csv")
    Clock(dut.clk, 2, unit="ns").start()
    host = HostDriver(dut)
    await host.load(image.writes)
    scoreboard = Scoreboard(program, image.memory, timing=image.timing)
    scoreboard.watch(NetworkMonitor(dut, program.config))
    await host.start(barrier=image.timing == "barrier", half_duplex=image.half_duplex)
    assert await host.wait(2000, "ns"), "the run is not done"
    scoreboard.check_done(int(dut.cycle.value))
    assert int(dut.done.value) == 1
    await host.reset()
    for node, first, words in image.after:
        for address, word in enumerate(words, first):
            assert await host.read(node, 0, address) == word, f"node {node}, word {address}"
