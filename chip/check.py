"""The check of a chip's run: every run of a program, and every message word that a core has read.

The cycle model runs the same programs, one after another, on the words that the cores have stored.
Each tile holds its node for as long as its core has done in the chip.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from ..model.cycle.any_run import run_any
from ..model.cycle.control import Control
from ..model.network.config import Timing
from ..model.program.payload import empty_memory
from .memory_map import Event
from .outcome import Outcome
from .programs import Programs

_LOW = (1 << 32) - 1


@dataclass(frozen=True)
class Check:
    """What was compared, and the first difference, as a sentence; None if there is none.

    ``cycles`` has the predicted cycles of each run.
    """

    cycles: Sequence[int]
    words: int
    difference: str | None


def check_run(programs: Programs, outcome: Outcome) -> Check:
    """Compare a run of the chip with the cycle model."""
    memory = empty_memory(programs.config)
    lines: list[list[tuple[Event, int]]] = [[] for _ in range(outcome.nodes)]
    for line in outcome.lines:
        if line.event in (Event.LOAD, Event.STORE, Event.CALL):
            lines[line.node].append((line.event, line.value))
    cycles, words = [], 0
    places = [0] * outcome.nodes
    for run in range(len(outcome.runs) + 1):
        for node in range(outcome.nodes):
            while places[node] < len(lines[node]):
                event, value = lines[node][places[node]]
                places[node] += 1
                if event == Event.CALL:
                    break
                address, word = value >> 32, value & _LOW
                if event == Event.STORE:
                    memory[node, address] = word
                    continue
                words += 1
                if memory[node, address] != word:
                    expected = int(memory[node, address])
                    there = f"word {address} of tile {node}"
                    return Check(cycles, words, f"{there} must be {expected}, not {word}")
        if run < len(outcome.runs):
            first, number = outcome.runs[run]
            predicted = _predicted(programs, outcome, run, memory)
            cycles.append(predicted.cycles)
            measured = max(of_node[run].end for of_node in outcome.calls) - first
            if measured != predicted.cycles:
                name = programs.served[number].call.shown
                told = f"run {run} ({name}) must take {predicted.cycles} cycles, not {measured}"
                return Check(cycles, words, told)
            memory = predicted.memory
    return Check(cycles, words, None)


def _predicted(programs: Programs, outcome: Outcome, run: int, memory):
    """Return the cycle model's run, with the tiles' holds of the chip."""
    first, number = outcome.runs[run]
    program = programs.served[number].compiled.program
    # A call lets go of the node one cycle after its store.
    held = np.array([max(0, each[run].begin + 1 - first) for each in outcome.calls], np.int64)
    control = Control(hold=None if programs.config.circuits else held)
    return run_any(program, memory, timing=Timing.BARRIER, control=control)
