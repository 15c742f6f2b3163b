"""Parameters of a run as the page sends them, and the command and the Python that make the run."""

import json
import shlex
from collections.abc import Mapping
from contextlib import suppress
from functools import lru_cache
from typing import Literal

import msgspec

from ..api.networks import with_faults
from ..api.schedules import schedule
from ..api.traffic import traffic
from ..model.base.errors import InvalidInput, require_range
from ..model.base.texts import integers
from ..model.collectives.lower_bounds import counted_costs
from ..model.collectives.registry import algorithms_for
from ..model.compare.case import Case
from ..model.compare.traffic_case import TrafficCase
from ..model.network.config import Timing
from ..model.network.kinds import KINDS
from ..model.network.network_text import (
    SizeLimit,
    link_in_words,
    node_in_words,
    sized_network,
)
from ..model.network.topology import Topology
from ..model.program.certified import compile_certified
from ..model.run.waits import waiting_lines
from ..model.schedule.collective import COLLECTIVES, Collective
from ..model.schedule.schedule import Schedule
from ..model.traffic.measures import measure_rows
from ..report.contents import Report
from ..report.reports import report_case, report_traffic

TRAFFIC = "traffic"
"""What a state has instead of a collective if its packets are drawn."""

MOST_WORD_HOPS = 1 << 20
"""Most words times links of a run, which bounds its time."""

LIMITS = {"words": (1, 1024), "vcs": (1, 8), "packet_flits": (2, 64), "cycles": (1, 2000)}
"""The least and the greatest value of each number."""

SIZES = {
    **{"mesh": "8x8", "torus": "8x8", "hypercube": "5", "line": "16", "ring": "16"},
    **{"binary-tree": "31", "star-tree": "3x5", "diagonal-mesh": "8", "de-bruijn": "2,5"},
}
"""The size with which the page begins, for each kind of network."""

Given = dict[str, object]
"""Values by the name that they have in Python and, with hyphens, as options."""


class State(msgspec.Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """The parameters of a run; nodes are texts such as "3,4", links such as "3,4:4,4"."""

    network: str = "mesh"
    size: str = "8x8"
    faults: str = ""
    collective: str = "broadcast"
    algorithm: str = "eye"
    source: str = "0,0"
    words: int = 16
    ports: str = "one"
    timing: Literal["barrier", "self-timed"] = "barrier"
    circuits: bool = False
    vcs: int = 1
    pattern: str = "uniform"
    rate: float = 0.2
    packet_flits: int = 4
    cycles: int = 300

    def topology(self) -> Topology:
        """Return the network; raise :class:`.InvalidInput` for one that is too large."""
        whole = _whole(self.network, self.size)
        return with_faults(whole, *self._faults(whole)) if self.faults.split() else whole

    def _faults(self, whole: Topology) -> tuple[list[int], list[tuple[int, int]]]:
        """Return the faulty nodes and the faulty links."""
        texts = self.faults.split()
        nodes = [node_in_words(whole, text, "faults") for text in texts if ":" not in text]
        return nodes, [link_in_words(whole, text, "faults") for text in texts if ":" in text]

    def of_schedule(self, topology: Topology) -> Given:
        """Return what chooses the schedule."""
        given: Given = {"algorithm": self.algorithm, "collective": self.collective}
        if self.collective not in COLLECTIVES:
            raise InvalidInput.unknown("collective", COLLECTIVES, self.collective)
        if Collective(self.collective).rooted:
            source = node_in_words(topology, self.source, "source")
            given["source"] = tuple(topology.coordinates(source).tolist())
        if self.collective != Collective.BARRIER:
            given["words"] = self.words
        return given | ({} if self.ports == "one" else {"ports": self.ports})

    def of_run(self) -> Given:
        """Return what chooses the hardware and its timing."""
        if self.circuits:
            return {"circuits": True}
        own: Given = {} if self.timing == "barrier" else {"timing": self.timing}
        return own | ({"vcs": self.vcs} if self.vcs > 1 else {})

    def of_traffic(self) -> Given:
        """Return what chooses the packets and their network."""
        names = ("pattern", "rate", "packet_flits", "cycles", "vcs")
        return {name: getattr(self, name) for name in names}

    def command(self, topology: Topology) -> str:
        """Return the command that makes the same run on the state's ``topology``."""
        words = [f"--{self.network}", self.size]
        for text in self.faults.split():
            words += ["--faulty-link" if ":" in text else "--faulty-node", text]
        if self.collective == TRAFFIC:
            words = ["traffic", *words, *_options(self.of_traffic()), "--on", "model"]
        else:
            words = ["predict", *words, *_options(self.of_schedule(topology) | self.of_run())]
        return shlex.join(["eyecast", *words])

    def python(self, topology: Topology) -> str:
        """Return the Python that makes the same run on the state's ``topology``."""
        kind = KINDS[self.network]
        size: object = integers("size", kind.allowed, self.size, kind.separator)
        numbers = repr(size) if kind.sides else repr(size)[1:-1].rstrip(",")
        lines = ["import eyecast", ""]
        lines.append(f"network = eyecast.{self.network.replace('-', '_')}({numbers})")
        if self.faults.split():
            nodes, links = self._faults(topology)
            lines.append(f"network = eyecast.with_faults(network, {nodes}, {links})")
        if self.collective == TRAFFIC:
            lines.append(f"run = eyecast.traffic(network, {_keywords(self.of_traffic())}).run")
        else:
            lines.append(
                f"schedule = eyecast.schedule(network, {_keywords(self.of_schedule(topology))})"
            )
            given = "".join(f", {each}" for each in [_keywords(self.of_run())] if each)
            lines.append(f"run = eyecast.predict(schedule{given})")
        return "\n".join([*lines, "print(run.cycles)", ""])


@lru_cache(maxsize=4)
def _whole(network: str, size: str) -> Topology:
    """Return a network without faults; a change of another parameter finds it as it was."""
    if network not in KINDS:
        raise InvalidInput.unknown("network", KINDS, network)
    return sized_network(network, size, SizeLimit.EXPLORE, "size")


def _options(given: Mapping[str, object]) -> list[str]:
    """Return values as options."""
    words: list[str] = []
    for name, value in given.items():
        text = ",".join(map(str, value)) if isinstance(value, tuple) else str(value)
        words += [f"--{name.replace('_', '-')}", *([] if value is True else [text])]
    return words


def _keywords(given: Mapping[str, object]) -> str:
    """Return values as keyword arguments."""
    texts = {
        name: json.dumps(value) if isinstance(value, str) else repr(value)
        for name, value in given.items()
    }
    return ", ".join(f"{name}={text}" for name, text in texts.items())


class Answer(msgspec.Struct, frozen=True):
    """What a state makes: title, facts (a name and a value), waiting packets, command, Python."""

    state: State
    title: str
    facts: list[tuple[str, str]]
    waiting: list[str]
    command: str
    python: str


def answer(state: State) -> tuple[Answer, Report]:
    """Run a state on the cycle model; the answer's state has the algorithm that was chosen.

    Raises :class:`.InvalidInput` if a parameter is out of range.
    """
    for name, limits in LIMITS.items():
        require_range(name, getattr(state, name), *limits)
    topology = state.topology()
    made = _traffic if state.collective == TRAFFIC else _collective
    settled, case, report, facts = made(state, topology)
    waiting = waiting_lines(case.program, case.predicted)
    same = settled.command(topology), settled.python(topology)
    return Answer(settled, report.title, facts, waiting, *same), report


Made = tuple[State, Case | TrafficCase, Report, list[tuple[str, str]]]


def _traffic(state: State, topology: Topology) -> Made:
    ran = traffic(topology, **state.of_traffic())  # type: ignore[arg-type]
    rows = measure_rows(ran.measures)
    report = report_traffic(ran.case, ran.latency, rows, None)
    shown = ("accepted throughput", "mean latency", "longest latency")
    facts = [(name, str(value)) for name, value in rows if name.startswith(shown)]
    return state, ran.case, report, [("cycles", f"{ran.run.cycles:,}"), *facts]


def _collective(state: State, topology: Topology) -> Made:
    made = _schedule(state, topology)
    if (hops := counted_costs(made).word_hops) > MOST_WORD_HOPS:
        raise InvalidInput.of("words times links", f"at most {MOST_WORD_HOPS:,}", f"{hops:,}")
    settled = msgspec.structs.replace(state, algorithm=made.algorithm)
    given = settled.of_run()
    timing = Timing.named(str(given.pop("timing", "barrier")))
    case = Case.of(compile_certified(made, given), timing=timing, seed=0, simulated=False)
    cycles, bound = case.predicted.cycles, case.bound
    facts = [("cycles", f"{cycles:,}"), ("lower bound", f"{bound.value:,}")]
    if case.predicted.finished and bound.value:
        facts.append(("ratio", bound.times(cycles)))
    return settled, case, report_case(case), facts


def _schedule(state: State, topology: Topology) -> Schedule:
    """Make the schedule of the state's algorithm; without one, of the first one that serves."""
    given = state.of_schedule(topology)
    names = [state.algorithm]
    if not state.algorithm:
        found = algorithms_for(state.collective, circuits=state.circuits)
        names = [algorithm.name for algorithm in found]
    for name in names[:-1]:
        with suppress(InvalidInput):
            return schedule(topology, **given | {"algorithm": name})  # type: ignore[arg-type]
    return schedule(topology, **given | {"algorithm": names[-1]})  # type: ignore[arg-type]
