"""The outcome of a chip's run: calls, console and mistakes of its tiles."""

from collections import defaultdict
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from typing import NamedTuple

from .memory_map import MISTAKES, Event
from .simulation import Line


class Taken(NamedTuple):
    """A call of a node: the number of its program, and the cycles in which it begins and ends."""

    program: int
    begin: int
    end: int


@dataclass
class Outcome:
    """The outcome of a chip's run.

    lines
        All that the tiles say, in order.
    calls
        The calls of each node, in their order.
    open
        For each node that waits, the program that it waits for, and the cycle of its call.
    runs
        The cycle 0 of each run, and its program.
    exits
        The cycle in which each node's program ended, and its status; only of those that ended.
    mistake
        The line of the first tile that did what a core must not do.
    """

    nodes: int
    lines: list[Line] = field(default_factory=list)
    calls: list[list[Taken]] = field(default_factory=list)
    open: dict[int, tuple[int, int]] = field(default_factory=dict)
    runs: list[tuple[int, int]] = field(default_factory=list)
    exits: dict[int, tuple[int, int]] = field(default_factory=dict)
    mistake: Line | None = None

    @classmethod
    def read(cls, lines: Iterable[Line], nodes: int) -> "Outcome":
        """Collect what the lines say."""
        outcome = cls(nodes, calls=[[] for _ in range(nodes)])
        for line in lines:
            outcome._add(line)
        return outcome

    def _add(self, line: Line) -> None:
        self.lines.append(line)
        if line.event == Event.CALL:
            self.open[line.node] = line.value, line.cycle
        elif line.event == Event.RETURN:
            self.calls[line.node].append(Taken(*self.open.pop(line.node), line.cycle))
        elif line.event == Event.RUN:
            self.runs.append((line.cycle, line.value))
        elif line.event == Event.EXIT:
            self.exits[line.node] = line.cycle, line.value
        elif line.event in MISTAKES and self.mistake is None:
            self.mistake = line

    @property
    def cycles(self) -> int:
        """The cycle in which the last node's program ended."""
        return max((cycle for cycle, _ in self.exits.values()), default=0)

    def in_calls(self, node: int) -> int:
        """Return the cycles that a node spent in calls."""
        return sum(each.end - each.begin for each in self.calls[node])

    def console(self) -> Iterator[tuple[int, str]]:
        """Yield each line that a node has printed, with the node, in the order of their ends."""
        begun: dict[int, str] = defaultdict(str)
        for line in self.lines:
            if line.event == Event.CONSOLE:
                if line.value == ord("\n"):
                    yield line.node, begun.pop(line.node, "")
                else:
                    begun[line.node] += chr(line.value & 0xFF)
        yield from begun.items()
