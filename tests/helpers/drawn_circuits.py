"""Drawn programs of circuits: words that fork, join and are handed on, and faults in the tables."""

from dataclasses import replace
from typing import Any

import numpy as np
from helpers.circuits import circuit_program

from eyecast.model.network.config import NetworkConfig
from eyecast.model.network.topology import NO_LINK
from eyecast.model.program.circuits import CircuitProgram

Entry = dict[str, Any]

FORKS = 0.2
"""Chance that a free output takes a word that leaves by another output already."""

FADING = 40
"""Idle cycles at the end of each table: what is under way arrives before a node has finished."""


def drawn_circuits(
    draw: np.random.Generator, config: NetworkConfig, *, cycles: int, sends: float
) -> CircuitProgram:
    """Draw a program of ``cycles`` cycles, in which a node sends with the chance ``sends``.

    Words are taken where they arrive, as long as outputs are free. After half of the cycles no
    word is sent, and words are only delivered.
    """
    nodes, ports = config.topology.nodes, config.topology.ports
    hop = config.link_registers + 1
    # Words in the input registers, and outputs by which sums leave: by cycle, node and port.
    held = np.zeros((cycles + hop + 2, nodes, ports), np.bool_)
    sums = np.zeros_like(held)
    tables: list[list[Entry]] = [[] for _ in range(nodes)]
    for cycle, node in np.ndindex(cycles, nodes):
        begins = cycle < cycles // 2
        here = np.flatnonzero(held[cycle, node]).tolist()
        if begins and draw.random() < sends:
            here.append(0)
        entry = _drawn_entry(draw, config, here, sums[cycle, node], begins=begins)
        tables[node].append(entry)
        for output, code in entry["codes"].items():
            joined = code == 1 + output
            sums[cycle + 1, node, output] = joined
            neighbor = config.topology.neighbor[node, output]
            if output and neighbor != NO_LINK:
                held[cycle + hop + joined, neighbor, config.topology.peer[node, output]] = True
    for table in tables:
        table.append({"duration": FADING})
    return circuit_program(config, [_merged(table) for table in tables])


def _drawn_entry(
    draw: np.random.Generator,
    config: NetworkConfig,
    here: list[int],
    sums: np.ndarray,
    *,
    begins: bool,
) -> Entry:
    """Draw an entry of one cycle that takes the words of the inputs ``here``, if it can."""
    entry: Entry = {"codes": {}, "receive": int(draw.integers(len(config.operators) + 2))}
    for name in ("send_address", "receive_address"):
        entry[name] = int(draw.integers(config.message_words))
    outputs = [port for port in range(config.topology.ports if begins else 1) if not sums[port]]
    draw.shuffle(outputs)
    joins = len(here) > 1 and config.operators and (draw.random() < 0.5 or not begins)
    if joins:
        first, second, *here = draw.permutation(here).tolist()
        operator = int(draw.integers(len(config.operators))) + 1
        entry |= {"first": 1 + first, "second": 1 + second, "operator": operator}
    waiting = [*here, *([None] if joins else [])]
    forks = [*waiting]
    for output in outputs:
        able = [source for source in waiting or forks if source != output]
        if able and (waiting or draw.random() < FORKS):
            source = able[0]
            waiting = [other for other in waiting if other != source]
            entry["codes"][output] = 1 + (output if source is None else source)
    return entry


def _merged(table: list[Entry]) -> list[Entry]:
    """Return the table with an entry that sets its router as the one before made part of it."""
    merged: list[Entry] = []
    for each in table:
        entry = {"duration": 1} | each
        settings = [
            {name: before.get(name) for name in ("codes", "first", "second", "operator")}
            for before in (*merged[-1:], entry)
        ]
        if settings[0] == settings[-1] and merged:
            merged[-1]["duration"] += entry["duration"]
        else:
            merged.append(entry)
    return merged


def with_faults(draw: np.random.Generator, program: CircuitProgram, faults: int) -> CircuitProgram:
    """Return the program with this many numbers of its tables replaced by drawn ones."""
    config = program.config
    ports, operators = config.topology.ports, len(config.operators)
    most = {
        "codes": 2 ** ports.bit_length() - 1,
        "first": 2 ** ports.bit_length() - 1 if operators else 0,
        "second": 2 ** ports.bit_length() - 1 if operators else 0,
        "operator": 2 ** operators.bit_length() - 1,
        "send_address": 2**config.address_bits - 1,
        "receive_address": 2**config.address_bits - 1,
        "receive": 2 ** (operators + 1).bit_length() - 1,
        "duration": 9,
    }
    columns = {name: getattr(program, name).copy() for name in most}
    for _ in range(faults):
        name = str(draw.choice(list(most)))
        entry = int(draw.integers(len(program.duration)))
        place = (entry, int(draw.integers(ports))) if name == "codes" else entry
        columns[name][place] = draw.integers(most[name] + 1)
    return replace(program, **columns)
