"""Drawn programs of circuits: words that fork, join and are handed on, and faults in the tables."""

from dataclasses import replace

import numpy as np

from ..model.network.config import NetworkConfig
from ..model.network.topology import NO_LINK
from ..model.program.circuits.program import CircuitProgram
from .circuits import Entry, circuit_program

FORKS = 0.2
"""Chance that a free output takes a word that leaves by another output already."""

_SETTING = ("codes", "ejections", "first", "second", "operator")

FADING = 40
"""Idle cycles at the end of each table: what is under way arrives before a node has finished."""


def drawn_circuits(
    draw: np.random.Generator, config: NetworkConfig, *, cycles: int, sends: float
) -> CircuitProgram:
    """Return the program of :func:`drawn_tables`."""
    return circuit_program(config, drawn_tables(draw, config, cycles=cycles, sends=sends))


def drawn_tables(
    draw: np.random.Generator, config: NetworkConfig, *, cycles: int, sends: float
) -> list[list[Entry]]:
    """Draw run tables of ``cycles`` cycles, in which a lane sends with the chance ``sends``.

    Words are taken where they arrive, as long as outputs are free. After half of the cycles no
    word is sent; a node takes what it can, and passes on what arrives at once with that.
    """
    nodes, hop = config.topology.nodes, config.link_registers + 1
    # The link ports that hold a word, and the outputs by which sums leave: by cycle and node.
    held = [[set[int]() for _ in range(nodes)] for _ in range(cycles + hop + 2)]
    sums = [[set[int]() for _ in range(nodes)] for _ in held]
    tables: list[list[Entry]] = [[] for _ in range(nodes)]
    for cycle, node in np.ndindex(cycles, nodes):
        begins = cycle < cycles // 2
        here = sorted(held[cycle][node])
        if begins:
            here += [-lane for lane in _lanes(config, node) if draw.random() < sends]
        entry = _drawn_entry(draw, config, node, here, sums[cycle][node], begins=begins)
        tables[node].append(entry)
        for output, code in entry["codes"].items():
            joined = code == 1 + output
            if joined:
                sums[cycle + 1][node].add(output)
            neighbor = config.topology.neighbor[node, output]
            if output and neighbor != NO_LINK:
                arrival = held[cycle + hop + joined][neighbor]
                arrival.add(int(config.topology.peer[node, output]))
        sums[cycle + 1][node] |= {-lane for lane, taken in entry["ejections"].items() if taken == 2}
    for table in tables:
        table.append({"duration": FADING})
    return [_merged(table) for table in tables]


def _lanes(config: NetworkConfig, node: int) -> list[int]:
    """Return the lanes of a node by number: 0, or with ``all_port`` the link ports; no switch."""
    if node in config.topology.switches:
        return []
    return list(range(1, config.topology.ports)) if config.all_port else [0]


def _able(config: NetworkConfig, source: int | None, output: int) -> bool:
    """Tell whether an output may take an input, or the sum (None).

    An output is a link port, or the negative number of a lane: what arrives there. An input is the
    same.
    """
    if source is None:
        return True
    if not config.all_port:
        return source != output
    if output < 0 or source < 0:
        return source == -output
    return source != output


def _drawn_entry(
    draw: np.random.Generator,
    config: NetworkConfig,
    node: int,
    here: list[int],
    sums: set[int],
    *,
    begins: bool,
) -> Entry:
    """Draw an entry of one cycle that takes the words of the inputs ``here``, if it can."""
    entry: Entry = {"codes": {}, "ejections": {}}
    lanes = _lanes(config, node)
    most = {"receive": len(config.operators) + 2}
    most |= dict.fromkeys(("send_address", "receive_address"), config.message_words)
    for name, limit in most.items():
        drawn = {lane: int(draw.integers(limit)) for lane in lanes}
        entry[name] = drawn if config.all_port else drawn.get(0, 0)
    # With a lane for every link, a node takes all that arrives.
    passes = begins or not config.all_port or node in config.topology.switches
    links = range(1, config.topology.ports if passes else 1)
    outputs = [port for port in (*(-lane for lane in lanes), *links) if port not in sums]
    draw.shuffle(outputs)
    if not begins:
        outputs.sort(key=lambda port: port > 0)
    joinable = [source for source in here if source >= -1]
    joins = len(joinable) > 1 and config.operators and (draw.random() < 0.5 or not begins)
    if joins:
        first, second = draw.permutation(joinable)[:2].tolist()
        here = [source for source in here if source not in (first, second)]
        operator = int(draw.integers(len(config.operators))) + 1
        entry |= {"first": 1 + max(0, first), "second": 1 + max(0, second), "operator": operator}
    waiting = [*here, *([None] if joins else [])]
    forks = [*waiting]
    for output in outputs:
        able = [source for source in waiting if _able(config, source, output)]
        if not able and (begins or output <= 0) and draw.random() < FORKS:
            able = [source for source in forks if _able(config, source, output)]
        if able:
            _take(config, entry, output, able[0])
            waiting = [other for other in waiting if other != able[0]]
    return entry


def _take(config: NetworkConfig, entry: Entry, output: int, source: int | None) -> None:
    """Let an output take an input or the sum."""
    if config.all_port and output < 0:
        entry["ejections"][-output] = 2 if source is None else 1
        return
    entry["codes"][output] = 1 + (output if source is None else max(0, source))


def _merged(table: list[Entry]) -> list[Entry]:
    """Return the table with an entry that sets its router as the one before made part of it."""
    merged: list[Entry] = []
    for each in table:
        entry = {"duration": 1} | each
        settings = [
            {name: before.get(name) for name in _SETTING} for before in (*merged[-1:], entry)
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
    code = 2 ** ports.bit_length() - 1
    most = {
        "codes": code,
        **({"ejections": 3 if operators else 1} if config.all_port else {}),
        "first": code if operators else 0,
        "second": code if operators else 0,
        "operator": 2 ** operators.bit_length() - 1,
        "send_address": 2**config.address_bits - 1,
        "receive_address": 2**config.address_bits - 1,
        "receive": 2 ** (operators + 1).bit_length() - 1,
        "duration": 9,
    }
    columns = {name: getattr(program, name).copy() for name in most}
    for _ in range(faults):
        name = str(draw.choice(list(most)))
        column = columns[name]
        place = tuple(int(draw.integers(size)) for size in column.shape)
        if name == "codes" and config.all_port:
            # An all-port entry has no code of output 0.
            place = place[0], max(1, place[1])
        column[place] = draw.integers(most[name] + 1)
    return replace(program, **columns)
