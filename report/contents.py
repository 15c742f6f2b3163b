"""Contents of a page: a prediction, a verification, algorithms side by side, or traffic.

This docstring is the data contract between Python and the page's script. Packed columns
(``report/packing.py``) are called ``column`` here. Outputs are numbered ``node * ports + port``;
port 0 is delivery::

    format, version   "eyecast-report", 1
    eyecast           the version of Eyecast
    title             program and network of the run
    verdict           {"good": true, false or null, "text": one line}
    network           nodes, ports, vcs, write_delay (cycles from the delivery of a word to its
                      writing); points [[x, y]], low, high (corners of the drawing, in cells, y
                      down), names, port_names; written {node: name}, rulers: texts beside the
                      drawing; operators: names; host, faulty_nodes, switches; links: columns from,
                      port, to, peer (the port by which the link enters "to"), registers, rate
                      (least cycles between two flits), faulty, and curves {number of the link:
                      [[[x, y], ...], ...]} of the links that are not straight
    runs              the runs on the page, one object each, below
    chosen            the number of the run that is shown first
    comparison        null, or a table as below with "runs": the numbers of each row's runs
    latency           null, or {"cycles": column, "packets": column}: a latency, and its packets

    of each run:
    name, title, timing, root (or null), cycles (shown), finished
    collective        its name, "traffic", or null
    about             sentences on its schedule
    steps             {"first": [cycle], "end": [cycle after]}, step 1 first, from the trace
    measures          the model's measures of each step, or []
    trace             null, or rows, lines and counts (outputs and their flits), words {low, high},
                      and for each flit, in order of outputs and cycles: gaps (cycles since the
                      previous flit of the output, or since cycle 0), vc, kind (1: head, 2: tail),
                      word (index into words), row (of the program, from 1; 0: none), stay (cycles
                      until it leaves the next router; if it never does, until the cycle after the
                      last one shown), stalled (cycles of the stay at the buffer's front)
    loads             null, or instead of a trace: rows, width (cycles of a bin), bins, lines,
                      counts (bins x lines), steps (null, or steps x lines)
    timeline          null, or of a workload or a chip: ranks, names and kinds (texts), and by
                      bar columns: rank, begin, cycles, name (its number), kind (from 1; 0: it
                      computes)
    stalled, flags    null, or stalled flits of each node; {node: [names]}
    waiting, notes    lines of text: why the run did not end well; parts left out of the page
    program           null, or columns: first_row, first_receive (offsets by node); of rows step,
                      source_address, target_address, length, continued, start (from 1; 0: none),
                      target (node, from 1; 0: none), route; first_segment (offsets by route), port,
                      hops, vc; receive_step, receive_port; header_flits, remark (number in
                      remarks, texts); table {low, high}: the words of the table memories, each
                      XORed with the previous one: the first of the "control" control words of all
                      rows, then the second ones, ..., then the header flits of all rows
    run_tables        null, or columns of a program of circuits (docs/router.md, section 23):
                      first_entry (offsets by node), duration, codes (all of an entry one by one),
                      first, second, operator, send_address, receive_address, receive
    held              words of blocks that each node has at the start
    contributions     null, or of a run that combines: start and goal (contributions of each node,
                      each counted once for each word), of (the most of a word), owed (whether a
                      node is owed a block), and by rows gained (by the send) and words (that the
                      send has).
                      With circuits instead of these two: size (words of a memory), and marks of
                      each word of all memories (1: it counts, 2: a contribution of its node is
                      there at the start, 3: both)
    deadlock          null, or {"waits": [{"row", "other": rows of packets, "held", "wanted":
                      [output, vc], "why": "holds", "fills" or "ahead"}], "remedies": [text]}
    memory            null, or {"size": words of a node, "low", "high"}: after the run
    blocks            null, or {"starts": addresses, "owner": nodes}
    tables            [{"title", "columns", "rows", "wrong": [numbers of wrong rows]}]
    difference        null, or row, rows [[number, model, this run]], names (of both), model (the
                      number of the predicted run, or null), and cycle, node and port of the first
                      flit that differs
"""

from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from ..model.base.version import __version__
from ..model.network.config import NetworkConfig
from ..model.run.measures import measure_steps
from ..model.run.run import Prediction
from ..model.run.trace import Difference
from .drawing import pack_network
from .flits import MOST_FLITS
from .machines import ShownMachine, pack_machine
from .packing import Pack
from .page import player_text, write_page
from .runs import Watched, pack_run

FORMAT, VERSION = "eyecast-report", 1

_AROUND = 4
"""Rows of both traces that are shown before and after their first difference."""


@dataclass(frozen=True)
class Report:
    """A page that can be written: its title, its data from :meth:`.Pack.seal`, and its kind."""

    title: str
    data: str
    circuits: bool = False

    def write(self, path: str | Path) -> None:
        """Write the page, whole or not at all.

        Raises :class:`.InvalidInput` if ``path`` cannot be written.
        """
        write_page(path, self.title, self.data, circuits=self.circuits)

    def player(self) -> str:
        """Return a small page for a notebook, which plays the run that is shown first."""
        return player_text(self.title, self.data, circuits=self.circuits)


class Contents:
    """The contents of a page, assembled run by run.

    Raises :class:`.InvalidInput` for a network that is too large to draw.
    """

    def __init__(self, title: str, config: NetworkConfig) -> None:
        self._pack = Pack()
        self._title = title
        self._circuits, self._nodes = config.circuits, config.topology.nodes
        self._network = pack_network(self._pack, config)
        self._runs: list[dict[str, Any]] = []
        self._room = MOST_FLITS

    def add(self, watched: Watched, predicted: Prediction | None) -> int:
        """Add a run with the model's prediction for its steps; return the run's number."""
        run = pack_run(self._pack, watched, self._room)
        self._room -= run["trace"]["rows"] if run["trace"] else 0
        measures = []
        if predicted is not None and run["steps"]["end"]:
            measures = measure_steps(watched.program, predicted)
        self._runs.append(
            {**run, "measures": [asdict(each) for each in measures], "difference": None}
        )
        return len(self._runs) - 1

    def add_machine(self, machine: ShownMachine) -> None:
        """Add a run of a workload or a chip."""
        self._runs.append(pack_machine(self._pack, machine, self._nodes))

    def note_difference(
        self, run: int, difference: Difference | None, model: int | None = None
    ) -> None:
        """Add to a run the first difference between its trace and the trace of run ``model``."""
        if difference is None:
            return
        traces = difference.traces
        rows = range(max(0, difference.index - _AROUND), difference.index + _AROUND + 1)
        shown = [
            [row, *(str(trace[row]) if row < len(trace) else "" for trace in traces)]
            for row in rows
            if row < max(map(len, traces))
        ]
        flits = [flit for flit in (difference.second, difference.first) if flit is not None]
        flit = min(flits, key=lambda each: (each.cycle, each.node, each.port))
        self._runs[run]["difference"] = {
            "row": difference.index,
            "rows": shown,
            "names": ["model", self._runs[run]["name"]],
            "model": model,
            **{"cycle": flit.cycle, "node": flit.node, "port": flit.port},
        }

    def histogram(self, values: npt.NDArray[np.int64]) -> dict[str, Any]:
        """Pack how often each of ``values`` occurs."""
        cycles, packets = np.unique(values, return_counts=True)
        return {"cycles": self._pack.column(cycles), "packets": self._pack.column(packets)}

    def report(self, verdict: dict[str, Any], **others: Any) -> Report:
        """Return the page; ``others`` are a comparison, a latency and the run to show first."""
        content = {
            "format": FORMAT,
            "version": VERSION,
            "eyecast": __version__,
            "title": self._title,
            "verdict": verdict,
            "network": self._network,
            "runs": self._runs,
            **{"chosen": 0, "comparison": None, "latency": None, **others},
        }
        return Report(self._title, self._pack.seal(content), self._circuits)
