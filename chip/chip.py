"""A C program on a chip: built, run, and told as calls and tiles."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property
from importlib.util import find_spec
from pathlib import Path

from ..model.base.errors import InvalidInput
from ..model.base.files import input_name, read_input, write_bytes_atomically
from ..model.network.topology import Topology
from ..model.workload.chart import COMPUTE, WAIT, Chart
from ..model.workload.tables import Table
from ..model.workload.trace_events import trace_events
from ..picture.file import save_picture
from ..picture.workload import draw_charts
from ..report.contents import Report
from ..report.machines import ShownMachine
from ..report.reports import report_chip
from .calls import calls_of
from .chart import chart_of, cycles_by_name
from .check import Check, check_run
from .memory_map import Event
from .outcome import Outcome
from .programs import Programs, programs_of
from .simulation import run_chip, simulator_of
from .source import COMPILER, Binary, compile_source, link

NEEDED = (COMPILER, "pythondata_cpu_picorv32", "elftools")
"""Modules of the extra ``chip``."""


def require_tools() -> None:
    """Raise :class:`.InvalidInput` if the compiler or the core is not installed."""
    for module in NEEDED:
        if find_spec(module) is None:
            raise InvalidInput.of(module, "installed (pip install 'eyecast[chip]')", "missing")


@dataclass(frozen=True)
class Made:
    """A C program and the programs of its calls, ready to run."""

    name: str
    topology: Topology
    programs: Programs
    binary: Binary

    @cached_property
    def simulator(self) -> Path:
        """The chip's simulator, which is built once for a network."""
        return simulator_of(self.programs.config)

    @property
    def names(self) -> list[str]:
        """The collectives by the numbers of their programs, as tables show them."""
        return [served.call.shown for served in self.programs.served]


def build(source: Path, topology: Topology, folder: Path, *, circuits: bool, checked: bool) -> Made:
    """Compile a C file in ``folder``, find the programs of its calls, and link all.

    Raises :class:`.InvalidInput` for a file that cannot be read or compiled, or that calls what the
    network cannot do.
    """
    if source.suffix != ".c":
        raise InvalidInput.of("the program", "a file that ends in .c", input_name(source))
    # Refuse a file that cannot be read in our own words.
    read_input(source)
    _require_cores(topology)
    wanted = compile_source(source, folder)
    calls = calls_of(wanted, topology.nodes, circuits=circuits)
    programs = programs_of(calls, topology, circuits=circuits)
    return Made(source.name, topology, programs, link(programs, folder, checked=checked))


def _require_cores(topology: Topology) -> None:
    """Require a network in which every node can have a core, and another to talk to."""
    if topology.nodes < 2:
        raise InvalidInput.of("nodes of a chip", "2 or more", topology.nodes)
    bare = {*range(topology.nodes)} - {*topology.working_nodes.tolist()}
    if bare:
        allowed = "one with a core at every node, no switch and no faulty node"
        raise InvalidInput.of("the network of a chip", allowed, f"without {_tiles(sorted(bare))}")


def run(made: Made, *, checked: bool) -> ChipRun:
    """Run a program; ``checked`` compares it with the cycle model."""
    lines = run_chip(made.simulator, made.binary)
    outcome = Outcome.read(lines, made.topology.nodes)
    failure = _failure(made, outcome)
    check = check_run(made.programs, outcome) if checked and failure is None else None
    if check is not None and check.difference is not None:
        failure = f"the hardware differs from the prediction: {check.difference}"
    return ChipRun(made, outcome, check, failure)


@dataclass(frozen=True)
class ChipRun:
    """The run of a C program on a chip.

    check
        The comparison with the cycle model; None if it was not asked for, or after a failure.
    failure
        Why the program did not end well; None if it did.
    """

    made: Made
    outcome: Outcome
    check: Check | None
    failure: str | None

    @property
    def title(self) -> str:
        """The program, the network and the cycles."""
        return f"{self.made.name} on the {self.made.topology.label}"

    @cached_property
    def chart(self) -> Chart:
        """What each tile does from cycle to cycle."""
        return chart_of(self.outcome, [served.call for served in self.made.programs.served])

    def calls_table(self) -> Table:
        """Return a row for each collective of the source: its runs, and the cycles of the first."""
        rows: list[tuple[object, ...]] = []
        for number, served in enumerate(self.made.programs.served):
            runs = [cycles for program, _, cycles in self._runs() if program == number]
            algorithm = served.compiled.schedule.algorithm
            rows.append((served.call.shown, algorithm, len(runs), runs[0] if runs else None))
        columns = ("collective", "algorithm", "runs", "cycles")
        return Table(f"{self.title}, collectives", columns, rows)

    def tiles_table(self) -> Table:
        """Return the cycles of tiles: a row for what they do, over all tiles."""
        tiles = cycles_by_name(self.chart)
        names = (COMPUTE, WAIT, *dict.fromkeys(self.made.names))
        rows = {_WORDS.get(name, name): [each[name] for each in tiles] for name in names}
        rows["exposed communication"] = [self.outcome.in_calls(node) for node in range(len(tiles))]
        columns = ("tiles", "mean", "least", "at tile", "most", "at tile")
        return Table(
            f"{self.title}, {self.outcome.cycles:,} cycles",
            columns,
            [
                (name, f"{sum(row) / len(row):,.1f}", *_extreme(row, min), *_extreme(row, max))
                for name, row in rows.items()
            ],
        )

    def write_timeline(self, path: str) -> None:
        """Write the timeline as the suffix says: for Perfetto, or as a picture."""
        if path.endswith(".perfetto.json"):
            write_bytes_atomically(path, trace_events([self.chart]))
        else:
            save_picture(draw_charts(self.title, [self.chart]), path)

    def report(self) -> Report:
        """Return a page that shows the run.

        Raises :class:`.InvalidInput` for a network that is too large to draw.
        """
        programs = self.made.programs
        runs = [(program, begin, begin + cycles) for program, begin, cycles in self._runs()]
        about = "A run of a program starts when all tiles have called it."
        tables = self.calls_table(), self.tiles_table()
        shown = ShownMachine(self.chart, about, tables, programs.link_flits, runs)
        return report_chip(self.title, programs.config, shown, good=self.failure is None)

    def _runs(self) -> list[tuple[int, int, int]]:
        """Return program, cycle 0, and cycles to the last node's end, of each run that ended."""
        taken = zip(*self.outcome.calls, strict=False)
        ends = [max(each.end for each in of_run) for of_run in taken]
        runs = zip(self.outcome.runs, ends, strict=False)
        return [(program, begin, end - begin) for (begin, program), end in runs]

    def to_json(self) -> dict[str, object]:
        """Return the result as JSON values."""
        outcome = self.outcome
        names, tiles = self.made.names, cycles_by_name(self.chart)
        return {
            "cycles": outcome.cycles,
            "console": [{"tile": tile, "line": line} for tile, line in outcome.console()],
            "collectives": [
                {"collective": names[program], "begin": begin, "cycles": taken}
                for program, begin, taken in self._runs()
            ],
            "tiles": [
                {
                    "tile": node,
                    "end": outcome.exits[node][0] if node in outcome.exits else None,
                    "status": outcome.exits[node][1] if node in outcome.exits else None,
                    "computes": taken[COMPUTE],
                    "waits": taken[WAIT],
                    "collectives": {name: taken[name] for name in names},
                    "exposed": outcome.in_calls(node),
                }
                for node, taken in enumerate(tiles)
            ],
            "checked": None
            if self.check is None
            else {"collectives": len(self.check.cycles), "words": self.check.words},
            "failure": self.failure,
        }


_WORDS = {COMPUTE: "computation", WAIT: "waiting for other tiles"}
"""Names of rows of the table of tiles; others are those of collectives."""


def _extreme(row: list[int], which: Callable[[list[int]], int]) -> tuple[int, int]:
    """Return the least or the most of a row, and its first tile."""
    found = which(row)
    return found, row.index(found)


_MISTAKES = {
    Event.TRAP: "has trapped in {where}",
    Event.ADDRESS: "has asked for the address {value:#x}, where nothing is",
    Event.OTHER_CALL: "calls another collective than tile 0, which runs {program}",
    Event.REFUSED: "was refused the request to write word {value} as the host",
}


def _tiles(nodes: Sequence[int]) -> str:
    """Return numbers of tiles as words."""
    return f"tile{'s' if len(nodes) > 1 else ''} {', '.join(map(str, nodes))}"


def _failure(made: Made, outcome: Outcome) -> str | None:
    """Say why the program did not end well; None if it did."""
    names = made.names
    if outcome.mistake is not None:
        _, node, event, value = outcome.mistake
        # The core has fetched the next instruction, too.
        where = made.binary.name_of(value - 4)
        program = names[value] if event == Event.OTHER_CALL else ""
        told = _MISTAKES[event].format(where=where, value=value, program=program)
        called = names[outcome.open[node][0]] if node in outcome.open else None
        beside = f" (tile {node} is in {called})" if called else ""
        return f"tile {node} {told}{beside}"
    if outcome.open:
        waiting: defaultdict[str, list[int]] = defaultdict(list)
        for node, (number, _) in sorted(outcome.open.items()):
            waiting[names[number]].append(node)
        stuck = [f"{_tiles(nodes)} in {name}" for name, nodes in waiting.items()]
        if outcome.exits:
            stuck.append(f"{_tiles(sorted(outcome.exits))} ended without it")
        return f"waiting for ever: {'; '.join(stuck)}"
    wrong = {node: status for node, (_, status) in outcome.exits.items() if status}
    if wrong:
        node, status = min(wrong.items())
        return f"tile {node} has ended with status {status}"
    return None
