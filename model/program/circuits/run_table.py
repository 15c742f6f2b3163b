"""A node's run table as text: what its router and its interface do in which cycles."""

from dataclasses import dataclass

from ...network.config import NetworkConfig
from ...network.node_names import port_name
from .program import FIRST_CYCLE, SUM, CircuitProgram, run_table_words

MEMORY = "memory"
"""Name of input 0 and output 0 in a run table's text."""


@dataclass(frozen=True)
class RunLine:
    """One entry of a node's run table.

    cycles
        Cycles in which the entry is current: "2-17".
    outputs
        What each output takes: "east from memory, memory from west".
    join
        The two joined inputs and the operator: "memory, west: add"; "" without a join.
    reads, writes
        Addresses in the message memory, "" for none. Words that are combined name their operator:
        "0-15: add". All-port, each has the port of its lane: "east 0-15, north 3-18".
    table
        The words of the entry in the table memory, in hexadecimal.
    """

    cycles: str
    outputs: str
    join: str
    reads: str
    writes: str
    table: str


def run_table(program: CircuitProgram, node: int) -> list[RunLine]:
    """Return a line for each entry of ``node``, without the end entry."""
    begin, end = program.first_entry[node : node + 2].tolist()
    first, words = run_table_words(program)
    lines, cycle = [], FIRST_CYCLE
    for entry, row in zip(range(begin, end), words[first[node] :].tolist(), strict=False):
        lines.append(_line(program, entry, cycle, row))
        cycle += int(program.duration[entry])
    return lines


def _line(program: CircuitProgram, entry: int, cycle: int, words: list[int]) -> RunLine:
    config, duration = program.config, int(program.duration[entry])
    inputs = [int(program.first[entry]), int(program.second[entry])]
    operator = int(program.operator[entry])
    join, of_join = "", operator > 0 and 1 in inputs
    if operator:
        joined = ", ".join(_port(config, code - 1) for code in inputs)
        join = f"{joined}: {config.operators[operator - 1].name}"
    outputs = program.codes[entry, 1:].tolist()
    reads, writes = [], []
    for lane, receive in enumerate(program.receive[entry].tolist()):
        port = f"{_port(config, lane + 1)} " if config.all_port else ""
        sends = outputs[lane] == 1 if config.all_port else 1 in outputs
        if sends or (of_join and lane == 0):
            reads.append(port + _range(int(program.send_address[entry, lane]), duration))
        if receive:
            combined = f": {config.operators[receive - 2].name}" if receive > 1 else ""
            first = int(program.receive_address[entry, lane])
            writes.append(port + _range(first, duration) + combined)
    return RunLine(
        cycles=_range(cycle, duration),
        outputs=", ".join(_taken(program, entry)) or "none",
        join=join,
        reads=", ".join(reads),
        writes=", ".join(writes),
        table=" ".join(f"{word:x}" for word in words),
    )


def _taken(program: CircuitProgram, entry: int) -> list[str]:
    """Return what each output takes, and in an all-port network each lane."""
    config = program.config
    taken = [
        f"{_port(config, output)} from "
        + ("the sum" if code == 1 + output else _port(config, code - 1))
        for output, code in enumerate(program.codes[entry].tolist())
        if code
    ]
    for lane, code in enumerate(program.ejections[entry].tolist(), 1):
        if code:
            port = _port(config, lane)
            taken.append(
                f"{MEMORY} by {port} from the sum" if code == SUM else f"{MEMORY} from {port}"
            )
    return taken


def _port(config: NetworkConfig, port: int) -> str:
    return port_name(config.topology, port) if port else MEMORY


def _range(first: int, count: int) -> str:
    return str(first) if count == 1 else f"{first}-{first + count - 1}"
