"""Registers of network interfaces, read from recorded waveforms.

A recording has every signal of the hardware, by hierarchical name, also before and after the run.
It is read piece by piece, because that of a large network takes gigabytes.
"""

from collections.abc import Iterator
from pathlib import Path

from ..model.network.config import NetworkConfig
from ..model.network.node_names import port_name
from ..model.run.run import SENDER_STATES
from ..waves.names import has_interface
from ..waves.recording import vcd_samples
from ..waves.registers import Change, Register, RegisterChanges
from ..waves.wanted import Wanted
from .compilation import TOP_MODULE

_CLOCK, _RESET, _CYCLE = "clk", "tile_0.rst", "tile_0.cycle"
"""The clock, the reset of the tiles, and their cycle count."""

_BEGINS = "progress__begins"
"""Signal of a lane: high in the cycle in which a row begins."""

_NOT_YET = -1
"""A value that no signal has."""


def read_registers(recording: Path, config: NetworkConfig, cycles: int) -> RegisterChanges:
    """Read the ``cycles`` cycles of the last run in a recording (VCD).

    For each node: ``step``; ``step_over``, 1 while its step is over; ``barrier``, 1 in the cycle in
    which the barrier raises all steps. For each of its lanes: ``sender``, the state of the sender,
    and ``row``, the number of rows that have begun. With circuits instead: ``entry``, the number of
    the current entry of its run table, and ``ended``, 1 from the end entry on.
    """
    signals = dict(_signals(config))
    registers, changes = list(signals.values()), list[Change]()
    counted = [number for number, name in enumerate(signals) if name.endswith(_BEGINS)]
    wanted = Wanted(dict.fromkeys([*signals, _RESET, _CYCLE, _CLOCK]), scope=TOP_MODULE)
    shown: list[int] = []
    for *values, in_reset, cycle, _ in _samples(recording, wanted):
        if in_reset:
            # The values before belong to the loading, or are the simulator's initial values.
            shown, rows = [_NOT_YET] * len(registers), dict.fromkeys(counted, 0)
        elif shown and cycle < cycles:
            if cycle == 0:
                changes.clear()
            for number in counted:
                rows[number] += values[number]
                values[number] = rows[number]
            for number, value in enumerate(values):
                if value != shown[number]:
                    changes.append(Change(cycle, number, value))
            shown = values
    return RegisterChanges(registers, changes)


def _samples(recording: Path, wanted: Wanted) -> Iterator[list[int]]:
    """Yield the values of the ``wanted`` signals and of the clock at each falling edge."""
    with recording.open("rb") as file:
        yield from vcd_samples(file, wanted)


def _signals(config: NetworkConfig) -> Iterator[tuple[str, Register]]:
    """Yield signal names in the recording, each with its register."""
    for node in range(config.topology.nodes):
        if not has_interface(config.topology, node):
            continue
        tile = f"tile_{node}"
        if config.circuits:
            yield f"{tile}.run_table.run__number", Register(node, "entry")
            yield f"{tile}.run_table.run__ended", Register(node, "ended", is_bit=True)
            continue
        yield f"{tile}.network_interface.steps.clock__step", Register(node, "step")
        yield f"{tile}.over", Register(node, "step_over", is_bit=True)
        yield f"{tile}.advance", Register(node, "barrier", is_bit=True)
        for lane in range(config.lanes):
            end = f"_{port_name(config.topology, lane + 1)}" if config.all_port else ""
            path = f"{tile}.network_interface.lane_{lane}"
            yield f"{path}.sender_state", Register(node, f"sender{end}", words=SENDER_STATES)
            yield f"{path}.{_BEGINS}", Register(node, f"row{end}")
