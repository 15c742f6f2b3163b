"""Programs that cover the hardware of a network of circuits, beside the program of a package."""

from collections.abc import Iterator
from dataclasses import replace
from itertools import chain, product

import numpy as np

from ..model.base.arrays import Words
from ..model.base.errors import InvalidInput
from ..model.cycle.circuits import run_circuits
from ..model.cycle.control import Control
from ..model.network.config import NetworkConfig, Timing
from ..model.program.circuits.program import DURATION_BITS, SUM, CircuitProgram
from ..model.program.payload import empty_memory, random_words
from ..model.run.run import EndState, Prediction
from .circuits import late, lengths, losing
from .drawn_circuits import drawn_circuits
from .stimulus import WITHOUT_NEWS, Points, Stimulus, turns

DRAWN = 400
"""Drawn programs before the rest of the points is given up."""
LOADED = 2
"""Programs that load whole memories, and can be reset in their middle and repeated."""
LIMIT = 40
"""Cycles after which a run that a node does not end is stopped."""
DRAWN_CYCLES = 40
"""Most cycles of a drawn table."""


def circuit_stimuli(config: NetworkConfig) -> tuple[list[Stimulus], Points]:
    """Return the programs that cover a network of circuits, and the points that none reaches.

    The first ones load whole memories; each other one finds those that the one before it left.
    """
    left = wanted_points(config)
    memory = random_words(config, (config.topology.nodes, config.message_words), seed=27)
    memory[list(config.topology.switches)] = 0
    found: list[Stimulus] = []
    idle = 0
    for name, program in _programs(config):
        made = _predicted(name, program, memory, first=len(found) < LOADED)
        new = reached_points(program, made.predicted) & left if made else set()
        idle = 0 if new else idle + 1
        if made and new:
            found.append(made.with_points(new))
            left -= new
            memory = made.predicted.memory
        if not left or idle == WITHOUT_NEWS:
            break
    for program, made in chain(_losses(config), _timeouts(config)):
        if made and (new := reached_points(program, made.predicted) & left):
            found.append(made.with_points(new))
            left -= new
    return found, left


def _losses(config: NetworkConfig) -> Iterator[tuple[CircuitProgram, Stimulus | None]]:
    """Yield a program for each sender of a word that no run takes."""
    for node, program in losing(config):
        before = empty_memory(config)
        before[node, 0] = 1
        made = _predicted(f"A word from node {node} is lost", program, before, first=False)
        yield program, made and replace(made, loads=[(node, 0, before[node, :1])])


def _timeouts(config: NetworkConfig) -> Iterator[tuple[CircuitProgram, Stimulus | None]]:
    """Yield a program for each node that does not end within its limit."""
    for node, program in late(config):
        name, before = f"A run that node {node} does not end", empty_memory(config)
        yield program, _predicted(name, program, before, first=False, limit=LIMIT)


def _programs(config: NetworkConfig) -> Iterator[tuple[str, CircuitProgram]]:
    """Yield a program of runs of all lengths, and drawn ones."""
    yield "Runs of all lengths", lengths(config)
    for seed in range(DRAWN):
        draw = np.random.default_rng((28, seed))
        cycles = min(DRAWN_CYCLES, config.table_words - 2)
        sends = (0.2, 0.5, 0.9)[seed % 3]
        yield f"Drawn circuits, {seed}", drawn_circuits(draw, config, cycles=cycles, sends=sends)


def _predicted(
    name: str, program: CircuitProgram, memory: Words, *, first: bool, limit: int = 0
) -> Stimulus | None:
    """Return the program with its prediction; None if the network cannot hold it.

    A run is stopped after ``limit`` cycles, if that is not 0.
    """
    config = program.config
    if int(program.table_sizes.max()) > config.table_words:
        return None
    try:
        predicted = run_circuits(program, memory, control=Control(limit=limit))
    except InvalidInput:
        return None
    nodes = [*{*range(program.nodes)} - {*config.topology.switches}] if first else []
    loads = [(node, 0, memory[node]) for node in nodes]
    return Stimulus(name, program, Timing.BARRIER, loads, memory, predicted, limit, frozenset())


def wanted_points(config: NetworkConfig) -> Points:
    """Return the points that runs of a network of circuits can reach."""
    ways = {*turns(config.topology)}
    nodes = {node for node, _, out in ways if out == 0}
    points = {f"link {node}:{out}" for node, _, out in ways if out}
    points |= {
        f"output {out} takes input {entry}"
        for _, entry, out in ways
        if not (config.all_port and out == 0)
    }
    points |= {
        f"bit {bit} of a {what}" for bit, what in product(range(config.address_bits), _FIELDS)
    }
    points |= {f"bit {bit} of a duration" for bit in range(DURATION_BITS)}
    ends = (EndState.FAILED, EndState.TIMED_OUT)
    points |= {f"{state} at node {node}" for state, node in product(ends, nodes)}
    if config.operators:
        number = len(config.operators)
        points |= {f"operator {each + 1}" for each in range(number)}
        points |= {f"received by operator {each + 1}" for each in range(number)}
        points |= {f"output {out} takes the sum" for _, _, out in ways if out}
        points |= {"a node takes the sum"}
        points |= {f"input {entry} is {which}" for _, entry, _ in ways for which in _TERMS}
    return points


_FIELDS = ("send address", "receive address")
_TERMS = ("the first term", "the second term")


def reached_points(program: CircuitProgram, run: Prediction) -> Points:
    """Return the points that the run of a program reaches."""
    if run.ending.state is not EndState.DONE:
        return {f"{run.ending.state} at node {run.ending.culprit}"}
    link = run.trace.port != 0
    ends = {*zip(run.trace.node[link].tolist(), run.trace.port[link].tolist(), strict=True)}
    return {f"link {node}:{out}" for node, out in ends} | {*_of_entries(program)}


def _of_entries(program: CircuitProgram) -> Iterator[str]:
    """Yield the points of entries, all of which carry words in a run without a flag."""
    config = program.config
    for out in range(config.topology.ports):
        for code in np.unique(program.codes[:, out]).tolist():
            if out and code == 1 + out:
                yield f"output {out} takes the sum"
            elif code:
                yield f"output {out} takes input {code - 1}"
    own_sum = program.ejections == SUM if config.all_port else program.codes[:, :1] == 1
    if own_sum.any():
        yield "a node takes the sum"
    for which, column in zip(_TERMS, (program.first, program.second), strict=True):
        used = column[program.operator > 0]
        yield from (f"input {code - 1} is {which}" for code in np.unique(used).tolist() if code)
    yield from (f"operator {each}" for each in np.unique(program.operator).tolist() if each)
    received = np.unique(program.receive).tolist()
    yield from (f"received by operator {each - 1}" for each in received if each > 1)
    for bit in range(config.address_bits):
        sent = program.codes[:, 1:] == 1
        if (program.send_address[sent.any(axis=1)] >> bit & 1).any():
            yield f"bit {bit} of a send address"
        if (program.receive_address[program.receive > 0] >> bit & 1).any():
            yield f"bit {bit} of a receive address"
    for bit in range(DURATION_BITS):
        if (program.duration >> bit & 1).any():
            yield f"bit {bit} of a duration"
