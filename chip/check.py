"""The check of a chip's run: every run of a program, and every message word that a core has read.

The cycle model runs the same programs, one after another, on the words that the cores have stored.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field

from ..model.base.arrays import Words
from ..model.cycle.any_run import run_any
from ..model.network.config import Timing
from ..model.program.payload import empty_memory
from .memory_map import Event
from .outcome import Outcome
from .programs import Programs

_ACCESSES = (Event.LOAD, Event.STORE, Event.CALL)
_LOW = (1 << 32) - 1


@dataclass(frozen=True)
class Check:
    """The result of a comparison; ``difference`` tells the first one, None if there is none.

    ``cycles`` has the predicted cycles of each run, ``words`` counts the words that were compared.
    """

    cycles: Sequence[int]
    words: int
    difference: str | None


def check_run(programs: Programs, outcome: Outcome) -> Check:
    """Compare a run of the chip with the cycle model."""
    cores = [_Core(node) for node in range(outcome.nodes)]
    for line in outcome.lines:
        if line.event in _ACCESSES:
            cores[line.node].accesses.append((line.event, line.value))
    memory, cycles = empty_memory(programs.config), list[int]()

    def result(difference: str | None) -> Check:
        return Check(cycles, sum(core.words for core in cores), difference)

    for run in range(len(outcome.runs) + 1):
        for core in cores:
            difference = core.follow(memory[core.node])
            if difference is not None:
                return result(difference)
        if run < len(outcome.runs):
            first, number = outcome.runs[run]
            program = programs.served[number].compiled.program
            predicted = run_any(program, memory, timing=Timing.BARRIER)
            measured = max(of_node[run].end for of_node in outcome.calls) - first
            cycles.append(predicted.cycles)
            if measured != predicted.cycles:
                name = programs.served[number].call.shown
                told = f"must take {predicted.cycles} cycles, not {measured}"
                return result(f"run {run} ({name}) {told}")
            memory = predicted.memory
    return result(None)


@dataclass
class _Core:
    """The accesses of a core to message words, and its calls; the words that were compared."""

    node: int
    accesses: list[tuple[Event, int]] = field(default_factory=list)
    words: int = 0
    _place: int = 0

    def follow(self, memory: Words) -> str | None:
        """Follow the core to its next call: store in ``memory``, and compare the words it loads."""
        while self._place < len(self.accesses):
            event, value = self.accesses[self._place]
            self._place += 1
            if event == Event.CALL:
                break
            address, word = value >> 32, value & _LOW
            if event == Event.STORE:
                memory[address] = word
                continue
            self.words += 1
            if memory[address] != word:
                there = f"word {address} of tile {self.node}"
                return f"{there} must be {memory[address]}, not {word}"
        return None
