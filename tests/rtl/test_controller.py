"""The controller alone: refused starts, and interrupts (docs/router.md, section 16)."""

from typing import Any

import pytest
from amaranth.hdl import ClockDomain
from helpers.engine_host import (
    ACKNOWLEDGE,
    CONTROLLER,
    DONE,
    ENABLE,
    FAILED,
    IDLE,
    IMAGE,
    NOT_NOW,
    QUEUED,
    START,
    STOP,
    TIMED_OUT,
    Engine,
    Host,
)

from eyecast.model.network.config import NetworkConfig
from eyecast.model.network.config_file import identity
from eyecast.model.network.topology import mesh
from eyecast.rtl.controller import Controller

CONFIG = NetworkConfig(topology=mesh((2, 2)), programs=3, table_words=20)
FLAGS = 0x40
"""The culprit's flags, as it answers the controller."""


class Alone(Engine):
    """A controller whose nodes the bench plays."""

    def __init__(self, clock: ClockDomain) -> None:
        controller = Controller(CONFIG)
        super().__init__(clock, CONFIG, network=controller)
        tiles, m = controller.tiles, self.module
        m.d.sync += [
            tiles.answered.eq(tiles.valid & ~tiles.answered),
            tiles.read_data.eq(FLAGS),
        ]
        m.d.comb += controller.nodes.heard.eq(1)


@pytest.fixture
def engine(clock: ClockDomain) -> Alone:
    return Alone(clock)


async def enter(host: Host, number: int, base: int, words: int, limit: int = 0) -> None:
    """Write the directory entry of a program."""
    for place, word in enumerate((base, words, 0, limit), 8 + 4 * number):
        await host.write(CONTROLLER, 0, place, word)


async def end(host: Host, **seen: int) -> None:
    """Show the controller this state of the nodes for one cycle."""
    nodes = host.network.nodes
    for name, value in seen.items():
        host.ctx.set(getattr(nodes, name), value)
    await host.ctx.tick()
    for name in seen:
        host.ctx.set(getattr(nodes, name), 0)


async def running(host: Host) -> None:
    """Wait for the first cycle of a run."""
    while host.ctx.get(host.network.reset):
        await host.ctx.tick()


def test_starts_that_are_refused(engine: Alone) -> None:
    async def bench(host: Host) -> None:
        mine = identity(CONFIG)
        await enter(host, 0, base=12, words=8)
        for image in (0, mine ^ 1 << 31, mine ^ 1):
            await host.write(CONTROLLER, 0, IMAGE, image)
            assert await host.command(START, 0) == NOT_NOW
        await host.write(CONTROLLER, 0, IMAGE, mine)
        # Programs that are not loaded: an empty entry, and numbers beyond the directory.
        for number in (1, 3, 16, 255):
            assert await host.command(START, number) == NOT_NOW
        for base, words in ((13, 8), (12, 9), (2**32 - 1, 2)):
            await enter(host, 2, base, words)
            assert await host.command(START, 2) == NOT_NOW
        assert (await host.result()).state == IDLE
        assert await host.command(START, 0) == 0
        await enter(host, 1, base=0, words=1)
        assert await host.command(START, 1) == 0
        # With one program queued, neither the same nor another can be queued.
        for number in (0, 1):
            assert await host.command(START, number) == NOT_NOW
        assert await host.read(CONTROLLER, 0, QUEUED) == 2
        assert await host.command(STOP) == 0
        assert await host.read(CONTROLLER, 0, QUEUED) == 0
        assert (await host.result()).state == IDLE

    engine.simulate(bench)


@pytest.mark.parametrize(
    ("seen", "limit", "state"),
    [
        ({"finished": 1}, 0, DONE),
        ({"flagged": 1, "first_flagged": 3}, 0, FAILED),
        ({}, 9, TIMED_OUT),
    ],
    ids=["done", "failed", "timed out"],
)
def test_the_interrupt_of_a_run_that_ends(
    engine: Alone, seen: dict[str, Any], limit: int, state: int
) -> None:
    async def bench(host: Host) -> None:
        interrupt = host.network.interrupt
        await host.write(CONTROLLER, 0, IMAGE, identity(CONFIG))
        await enter(host, 0, 0, 5, limit)
        await host.write(CONTROLLER, 0, ENABLE, 1)
        for stops in (True, False):
            assert await host.command(START, 0) == 0
            await running(host)
            if stops:
                assert await host.command(STOP) == 0
            else:
                await end(host, **seen)
                await host.until("done", "error", limit=20)
            assert host.ctx.get(interrupt) != stops
        result = await host.result()
        assert result.state == state
        assert result.culprit == seen.get("first_flagged", 0)
        await host.write(CONTROLLER, 0, ENABLE, 0)
        assert not host.ctx.get(interrupt)
        await host.write(CONTROLLER, 0, ENABLE, 1)
        assert host.ctx.get(interrupt)
        assert await host.command(ACKNOWLEDGE) == 0
        assert not host.ctx.get(interrupt)
        if state == FAILED:
            assert (await host.result()).flags == FLAGS

    engine.simulate(bench)
