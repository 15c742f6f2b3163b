"""A bench in which only tiles write and read messages; it counts cycles at their ports.

Tile ``source`` writes a word in each cycle from cycle 0 on, as soon as a run has begun. Each tile
reads a word in each cycle after its doorbell has rung. The host loads programs and starts one, and
accesses no message.
"""

import json
from pathlib import Path
from typing import Any

import cocotb
from cocotb.clock import Clock
from cocotb.triggers import FallingEdge

from eyecast.sim.host_of_controller import HostOfController
from eyecast.sim.job import Job

PLAN, SEEN = "plan.json", "seen.json"
PERIOD = 2
MOST_CYCLES = 2000


class Tile:
    """The port of a node's tile, and the words read; ``last`` is the cycle of the last word."""

    def __init__(self, dut: Any, node: int, words: int, message: list[int]) -> None:
        names = (
            "write_valid write_ready write_address write_data read_valid read_ready "
            "read_address read_answered read_data arrived"
        )
        self.port = {name: getattr(dut, f"tile_{node}__{name}") for name in names.split()}
        self.words, self.message = words, message
        self.written, self.asked, self.read = 0, 0, []
        self.arrived = bool(message)
        self.last = 0

    def act(self, cycle: int) -> None:
        """Look at the port in the second half of a cycle, and make a request in the same cycle."""
        port = self.port
        if port["read_answered"].value:
            self.read.append(port["read_data"].value.to_unsigned())
            self.last = cycle
        self.arrived |= bool(port["arrived"].value)
        writes = self.written < len(self.message)
        port["write_valid"].value = int(writes)
        if writes:
            port["write_address"].value = self.written
            port["write_data"].value = self.message[self.written]
            self.written += int(port["write_ready"].value)
        reads = self.arrived and self.asked < self.words and not self.message
        port["read_valid"].value = int(reads)
        if reads:
            port["read_address"].value = self.asked
            self.asked += int(port["read_ready"].value)


@cocotb.test()
async def run_tiles(dut: Any) -> None:
    """Carry out the plan: a job, the node whose tile has the message, and the message."""
    Clock(dut.clk, PERIOD, unit="step", impl="gpi").start()
    plan = json.loads(Path(PLAN).read_text())
    job = Job(**plan["job"])
    host = HostOfController(dut, PERIOD)
    await host.load(job)
    message = plan["message"]
    tiles = [
        Tile(dut, node, len(message), message if node == plan["source"] else [])
        for node in range(job.nodes)
    ]
    started = cocotb.start_soon(host.run(job))
    running = dut.tile_0__running
    while not running.value:
        await FallingEdge(dut.clk)
    receivers = [tile for tile in tiles if not tile.message]
    for cycle in range(MOST_CYCLES):
        for tile in tiles:
            tile.act(cycle)
        if all(len(tile.read) == tile.words for tile in receivers):
            break
        await FallingEdge(dut.clk)
    await started
    seen = {
        "read": [tile.read for tile in tiles],
        "last": max(tile.last for tile in tiles),
        "cycles": int(dut.cycle.value),
        "done": bool(dut.done.value),
    }
    Path(SEEN).write_text(json.dumps(seen))
