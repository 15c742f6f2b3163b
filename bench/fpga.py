"""``make bench-fpga``: what a router takes of an FPGA and how fast it is; kept in fpga.json.

    python bench/fpga.py

One router with five ports, placed and routed between registers: shift registers of the harness lead
to its inputs and from its outputs, as no device has as many pins. What the harness takes is taken
off; it is counted by placing it without a router. Buffers of 4 flits. Medians of three seeds; the
frequency asked for is out of reach, so that nextpnr does what it can.
"""

from __future__ import annotations

import re
import statistics
import tempfile
from pathlib import Path

import msgspec
from amaranth.back import rtlil
from amaranth.hdl import Cat, Elaboratable, Module, Mux, Signal, Value
from amaranth.lib.wiring import Out, Signature
from rich.console import Console
from rich.progress import track
from rich.table import Table

from eyecast.boards.technology import synthesis, synthesis_files, technology_of
from eyecast.boards.tools import run_tool
from eyecast.model.config import NetworkConfig
from eyecast.model.files import write_bytes_atomically
from eyecast.model.topology import mesh
from eyecast.rtl.direct_router import DirectRouter
from eyecast.rtl.router import Router, router_members

KEPT = Path(__file__).with_name("fpga.json")
SEEDS = (1, 2, 3)
FLIT_WIDTH = 32
BLOCK_RAMS = 3
"""For each buffer: a router by itself has as many as it can use."""
CASES = (("1 VC", 1, False), ("2 VCs", 2, False), ("contention-free", 1, True))
DEVICES = {
    "ecp5": ("nextpnr-ecp5", ("--85k", "--speed", "6", "--freq", "200")),
    "ice40": ("nextpnr-ice40", ("--hx8k", "--package", "ct256", "--freq", "150")),
}
COUNTED = {"ecp5": "TRELLIS_COMB", "ice40": "ICESTORM_LC"}


class Measured(msgspec.Struct, frozen=True):
    """A router on a device: LUTs (logic cells on an iCE40), and Hz."""

    router: str
    device: str
    luts: int
    fmax: float


class Harness(Elaboratable):
    """A router between registers, reached by two pins; or only the registers."""

    def __init__(self, config: NetworkConfig, *, router: bool) -> None:
        self.config = config
        self._with_router = router
        self.data_in = Signal()
        self.data_out = Signal()

    def elaborate(self, _platform: object) -> Module:
        """Bits are shifted in, and what comes out is loaded and shifted out."""
        m = Module()
        if self._with_router:
            kind = DirectRouter if self.config.contention_free else Router
            m.submodules.router = router = kind(self.config)
        else:
            router = Signature(router_members(self.config)).create()
        inputs, outputs = [], []
        for path, member, port in router.signature.flatten(router):
            if path == ("linked",):
                m.d.comb += Value.cast(port).eq(-1)
            elif path != ("stalls",):
                (outputs if member.flow == Out else inputs).append(Value.cast(port))
        shifted_in = Signal(sum(map(len, inputs)))
        m.d.sync += shifted_in.eq(Cat(self.data_in, shifted_in))
        self._register_inputs(m, shifted_in, inputs)
        sent = Signal(sum(map(len, outputs)))
        # Without a router anything serves that is not constant.
        m.d.sync += sent.eq(Cat(outputs) if self._with_router else Cat(shifted_in, shifted_in))
        shifted_out = Signal.like(sent)
        m.d.sync += shifted_out.eq(Mux(self.data_in, sent, shifted_out >> 1))
        m.d.comb += self.data_out.eq(shifted_out[0])
        return m

    def _register_inputs(self, m: Module, bits: Signal, inputs: list[Value]) -> None:
        """A register before each input."""
        low = 0
        for port in inputs:
            register = Signal(len(port))
            m.d.sync += register.eq(bits[low : low + len(port)])
            if self._with_router:
                m.d.comb += port.eq(register)
            low += len(port)


def _synthesize(harness: Harness, device: str, folder: Path) -> None:
    ports = [harness.data_in, harness.data_out]
    technology = technology_of(device, harness.config, block_rams=BLOCK_RAMS)
    text = rtlil.convert(harness, name="top", platform=technology, ports=ports, emit_src=False)
    for name, content in {"top.il": text, **synthesis_files(device)}.items():
        (folder / name).write_text(content)
    steps = synthesis(device, "top").script(device, "top")
    script = f"read_rtlil top.il; {steps}; write_json top.json"
    run_tool("yosys", ("-q", "-p", script), folder)


def _place(device: str, seed: int, folder: Path) -> tuple[int, float]:
    """Cells in use, and the highest frequency in Hz."""
    program, options = DEVICES[device]
    files = ("--json", "top.json", "--report", "report.json", "--seed", str(seed))
    run_tool(program, (*options, *files, "--timing-allow-fail"), folder)
    log = (folder / f"{program}.log").read_text()
    used = re.findall(rf"{COUNTED[device]}: *(\d+)/", log)
    report = msgspec.json.decode((folder / "report.json").read_bytes())
    return int(used[0]), 1e6 * max(clock["achieved"] for clock in report["fmax"].values())


def _measure(name: str, vcs: int, contention_free: bool, device: str) -> Measured:
    config = NetworkConfig(
        topology=mesh((8, 8)),
        vcs=vcs,
        depth=4,
        flit_width=FLIT_WIDTH,
        contention_free=contention_free,
    )
    results = {}
    for with_router in (False, True):
        with tempfile.TemporaryDirectory() as temporary:
            folder = Path(temporary)
            _synthesize(Harness(config, router=with_router), device, folder)
            seeds = SEEDS if with_router else SEEDS[:1]
            results[with_router] = [_place(device, seed, folder) for seed in seeds]
    luts = statistics.median(used for used, _ in results[True]) - results[False][0][0]
    fmax = statistics.median(frequency for _, frequency in results[True])
    return Measured(name, device, int(luts), fmax)


def main() -> None:
    """Measure, print and keep."""
    cases = [(*case, device) for device in DEVICES for case in CASES]
    measured = [_measure(*case) for case in track(cases, "routers", transient=True)]
    table = Table("router", "device", "LUTs", "MHz")
    for each in measured:
        table.add_row(each.router, each.device, f"{each.luts:,}", f"{each.fmax / 1e6:.1f}")
    Console().print(table)
    text = msgspec.json.format(msgspec.json.encode(measured), indent=1)
    write_bytes_atomically(KEPT, text + b"\n")


if __name__ == "__main__":
    main()
