"""Schedules of the fewest cycles on circuits, with a solver's proof.

Each word is followed alone, from cycle to cycle, over a network without arbitration. Of collectives
that copy::

    a node begins one word a cycle      when it has it, or ``READ`` cycles after it left a router
    a router forks a word               to any outputs but the link it came by, a cycle later
    a link carries one word a cycle     and a node takes one word a cycle out of its router

OR-tools' CP-SAT solves a model for each number of cycles, until one has a solution. Every word that
a node needs, or sends on, becomes a send; the words of a tree have one step, in order of cycles.
The compiler of circuits places words in this order, each as early as it can. In most cases it finds
as many cycles; an early word may also be in the way of later ones, and cost a few cycles more.

A reduce is not a broadcast backwards: a fork takes no cycle and has any number of outputs, but a
join takes one and has two inputs. So collectives with sums have a model of their own, and its
docstring says which schedules it covers (:mod:`.sums`). The notice of a proof speaks of these.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, Any

from ...base.errors import require_range
from ...base.notices import LOG, announced
from ...network.port_model import PortModel
from ...network.topology import Topology
from ...schedule.blocks import Blocks
from ...schedule.collective import Collective
from ...schedule.requested_blocks import blocks_of
from ...schedule.schedule import Schedule
from ..declared.algorithm import Declared
from ..declared.request import Request, words_of
from ..streaming.sends import SendList
from .solver import MOST_NODES, Model, least
from .sums import Sums

if TYPE_CHECKING:
    from ortools.sat.python.cp_model import IntVar

NAME = "optimal-cycles"
READ = 4
"""Cycles from a word's way out of a router to its next way in."""
MOST_WORDS = 128
"""Most words of all blocks together."""
MOST_CYCLES = 256


def fewest_cycles(collective: Collective, asked: Request) -> Schedule:
    """Return a schedule of the fewest cycles on circuits; a notice says what of it is proved.

    Raises :class:`.InvalidInput` without OR-tools, for links that differ, for more nodes or words
    than the solver can serve, and if no schedule is found in time.
    """
    topology = asked.topology
    require_range(f"nodes for {NAME}", topology.nodes, 1, MOST_NODES)
    require_range("words", asked.words, 1, MOST_WORDS)
    if asked.source is not None:
        topology.require_working("source", asked.source)
    if topology.links_differ:
        raise topology.refusal(NAME, "one of equal links")
    words = words_of(collective, asked.words)
    blocks = blocks_of(topology, (asked.of(collective),), (), words)
    require_range(f"words of all blocks for {NAME}", len(blocks), 1, MOST_WORDS)
    model: type[Sums | _Copies] = Sums if collective.reduces else _Copies
    make: Callable[[int], Sums | _Copies] = partial(model, topology, NAME, blocks)
    with announced(f"solving for the {NAME} {collective} on the {topology.label}"):
        found, _, proved = least(make, range(MOST_CYCLES))
        if found is None:
            allowed = f"one with a schedule of {MOST_CYCLES} cycles, found in time"
            raise topology.refusal(NAME, allowed)
        found.begin_early()
    sends = found.sends()
    if sends.step:
        LOG.info("%s: no schedule takes fewer than %d cycles, proved", NAME, proved + model.beside)
    ports, root = PortModel.FULL_DUPLEX, asked.source
    return replace(sends.schedule(NAME, topology, collective, ports, root, blocks), circuits=True)


class _Copies(Model):
    """The model of words that all leave their last router by cycle ``last``, and its solution."""

    beside = 6
    """Cycles of a run beside the number of the cycle in which the last word leaves."""

    def __init__(self, topology: Topology, name: str, blocks: Blocks, last: int) -> None:
        super().__init__(topology, name)
        self._blocks = blocks
        self._begins: dict[tuple[int, int, int], IntVar] = {}
        self._over: dict[tuple[int, int, int, int], IntVar] = {}
        self._leaves: dict[tuple[int, int, int], IntVar] = {}
        for block in range(len(blocks)):
            self._follow(block, last)
        alone: defaultdict[object, list[IntVar]] = defaultdict(list)
        for (cycle, node, _), variable in self._begins.items():
            alone["begins", cycle, node].append(variable)
        for (cycle, node, _), variable in self._leaves.items():
            alone["leaves", cycle, node].append(variable)
        for (cycle, begin, end, _), variable in self._over.items():
            alone[cycle, begin, end].append(variable)
        for each in alone.values():
            self._model.add_at_most_one(each)

    def _follow(self, block: int, last: int) -> None:
        """Add where the word of a block is in each cycle, and that all owed nodes get it."""
        model, owner = self._model, int(self._blocks.owner[block])
        for cycle in range(last + 1):
            for node in self._nodes:
                begins = self._begins[cycle, node, block] = model.new_bool_var("")
                if node != owner:
                    came = (self._leaves[at, node, block] for at in range(cycle - READ + 1))
                    model.add(begins <= sum(came))
                if cycle:
                    leaves = self._leaves[cycle, node, block] = model.new_bool_var("")
                    model.add(leaves <= sum(self._coming(cycle, node, block)))
                else:
                    self._leaves[cycle, node, block] = model.new_constant(0)
            for begin, end in self._links:
                over = self._over[cycle, begin, end, block] = model.new_bool_var("")
                here: list[Any] = self._coming(cycle, begin, block, but=end)
                if begin in self._nodes:
                    here.append(self._begins[cycle, begin, block])
                model.add(over <= sum(here))
        owed = self._blocks.owed[block]
        for node in self._nodes if owed is None else owed:
            if node != owner:
                taken = [self._leaves[cycle, node, block] for cycle in range(last + 1)]
                model.add(sum(taken) == 1)

    def _coming(self, cycle: int, node: int, block: int, but: int = -1) -> list[Any]:
        """Return whether the word comes over each link into a router, except that from ``but``."""
        return [
            self._over[cycle - 1, begin, end, block]
            for begin, end in self._links
            if cycle and end == node and begin != but
        ]

    def begin_early(self) -> None:
        """Look for a schedule of fewer links and earlier words that takes as many cycles."""
        early = sum(cycle * begins for (cycle, _, _), begins in self._begins.items())
        for each in (*self._begins.values(), *self._over.values()):
            self._model.add_hint(each, self._solver.value(each))
        self._model.minimize(sum(self._over.values()) + early)
        self.solve()

    def sends(self) -> SendList:
        """Return the sends of the solution: for each node that gets a word, its way."""
        value = self._solver.value
        there: dict[tuple[int, int], int] = {}
        for (cycle, node, block), leaves in self._leaves.items():
            if value(leaves) and cycle < there.get((node, block), cycle + 1):
                there[node, block] = cycle
        wanted = [
            (node, block)
            for block, owed in enumerate(self._blocks.owed)
            for node in (self._nodes if owed is None else owed)
            if node != self._blocks.owner[block]
        ]
        ways: dict[tuple[int, int], tuple[int, list[int]]] = {}
        while wanted:
            node, block = wanted.pop()
            if (node, block) not in ways and node != self._blocks.owner[block]:
                way = self._way(there[node, block], node, block)
                ways[node, block] = way
                wanted.append((way[1][0], block))
        rows = sorted((cycle, path[0], block, path) for (_, block), (cycle, path) in ways.items())
        trees = sorted({row[:3] for row in rows})
        listed = SendList()
        for row in rows:
            listed.add(trees.index(row[:3]) + 1, row[3], [row[2]])
        return listed

    def _way(self, cycle: int, node: int, block: int) -> tuple[int, list[int]]:
        """Return the cycle in which a word began, and its path to the node that it leaves at.

        A word that waited by going in a circle begins later instead.
        """
        value, path, last = self._solver.value, [node], cycle
        while len(path) == 1 or not (
            path[0] in self._nodes and value(self._begins[cycle, path[0], block])
        ):
            cycle -= 1
            before = next(
                begin
                for begin, end in self._links
                if end == path[0]
                and begin not in path[1:2]
                and value(self._over[cycle, begin, end, block])
            )
            path.insert(0, before)
        simple: list[int] = []
        for each in path:
            simple = [*simple[: simple.index(each) if each in simple else None], each]
        return last - len(simple) + 1, simple


_TOO_LONG = (Collective.ALL_REDUCE, Collective.BARRIER)
"""Collectives that the solver cannot serve in time: their schedules would be slower than others."""

ALGORITHMS = tuple(
    Declared(
        collective,
        NAME,
        partial(fewest_cycles, collective),
        networks=f"any network of circuits of at most {MOST_NODES} nodes",
        steps="those with the fewest cycles",
        takes=("operator",) * collective.reduces,
        circuits=True,
    )
    for collective in Collective
    if collective not in _TOO_LONG
)
