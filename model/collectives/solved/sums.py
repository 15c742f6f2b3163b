"""The solver's model of schedules with sums on circuits (:mod:`.cycles`).

It follows the words of each reduced block from router to router (docs/router.md, section 23)::

    a way out of a router    takes one input, or the sum of two, which leaves a cycle later
    a router                 makes one sum a cycle, which goes on by one way
    a memory                 takes one word a cycle, gives one, and combines a word with its own
                             three cycles after the word before; two cycles later it can be read
    a tree of sends          forks or joins (:mod:`...schedule.trees`), and no word goes in a circle

If each block is owed to one node, its *root*, every other node sends its sum once, after the last
word that it adds, and the root sends none. This covers all schedules in which each contribution is
combined once. In a scan the model follows the contributions in each word and each memory. Each word
then has a *step*, at most as many as there are cycles: a node sends the sum that it holds before
the step. In a step, a block leaves a node once, comes to a node once, and crosses a link once.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from itertools import combinations, product
from typing import TYPE_CHECKING, NamedTuple

from ...network.operators import is_idempotent
from ...network.topology import Topology
from ...schedule.blocks import Blocks
from ..streaming.sends import SendList
from .solver import Model

if TYPE_CHECKING:
    from ortools.sat.python.cp_model import CpSolver, IntVar

READ = 5
"""Cycles from a word's way out of a router to the first read that finds it in the memory."""
OLD = 3
"""Cycles from a word's way out of a router to the last read that finds the memory without it."""
BETWEEN = 3
"""Cycles from a word to the next one that is combined with it."""

JOINS, FORKS, REPLACES = range(3)
"""Kinds of words: of a join or alone, of a fork that combines, of a fork that replaces."""

Wire = tuple[int, int, int]
"""A cycle, a node, and the way out by which a word leaves its router."""


class Choice(NamedTuple):
    """A choice of a router in a cycle: one input, or the sum of two, takes a way out.

    An input is the node that a link comes from, and a way out the node that a link leads to.
    ``node`` itself stands for its memory.
    """

    cycle: int
    node: int
    inputs: tuple[int, ...]
    way: int

    @property
    def wire(self) -> Wire:
        """The way out of the word, and its cycle: a sum leaves a cycle later."""
        return self.cycle + len(self.inputs) - 1, self.node, self.way


Chain = list[Choice]
"""The choices along a path, from its source to its end."""


@dataclass(frozen=True, eq=False)
class _Word:
    """Variables of a word at one place and time.

    One of ``tags``, by block and kind, is true if the word is there. ``parts`` has the
    contributions in it, by node, and ``step`` its step, if the model follows contributions.
    """

    tags: dict[tuple[int, int], IntVar]
    parts: dict[int, IntVar]
    step: IntVar

    def of(self, block: int) -> list[IntVar]:
        """Return the tags of a block in order of kind."""
        return [tag for (each, _), tag in self.tags.items() if each == block]


@dataclass(eq=False)
class _Memory:
    """Variables of a memory's word after each cycle: contributions, and the last word's step.

    ``came`` tells for a cycle whether a word left output 0. Before the run, key -1.
    """

    parts: dict[int, dict[int, IntVar]]
    step: dict[int, IntVar]
    came: dict[int, IntVar]


class Sums(Model):
    """The model of words whose last entries are current by cycle ``last``, and its solution."""

    beside = 8
    """Cycles of a run beside the number of the cycle in which the last entry is current."""
    linearization = 0

    def __init__(self, topology: Topology, name: str, blocks: Blocks, last: int) -> None:
        super().__init__(topology, name)
        self._topology, self._blocks, self._last = topology, blocks, last
        self._idempotent = all(is_idempotent(each or "") for each in blocks.operator)
        self._owed = [self._nodes if owed is None else [*owed] for owed in blocks.owed]
        self._sets = bool(blocks.scanned.any()) or any(len(owed) != 1 for owed in self._owed)
        self._steps = last + 1
        self._never = self._model.new_constant(0)
        self._reads: dict[tuple[int, int], _Word] = {}
        self._out: dict[Wire, _Word] = {}
        self._choices: dict[Choice, IntVar] = {}
        self._leaving: defaultdict[Wire, list[Choice]] = defaultdict(list)
        for cycle, node in product(range(last + 2), range(topology.nodes)):
            self._route(cycle, node)
        for block, node in product(range(len(blocks)), self._nodes):
            if self._sets:
                self._hold(block, node)
            else:
                self._send_once(block, node)
        if self._sets:
            self._send_apart()

    def _bool(self) -> IntVar:
        return self._model.new_bool_var("")

    def _word(self) -> _Word:
        """Return variables of any word or none."""
        kinds = (JOINS, FORKS, REPLACES) if self._sets else (JOINS,)
        tags = {tag: self._bool() for tag in product(range(len(self._blocks)), kinds)}
        self._model.add_at_most_one(tags.values())
        if not self._sets:
            return _Word(tags, {}, self._never)
        parts = {node: self._bool() for node in self._nodes}
        return _Word(tags, parts, self._model.new_int_var(1, self._steps, ""))

    # ---- Routers ----

    def _route(self, cycle: int, node: int) -> None:
        """Add what a router may do in a cycle, and the words that leave it then."""
        inputs, own = self._inputs(cycle, node), [node] * (node in self._nodes)
        ways = [*(end for begin, end in self._links if begin == node), *own]
        added = [
            Choice(cycle, node, taken, way)
            for way in ways
            for taken in (*product(inputs), *combinations(inputs, 2))
            # A node's own word neither returns, alone or in a sum, nor an arriving word alone.
            if taken != (way,) and not (way == node and way in taken)
        ]
        added = [each for each in added if each.way == node or each.wire[0] < self._last]
        chosen = {each: self._bool() for each in added}
        self._choices |= chosen
        for each in added:
            self._leaving[each.wire].append(each)
        model = self._model
        model.add_at_most_one(chosen[each] for each in added if len(each.inputs) == 2)
        for begin, word in inputs.items():
            self._go_on(word, [each for each in added if begin in each.inputs])
        for way in ways:
            model.add_at_most_one(chosen[each] for each in added if each.way == way)
            if leaving := self._leaving[cycle, node, way]:
                word = self._out[cycle, node, way] = self._word()
                model.add(sum(word.tags.values()) == sum(self._choices[each] for each in leaving))
                for each in leaving:
                    self._carry(each, word)

    def _inputs(self, cycle: int, node: int) -> dict[int, _Word]:
        """Return the words that may be in a router in a cycle, by their inputs."""
        if cycle > self._last:
            return {}
        begins = [begin for begin, end in self._links if end == node]
        words = {begin: self._out.get((cycle - 1, begin, node)) for begin in begins}
        if node in self._nodes:
            words[node] = self._reads[cycle, node] = self._word()
        return {begin: word for begin, word in words.items() if word}

    def _go_on(self, word: _Word, uses: list[Choice]) -> None:
        """Require that a word goes on: once, or alone by any ways if it is of a fork."""
        variables = [self._choices[each] for each in uses]
        for (_, kind), tag in word.tags.items():
            self._model.add_bool_or([~tag, *variables])
            if kind == JOINS:
                self._model.add(sum(variables) <= 1).only_enforce_if(tag)
                continue
            for each, variable in zip(uses, variables, strict=True):
                if len(each.inputs) == 2:
                    self._model.add_implication(tag, ~variable)

    def _carry(self, choice: Choice, out: _Word) -> None:
        """Require that the inputs of a choice are the word that leaves, or the parts of its sum."""
        (cycle, node, inputs, _), chosen = choice, self._choices[choice]
        words = [
            self._reads[cycle, node] if each == node else self._out[cycle - 1, each, node]
            for each in inputs
        ]
        for word in words:
            for tag, variable in word.tags.items():
                self._combine([variable], out.tags[tag], chosen)
            self._model.add(word.step == out.step).only_enforce_if(chosen)
        for node, part in out.parts.items():
            self._combine([word.parts[node] for word in words], part, chosen)

    def _combine(self, parts: Iterable[IntVar], whole: IntVar, condition: IntVar) -> None:
        """Require on a condition that ``whole`` is true if one of ``parts`` is: only one may be."""
        variables = [*parts]
        self._model.add_bool_or([~condition, ~whole, *variables])
        for each in variables:
            self._model.add_bool_or([~condition, whole, ~each])
        if not self._idempotent:
            for one, other in combinations(variables, 2):
                self._model.add_bool_or([~condition, ~one, ~other])

    def _ends(self, node: int) -> dict[int, _Word]:
        """Return the words that may leave a router by output 0, by cycle."""
        wires = ((cycle, node, node) for cycle in range(self._last + 2))
        return {wire[0]: self._out[wire] for wire in wires if wire in self._out}

    # ---- Memories ----

    def _send_once(self, block: int, node: int) -> None:
        """Require that a node sends its sum once, after all words have come that it adds to it."""
        model, (root,) = self._model, self._owed[block]
        ends = {cycle: word.of(block)[0] for cycle, word in self._ends(node).items()}
        reads = [self._reads[cycle, node].of(block)[0] for cycle in range(self._last + 1)]
        model.add(sum(reads) == int(node != root))
        for cycle, end in ends.items():
            model.add_at_most_one([end, *reads[: cycle + READ]])
            for later in range(cycle + 1, cycle + BETWEEN):
                if later in ends:
                    model.add_at_most_one([end, ends[later]])
        for (_, begin, way), word in self._out.items():
            if begin == root == node != way:
                model.add(word.of(block)[0] == 0)

    def _hold(self, block: int, node: int) -> None:
        """Require that a memory has the words that came before each read, and at last its due."""
        memory = self._memory(block, node)
        for cycle in range(self._last + 1):
            self._read(block, cycle, self._reads[cycle, node], memory)
        if node in self._owed[block]:
            due = self._blocks.parts(block, node, self._topology)
            for part, there in memory.parts[self._last + 1].items():
                self._model.add(there == int(part in due))

    def _memory(self, block: int, node: int) -> _Memory:
        """Return a memory's word after each cycle."""
        model, held = self._model, node in self._blocks.holders(block, self._topology)
        first = {part: model.new_constant(int(held and part == node)) for part in self._nodes}
        memory, ends = _Memory({-1: first}, {-1: self._never}, {}), self._ends(node)
        for cycle in range(self._last + 2):
            before, step = memory.parts[cycle - 1], memory.step[cycle - 1]
            memory.parts[cycle], memory.step[cycle] = before, step
            if cycle not in ends:
                continue
            word, (combines, came) = ends[cycle], (self._bool(), self._bool())
            *combining, replaces = word.of(block)
            model.add(sum(combining) == combines)
            model.add(combines + replaces == came)
            model.add_bool_or([~combines, *before.values()])
            for early in range(max(0, cycle - BETWEEN + 1), cycle):
                model.add_at_most_one([combines, memory.came.get(early, self._never)])
            memory.came[cycle] = came
            after = memory.step[cycle] = model.new_int_var(0, self._steps, "")
            model.add(after == step).only_enforce_if(~came)
            model.add(after == word.step).only_enforce_if(came)
            model.add(after > step).only_enforce_if(came)
            memory.parts[cycle] = {part: self._bool() for part in self._nodes}
            for part, there in memory.parts[cycle].items():
                self._combine([before[part]], there, ~came)
                self._combine([word.parts[part]], there, replaces)
                self._combine([before[part], word.parts[part]], there, combines)
        return memory

    def _read(self, block: int, cycle: int, word: _Word, memory: _Memory) -> None:
        """Require that a word that is read has the sum of its memory before its step."""
        model, seen = self._model, max(-1, cycle - READ)
        for tag in word.of(block):
            for part, there in word.parts.items():
                self._combine([memory.parts[seen][part]], there, tag)
            model.add_bool_or([~tag, *memory.parts[seen].values()])
            model.add(word.step > memory.step[seen]).only_enforce_if(tag)
            for later, came in memory.came.items():
                if later >= cycle - OLD:
                    model.add(word.step <= memory.step[later]).only_enforce_if(tag, came)
                elif later > seen:
                    model.add_implication(tag, ~came)

    def _send_apart(self) -> None:
        """Require that a node sends a block once in a step, and a link carries it once."""
        places: defaultdict[tuple[int, int], list[_Word]] = defaultdict(list)
        for (_, node), word in self._reads.items():
            places[node, node].append(word)
        for (_, node, way), word in self._out.items():
            if node != way:
                places[node, way].append(word)
        for words in places.values():
            for one, other in combinations(words, 2):
                for block in range(len(self._blocks)):
                    for pair in product(one.of(block), other.of(block)):
                        self._model.add(one.step != other.step).only_enforce_if(*pair)

    # ---- Solutions ----

    def _forbids(self, solver: CpSolver) -> bool:
        """Return whether a tree is none of a schedule; forbid its wrong choices in all cycles."""
        wrong = [each for chains in self._trees(solver).values() for each in _wrong(chains)]
        for together in wrong:
            self._forbid(together)
        return bool(wrong)

    def _forbid(self, together: list[Choice]) -> None:
        """Forbid some choices together, in these cycles and all earlier or later ones."""
        first = min(each.cycle for each in together)
        for later in range(-first, self._last + 1 - first):
            moved = [each._replace(cycle=each.cycle + later) for each in together]
            if self._choices.keys() >= {*moved}:
                self._model.add_bool_or([~self._choices[each] for each in moved])

    def begin_early(self) -> None:
        """Look for a schedule of fewer links and earlier words that takes as many cycles."""
        for each in self._choices.values():
            self._model.add_hint(each, self._solver.value(each))
        early = sum(cycle * sum(word.tags.values()) for (cycle, _), word in self._reads.items())
        self._model.minimize(sum(self._choices.values()) + early)
        self.solve()

    def _trees(self, solver: CpSolver) -> dict[tuple[int, int, int, Wire], list[Chain]]:
        """Return the paths of each tree of the solution, by block, step, kind and common end.

        Without contributions, the step is the cycle of the tree's end.
        """
        value = solver.value
        chosen = {each.wire: each for each, there in self._choices.items() if value(there)}
        trees: defaultdict[tuple[int, int, int, Wire], list[Chain]] = defaultdict(list)
        for wire, last in chosen.items():
            if last.way == last.node:
                word, chains = self._out[wire], [*_chains(chosen, last)]
                ((block, kind),) = (tag for tag, there in word.tags.items() if value(there))
                source = chains[0][0]
                common = wire if kind == JOINS else (source.cycle, source.node, source.node)
                trees[block, value(word.step) or wire[0], kind, common] += chains
        return trees

    def sends(self) -> SendList:
        """Return the sends of the solution: one for each path.

        A step of the model becomes one for each block, or for each tree if nodes send sums once.
        Blocks take turns in order of cycles.
        """
        listed, latest, rows = SendList(), defaultdict[int, int](int), []
        for key, chains in sorted(self._trees(self._solver).items()):
            block, step, kind, _ = key
            latest[block] = max(latest[block], min(chain[0].cycle for chain in chains))
            own = (block, step) if self._sets else key
            rows += [(own, [each.node for each in chain], kind, latest[block]) for chain in chains]
        ends = {own: end for own, *_, end in rows}
        order = sorted(ends, key=lambda own: (ends[own], own))
        for own, path, kind, _ in sorted(rows, key=lambda row: order.index(row[0])):
            listed.add(order.index(own) + 1, path, [own[0]], combine=kind != REPLACES)
        return listed


def _chains(chosen: dict[Wire, Choice], last: Choice) -> Iterator[Chain]:
    """Yield the choices that lead to ``last``, from each source on."""
    for each in last.inputs:
        if each == last.node:
            yield [last]
        else:
            for chain in _chains(chosen, chosen[last.cycle - 1, each, last.node]):
                yield [*chain, last]


def _wrong(chains: list[Chain]) -> Iterator[list[Choice]]:
    """Yield choices of a tree that no schedule has together (:func:`.check_trees`).

    A join crosses no link twice, makes one sum in a router, and does not pass its end. A fork, or a
    send alone, enters no router twice, and not that of its source.
    """
    joins = len(chains) > 1 == len({chain[-1] for chain in chains})
    ways = {
        each: chain[place:] if joins else chain[place::-1]
        for chain in chains
        for place, each in enumerate(chain)
    }
    (end,) = {way[-1].node for way in ways.values()}
    for each, way in ways.items():
        if each.way != each.node and end == (each.node if joins else each.way):
            yield way
    for one, other in combinations(ways, 2):
        same = one.way == other.way and (one.node == other.node if joins else one.way != one.node)
        sums = one.node == other.node and len(one.inputs) == len(other.inputs) == 2
        if (same and other.way != other.node) or sums:
            yield _until_common(ways[one], ways[other])


def _until_common(one: Chain, other: Chain) -> list[Choice]:
    """Return the choices of two ways up to the first common one, with it."""
    common = next((each for each in one if each in other), None)
    if common is None:
        return [*one, *other]
    return [*one[: one.index(common)], *other[: other.index(common)], common]
