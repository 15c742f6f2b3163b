"""A bench: tile ports behind AXI-Stream, driven by sources and sinks of cocotbext-axi.

The words that a tile writes and reads are compared with a list and with reads by AXI4-Lite.
"""

import random
from typing import Any

import cocotb
from cocotb.triggers import RisingEdge
from cocotbext.axi import AxiStreamBus, AxiStreamFrame, AxiStreamSink, AxiStreamSource

from .axi_lite_bench import begun
from .bus_bench import hold_to_the_rules, pauses
from .engine_spaces import COMMAND, CONTROLLER, MESSAGE, START

LONGEST = 9


class Tile:
    """A node's streams, and the upper half of the memory, which only this tile writes."""

    def __init__(self, dut: Any, node: int, words: int, bits: int, seed: int) -> None:
        def bus(name: str) -> AxiStreamBus:
            return AxiStreamBus.from_prefix(dut, f"{name}_{node}")

        self.dut, self.node, self.draw = dut, node, random.Random(seed)
        self.bits = bits
        clock = dut.clk, dut.rst
        # A beat is a word: the models then count words, not bytes.
        self.writer = AxiStreamSource(bus("s_axis_write"), *clock, byte_lanes=1)
        self.commands = AxiStreamSource(bus("s_axis_read"), *clock, byte_lanes=1)
        self.reader = AxiStreamSink(bus("m_axis_read"), *clock, byte_lanes=1)
        for place, end in enumerate((self.writer, self.commands, self.reader)):
            end.set_pause_generator(pauses(seed + place))
        names = (f"m_axis_read_{node}_{name}" for name in ("tdata", "tlast", "tuser"))
        valid, ready = (f"m_axis_read_{node}_{name}" for name in ("tvalid", "tready"))
        cocotb.start_soon(hold_to_the_rules(dut, valid, ready, *names))
        self.memory: list[int] = [0] * words
        self.own = words // 2
        self.refused = self.must_be_refused = self.messages = 0
        cocotb.start_soon(self.count_refused())

    async def count_refused(self) -> None:
        """Count the refused words, those beyond the memory."""
        told_of = getattr(self.dut, f"tile_{self.node}__write_refused")
        while True:
            await RisingEdge(getattr(self.dut, "engine_clk", self.dut.clk))
            self.refused += int(told_of.value)

    def address(self) -> int:
        """Draw an address: most messages begin in the memory, some beyond it, a few far beyond."""
        far = self.draw.choice((len(self.memory), len(self.memory) + 12, 0xFFFC, 1 << 15))
        return self.draw.choice((*([self.draw.randrange(self.own, len(self.memory))] * 7), far))

    async def write(self) -> None:
        """Write a message, and record the words that the memory then holds."""
        address, count = self.address(), self.draw.randrange(LONGEST)
        content = [self.draw.getrandbits(self.bits) for _ in range(count)]
        above = self.draw.getrandbits(16) << 16
        await self.writer.send(AxiStreamFrame([address | above, *content]))
        for place, word in enumerate(content, address):
            if place < len(self.memory):
                self.memory[place] = word
            else:
                self.must_be_refused += 1

    async def read(self) -> None:
        """Ask for one or more messages at once; require all their words."""
        asked = [(self.address(), self.draw.randrange(1, LONGEST)) for _ in range(3)]
        for address, count in asked:
            await self.commands.send(AxiStreamFrame([address | count - 1 << 16]))
        for address, count in asked:
            frame = await self.reader.recv(compact=False)
            places = range(address, address + count)
            there = [place < len(self.memory) for place in places]
            words = [
                self.memory[place] if is_there else 0
                for place, is_there in zip(places, there, strict=True)
            ]
            assert list(frame.tdata) == words, (address, count)
            assert list(frame.tuser) == [int(not is_there) for is_there in there]

    async def use(self, messages: int) -> None:
        """Write and read in turns; a read begins when all written words are in the memory."""
        while self.messages < messages:
            for _ in range(self.draw.randrange(4)):
                await self.write()
                self.messages += 1
            await self.writer.wait()
            await RisingEdge(self.dut.clk)
            await RisingEdge(self.dut.clk)
            await self.read()
            self.messages += 3
        assert self.refused == self.must_be_refused > 0


@cocotb.test()
async def random_messages_while_programs_run(dut: Any) -> None:
    """Tiles use the upper half of their memories, and programs run in the lower half."""
    bench = await begun(dut)
    given, pieces = bench.told, bench.spaces.pieces
    words, bits = bench.spaces.message_words // pieces, bench.spaces.word_bits
    tiles = [Tile(dut, node, words, bits * pieces, given["seed"] + 10 * node) for node in (1, 2)]
    await bench.load(1)
    working = [cocotb.start_soon(tile.use(given["messages"])) for tile in tiles]
    source, first, target, at, length = given["copies"]
    runs = 0
    while not all(task.done() for task in working):
        sent = [bench.draw.getrandbits(bits) for _ in range(length)]
        for place, word in enumerate(sent, first):
            await bench.write(MESSAGE, source, place, word)
        await bench.write(CONTROLLER, 0, COMMAND, START | 1 << 8)
        await bench.until("done")
        assert int(dut.cycle.value) == given["cycles"]
        for place, word in enumerate(sent, at):
            assert await bench.read(MESSAGE, target, place) == word
        runs += 1
    assert runs > 3
    for tile, task in zip(tiles, working, strict=True):
        await task
        for place in range(tile.own, len(tile.memory)):
            begin = pieces * place
            found = [await bench.read(MESSAGE, tile.node, begin + piece) for piece in range(pieces)]
            assert (
                sum(each << bits * number for number, each in enumerate(found))
                == tile.memory[place]
            )
