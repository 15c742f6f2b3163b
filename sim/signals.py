"""Registers of network interfaces, read out of the waveforms that a simulator records.

A recording has every signal of the hardware, by the names that the hardware's parts have, before
and after the run too. It is read line by line: that of a large network takes gigabytes.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import IO

from ..model.network.config import NetworkConfig
from ..model.network.place import port_name
from ..model.run.run import SENDER_STATES
from ..waves.names import has_interface
from ..waves.registers import Change, Register, Registers
from .verilog import TOP_MODULE

_CLOCK, _RESET, _CYCLE = "clk", "tile_0.rst", "tile_0.cycle"
"""The clock, the reset of the tiles, and the cycle as they count it."""

_BEGINS = "progress__begins"
"""In a lane: a row begins in this cycle."""

_NOT_YET = -1
"""No value of a signal."""


def read_registers(recording: Path, config: NetworkConfig, cycles: int) -> Registers:
    """Read the ``cycles`` cycles of the last run in a recording (VCD).

    Of each node there are ``step``; ``step_over``, 1 while nothing is left to do in it;
    ``barrier``, 1 in the cycle in which the barrier lets all nodes go on; and for each of its lanes
    ``sender``, the state of the sender, and ``row``, the rows of its table that have begun.
    """
    signals = dict(_signals(config))
    registers, changes = list(signals.values()), list[Change]()
    counted = [number for number, name in enumerate(signals) if name.endswith(_BEGINS)]
    wanted = [*signals, _CLOCK, _RESET, _CYCLE]
    shown: list[int] = []
    for now in _falling_edges(recording, wanted):
        *values, _, in_reset, cycle = now
        if in_reset:
            # What was before is not the run, but loading it, or what a simulator makes up first.
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
    return Registers(registers, changes)


def _signals(config: NetworkConfig) -> Iterator[tuple[str, Register]]:
    """Name the signals in the recording, and the registers that they are."""
    for node in range(config.topology.nodes):
        if not has_interface(config.topology, node):
            continue
        tile = f"tile_{node}"
        yield f"{tile}.network_interface.steps.clock__step", Register(node, "step")
        yield f"{tile}.over", Register(node, "step_over", is_bit=True)
        yield f"{tile}.advance", Register(node, "barrier", is_bit=True)
        for lane in range(config.lanes):
            end = f"_{port_name(config.topology, lane + 1)}" if config.all_port else ""
            path = f"{tile}.network_interface.lane_{lane}"
            yield f"{path}.sender_state", Register(node, f"sender{end}", words=SENDER_STATES)
            yield f"{path}.{_BEGINS}", Register(node, f"row{end}")


def _falling_edges(recording: Path, wanted: list[str]) -> Iterator[list[int]]:
    """The values of the ``wanted`` signals of the network at every falling edge of the clock."""
    clock = wanted.index(_CLOCK)
    with recording.open() as file:
        places = _places(file, wanted)
        values = [0] * len(wanted)
        was_high = False
        for line in file:
            if line[0] == "#":
                if was_high and not values[clock]:
                    yield values.copy()
                was_high = bool(values[clock])
                continue
            word, code = line[1:].split() if line[0] == "b" else (line[0], line[1:].strip())
            for place in places.get(code, ()):
                values[place] = int(word, 2)


def _places(file: IO[str], wanted: list[str]) -> dict[str, list[int]]:
    """Read the names in a recording: for each short name the places in ``wanted`` of its signal."""
    numbers = {f"{TOP_MODULE}.{name}": number for number, name in enumerate(wanted)}
    places: dict[str, list[int]] = {}
    scope: list[str] = []
    for line in file:
        match line.split():
            case ["$scope", _, name, "$end"]:
                scope.append(name)
            case ["$upscope", "$end"]:
                scope.pop()
            case ["$var", _, _, code, name, *_]:
                number = numbers.pop(".".join((*scope, name)), None)
                if number is not None:
                    places.setdefault(code, []).append(number)
            case ["$enddefinitions", "$end"]:
                break
    if numbers:
        raise ValueError(f"the recording has no {min(numbers)}")
    return places
