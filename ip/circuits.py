"""Programs of circuits for a package's bench: their doorbells, and tables that must fail."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import numpy as np

from ..model.network.config import NetworkConfig
from ..model.network.port_model import PortModel
from ..model.program.circuits.program import (
    DURATION_BITS,
    LANE_COLUMNS,
    LONGEST_RUN,
    SUM,
    CircuitProgram,
)
from .ways import Link, end_of, short_ways, shortest_way

Entry = dict[str, Any]
"""Fields of an entry by name, as :func:`circuit_program` takes them."""

MOST_ENTRIES = 16
"""Most entries of the run that is stopped: 16 times 1023 cycles, longer than the bench needs."""


def circuit_program(
    config: NetworkConfig, tables: Sequence[Sequence[Entry]], **others: Any
) -> CircuitProgram:
    """Return the program with these entries of each node.

    An entry has fields by name; ``codes`` is a dict from outputs to codes, and fields left out
    are 0, the duration 1. ``ejections`` is a dict from lanes, which count from 1. So may be the
    addresses and ``receive``; a number is that of lane 1.
    """
    entries = [entry for table in tables for entry in table]
    lanes = range(1, config.lanes + 1)
    columns: dict[str, Any] = {
        name: [entry.get(name, 0) for entry in entries] for name in ("first", "second", "operator")
    }
    columns["duration"] = [entry.get("duration", 1) for entry in entries]
    columns["first_entry"] = np.cumsum([0, *map(len, tables)])
    arrays = {name: np.array(column, np.int64) for name, column in columns.items()}
    numbers = dict.fromkeys(LANE_COLUMNS, lanes)
    numbers |= {
        "codes": range(config.topology.ports),
        "ejections": lanes[: len(lanes) * config.all_port],
    }
    for name, places in numbers.items():
        given = [entry.get(name, {}) for entry in entries]
        rows = [each if isinstance(each, dict) else {1: each} for each in given]
        column = [[row.get(place, 0) for place in places] for row in rows]
        arrays[name] = np.array(column, np.int64).reshape(len(entries), len(places))
    return CircuitProgram(config=config, **{"port_model": "full-duplex"} | arrays | others)


def endless(config: NetworkConfig) -> CircuitProgram:
    """Return the longest idle program that a bench needs: it ends long after it is stopped."""
    entries = min(MOST_ENTRIES, config.table_words - 1)
    return circuit_program(config, _tables(config, {0: [{"duration": LONGEST_RUN}] * entries}))


def two_entries(config: NetworkConfig, node: int) -> CircuitProgram:
    """Return the program in which a node has two entries, and others have none."""
    return circuit_program(config, _tables(config, {node: [{}, {}]}))


def doorbells(program: CircuitProgram) -> Iterator[tuple[int, int, int]]:
    """Yield (node, cycle, address) of every doorbell of a run that sets no flag.

    A doorbell tells that the last word of an entry was written in the cycle before; of several
    lanes in one cycle the lowest counts (docs/router.md, section 23).
    """
    config = program.config
    taken = program.ejections if config.all_port else program.codes[:, :1]
    sums = taken == (SUM if config.all_port else 1)
    last = program.entry_begin[:, None] + program.duration[:, None] - 1
    cycle = last + 3 + config.write_delay + sums
    address = program.receive_address + program.duration[:, None] - 1
    rung = (taken > 0) & (program.receive > 0)
    found: dict[tuple[int, int], int] = {}
    for entry, lane in np.argwhere(rung).tolist():
        key = int(program.entry_node[entry]), int(cycle[entry, lane])
        found.setdefault(key, int(address[entry, lane]) % (1 << config.address_bits))
    yield from ((*key, address) for key, address in found.items())


def first_sent(program: CircuitProgram) -> tuple[int, int]:
    """Return node and address of a word that is sent before any other word arrives."""
    config = program.config
    own = program.codes[:, 1:] == 1
    sends = own if config.all_port else own.any(axis=1, keepdims=True)
    sends[:, 0] |= (program.operator > 0) & ((program.first == 1) | (program.second == 1))
    begin = np.where(sends.any(axis=1), program.entry_begin, np.iinfo(np.int64).max)
    entry = int(np.argmin(begin))
    lane = int(np.argmax(sends[entry]))
    return int(program.entry_node[entry]), int(program.send_address[entry, lane])


def failing(config: NetworkConfig, node: int, port: int) -> dict[str, CircuitProgram]:
    """Return programs by name that set a flag, most of them at a link's two ends.

    A node sends by a link to a neighbor, neither of them a switch. A program may set no flag in a
    network that has no wrong value for it.
    """
    neighbor = int(config.topology.neighbor[node, port])
    back = int(config.topology.peer[node, port])
    hop = config.link_registers + 1
    wait = {"duration": hop}
    last = config.message_words - 1
    from_last = {"send_address": {_lane(config, port): last}}
    to_last = {"receive_address": {_lane(config, back): last}}
    there, here = {"duration": 2, **_sends(port)}, {"duration": 2, **_takes(config, back)}
    wrong = {"codes": {1: (1 << config.topology.ports.bit_length()) - 1}}
    received = (1 << (len(config.operators) + 1).bit_length()) - 1
    by_none = {"receive": {_lane(config, back): received}}
    made = {
        "A word that no run takes": {node: [there]},
        "A run that takes no word": {neighbor: [here]},
        "A code of no input": {node: [{"duration": 1, **wrong}]},
        "A word that no operator combines": {node: [there], neighbor: [wait, here | by_none]},
        "A word beyond the message memory": {node: [there], neighbor: [wait, here | to_last]},
        "A word from beyond the message memory": {
            node: [there | from_last],
            neighbor: [wait, here],
        },
    }
    if config.operators:
        # The neighbor sends nothing, and gets nothing.
        sums = {"first": 1, "second": 1 + port, "operator": 1, "codes": {port: 1 + port}}
        made["A sum of one word"] = {node: [sums], neighbor: [{"duration": hop + 4}]}
    programs = {
        name: circuit_program(config, _tables(config, tables)) for name, tables in made.items()
    }
    exchange = {
        at: [
            wait | _sends(out),
            wait | _merged(_sends(out), _takes(config, out)),
            wait | _takes(config, out),
        ]
        for at, out in ((node, port), (neighbor, back))
    }
    name = "A word sent while one arrives, half-duplex"
    tables = _tables(config, exchange)
    programs[name] = circuit_program(config, tables, port_model=PortModel.HALF_DUPLEX)
    return programs


def _tables(config: NetworkConfig, tables: Mapping[int, list[Entry]]) -> list[list[Entry]]:
    """Return the entries of all nodes, of which some have none."""
    return [tables.get(node, []) for node in range(config.topology.nodes)]


def _lane(config: NetworkConfig, port: int) -> int:
    """Return the lane that sends and receives by a link port."""
    return port if config.all_port else 1


def _sends(port: int) -> Entry:
    """Return the fields by which a node's own word leaves by a link port."""
    return {"codes": {port: 1}}


def _takes(config: NetworkConfig, port: int) -> Entry:
    """Return the fields by which the word of a link input is written."""
    taken: Entry = {"ejections": {port: 1}} if config.all_port else {"codes": {0: 1 + port}}
    return taken | {"receive": {_lane(config, port): 1}}


def _merged(sends: Entry, takes: Entry) -> Entry:
    """Return the fields of both."""
    return takes | {"codes": takes.get("codes", {}) | sends["codes"]}


def losing(config: NetworkConfig) -> Iterator[tuple[int, CircuitProgram]]:
    """Yield (sender, program) for each node to whose router another node sends a word in vain."""
    for way in short_ways(config.topology):
        tables, late, (end, _) = _relayed(config, way, words=1)
        # The run must not end before the word is there.
        tables[end] = [{"duration": late + 1}]
        yield way[0][0], circuit_program(config, _tables(config, tables))


def late(config: NetworkConfig) -> Iterator[tuple[int, CircuitProgram]]:
    """Yield (node, program) for each node, which ends long after all others."""
    for node in config.topology.working_nodes.tolist():
        yield node, circuit_program(config, _tables(config, {node: [{"duration": LONGEST_RUN}]}))


def lengths(config: NetworkConfig) -> CircuitProgram:
    """Return the program of two near nodes, or of one, whose runs have the lengths 1, 2, 4 ...

    A node alone takes sums of its own words.
    """
    if way := shortest_way(config.topology):
        tables, late, (end, port) = _relayed(config, way, words=2)
        tables[end] = [{"duration": late}, {"duration": 2, **_takes(config, port)}]
    else:
        taken = {"ejections": {1: SUM}} if config.all_port else {"codes": {0: 1}}
        sums: list[Entry] = [
            {"first": 1, "second": 1, "operator": number, "receive": 1, **taken}
            for number in range(1, len(config.operators) + 1)
        ]
        tables = {int(config.topology.working_nodes[0]): sums}
    waits: list[Entry] = [{"duration": 1 << bit} for bit in range(DURATION_BITS)]
    tables = {node: [*waits, *entries] for node, entries in tables.items()}
    return circuit_program(config, _tables(config, tables))


def steady(config: NetworkConfig, way: Sequence[Link], *, words: int, times: int) -> CircuitProgram:
    """Return the program of a node that sends words again and again, without a pause."""
    tables, late, (end, port) = _relayed(config, way, words=words, times=times)
    taken: Entry = {"duration": words, **_takes(config, port)}
    tables[end] = [{"duration": late}, *[taken] * times]
    return circuit_program(config, _tables(config, tables))


def _relayed(
    config: NetworkConfig, way: Sequence[Link], *, words: int, times: int = 1
) -> tuple[dict[int, list[Entry]], int, Link]:
    """Return the entries that bring words along a way, their cycles, and its end and last port."""
    tables, late, code = dict[int, list[Entry]](), 0, 1
    for node, port in way:
        waits: list[Entry] = [{"duration": late}] if late else []
        sends: Entry = {"duration": words, "codes": {port: code}}
        tables[node] = [*waits, *[sends] * times]
        late += int(config.registers_of_links[node, port]) + 1
        code = 1 + end_of(config.topology, (node, port))[1]
    return tables, late, end_of(config.topology, way[-1])
