"""A node's injection table as text: the step, the words, the target and the route of each row."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ..base.arrays import Numbers
from ..network.node_names import node_name, port_name
from .memory_words import row_begins, table_words
from .route_ends import ends_of
from .table import RowTable


@dataclass(frozen=True)
class TableLine:
    """One row of a node's table.

    step
        Step of the row.
    words
        Addresses of the words here: "0-15", or "none" for a packet without payload.
    target, target_words
        Name of the node that gets them, and their addresses there.
    route
        Hops by direction: "3 east, 1 south".
    vcs
        VCs of the route's segments: "0", or "0, 1".
    remarks
        All other properties of the row, such as "continued" or "from cycle 20".
    table
        The words of the row in the table memory, in hexadecimal.

    """

    step: int
    words: str
    target: str
    target_words: str
    route: str
    vcs: str
    remarks: str
    table: str


def node_table(program: RowTable, node: int) -> list[TableLine]:
    """Return a line for each row of ``node``, in the order of its table."""
    first, last = program.first_row[node : node + 2].tolist()
    rows = np.arange(first, last)
    ends = ends_of(program, rows).node.tolist()
    words = _table_words(program, rows)
    return [
        _line(program, row, end, table)
        for row, end, table in zip(rows.tolist(), ends, words, strict=True)
    ]


def _line(program: RowTable, row: int, end: int, table: str) -> TableLine:
    topology, length = program.config.topology, int(program.length[row])
    route = list(program.routes[int(program.route[row])])
    return TableLine(
        step=int(program.step[row]),
        words=_addresses(int(program.source_address[row]), length),
        target=node_name(topology, end),
        target_words=_addresses(int(program.target_address[row]), length),
        route=", ".join(f"{hops} {port_name(topology, port)}" for port, hops, _ in route),
        vcs=", ".join(dict.fromkeys(str(segment.vc) for segment in route)),
        remarks=", ".join([*_starts(program, row), *row_remarks(program, row)]),
        table=table,
    )


def _addresses(first: int, length: int) -> str:
    if not length:
        return "none"
    return str(first) if length == 1 else f"{first}-{first + length - 1}"


def _starts(program: RowTable, row: int) -> list[str]:
    return [f"from cycle {program.start[row]}"] if program.start[row] >= 0 else []


def row_remarks(program: RowTable, row: int) -> list[str]:
    """List a row's properties besides its step or start, its route, addresses and length."""
    remarks = []
    if program.continued[row]:
        remarks.append("continued")
    if operator := int(program.operator[row]):
        name = program.config.operators[(operator - 1) // 2].name
        remarks.append(name if operator % 2 else f"{name} across")
    if program.stream[row]:
        remarks.append(f"streams {program.lead[row]} words behind")
    if program.window[row]:
        remarks.append(f"window of {1 << int(program.window[row])} words")
    return remarks


def _table_words(program: RowTable, rows: Numbers) -> list[str]:
    """Return the words of each of ``rows`` in its table memory, in hexadecimal."""
    _, words = table_words(program)
    sizes = program.header_flits + program.config.table.control_words
    return [
        " ".join(f"{word:x}" for word in words[begin : begin + size].tolist())
        for begin, size in zip(
            row_begins(program)[rows].tolist(), sizes[rows].tolist(), strict=True
        )
    ]
