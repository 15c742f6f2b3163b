"""Programs of circuits for a package's bench: their doorbells, and tables that must fail."""

from collections.abc import Iterator, Mapping, Sequence

import numpy as np

from ..model.network.config import NetworkConfig
from ..model.network.port_model import PortModel
from ..model.program.circuits.program import (
    LONGEST_RUN,
    SUM,
    CircuitProgram,
    entry_fields,
)

Entry = Mapping[str, int]
"""Fields of an entry by their names in :func:`.entry_fields`; those left out are 0."""

MOST_ENTRIES = 16
"""Most entries of the run that is stopped: 16 times 1023 cycles, longer than the bench needs."""


def circuit_program(
    config: NetworkConfig,
    tables: Mapping[int, Sequence[Entry]],
    port_model: PortModel = PortModel.FULL_DUPLEX,
) -> CircuitProgram:
    """Return the program with these entries of each node."""
    nodes = range(config.topology.nodes)
    entries = [entry for node in nodes for entry in tables.get(node, ())]
    counts = [len(tables.get(node, ())) for node in nodes]
    lanes = {"send_address": config.lanes, "receive_address": config.lanes, "receive": config.lanes}
    shapes: dict[str, tuple[int, ...]] = {
        name: (len(entries),) for name in ("duration", "first", "second", "operator")
    }
    shapes |= {name: (len(entries), number) for name, number in lanes.items()}
    shapes["codes"] = (len(entries), config.topology.ports)
    shapes["ejections"] = (len(entries), config.lanes if config.all_port else 0)
    columns = {name: np.zeros(shape, np.int64) for name, shape in shapes.items()}
    for field, _ in entry_fields(config):
        name, _, number = field.partition(" ")
        values = [entry.get(field, 0) for entry in entries]
        columns[name][(..., int(number) - (name != "codes")) if number else ...] = values
    first = np.cumsum([0, *counts], dtype=np.int64)
    return CircuitProgram(config=config, port_model=port_model, first_entry=first, **columns)


def endless(config: NetworkConfig) -> CircuitProgram:
    """Return the longest idle program that a bench needs: it ends long after it is stopped."""
    entries = min(MOST_ENTRIES, config.table_words - 1)
    return circuit_program(config, {0: [{"duration": LONGEST_RUN}] * entries})


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
    from_last = {f"send_address {_lane(config, port)}": last}
    to_last = {f"receive_address {_lane(config, back)}": last}
    there, here = {"duration": 2, **_sends(port)}, {"duration": 2, **_takes(config, back)}
    wrong = {"codes 1": (1 << config.topology.ports.bit_length()) - 1}
    made = {
        "A word that no run takes": {node: [there]},
        "A run that takes no word": {neighbor: [here]},
        "A code of no input": {node: [{"duration": 1, **wrong}]},
        "A word beyond the message memory": {node: [there], neighbor: [wait, here | to_last]},
        "A word from beyond the message memory": {
            node: [there | from_last],
            neighbor: [wait, here],
        },
    }
    programs = {name: circuit_program(config, tables) for name, tables in made.items()}
    exchange = {
        at: [
            wait | _sends(out),
            wait | _sends(out) | _takes(config, out),
            wait | _takes(config, out),
        ]
        for at, out in ((node, port), (neighbor, back))
    }
    name = "A word sent while one arrives, half-duplex"
    programs[name] = circuit_program(config, exchange, PortModel.HALF_DUPLEX)
    return programs


def _lane(config: NetworkConfig, port: int) -> int:
    """Return the lane that sends and receives by a link port."""
    return port if config.all_port else 1


def _sends(port: int) -> dict[str, int]:
    """Return the fields by which a node's own word leaves by a link port."""
    return {f"codes {port}": 1}


def _takes(config: NetworkConfig, port: int) -> dict[str, int]:
    """Return the fields by which the word of a link input is written."""
    taken = {f"ejections {port}": 1} if config.all_port else {"codes 0": 1 + port}
    return taken | {f"receive {_lane(config, port)}": 1}
