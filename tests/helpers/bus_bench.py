"""Trials for every bus in front of an engine, with any driver."""

import random
from collections.abc import Iterator
from typing import Any, Protocol

from cocotb.clock import Clock
from cocotb.triggers import ClockCycles, RisingEdge

from .bus_simulator import told
from .engine_spaces import (
    ACKNOWLEDGE,
    COMMAND,
    CONTROLLER,
    CYCLE,
    DONE,
    DONE_STATE,
    ENABLE,
    ENTRY_WORDS,
    IDENTITY,
    IMAGE,
    MESSAGE,
    NO_SUCH_WORD,
    NOT_NOW,
    QUEUED,
    REFUSED,
    RESULT,
    START,
    STOP,
    TABLE,
    Access,
    Spaces,
    drawn,
)

PERIOD = 2
NOTHING = Access(0, 0, 0)
"""A read, for a bus that gets the address separately."""
RUNNING_STATE = 2


class Bus(Protocol):
    """A driver of a bus, for the benches of all buses."""

    async def carry_out(self, access: Access, address: int) -> tuple[int, int]:
        """Carry out an access; return the word read, or 0 for a write, and the bus's answer."""

    def answer(self, refusal: int) -> int:
        """Return the bus's answer to an access that the engine refuses this way."""


def pauses(seed: int) -> Iterator[bool]:
    """Yield a channel's pauses, cycle by cycle: long stretches without any, and with many."""
    draw = random.Random(seed)
    while True:
        share = draw.choice((0, 0, 0.3, 0.8))
        for _ in range(draw.randrange(1, 40)):
            yield draw.random() < share


async def begin(dut: Any) -> None:
    """Clock and reset an engine, with all other inputs at 0."""
    for name in dir(dut):
        if name.startswith(("s_axi_", "s_axis_", "m_axis_", "wb_", "tile_")) or name == "rst":
            handle = getattr(dut, name)
            if not name.endswith(("ready", "_o")) or name.startswith("m_axis"):
                handle.value = 0
    dut.rst.value = 1
    if not hasattr(dut, "engine_clk"):
        Clock(dut.clk, PERIOD, unit="step").start()
        await ClockCycles(dut.clk, 4)
        dut.rst.value = 0
        return
    bus_period, engine_period = told()["periods"]
    dut.engine_rst.value = 1
    Clock(dut.clk, bus_period, unit="step").start()
    Clock(dut.engine_clk, engine_period, unit="step").start()
    await ClockCycles(dut.clk, 20)
    dut.rst.value = 0
    dut.engine_rst.value = 0
    await ClockCycles(dut.clk, 20)


async def hold_to_the_rules(dut: Any, valid: str, ready: str, *payload: str) -> None:
    """Fail if an engine's channel withdraws an offer before the bus takes it."""
    signals = [getattr(dut, name) for name in (valid, *payload)]
    before = None
    while True:
        await RisingEdge(dut.clk)
        shown = [int(signal.value) for signal in signals]
        assert before is None or before == shown, (valid, before, shown)
        waits = shown[0] and not int(getattr(dut, ready).value) and not int(dut.rst.value)
        before = shown if waits else None


class Bench:
    """An engine, the bus in front of it, and its expected words."""

    def __init__(self, dut: Any, bus: Bus, told: dict[str, Any]) -> None:
        self.dut, self.bus, self.told = dut, bus, told
        self.spaces = Spaces(**told["spaces"])
        self.draw = random.Random(told["seed"])
        self.answers = {DONE: 0, NO_SUCH_WORD: 0, NOT_NOW: 0}

    async def check(self, access: Access) -> int:
        """Carry out an access, require the model's answer, and return the word read."""
        expected, refusal = self.spaces.carry_out(access)
        word, answer = await self.bus.carry_out(access, self.spaces.byte_address(access))
        assert answer == self.bus.answer(refusal), (access, answer, refusal)
        self.answers[refusal] += 1
        if access.data is None and not refusal and expected is not None:
            assert word == expected, (access, word, expected)
        return word

    async def write(self, region: int, node: int, word: int, data: int, refusal: int = 0) -> None:
        """Write a word without the model, except for the refusal that the model predicts."""
        access = Access(region, node, word, data)
        address = self.spaces.byte_address(access)
        _, answer = await self.bus.carry_out(access, address)
        assert answer == self.bus.answer(refusal), (access, answer, refusal)
        if refusal:
            assert await self.read(CONTROLLER, 0, REFUSED) == address | refusal

    async def read(self, region: int, node: int, word: int) -> int:
        access = Access(region, node, word)
        found, answer = await self.bus.carry_out(access, self.spaces.byte_address(access))
        assert answer == self.bus.answer(DONE)
        return found

    async def command(self, command: int, program: int = 0, refusal: int = 0) -> None:
        await self.write(CONTROLLER, 0, COMMAND, command | program << 8, refusal)

    async def load(self, program: int) -> None:
        """Load the program from its base on, and the identity."""
        first = 8 + ENTRY_WORDS * program
        base = self.told["bases"][program]
        for node, table in enumerate(self.told["tables"]):
            for place, word in enumerate(table, base):
                if node not in self.spaces.switches:
                    await self.check(Access(TABLE, node, place, word))
        for place, word in enumerate((base, self.told["length"], 1, 0), first):
            await self.check(Access(CONTROLLER, 0, place, word))
        await self.check(Access(CONTROLLER, 0, IMAGE, self.spaces.identity))

    async def until(self, name: str, cycles: int = 500) -> None:
        """Wait for one of the engine's outputs."""
        for _ in range(cycles):
            if int(getattr(self.dut, name).value):
                return
            await RisingEdge(self.dut.clk)
        raise AssertionError(f"{name} stays 0")

    async def run(self, program: int) -> None:
        """Run the program, which copies words."""
        await self.check(Access(CONTROLLER, 0, COMMAND, START | program << 8))
        await self.until("done")
        spaces, memory = self.spaces, self.spaces.memory
        source, begin_at, target, at, length = self.told["copies"]
        memory.update({(target, at + i): memory[source, begin_at + i] for i in range(length)})
        spaces.state, spaces.program, spaces.cycle = DONE_STATE, program, self.told["cycles"]

    async def random_accesses(self, count: int) -> None:
        """Carry out random accesses with a run in the middle; then read every message word."""
        for _ in range(count // 2):
            await self.check(drawn(self.spaces, self.draw))
        await self.load(1)
        await self.run(1)
        for _ in range(count - count // 2):
            await self.check(drawn(self.spaces, self.draw))
        assert min(self.answers.values()) > count // 100, self.answers
        for node in set(range(self.spaces.nodes)) - set(self.spaces.switches):
            for word in range(self.spaces.message_words):
                await self.check(Access(MESSAGE, node, word))

    async def refusals(self) -> None:
        """Require the refusal of every impossible request, and its success once it is possible."""
        spaces, held = self.spaces, getattr(self.dut, self.told["hold"])
        bases, length = self.told["bases"], self.told["length"]
        node = self.told["copies"][0]
        assert await self.read(CONTROLLER, 0, IDENTITY) == spaces.identity
        await self.write(MESSAGE, spaces.nodes, 0, 1, NO_SUCH_WORD)
        # A program that is not loaded; one of another network; one that does not fit.
        await self.command(START, 0, NOT_NOW)
        await self.load(0)
        await self.load(1)
        await self.write(CONTROLLER, 0, IMAGE, spaces.identity ^ 1)
        await self.command(START, 0, NOT_NOW)
        await self.write(CONTROLLER, 0, IMAGE, spaces.identity)
        await self.write(CONTROLLER, 0, 8, spaces.table_words - length + 1)
        await self.command(START, 0, NOT_NOW)
        await self.write(CONTROLLER, 0, 8, bases[0])
        # During a held run, its program cannot be written.
        await self.write(CONTROLLER, 0, ENABLE, 1)
        held.value = 1
        await self.command(START, 0)
        await ClockCycles(self.dut.clk, 30)
        assert await self.read(CONTROLLER, 0, RESULT) == RUNNING_STATE << 8
        await self.write(TABLE, node, bases[0], 0, NOT_NOW)
        await self.write(CONTROLLER, 0, 8, bases[0], NOT_NOW)
        await self.command(START, 1)
        assert await self.read(CONTROLLER, 0, QUEUED) == 2
        await self.command(START, 1, NOT_NOW)
        await self.write(TABLE, node, bases[1] + length - 1, 0, NOT_NOW)
        await self.write(MESSAGE, node, 19, 77)
        assert await self.read(MESSAGE, node, 19) == 77
        # The queued run follows the first at once.
        assert not int(self.dut.interrupt.value)
        held.value = 0
        await self.until("interrupt")
        await ClockCycles(self.dut.clk, 4)
        assert int(self.dut.busy.value)
        await self.until("done")
        result = await self.read(CONTROLLER, 0, RESULT)
        assert result == DONE_STATE << 8 | 1 << 12
        assert await self.read(CONTROLLER, 0, CYCLE) == self.told["cycles"]
        await self.command(ACKNOWLEDGE)
        assert not int(self.dut.interrupt.value)
        # A stop in the middle, and a run after it.
        held.value = 1
        await self.command(START, 0)
        await self.command(STOP)
        assert not int(self.dut.busy.value)
        assert await self.read(CONTROLLER, 0, RESULT) & 0x700 == 0
        held.value = 0
        await self.command(START, 0)
        await self.until("done")
        await self.command(9, 0, NO_SUCH_WORD)

    async def register_map(self) -> None:
        """Require exactly the words of the SystemRDL file, readable and writable as it says.

        A register has the file's reset value, its fields keep written values, and it has no other
        bits.
        """
        size, registers = self.spaces.bus_bytes, self.told["registers"]
        there = {register["address"]: register for register in registers}
        for address in range(0, size << 4 + self.spaces.address_bits, size):
            register = there.get(address, {"sw": "", "mask": 0, "reset": 0, "reset_mask": 0})
            word, answer = await self.bus.carry_out(NOTHING, address)
            assert answer == self.bus.answer(DONE if "r" in register["sw"] else NO_SUCH_WORD)
            if answer == self.bus.answer(DONE):
                assert not word & ~register["mask"], (register, word)
                if address != REFUSED * size:
                    assert word & register["reset_mask"] == register["reset"], (register, word)
        for address in range(0, size << 4 + self.spaces.address_bits, size):
            register = there.get(address, {"sw": ""})
            ones = ACKNOWLEDGE if address == COMMAND * size else (1 << 8 * size) - 1
            _, answer = await self.bus.carry_out(NOTHING._replace(data=ones), address)
            assert answer == self.bus.answer(DONE if "w" in register["sw"] else NO_SUCH_WORD)
        # A piece of a word is there when its last piece has been written.
        for address, register in there.items():
            if register["sw"] == "rw":
                word, _ = await self.bus.carry_out(NOTHING, address)
                assert word == register["kept"], (register, word)
