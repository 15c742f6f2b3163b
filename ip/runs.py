"""The runs of a package's bench, as calls of its tasks."""

from collections import defaultdict
from collections.abc import Iterator, Mapping
from dataclasses import replace

import numpy as np

from ..model.base.arrays import Words
from ..model.image.host_port import ARRIVED, CONTROLLER, Space, latencies, space_words
from ..model.image.image import Image, message_writes
from ..model.network.config import NetworkConfig
from ..model.program.any_program import AnyProgram
from ..model.program.circuits.program import CircuitProgram
from ..model.program.program import Program
from ..model.run.run import EndState, Prediction
from .circuits import doorbells, first_sent, two_entries
from .scenarios import (
    Scenario,
    busy_memory,
    covering,
    endless,
    never_begun,
    predict,
    reloaded,
    scenarios,
)
from .stimulus import beyond_reach, flag_bit
from .vectors import Vectors, word_lines

DISTANT = 1000
"""Cycles for which a run that never starts is waited for in the bench's count of cycles."""

ENDED = 4
"""State of a sender or run table that has ended."""

EXPECT = 6
"""State of a sender after a reset: it loads what it expects."""

CYCLES_OF_A_START = 8
"""Cycles in which the command to start is answered by the bus, without barrier registers."""

CYCLES_TO_QUEUE = 60
"""Cycles within which a start has surely arrived by the bus."""


class Runs:
    """The runs of the bench, as calls of its tasks."""

    def __init__(self, image: Image, vectors: Vectors) -> None:
        self._image, self._vectors = image, vectors
        self._config = image.program.config

    def lines(self) -> Iterator[str]:
        """Yield the calls."""
        yield self._compare_idle()
        first, *others = scenarios(self._image)
        yield from self._alone(first)
        yield from self._beside_others(first)
        if self._is_the_same_again():
            yield from self._queued(first)
        yield from self._reset_before_cycle_0(first)
        for each in others:
            yield from self._run(each)
        runs, left = covering(self._image)
        for each in runs:
            yield from self._run(each)
        reached = sum(each.points for each in runs)
        yield f'begins("{reached} of {reached + len(left)} points of the network are reached");'
        for point in left:
            yield f'left("{point}");'
        busy = busy_memory(self._image)
        if busy:
            yield from self._run(busy)
        else:
            yield self._begins("Beyond reach: a memory busy until a request is given up: no room")
        for what in beyond_reach(self._config):
            yield self._begins(f"Beyond reach: {what}")
        if self._config.waits_for_tiles:
            yield from self._never_begun()
        yield from self._stopped()
        yield from self._too_short(first)
        if self._config.parity:
            yield from self._damaged(first)
        failing = [each for each in [*others, *runs] if each.image.predicted.ending.culprit]
        # Drawn circuits find the words of the program before them.
        for each in [each for each in failing if each.image.loads][-1:]:
            yield from self._reset_at_its_end(each)

    def _begins(self, name: str) -> str:
        """Return the call that tells what happens next."""
        return f'begins("{name}");'

    def _load(self, words: Words) -> str:
        return f"load({self._vectors.add('writes', word_lines(words))});"

    def _inverted(self, words: Words) -> Words:
        """Invert every word of the writes, so that memories are not right by chance."""
        inverted = words.copy()
        inverted[:, 3] ^= np.uint64((1 << self._config.narrow_width) - 1)
        return inverted

    def _start(self, image: Image) -> str:
        run = image.predicted
        state, cycle, culprit = run.ending
        self._vectors.add_run(cycle)
        # Flits that are on the way when a run fails go on, and are not checked.
        last = int(run.trace.cycle.max(initial=0))
        before = last + 1 if state is EndState.DONE else cycle
        flits = self._vectors.add_flits(run.trace, before)
        name = str(state).upper().replace(" ", "_")
        flags = int(run.flags[culprit]) if culprit is not None else 0
        start = f"start({flits}, {cycle}, {name}, {culprit or 0}, {flags});"
        if not self._config.tile_ports:
            return start
        return f"bells_watched = {self._all_ring(image)}; {start}"

    def _all_ring(self, image: Image) -> int:
        """Return 1 if every packet rings when it ends, at a tile with one port; otherwise 0."""
        program, lanes = image.program, self._config.lanes
        return int(isinstance(program, Program) and lanes == 1 and not program.continued.any())

    def _compared(self, image: Image, *, by_tiles: bool = False) -> Iterator[str]:
        """Yield comparisons of memory words, status words and tile outputs."""
        run, state = image.predicted, image.predicted.ending.state
        if state is EndState.DONE:
            words: list[str] = []
            for node, known in enumerate(image.known):
                at = np.flatnonzero(known)
                words += word_lines(message_writes(self._config, node, at, run.memory[node, at]))
            by = "_by_tiles" if by_tiles else ""
            yield f"compare{by}({self._vectors.add('words', words)});"
        if state is not EndState.TIMED_OUT:
            yield f"compare({self._vectors.add('words', [*self._status(run)])});"
        if state is EndState.DONE and self._config.tile_ports:
            lines = [*self._bells(image.program)] if run.circuits else [*self._tiles(run)]
            yield f"compare_tiles({self._vectors.add('nodes', lines)});"

    def _compare_idle(self) -> str:
        """Return the comparison of all status words with those after a reset."""
        config, lines = self._config, list[str]()
        for node in range(config.topology.nodes):
            words = dict.fromkeys(range(space_words(config)[Space.STATUS]), 0)
            if not config.circuits and node not in config.topology.switches:
                words |= {1: 1, **dict.fromkeys(self._sender_states(), EXPECT)}
            lines += _status_lines(node, words)
        return f"compare({self._vectors.add('words', lines)});"

    def _sender_states(self) -> list[int]:
        """Return the addresses of the states of a node's senders."""
        further = ARRIVED + self._config.lanes * self._config.mask_words
        return [2, *range(further, further + self._config.lanes - 1)]

    def _status(self, run: Prediction) -> Iterator[str]:
        """Yield status words after a run: flags, and after a finished run all that it changes."""
        config = self._config
        for node, flags in enumerate(run.flags.tolist()):
            words = {0: flags}
            done = run.ending.state is EndState.DONE
            if done and config.circuits:
                words |= {1: self._image.base + int(run.step[node]), 2: ENDED, 3: 0}
            elif done and node not in config.topology.switches:
                words |= {1: int(run.step[node]), **dict.fromkeys(self._sender_states(), ENDED)}
                number = ARRIVED
                for steps in run.arrived[node]:
                    mask = sum(1 << step for step in np.flatnonzero(steps).tolist())
                    for _ in range(config.mask_words):
                        words[number] = mask & ((1 << config.narrow_width) - 1)
                        mask >>= config.narrow_width
                        number += 1
            yield from _status_lines(node, words)

    def _tiles(self, run: Prediction) -> Iterator[str]:
        """Yield a line for each tile: node, step, doorbells, and the sum of their steps."""
        for node, arrived in enumerate(run.arrived):
            if node not in self._config.topology.switches:
                steps = np.nonzero(arrived)[1]
                yield f"{node:08x}{int(run.step[node]):08x}{len(steps):08x}{int(steps.sum()):08x}"

    def _bells(self, program: AnyProgram) -> Iterator[str]:
        """Yield a line for each tile: node, doorbells, and the sums of their cycles and addresses.

        The sum of the cycles takes the place of the step, which circuits do not have.
        """
        assert isinstance(program, CircuitProgram)
        bells: defaultdict[int, list[tuple[int, int]]] = defaultdict(list)
        for node, cycle, address in doorbells(program):
            bells[node].append((cycle, address))
        for node in range(program.nodes):
            if node not in self._config.topology.switches:
                cycles = sum(cycle for cycle, _ in bells[node])
                addresses = sum(address for _, address in bells[node])
                yield f"{node:08x}{cycles:08x}{len(bells[node]):08x}{addresses:08x}"

    def _alone(self, first: Scenario) -> Iterator[str]:
        yield self._begins(f"{first.name}, after accesses and starts that are refused")
        yield self._load(first.writes)
        yield "refusals;"
        if self._config.further_pieces:
            yield "pieces_of_words;"
        # Behind it the entries are wrong, and each start would be refused for that reason.
        yield "refused_starts;"
        yield "write_and_read_entries;"
        yield self._load(reloaded(first.image))
        yield self._start(first.image)
        yield "finish;"
        yield from self._compared(first.image)

    def _beside_others(self, first: Scenario) -> Iterator[str]:
        """Yield the same run while host and tiles read memories, with the interrupt enabled."""
        tiles = self._config.tile_ports
        yield self._begins("The same, while others read the memories")
        yield "enable_interrupt(1);"
        if tiles:
            yield f"beyond_by_tile({first_node(self._config)});"
        words = reloaded(first.image)
        is_message = words[:, 1] == Space.MESSAGE
        yield self._load(words[~is_message])
        if tiles:
            yield self._load(self._inverted(words[is_message]))
            message = self._vectors.add("writes", word_lines(words[is_message]))
            yield f"load_by_tiles({message});"
        else:
            yield self._load(words[is_message])
        yield self._start(first.image)
        yield self._read_during_the_run(first)
        yield "finish;"
        yield from self._compared(first.image, by_tiles=tiles)

    def _is_the_same_again(self) -> bool:
        """Return whether a second run right after the first sends the same flits."""
        image = self._image
        before = image.predicted
        if before.cycles < CYCLES_TO_QUEUE or before.ending.state is not EndState.DONE:
            return False
        again = predict(image, before.memory)
        return [*again.trace] == [*before.trace]

    def _queued(self, first: Scenario) -> Iterator[str]:
        yield self._begins("The same twice: the second run is queued behind the first")
        yield self._load(reloaded(first.image))
        yield self._start(first.image)
        yield "queue_again;"
        yield "finish;"
        yield from self._compared(first.image)

    def _reset_before_cycle_0(self, first: Scenario) -> Iterator[str]:
        yield self._begins("Resets in each cycle of a start, before its answer and after it")
        before = 1 - latencies(self._config)["answer_to_cycle_0"]
        yield self._load(reloaded(first.image))
        entry = first.writes[first.writes[:, 1] == CONTROLLER]
        for cycles in range(max(CYCLES_OF_A_START, 1 - before)):
            yield self._load(entry)
            yield f"reset_amid_a_start({cycles});"
            yield self._load(entry)
            yield self._start(first.image)
            yield f"reset_in({min(0, before + cycles)});"

    def _run(self, scenario: Scenario) -> Iterator[str]:
        """Yield one of the other runs."""
        new = f", new points: {scenario.points}" if scenario.points else ""
        yield self._begins(scenario.name + new)
        words = scenario.writes
        for cycle in scenario.resets:
            yield self._load(words)
            yield self._start(scenario.image)
            yield f"reset_in({cycle});"
            yield self._compare_idle()
        if scenario.busy is not None:
            # The memories keep their words in a reset, and a request waits as long as before it.
            yield self._load(words)
            yield self._start(scenario.image)
            yield f"reset_amid_a_wait({scenario.busy});"
            words = words[words[:, 1] > Space.TABLE]
        if scenario.held is None:
            yield self._load(words)
            yield self._start(scenario.image)
        else:
            node, cycle = scenario.held
            own = (words[:, 1] == Space.MESSAGE) & (words[:, 0] == node)
            if not self._config.circuits:
                # If rows combine, their words must be there before others arrive.
                own &= not scenario.image.injection.operator.any()
            yield self._load(words[~own])
            yield self._load(self._inverted(words[own]))
            yield f"hold[{node}] = 1;"
            if self._config.circuits:
                # ``hold`` counts cycles of *starting*, and cycle 0 comes after it.
                late, cycle = self._starts_late(cycle)
                yield f"late = {late};"
            yield self._start(scenario.image)
            message = self._vectors.add("writes", word_lines(words[own]))
            yield f"let_go({node}, {message}, {cycle});"
        if scenario.busy is not None:
            yield f"read_in_vain({scenario.busy});"
        if scenario.beside is not None:
            lines = word_lines(scenario.beside)
            yield f"load_by_tiles({self._vectors.add('writes', lines)});"
            yield "finish;"
            yield f"compare_by_tiles({self._vectors.add('words', lines)});"
        else:
            if scenario.read:
                yield self._read_during_the_run(scenario)
            yield "finish;"
        yield from self._compared(scenario.image, by_tiles=scenario.held is not None)

    def _read_during_the_run(self, scenario: Scenario) -> str:
        """Return the call that reads memories during a run."""
        node, address, word = scenario.read or (first_node(self._config), 0, 0)
        return f"read_during_the_run({node}, {address}, 64'h{word:x}, {int(bool(scenario.read))});"

    def _reset_at_its_end(self, scenario: Scenario) -> Iterator[str]:
        yield self._begins("Resets after a run that fails at a node, and is not acknowledged")
        ended = scenario.image.predicted.ending.cycle
        yield self._load(scenario.writes)
        for later in range(latencies(self._config)["answer_at_most"]):
            yield self._load(reloaded(scenario.image))
            yield self._start(scenario.image)
            yield f"reset_in({ended + later});"
        yield self._load(reloaded(scenario.image))
        yield self._start(scenario.image)
        yield "check_result;"
        yield "reset_in(0);"
        yield self._compare_idle()
        # The reset has forgotten the end of the run.
        yield "enable_interrupt(1);"

    def _starts_late(self, hold: int) -> tuple[int, int]:
        """Return how much later cycle 0 comes, and the number that the first cycle unheld has.

        Cycles are counted from cycle 0, which comes after the hold.
        """
        registers = self._config.barrier_registers
        late = hold + -(-registers // 2) - registers
        return late, hold - latencies(self._config)["answer_to_cycle_0"] - late

    def _never_begun(self) -> Iterator[str]:
        """Yield a run that a tile keeps from starting until its limit."""
        made = never_begun(self._image)
        culprit, registers = made.predicted.ending.culprit, self._config.barrier_registers
        late = latencies(self._config)
        # The first cycle of *timed out*, counted as if the tile came in the distant future.
        ended = registers + 2 + made.limit - late["answer_to_cycle_0"] - DISTANT
        yield self._begins(f"The tile of node {culprit} never lets go")
        yield self._load(reloaded(made))
        self._vectors.add_run(DISTANT)
        yield f"hold[{culprit}] = 1;"
        yield f"late = {DISTANT};"
        yield f"start(0, 0, {ended - late['finished_to_done']}, TIMED_OUT, {culprit}, 0);"
        yield "finish;"
        yield f"hold[{culprit}] = 0;"

    def _stopped(self) -> Iterator[str]:
        made, start = endless(self._image), "start(0, 0, 2147480000, DONE, 0, 0);"
        yield self._begins("A run that would never end: reset with one behind it, and stopped")
        for ends in (("queue_again;", "reset_in(0);"), ("stop;",)):
            yield self._load(made.writes)
            self._vectors.add_run(0)
            yield start
            yield from ends
            yield self._compare_idle()

    def _too_short(self, first: Scenario) -> Iterator[str]:
        """Yield a run of tables whose loaded words end too early, where a node reads further."""
        image, node = first.image, first_node(self._config)
        if self._config.circuits:
            image = replace(image, program=two_entries(self._config, node), loads=[])
        yield self._begins("Tables that have no end")
        yield self._load(image.writes)
        yield "write_word(CONTROLLER, 0, ENTRY_AT + 1, 1);"
        yield f"run_wrong({node}, {flag_bit('bad_row')});"

    def _damaged(self, first: Scenario) -> Iterator[str]:
        """Yield runs with a wrong parity bit in a message, then in a table, and a good run."""
        node, address = _sent_word(self._image)
        first_piece = address << self._config.piece_bits
        yield self._begins("Words that are damaged, read by the bus and by the network")
        yield self._load(first.writes)
        yield "enable_interrupt(0);"
        yield f"damage(MESSAGE, {node}, {address}, 0);"
        at = f"byte_address(MESSAGE, {node}, {first_piece})"
        yield f"refuse(0, {at}, 0, ALL_BYTES, DAMAGED);"
        # A reset forgets the damage.
        yield "reset_in(0);"
        yield "enable_interrupt(1);"
        yield self._load(first.writes)
        word = sum(
            piece << 64 * (place - first_piece)
            for at, space, place, piece in first.writes.tolist()
            if (at, space, place >> self._config.piece_bits) == (node, Space.MESSAGE, address)
        )
        for bit in range(self._config.parity_bits):
            if bit:
                yield f"damage(MESSAGE, {node}, {address}, {bit - 1});"
            yield f"damage(MESSAGE, {node}, {address}, {bit});"
            yield f"read_damaged({node}, {address}, {64 * self._config.pieces}'h{word:x});"
        yield f"run_wrong({node}, {flag_bit('parity')});"
        yield self._load(first.writes)
        yield f"damage(TABLE, {node}, BASE, 0);"
        yield f"run_wrong({node}, {flag_bit('parity')});"
        yield self._load(first.writes)
        self._vectors.add_run(self._image.predicted.cycles)
        yield self._start(first.image)
        yield "finish;"
        yield from self._compared(first.image)


def _status_lines(node: int, words: Mapping[int, int]) -> Iterator[str]:
    """Yield the lines of a node's status words, which are given by their addresses."""
    return (f"{node:08x}03{address:08x}{word:016x}" for address, word in words.items())


def first_node(config: NetworkConfig) -> int:
    """Return the lowest node with memories."""
    first: int = min({*range(config.topology.nodes)} - {*config.topology.switches})
    return first


def _sent_word(image: Image) -> tuple[int, int]:
    """Return node and address of a loaded word that its node sends."""
    if isinstance(image.program, CircuitProgram):
        return first_sent(image.program)
    loaded = {
        (node, address + place)
        for node, address, words in image.loads
        for place in range(len(words))
    }
    return next(
        (node, row.source_address)
        for node, rows in enumerate(image.injection.rows)
        for row in rows
        if row.length and row.lead >= bool(row.stream) and (node, row.source_address) in loaded
    )
