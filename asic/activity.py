"""Toggles of every cell of a netlist in a recorded run of the network.

The netlist is simulated cycle by cycle, with its inputs as recorded from the hardware in Verilator.
Its outputs must be the recorded ones: otherwise it is not the circuit that ran.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

import msgspec
import numpy as np

from ..model.base.arrays import Numbers
from ..sim.compilation import TOP_MODULE
from ..waves.recording import vcd_samples
from ..waves.wanted import Wanted
from .synthesis import GATES, NETLIST

_CLOCK, _RESET, _CYCLE = "clk", "tile_0.rst", "tile_0.cycle"


@dataclass(frozen=True)
class Activity:
    """Activity of a netlist in a run of ``cycles`` cycles.

    ``toggles`` has for every cell the toggles of each of its output pins.
    """

    cycles: int
    toggles: dict[str, list[int]]


class Gates(NamedTuple):
    """A netlist of AND gates with two inputs, each input inverted or not, and of flip-flops.

    Every net has a number; 0 is the constant 0, and 1 the constant 1.

    Attributes
    ----------
    nets
        Number of nets.
    levels
        Arrays of shape (gates, 5), one after the other: the gate's output, its inputs, and whether
        they are inverted. A gate reads only nets of earlier levels.
    registers
        Shape (flip-flops, 2): output and input.
    named
        The nets of each wire by its name, the lowest bit first.
    ports
        The names of the ports, each with its direction.
    """

    nets: int
    levels: list[Numbers]
    registers: Numbers
    named: dict[str, list[int]]
    ports: dict[str, str]


def activity_of(folder: Path, recording: Path, instance: str, cycles: int) -> Activity:
    """Return the activity of the netlist in ``folder`` in the last run of a recording (VCD).

    ``instance`` is the path of the part from the network; the run takes ``cycles`` cycles. Raises
    :class:`RuntimeError` if an output of the netlist differs from the recorded one.
    """
    gates = read_gates(folder)
    toggles = _simulate(gates, recording, instance, cycles)
    found: dict[str, list[int]] = {}
    for cell, net in _driven_nets(folder, gates):
        found.setdefault(cell, []).append(int(toggles[net]))
    return Activity(cycles, found)


def read_gates(folder: Path) -> Gates:
    """Read the gates of a part and sort them by level."""
    module = _top(folder / GATES)
    numbers: dict[Any, int] = {"0": 0, "x": 0, "1": 1}

    def number(bit: Any) -> int:
        return numbers.setdefault(bit, len(numbers) - 1)

    inverters, ands, registers = {}, {}, []
    for cell in module["cells"].values():
        if cell["type"] == "$scopeinfo":
            continue
        bits = {pin: number(bit) for pin, (bit,) in cell["connections"].items()}
        if cell["type"] == "$_NOT_":
            inverters[bits["Y"]] = bits["A"]
        elif cell["type"] == "$_AND_":
            ands[bits["Y"]] = bits["A"], bits["B"]
        elif cell["type"] == "$_DFF_P_":
            registers.append((bits["Q"], bits["D"]))
        else:
            raise RuntimeError(f"the netlist has a cell {cell['type']}, which is not simulated")
    rows = {out: (out, a, a, 1, 1) for out, a in inverters.items()}
    rows |= {out: (out, a, b, 0, 0) for out, (a, b) in ands.items()}
    named = {
        name: [number(bit) for bit in wire["bits"]] for name, wire in module["netnames"].items()
    }
    ports = {name: port["direction"] for name, port in module["ports"].items()}
    levels = [np.array(level) for level in _levels(rows)]
    return Gates(len(numbers) - 1, levels, np.array(registers).reshape(-1, 2), named, ports)


def _levels(rows: Mapping[int, tuple[int, ...]]) -> Iterator[list[tuple[int, ...]]]:
    """Yield the gates whose inputs are known, again and again."""
    waiting = {out: {net for net in row[1:3] if net in rows} for out, row in rows.items()}
    readers: dict[int, list[int]] = {}
    for out, nets in waiting.items():
        for net in nets:
            readers.setdefault(net, []).append(out)
    ready = [out for out, nets in waiting.items() if not nets]
    while ready:
        yield [rows[out] for out in ready]
        following = []
        for net in ready:
            for out in readers.get(net, ()):
                waiting[out].discard(net)
                if not waiting[out]:
                    following.append(out)
        ready = following


def _simulate(gates: Gates, recording: Path, instance: str, cycles: int) -> Numbers:
    """Return the toggles of each net during the run."""
    wires = [name for name, way in gates.ports.items() if not name.endswith(_CLOCK)]
    inputs = [name for name in wires if gates.ports[name] == "input"]
    outputs = [name for name in wires if gates.ports[name] == "output"]
    paths = [f"{instance}.{name}" for name in (*inputs, *outputs)]
    wanted = Wanted(dict.fromkeys([*paths, _RESET, _CYCLE, _CLOCK]), scope=TOP_MODULE)
    # At power-on a register holds any value: the circuit must not need another one.
    values = np.random.default_rng(1).random(gates.nets) < 0.5
    before = values.copy()
    toggles = np.zeros(gates.nets, dtype=np.int64)
    was_reset = 0
    with recording.open("rb") as file:
        for *sampled, in_reset, cycle, _ in vcd_samples(file, wanted):
            _drive(values, gates, inputs, sampled)
            was_reset |= in_reset
            if was_reset and not in_reset and cycle < cycles:
                if cycle == 0:
                    toggles[:] = 0
                toggles += values != before
                _require_recorded(values, gates, outputs, sampled[len(inputs) :], cycle)
            before = values.copy()
            values[gates.registers[:, 0]] = before[gates.registers[:, 1]]
    return toggles


def _drive(values: Any, gates: Gates, inputs: list[str], sampled: list[int]) -> None:
    """Give the inputs their values, and let every gate follow."""
    for name, value in zip(inputs, sampled, strict=False):
        nets = gates.named[name]
        values[nets] = [value >> bit & 1 for bit in range(len(nets))]
    values[0], values[1] = False, True
    for level in gates.levels:
        out, a, b, not_a, not_b = level.T
        values[out] = (values[a] ^ not_a.astype(bool)) & (values[b] ^ not_b.astype(bool))


def _require_recorded(
    values: Any, gates: Gates, outputs: list[str], recorded: list[int], cycle: int
) -> None:
    """Raise :class:`RuntimeError` if an output is not as recorded."""
    for name, value in zip(outputs, recorded, strict=True):
        found = sum(int(values[net]) << bit for bit, net in enumerate(gates.named[name]))
        if found != value:
            raise RuntimeError(
                f"the netlist differs from the hardware: {name} is {found:#x} in cycle {cycle}, "
                f"not {value:#x}"
            )


def _driven_nets(folder: Path, gates: Gates) -> Iterator[tuple[str, int]]:
    """Yield each cell with the net of each of its outputs."""
    module = _top(folder / f"{NETLIST}.json")
    nets = {
        bit: net
        for name, wire in module["netnames"].items()
        if name in gates.named
        for bit, net in zip(wire["bits"], gates.named[name], strict=True)
    }
    for name, cell in module["cells"].items():
        for pin, (bit,) in cell["connections"].items():
            if cell["port_directions"][pin] == "output" and bit in nets:
                yield name, nets[bit]


def _top(path: Path) -> Any:
    """Return the module with cells of a netlist in yosys' JSON."""
    modules = msgspec.json.decode(path.read_bytes())["modules"].values()
    (module,) = (module for module in modules if module["cells"])
    return module
