"""A bench: an engine behind AXI4-Lite, driven by the master of cocotbext-axi."""

from typing import Any

import cocotb
from cocotbext.axi import AxiLiteBus, AxiLiteMaster

from .bus_bench import Bench, begin, hold_to_the_rules, pauses
from .bus_simulator import told
from .engine_spaces import MESSAGE, Access

OKAY, SLVERR, DECERR = 0, 2, 3


class AxiLite:
    """The AXI4-Lite master of cocotbext-axi, with pauses on all five channels."""

    def __init__(self, dut: Any, seed: int) -> None:
        self.master = AxiLiteMaster(AxiLiteBus.from_prefix(dut, "s_axi"), dut.clk, dut.rst)
        self.size = len(dut.s_axi_wdata) // 8
        write, read = self.master.write_if, self.master.read_if
        channels = (write.aw_channel, write.w_channel, write.b_channel)
        for place, channel in enumerate((*channels, read.ar_channel, read.r_channel)):
            channel.set_pause_generator(pauses(seed + place))
        for letter, *payload in (("b",), ("r", "s_axi_rdata")):
            names = (f"s_axi_{letter}{name}" for name in ("valid", "ready", "resp"))
            cocotb.start_soon(hold_to_the_rules(dut, *names, *payload))

    def answer(self, refusal: int) -> int:
        return (OKAY, DECERR, SLVERR)[refusal]

    async def carry_out(self, access: Access, address: int) -> tuple[int, int]:
        if access.data is None:
            read = await self.master.read(address, self.size)
            return int.from_bytes(read.data, "little"), int(read.resp)
        content = access.data.to_bytes(8, "little")[: self.size]
        wanted = [place for place in range(self.size) if access.strobes >> place & 1]
        first, last = wanted[0], wanted[-1]
        write = await self.master.write(address + first, content[first : last + 1])
        return 0, int(write.resp)


async def begun(dut: Any) -> Bench:
    """Begin, and return the bench of an engine behind this bus."""
    given = told()
    await begin(dut)
    return Bench(dut, AxiLite(dut, given["seed"]), given)


@cocotb.test()
async def random_accesses(dut: Any) -> None:
    bench = await begun(dut)
    await bench.random_accesses(bench.told["accesses"])


@cocotb.test()
async def several_at_once(dut: Any) -> None:
    """Read and write at the same time, with no word used twice."""
    bench = await begun(dut)
    draw, pieces = bench.draw, bench.spaces.pieces
    places = [(node, word) for node in (1, 2) for word in range(bench.spaces.message_words)]
    for node, word in places:
        await bench.check(Access(MESSAGE, node, word, 0))
    for _ in range(bench.told["accesses"] // 20):
        words = draw.sample(places[::pieces], draw.randrange(2, 8))
        used = [(node, word + draw.randrange(pieces)) for node, word in words]
        data = [draw.choice((None, draw.getrandbits(32))) for _ in used]
        together = [
            cocotb.start_soon(bench.check(Access(MESSAGE, *place, word)))
            for place, word in zip(used, data, strict=True)
        ]
        for task in together:
            await task


@cocotb.test()
async def refusals(dut: Any) -> None:
    await (await begun(dut)).refusals()


@cocotb.test()
async def register_map(dut: Any) -> None:
    await (await begun(dut)).register_map()
