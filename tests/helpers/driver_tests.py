"""cocotb tests of the drivers for a network with a controller and tile ports: a line of two nodes.

The folder that ``EYECAST_RUN`` names has a broadcast from node 0 and its image.
"""

import os
import random
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import cocotb
from cocotb.clock import Clock

from eyecast.model.image.host_port import Space
from eyecast.model.image.image_file import read_image
from eyecast.testbench import ControllerDriver, TileDriver
from eyecast.testbench.controller_driver import Refused

PERIOD = 2
IMAGE = read_image(Path(os.environ["EYECAST_RUN"]) / "image.csv")
LOADS = [write for write in IMAGE.writes if write[1] != Space.MESSAGE]
WORDS = [word for _, space, _, word in IMAGE.writes if space == Space.MESSAGE]
DONE = 3
NO_SUCH_WORD, NOT_NOW = 1, 2


def pauses(seed: int) -> Iterator[bool]:
    """Yield pauses in a third of all cycles."""
    draw = random.Random(seed)
    while True:
        yield draw.random() < 1 / 3


async def begin(
    dut: Any, idles: Iterator[bool] | None
) -> tuple[ControllerDriver, TileDriver, TileDriver]:
    """Reset the network; return its host and both of its tiles."""
    Clock(dut.clk, PERIOD, unit="step").start()
    host = ControllerDriver(dut, idles=idles)
    tiles = [
        TileDriver(dut, node, idles=None if idles is None else pauses(node)) for node in (0, 1)
    ]
    await host.reset()
    return host, *tiles


@cocotb.test()
@cocotb.parametrize(idles=[False, True])
async def test_a_host_loads_starts_and_reads(dut: Any, idles: bool) -> None:
    """A run ends as predicted, with or without pauses of the host."""
    host, *_ = await begin(dut, pauses(5) if idles else None)
    await host.load(IMAGE.writes)
    await host.start()
    assert await host.wait(1000 * PERIOD)
    assert int(dut.cycle.value) == IMAGE.cycles
    assert await host.result() >> 8 & 7 == DONE
    assert [await host.read(1, Space.MESSAGE, at) for at in range(len(WORDS))] == WORDS


@cocotb.test()
async def test_a_host_is_refused(dut: Any) -> None:
    """The network refuses to read tables and to start a missing program; then it works on."""
    host, *_ = await begin(dut, None)
    for asked, refusal in ((host.read(0, Space.TABLE, 0), NO_SUCH_WORD), (host.start(), NOT_NOW)):
        try:
            await asked
        except Refused as error:
            assert error.refusal == refusal
        else:
            raise AssertionError(f"not refused with {refusal}")
    await host.write(1, Space.MESSAGE, 2, 77)
    assert await host.read(1, Space.MESSAGE, 2) == 77


@cocotb.test()
@cocotb.parametrize(idles=[False, True])
async def test_tiles_write_and_read_at_the_same_time(dut: Any, idles: bool) -> None:
    """The tile and the host read back the words that the tile wrote."""
    host, first, second = await begin(dut, pauses(6) if idles else None)
    ours, others = drawn(10 + idles), drawn(20 + idles)
    await write_all(second, others)
    writing = cocotb.start_soon(write_all(first, ours))
    assert [await second.read(at) for at in range(len(WORDS))] == others
    await writing
    assert [await host.read(0, Space.MESSAGE, at) for at in range(len(WORDS))] == ours
    assert [await first.read(at) for at in reversed(range(len(WORDS)))] == ours[::-1]


@cocotb.test()
@cocotb.parametrize(idles=[False, True])
async def test_a_tile_holds_its_node_and_hears_of_the_packet(dut: Any, idles: bool) -> None:
    """A held node sends nothing; when its tile lets it go, the other tile gets the words."""
    host, first, second = await begin(dut, pauses(7) if idles else None)
    await host.load(LOADS)
    first.hold(True)
    await host.start()
    assert not await host.wait(100 * PERIOD)
    rung = cocotb.start_soon(second.doorbell())
    words = drawn(30 + idles)
    await write_all(first, words)
    first.hold(False)
    assert await rung == 1
    assert [await second.read(at) for at in range(len(WORDS))] == words
    assert dut.done.value


def drawn(seed: int) -> list[int]:
    """Draw as many words as the message has; no other test writes these."""
    draw = random.Random(seed)
    return [draw.getrandbits(32) for _ in WORDS]


async def write_all(tile: TileDriver, words: list[int]) -> None:
    """Write words from address 0 on, as a tile does."""
    for at, word in enumerate(words):
        await tile.write(at, word)
