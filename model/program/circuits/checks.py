"""Checks of a program of circuits against the limits of its network.

Run tables can hold entries that no router can carry out: a code without a port, an address beyond
the message memory. Nodes flag such entries, and the cycle model reproduces the flags. A compiled
program, or one from a file, must have none of them.
"""

from collections.abc import Iterator

import numpy as np
import numpy.typing as npt

from ...base.arrays import Numbers
from ...base.errors import InvalidInput
from ...network.topology import NO_LINK
from .program import LONGEST_RUN, SUM, CircuitProgram

_Marks = npt.NDArray[np.bool_]


def check_circuits(program: CircuitProgram) -> None:
    """Raise :class:`.InvalidInput` for the first run that the network cannot carry out.

    The rules look at single runs and at the length of tables. The cycle model tells whether words
    meet the runs that expect them.
    """
    require_room(program)
    found = [
        (int(entry), name, allowed, int(column[entry]))
        for name, allowed, column, wrong in _rules(program)
        for entry in np.flatnonzero(wrong)[:1]
    ]
    if found:
        entry, name, allowed, value = min(found, key=lambda one: one[0])
        node = int(np.searchsorted(program.first_entry, entry, side="right")) - 1
        run = entry - int(program.first_entry[node])
        raise InvalidInput.of(f"node {node}, run {run}: {name}", allowed, value)


def require_room(program: CircuitProgram) -> None:
    """Raise :class:`.InvalidInput` for the first node with more entries than ``table_words``.

    The end entry counts: a table without it ends with a flag.
    """
    most, entries = program.config.table_words, program.table_sizes
    for node in np.flatnonzero(entries > most)[:1].tolist():
        before = f"entries of node {node} must be at most {most} (raise "
        raise InvalidInput.around(before, "table_words", f"), not {entries[node]}")


def _rules(program: CircuitProgram) -> Iterator[tuple[str, str, Numbers, _Marks]]:
    """Yield a name, the allowed values, a value for each entry, and the entries that break a rule.

    The ``name`` is that of the value in errors.
    """
    config, codes, duration = program.config, program.codes, program.duration
    ports, operators = config.topology.ports, len(config.operators)
    yield from _between("duration", duration, 1, LONGEST_RUN)
    for output in range(ports):
        yield from _between(f"code of output {output}", codes[:, output], 0, ports)
    yield from _between("operator", program.operator, 0, operators)
    joins = program.operator > 0
    for name in ("first", "second"):
        column = getattr(program, name)
        yield from _between(name, column, 0, ports)
        yield name, "1 or more in a run that joins", column, joins & (column == 0)
    for output in range(ports):
        sums = (codes[:, output] == 1 + output) & ~joins
        yield (
            f"code of output {output}",
            "no sum in a run that does not join",
            codes[:, output],
            sums,
        )
    yield from _links(program)
    most, beyond = config.message_words, (1 << config.address_bits) - 1
    for lane in range(config.lanes):
        of = f" of lane {lane + 1}" if config.all_port else ""
        outputs = [1 + lane] if config.all_port else list(range(1, ports))
        own = (codes[:, outputs] == 1).any(axis=1)
        if lane == 0:
            own |= joins & ((program.first == 1) | (program.second == 1))
        receive = program.receive[:, lane]
        yield from _between(f"receive{of}", receive, 0, operators + 1)
        for does, column, used in (
            ("send", program.send_address[:, lane], own),
            ("receive", program.receive_address[:, lane], receive > 0),
        ):
            yield from _between(f"{does} address{of}", column, 0, beyond)
            end = column + duration
            allowed = f"at most {most} (the message memory)"
            yield f"{does} address{of} + duration", allowed, end, used & (end > most)


def _between(
    name: str, column: Numbers, least: int, most: int
) -> Iterator[tuple[str, str, Numbers, _Marks]]:
    yield name, f"{least} to {most}", column, (column < least) | (column > most)


def _links(program: CircuitProgram) -> Iterator[tuple[str, str, Numbers, _Marks]]:
    """Yield the rules that a run names no input and no output at a port without a link."""
    topology = program.config.topology
    node = program.entry_node
    linked = topology.neighbor != NO_LINK
    # Code 0 names nothing, code 1 the memory, code 1 + i the link that enters by port i.
    named = np.zeros((program.nodes, topology.ports + 1), np.bool_)
    named[:, :2] = True
    named[topology.neighbor[linked], 1 + topology.peer[linked]] = True
    for output in range(topology.ports):
        code = np.clip(program.codes[:, output], 0, topology.ports)
        if output:
            name, wrong = f"code of output {output}", ~linked[node, output] & (code > 0)
            yield name, "0 at a port without a link", code, wrong
        wrong = ~named[node, code] & (code != 1 + output)
        yield f"code of output {output}", "that of an input with a link", code, wrong
    for column, ejection in enumerate(program.ejections.T):
        name = f"ejection of lane {column + 1}"
        yield from _between(name, ejection, 0, SUM)
        sums = (ejection == SUM) & (program.operator == 0)
        yield name, "no sum in a run that does not join", ejection, sums
        wrong = (ejection == 1) & ~named[node, 2 + column]
        yield name, "not of the input of a port without a link", ejection, wrong
    for name in ("first", "second"):
        code = np.clip(getattr(program, name), 0, topology.ports)
        wrong = ~named[node, code] & (program.operator > 0)
        yield name, "that of an input with a link", code, wrong
