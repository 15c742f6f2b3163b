"""Images, written by the command, on an engine: loaded while it runs, started, and read."""

from pathlib import Path

import pytest
from amaranth.hdl import ClockDomain
from helpers.command import Command
from helpers.engine_host import COMMAND, CONTROLLER, MESSAGE, START, Engine, Host
from helpers.toy_engine import read_image

from eyecast.model.network.config_file import network_from_json


@pytest.mark.slow
@pytest.mark.parametrize("registers", [0, 3])
def test_two_images_are_loaded_and_run(
    eyecast: Command, here: Path, clock: ClockDomain, registers: int
) -> None:
    """Each run ends with the memories and in the cycle that its description states."""
    network = ("--mesh", "2x2", "--vcs", "1", "--programs", "2", "--message-words", "8")
    network += ("--barrier-registers", str(registers), "--words", "3")
    for number, more in enumerate(("--source 0,0", "--source 1,1 --timing self-timed --base 6")):
        options = (*more.split(), "--number", str(number), "--image", f"{number}.csv")
        assert eyecast("program", *network, *options).errors == ""
    images = [read_image(here / f"{number}.csv") for number in range(2)]
    engine = Engine(clock, network_from_json(images[0][1]["network"]))

    async def bench(host: Host) -> None:
        for number, (writes, described) in enumerate(images):
            for node, space, address, word in writes:
                await host.write(space, node, address, word)
            latencies, cycles = described["latencies"], described["run"]["cycles"]
            late = latencies["answer_to_cycle_0"] + cycles + latencies["finished_to_done"]
            assert await cycles_to_done(host, START | number << 8) == late
            assert host.ctx.get(host.network.cycle) == cycles
            for part in described["run"]["memory"]:
                for address, word in enumerate(part["words"], part["address"]):
                    assert await host.read(MESSAGE, part["node"], address) == int(word, 16)

    engine.simulate(bench)


async def cycles_to_done(host: Host, command: int) -> int:
    """Give a command; return the cycles from its answer until ``done`` is high."""
    ctx, port = host.ctx, host.network.host
    signals = {"valid": 1, "write": 1, "space": CONTROLLER, "node": 0, "address": COMMAND}
    for name, value in {**signals, "write_data": command}.items():
        ctx.set(getattr(port, name), value)
    while not ctx.get(port.ready):
        await ctx.tick()
    await ctx.tick()
    ctx.set(port.valid, 0)
    answered = None
    for cycle in range(1, 500):
        if ctx.get(port.answered):
            answered = cycle
        elif answered is not None and ctx.get(host.network.done):
            return cycle - answered
        await ctx.tick()
    raise AssertionError("never done")
