"""Schedules of the fewest steps, and of these one of the least TCD, with a solver's proof.

OR-tools' CP-SAT solves one model for each number of steps T, from 1 on, until one has a solution.
Then it minimises the links of all sends in T steps. In each step::

    a node sends once at most, or once by each link;     a path is a flow of 1 from the sender on
    no two sends of a step share a link                  that ends at one other node
    a send carries any blocks that its source holds      all ends must hold their blocks after T

Of a reduced block a node holds a set of contributions. A send that combines adds its own to them,
and no contribution twice unless the operator is idempotent; one that replaces throws them away.

Messages are not cut, and no send streams: with either, fewer steps may do. A reduce is a broadcast
backwards, and a reduce-scatter an all-gather (:mod:`..reductions.backwards`), with as many steps
and links, so these two are not modelled.
"""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass, field, replace
from functools import partial
from typing import TYPE_CHECKING, Any

from ...base.errors import require_range
from ...base.notices import LOG, announced
from ...network.operators import is_idempotent
from ...network.port_model import PortModel
from ...network.route_layers import layered_vcs
from ...network.topology import Topology
from ...schedule.blocks import Blocks
from ...schedule.collective import Collective
from ...schedule.requested_blocks import blocks_of
from ...schedule.schedule import Schedule
from ..declared.algorithm import ALL, ONE, Declared
from ..declared.request import Request
from ..streaming.sends import SendList
from .solver import MOST_NODES, SOLVED, Model, least

if TYPE_CHECKING:
    from ortools.sat.python.cp_model import IntVar

NAME = "optimal"
MOST_STEPS = 32

Link = tuple[int, int]


def fewest_steps(collective: Collective, asked: Request) -> Schedule:
    """Return a schedule of the fewest steps; a notice says what of it is proved.

    Raises :class:`.InvalidInput` without OR-tools, for more than ``MOST_NODES`` nodes, and if no
    schedule is found in time.
    """
    topology = asked.topology
    require_range(f"nodes for {NAME}", topology.nodes, 1, MOST_NODES)
    require_range("words", asked.words, 1)
    blocks = blocks_of(topology, (asked.of(collective),), (), 1)
    ports = PortModel.ALL_PORT if asked.all_port else asked.duplex or PortModel.FULL_DUPLEX
    made = partial(_Model, topology, collective, blocks, ports)
    with announced(f"solving for the {NAME} {collective} on the {topology.label}"):
        found, steps, proved = least(made, range(MOST_STEPS + 1))
        if found is None:
            allowed = f"one with a schedule of {proved} to {MOST_STEPS} steps, found in time"
            raise topology.refusal(NAME, f"{allowed} (another algorithm helps)")
        fewest_links = found.minimise_links()
    what = proof(steps, proved), f"TCD {proof(found.links, fewest_links)}"
    LOG.info("%s: steps %s; %s", NAME, *what)
    schedule = found.sends().schedule(NAME, topology, collective, ports, asked.source, blocks)
    return replace(schedule, vcs=layered_vcs(schedule.path_offsets, schedule.path_nodes))


def proof(value: int, least: int) -> str:
    """Say whether the solver has proved that a ``value`` is the least, or else what may be."""
    if value == least:
        return f"{value}, proved the least"
    return f"{value}, of which {least} may be the least: the solver's time ended"


@dataclass(eq=False)
class _Send:
    """Variables of one send that a node may make in a step: by any link, or by ``first`` alone."""

    step: int
    source: int
    first: Link | None
    there: IntVar
    replaces: IntVar
    over: dict[Link, IntVar] = field(default_factory=dict)
    ends: dict[int, IntVar] = field(default_factory=dict)
    carries: list[IntVar] = field(default_factory=list)


class _Model(Model):
    """The model of schedules of ``steps`` steps, and its last solution."""

    def __init__(
        self,
        topology: Topology,
        collective: Collective,
        blocks: Blocks,
        ports: PortModel,
        steps: int,
    ) -> None:
        super().__init__(topology, NAME)
        self._topology, self._blocks, self._ports, self._steps = topology, blocks, ports, steps
        self._sends = [self._sends_of(step) for step in range(steps)]
        for block in range(len(blocks)):
            if blocks.words[block]:
                (self._combine if blocks.reduced[block] else self._copy)(block)
        if collective == Collective.BROADCAST:
            self._reach_once(int(blocks.owner[0]))

    def _bool(self) -> IntVar:
        return self._model.new_bool_var("")

    def _both(self, one: IntVar, other: IntVar) -> IntVar:
        """Return a variable that is true if both are."""
        both = self._bool()
        self._model.add_implication(both, one)
        self._model.add_implication(both, other)
        self._model.add_bool_or([one.negated(), other.negated(), both])
        return both

    def _sends_of(self, step: int) -> list[_Send]:
        """Add the sends of a step, with the port model and the links that no two share."""
        model, sends = self._model, []
        used: defaultdict[Link, list[IntVar]] = defaultdict(list)
        received: defaultdict[int, list[IntVar]] = defaultdict(list)
        for node in self._nodes:
            leaving = [link for link in self._links if link[0] == node]
            firsts = leaving if self._ports == PortModel.ALL_PORT else [None]
            for first in firsts:
                sends.append(self._send(step, node, first))
        for send in sends:
            for link, variable in send.over.items():
                used[link].append(variable)
            for node, variable in send.ends.items():
                received[node].append(variable)
        for each in used.values():
            model.add_at_most_one(each)
        if self._ports == PortModel.ALL_PORT:
            return sends
        half = self._ports == PortModel.HALF_DUPLEX
        for send in sends:
            model.add_at_most_one(received[send.source] + [send.there] * half)
        return sends

    def _send(self, step: int, source: int, first: Link | None) -> _Send:
        """Add a send: a flow of 1 along links that ends at one node, if it is there."""
        model = self._model
        send = _Send(step, source, first, self._bool(), self._bool())
        send.over = {
            (begin, end): self._bool()
            for begin, end in self._links
            if end != source and (begin != source or first in (None, (begin, end)))
        }
        send.ends = {node: self._bool() for node in self._nodes if node != source}
        send.carries = [self._bool() for _ in range(len(self._blocks))]
        leaving: defaultdict[int, list[IntVar]] = defaultdict(list)
        entering: defaultdict[int, list[IntVar]] = defaultdict(list)
        for (begin, end), variable in send.over.items():
            leaving[begin].append(variable)
            entering[end].append(variable)
        model.add(sum(leaving[source]) == send.there)
        model.add(sum(send.ends.values()) == send.there)
        for node in range(self._topology.nodes):
            if node != source:
                model.add(sum(entering[node]) == sum(leaving[node]) + send.ends.get(node, 0))
                model.add_at_most_one(entering[node])
        for carried in send.carries:
            model.add_implication(carried, send.there)
        model.add_bool_or([*send.carries, send.there.negated()])
        return send

    def _arrivals(self, step: int, node: int, block: int) -> list[tuple[_Send, IntVar]]:
        """Return the sends of a step with a variable that is true if they bring a block."""
        sends = [send for send in self._sends[step] if node in send.ends]
        return [(send, self._both(send.ends[node], send.carries[block])) for send in sends]

    def _copy(self, block: int) -> None:
        """Require that nodes hold a copied block before they send it, and that all owed get it."""
        model, owner = self._model, int(self._blocks.owner[block])
        has: dict[int, Any] = {node: int(node == owner) for node in self._nodes}
        for step in range(self._steps):
            for send in self._sends[step]:
                model.add(send.carries[block] <= has[send.source])
            after: dict[int, Any] = {}
            for node in self._nodes:
                came = [arrival for _, arrival in self._arrivals(step, node, block)]
                after[node] = 1 if node == owner else self._bool()
                model.add(after[node] <= has[node] + sum(came))
            has = after
        owed = self._blocks.owed[block]
        for node in self._nodes if owed is None else owed:
            model.add(has[node] == 1)

    def _combine(self, block: int) -> None:
        """Require that the owed nodes of a reduced block hold the contributions that they must."""
        model, blocks, topology = self._model, self._blocks, self._topology
        parts = blocks.holders(block, topology)
        has: dict[int, dict[int, Any]] = {
            node: {part: int(part == node) for part in parts} for node in self._nodes
        }
        for step in range(self._steps):
            for send in self._sends[step]:
                model.add(send.carries[block] <= sum(has[send.source].values()))
            has = {node: self._combined(step, node, block, has) for node in self._nodes}
        owed = blocks.owed[block]
        for node in self._nodes if owed is None else owed:
            due = blocks.parts(block, node, topology)
            for part in parts:
                model.add(has[node][part] == int(part in due))

    def _combined(
        self, step: int, node: int, block: int, has: dict[int, dict[int, Any]]
    ) -> dict[int, Any]:
        """Return which contributions a node has after a step in which sends may arrive."""
        model = self._model
        arrivals = self._arrivals(step, node, block)
        replacing = [self._both(arrival, send.replaces) for send, arrival in arrivals]
        replaced = self._bool()
        model.add(sum(replacing) == replaced)
        came = [arrival for _, arrival in arrivals]
        # What replaces a value comes alone, and so does the first value of a node.
        model.add(sum(came) <= 1).only_enforce_if(replaced)
        model.add(sum(came) <= len(came) * (sum(has[node].values()) + replaced))
        after: dict[int, Any] = {}
        for part, own in has[node].items():
            kept = self._bool()
            model.add(kept <= own)
            model.add(kept <= 1 - replaced)
            model.add(kept >= own - replaced)
            values = [kept]
            for send, arrival in arrivals:
                there = has[send.source][part]
                brought = self._bool()
                model.add(brought <= arrival)
                model.add(brought <= there)
                model.add(brought >= arrival + there - 1)
                values.append(brought)
            after[part] = self._bool()
            if is_idempotent(self._blocks.operator[block]):
                model.add_max_equality(after[part], values)
            else:
                model.add(sum(values) == after[part])
        return after

    def _reach_once(self, root: int) -> None:
        """Require that a broadcast reaches no node twice."""
        for node in self._nodes:
            came = [each.ends[node] for sends in self._sends for each in sends if node in each.ends]
            self._model.add(sum(came) <= int(node != root))

    @property
    def _all_links(self) -> list[IntVar]:
        return [each for sends in self._sends for send in sends for each in send.over.values()]

    def minimise_links(self) -> int:
        """Look for a schedule of fewer links, in the same time; return the least that may be."""
        variables = self._all_links
        for each in variables:
            self._model.add_hint(each, self._solver.value(each))
        self._model.minimize(sum(variables))
        return int(self._solver.best_objective_bound) if self.solve() in SOLVED else 0

    @property
    def links(self) -> int:
        """The links of all sends of the last solution."""
        return sum(self._solver.value(each) for each in self._all_links)

    def sends(self) -> SendList:
        """Return the sends of the last solution, without blocks that the target already holds."""
        listed, value = SendList(), self._solver.value
        reduced = self._blocks.reduced.tolist()
        held = {*enumerate(self._blocks.owner.tolist())}
        for step, sends in enumerate(self._sends, start=1):
            got: set[tuple[int, int]] = set()
            for send in sends:
                if not value(send.there):
                    continue
                path = [send.source]
                onward = {begin: end for (begin, end), over in send.over.items() if value(over)}
                (target,) = (node for node, ends in send.ends.items() if value(ends))
                while path[-1] != target:
                    path.append(onward[path[-1]])
                carried = [
                    block
                    for block, variable in enumerate(send.carries)
                    if value(variable) and (reduced[block] or (block, target) not in held | got)
                ]
                got.update((block, target) for block in carried)
                if carried:
                    combine = reduced[carried[0]] and not value(send.replaces)
                    listed.add(step, path, carried, combine=combine)
            held |= got
        return listed


_BACKWARDS = (Collective.REDUCE, Collective.REDUCE_SCATTER)
ALGORITHMS = tuple(
    Declared(
        collective,
        NAME,
        partial(fewest_steps, collective),
        networks=f"any network of at most {MOST_NODES} nodes",
        steps="the fewest without shared links, with the least TCD of these",
        ports=(ONE, ALL),
        takes=("all_port", "duplex", *["operator"] * collective.reduces),
    )
    for collective in Collective
    if collective not in _BACKWARDS
)
