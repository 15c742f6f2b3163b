"""``make bench-fpga``: size and speed of a node's parts on FPGAs, written to fpga.json.

    python bench/fpga.py [PART ...]

A part is a router with five ports, a network interface, a part or a tile of a network with circuits
and run tables of 512 entries, a bridge, or an engine of two nodes. It is placed and routed in a
harness of shift registers for its inputs and outputs, because no device has enough pins. The
harness is also placed without the part, and its size subtracted. Buffers hold 4 flits, in engines
2. Frequencies are medians of three seeds, for engines and wide words of one; wide words are only
placed on the ECP5. The target frequency is too high to reach, so that nextpnr tries its best. With
PART, only parts whose names contain one of these words are measured; the other results are kept.
"""

import re
import statistics
import sys
import tempfile
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import msgspec
from amaranth.back import rtlil
from amaranth.hdl import Cat, Elaboratable, Module, Mux, Signal, Value
from amaranth.lib.wiring import Component, Out
from rich.console import Console
from rich.progress import track
from rich.table import Table

from eyecast.boards.synthesis.technology import synthesis, synthesis_files, technology_of
from eyecast.boards.tools import run_tool
from eyecast.model.base.files import write_bytes_atomically
from eyecast.model.network.buses import HostBus, TileBus
from eyecast.model.network.config import NetworkConfig
from eyecast.model.network.topology import mesh, torus
from eyecast.rtl.axi4_lite import Axi4Lite
from eyecast.rtl.axi_stream import StreamReader, StreamWriter
from eyecast.rtl.circuits.interface import CircuitInterface
from eyecast.rtl.circuits.router import CircuitRouter
from eyecast.rtl.circuits.run_table import RunTable
from eyecast.rtl.circuits.tile import CircuitTile
from eyecast.rtl.engine import Engine
from eyecast.rtl.packets.direct_router import DirectRouter
from eyecast.rtl.packets.interface import NetworkInterface
from eyecast.rtl.packets.router import Router
from eyecast.rtl.parts.technology import Technology
from eyecast.rtl.wishbone import Wishbone

KEPT = Path(__file__).with_name("fpga.json")
SEEDS = (1, 2, 3)
BLOCK_RAMS = 3
"""Block RAMs for each buffer: as many as a router can use."""

MESH = NetworkConfig(topology=mesh((8, 8)), depth=4, flit_width=32)
TORUS = replace(MESH, topology=torus((8, 8)), vcs=2)
CONTENTION_FREE = replace(MESH, contention_free=True)
CIRCUITS = NetworkConfig(topology=mesh((8, 8)), circuits=True, table_words=512)
CIRCUITS_ALL_PORTS = replace(CIRCUITS, all_port=True)
ENGINE = NetworkConfig(topology=mesh((2,)), programs=2)
WITH_TILES = replace(ENGINE, tile_ports=True)


def _engine(host: HostBus | None = None, tile: TileBus | None = None) -> Callable[..., Component]:
    """Return a function that makes an engine behind these buses, without look-ahead."""

    def make(config: NetworkConfig, *, technology: Technology) -> Component:
        return Engine(config, host, tile, technology=replace(technology, look_ahead=False))

    return make


def _bridge(part: Callable[[NetworkConfig], Component]) -> Callable[..., Component]:
    """Return a function that makes a bridge alone, which has no technology."""

    def make(config: NetworkConfig, *, technology: Technology) -> Component:
        del technology
        return part(config)

    return make


def _switch(config: NetworkConfig, *, technology: Technology) -> Component:
    """Make the tile of a switch in a network with circuits."""
    return CircuitTile(config, switch=True, technology=technology)


PARTS: dict[str, tuple[Callable[..., Component], NetworkConfig]] = {
    "router, 1 VC": (Router, MESH),
    "router, 2 VCs": (Router, replace(MESH, vcs=2)),
    "router of a torus, 2 VCs": (Router, TORUS),
    "router, contention-free": (DirectRouter, CONTENTION_FREE),
    "interface, 1 VC": (NetworkInterface, MESH),
    "interface, contention-free": (NetworkInterface, CONTENTION_FREE),
    "interface, operator add": (NetworkInterface, replace(MESH, operators="add")),
    "interface, streams": (NetworkInterface, replace(MESH, streams=True)),
    "interface, add and streams": (NetworkInterface, replace(MESH, operators="add", streams=True)),
    "interface, 2 VCs": (NetworkInterface, replace(MESH, vcs=2)),
    "interface, 2 VCs, operator add": (NetworkInterface, replace(MESH, vcs=2, operators="add")),
    "interface, contention-free, operator add": (
        NetworkInterface,
        replace(CONTENTION_FREE, operators="add"),
    ),
    "interface, contention-free, streams": (
        NetworkInterface,
        replace(CONTENTION_FREE, streams=True),
    ),
    "router, contention-free, streams": (DirectRouter, replace(CONTENTION_FREE, streams=True)),
    "run table, circuits": (RunTable, CIRCUITS),
    "router, circuits": (CircuitRouter, CIRCUITS),
    "router, circuits, operator add": (CircuitRouter, replace(CIRCUITS, operators="add")),
    "interface, circuits": (CircuitInterface, CIRCUITS),
    "interface, circuits, operator add": (CircuitInterface, replace(CIRCUITS, operators="add")),
    "tile, circuits": (CircuitTile, CIRCUITS),
    "tile, circuits, operator add": (CircuitTile, replace(CIRCUITS, operators="add")),
    "router, circuits, all ports": (CircuitRouter, CIRCUITS_ALL_PORTS),
    "tile, circuits, all ports": (CircuitTile, CIRCUITS_ALL_PORTS),
    "tile, circuits, switch": (_switch, CIRCUITS),
    "tile, circuits, controller": (CircuitTile, replace(CIRCUITS, programs=2)),
    "tile, circuits, controller, parity": (
        CircuitTile,
        replace(CIRCUITS, programs=2, parity=True),
    ),
    "bridge, AXI4-Lite": (_bridge(Axi4Lite), ENGINE),
    "bridge, Wishbone": (_bridge(Wishbone), ENGINE),
    "bridge, AXI-Stream in": (_bridge(StreamWriter), ENGINE),
    "bridge, AXI-Stream out": (_bridge(StreamReader), ENGINE),
    "engine": (_engine(), ENGINE),
    "engine, AXI4-Lite": (_engine(HostBus.AXI4_LITE), ENGINE),
    "engine, Wishbone": (_engine(HostBus.WISHBONE), ENGINE),
    "engine, parity": (_engine(), replace(ENGINE, parity=True)),
    "engine, tile ports": (_engine(), WITH_TILES),
    "engine, tile ports, AXI-Stream": (_engine(None, TileBus.AXI_STREAM), WITH_TILES),
} | {
    f"{name}, {bits} bits": (router, replace(config, flit_width=bits))
    for bits in (128, 256, 512)
    for name, router, config in (
        ("router, 1 VC", Router, MESH),
        ("router, circuits", CircuitRouter, CIRCUITS),
    )
}
CONSTANT = {"linked": -1, "node": 0}
"""Inputs that are constant in a network."""
FOR_TRACES = ("stalls", "router_stalls")

DEVICES = {
    "ecp5": ("nextpnr-ecp5", ("--85k", "--speed", "6", "--freq", "200")),
    "ice40": ("nextpnr-ice40", ("--hx8k", "--package", "ct256", "--freq", "150")),
}
_CELLS = r"(\d+) LCs used as "
USED = {
    "ecp5": ((r"TRELLIS_COMB: *(\d+)/",), (r"TRELLIS_FF: *(\d+)/",), (r"DP16KD: *(\d+)/",)),
    "ice40": (
        (_CELLS + "LUT4 only", _CELLS + "LUT4 and DFF", _CELLS + "CARRY only"),
        (_CELLS + "LUT4 and DFF", _CELLS + "DFF only"),
        (r"ICESTORM_RAM: *(\d+)/",),
    ),
}
"""Patterns in a log whose first numbers add up to the used LUTs, flip-flops and block RAMs."""


class Measured(msgspec.Struct, frozen=True):
    """A part on a device: its resources, and its frequency in Hz."""

    part: str
    device: str
    luts: int
    flip_flops: int
    block_rams: int
    fmax: float


class Harness(Elaboratable):
    """A part between shift registers with two pins; synthesis removes a part that is not wired."""

    def __init__(self, part: Component, *, wired: bool) -> None:
        self._part = part
        self._wired = wired
        self.data_in = Signal()
        self.data_out = Signal()

    def elaborate(self, _platform: object) -> Module:
        """Shift bits into the part's inputs, and shift its outputs out."""
        m = Module()
        m.submodules.part = self._part
        inputs, outputs = part_ports(self._part)
        for path, _, port in self._part.signature.flatten(self._part):
            if path[0] in CONSTANT:
                m.d.comb += Value.cast(port).eq(CONSTANT[path[0]])
        shifted_in = Signal(sum(map(len, inputs)))
        m.d.sync += shifted_in.eq(Cat(self.data_in, shifted_in))
        if self._wired:
            m.d.comb += Cat(inputs).eq(shifted_in)
        sent = Signal(sum(map(len, outputs)))
        # Without the part, any value that is not constant replaces its outputs.
        m.d.sync += sent.eq(Cat(outputs) if self._wired else Cat(shifted_in, shifted_in))
        shifted_out = Signal.like(sent)
        m.d.sync += shifted_out.eq(Mux(self.data_in, sent, shifted_out >> 1))
        m.d.comb += self.data_out.eq(shifted_out[0])
        return m


def part_ports(part: Component) -> tuple[list[Value], list[Value]]:
    """Return the inputs and outputs that may change, without those that only serve traces."""
    inputs: list[Value] = []
    outputs: list[Value] = []
    for path, member, port in part.signature.flatten(part):
        if path[0] not in (*CONSTANT, *FOR_TRACES):
            (outputs if member.flow == Out else inputs).append(Value.cast(port))
    return inputs, outputs


def _synthesize(harness: Harness, device: str, folder: Path) -> None:
    ports = [harness.data_in, harness.data_out]
    text = rtlil.convert(harness, name="top", ports=ports, emit_src=False)
    for name, content in {"top.il": text, **synthesis_files(device)}.items():
        (folder / name).write_text(content)
    steps = synthesis(device, "top").script(device, "top")
    script = f"read_rtlil top.il; {steps}; write_json top.json"
    run_tool("yosys", ("-q", "-p", script), folder)


def _place(device: str, seed: int, folder: Path) -> tuple[list[int], float]:
    """Return the used LUTs, flip-flops and block RAMs, and the highest frequency in Hz."""
    program, options = DEVICES[device]
    files = ("--json", "top.json", "--report", "report.json", "--seed", str(seed))
    run_tool(program, (*options, *files, "--timing-allow-fail"), folder)
    log = (folder / f"{program}.log").read_text()
    first = [[re.findall(pattern, log)[0] for pattern in patterns] for patterns in USED[device]]
    used = [sum(map(int, numbers)) for numbers in first]
    report = msgspec.json.decode((folder / "report.json").read_bytes())
    return used, 1e6 * max(clock["achieved"] for clock in report["fmax"].values())


def _measure(name: str, device: str) -> Measured:
    make, config = PARTS[name]
    technology = replace(technology_of(device, config, block_rams=BLOCK_RAMS), memory_style="block")
    results = {}
    for wired in (False, True):
        with tempfile.TemporaryDirectory() as temporary:
            folder = Path(temporary)
            part = make(config, technology=technology)
            harness = Harness(part, wired=wired)
            _synthesize(harness, device, folder)
            # Placing an engine, or a router of wide words, takes minutes, so it is placed once.
            large = name.startswith("engine") or config.further_pieces
            seeds = SEEDS if wired and not large else SEEDS[:1]
            results[wired] = [_place(device, seed, folder) for seed in seeds]
    (harness_used, _), (used, _) = results[False][0], results[True][0]
    luts, flip_flops, block_rams = (a - b for a, b in zip(used, harness_used, strict=True))
    # Without the part, yosys merges the output registers with shift registers: count them again.
    flip_flops -= sum(map(len, part_ports(part)[1]))
    fmax = statistics.median(frequency for _, frequency in results[True])
    return Measured(name, device, luts, flip_flops, block_rams, fmax)


def main() -> None:
    """Measure the parts, print the results and write them."""
    words = sys.argv[1:] or [""]
    names = [name for name in PARTS if any(word in name for word in words)]
    cases = [
        (part, device)
        for device in DEVICES
        for part in names
        if device == "ecp5" or not PARTS[part][1].further_pieces
    ]
    known = msgspec.json.decode(KEPT.read_bytes(), type=list[Measured]) if sys.argv[1:] else []
    kept = {(each.part, each.device): each for each in known}
    for case in track(cases, "parts", transient=True):
        kept[case] = _measure(*case)
    measured = [
        kept[name, device] for device in DEVICES for name in PARTS if (name, device) in kept
    ]
    table = Table("part", "device", "LUTs", "flip-flops", "block RAMs", "MHz")
    for each in measured:
        numbers = (f"{number:,}" for number in (each.luts, each.flip_flops, each.block_rams))
        table.add_row(each.part, each.device, *numbers, f"{each.fmax / 1e6:.1f}")
    Console().print(table)
    text = msgspec.json.format(msgspec.json.encode(measured), indent=1)
    write_bytes_atomically(KEPT, text + b"\n")


if __name__ == "__main__":
    main()
