"""A bench: an engine behind Wishbone, driven by the master of cocotbext-wishbone."""

import random
from typing import Any

import cocotb
from cocotbext.wishbone.driver import WBOp, WishboneMaster

from .bus_bench import Bench, begin
from .bus_simulator import told
from .engine_spaces import Access

ACK, ERR = 1, 2
CLASSIC = {
    **{"cyc": "cyc_i", "stb": "stb_i", "we": "we_i", "adr": "adr_i", "sel": "sel_i"},
    **{"datwr": "dat_i", "datrd": "dat_o", "ack": "ack_o", "err": "err_o"},
}
PIPELINED = {**CLASSIC, "stall": "stall_o"}


class Wishbone:
    """The master, which waits between accesses now and then."""

    def __init__(self, dut: Any, signals: dict[str, str], seed: int) -> None:
        self.master = WishboneMaster(dut, "wb", dut.clk, timeout=200, signals_dict=signals)
        self.draw = random.Random(seed)
        self.all_bytes = (1 << len(dut.wb_sel_i)) - 1

    def answer(self, refusal: int) -> int:
        return ERR if refusal else ACK

    async def carry_out(self, access: Access, address: int) -> tuple[int, int]:
        strobes = access.strobes & self.all_bytes
        idle = self.draw.choice((0, 0, 1, self.draw.randrange(8)))
        operation = WBOp(address, access.data, idle=idle, sel=strobes, acktimeout=200)
        (result,) = await self.master.send_cycle([operation])
        return 0 if access.data is not None else int(result.datrd), result.ack


async def begun(dut: Any, signals: dict[str, str] = CLASSIC) -> Bench:
    """Begin, and return the bench of an engine behind this bus."""
    given = told()
    await begin(dut)
    return Bench(dut, Wishbone(dut, signals, given["seed"]), given)


@cocotb.test()
async def random_accesses(dut: Any) -> None:
    bench = await begun(dut)
    await bench.random_accesses(bench.told["accesses"])


@cocotb.test()
async def refusals(dut: Any) -> None:
    await (await begun(dut)).refusals()


@cocotb.test()
async def refusals_pipelined(dut: Any) -> None:
    await (await begun(dut, PIPELINED)).refusals()


@cocotb.test()
async def register_map(dut: Any) -> None:
    await (await begun(dut)).register_map()
