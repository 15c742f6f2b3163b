"""Graphs as sparse matrices in Matrix Market files (NIST, "coordinate" form).

::

    %%MatrixMarket matrix coordinate pattern symmetric
    % any comments
    3 3 2              rows, columns, entries: a square matrix has a node for each row
    2 1                an entry in row 2, column 1: a link between nodes 1 and 0
    3 2

Row r is node r - 1. Every entry is a link, whatever its value: both ways in a symmetric matrix,
from the row's node to the column's node in a general one. Source of the format: R. F. Boisvert, R.
Pozo, K. A. Remington, "The Matrix Market Exchange Formats: Initial Design", NISTIR 5935, 1996.
"""

import re
from collections.abc import Iterator

import numpy as np

from ..model.base.errors import one_of
from ..model.base.files import InputFile
from ..model.network.edges import Edges
from ..model.network.topology import LARGEST_NODE_COUNT, Topology
from .format import Format
from .graphs import network_of
from .lines import numbered_lines, quoted, wrong_line

_BANNER = "%%MatrixMarket"
_VALUES = {"pattern": 0, "integer": 1, "real": 1}
"""Field types of a matrix, and how many numbers each value has."""

_SYMMETRIES = ("general", "symmetric")
_SIZE = re.compile(r"(\d{1,17})\s+(\d{1,17})\s+(\d{1,17})")
_ENTRY = re.compile(r"(\d{1,17})\s+(\d{1,17})(?:\s+(\S+))?")
_NUMBER = re.compile(r"[-+]?(?:\d+\.?\d*|\.\d+)(?:[eEdD][-+]?\d+)?|[-+]?(?:inf|nan)", re.IGNORECASE)

Lines = Iterator[tuple[int, str]]


def read_matrix_market(file: InputFile) -> Topology:
    """Read the graph of a square matrix.

    Raises :class:`.InvalidInput` with the line for a dense, complex or non-square matrix, and for
    an entry outside it.
    """
    lines = numbered_lines(file)
    field, symmetry = _banner(file, lines)
    body = ((number, line) for number, line in lines if not line.startswith("%"))
    nodes, entries = _size(file, body)
    ends = np.array(_ends(file, body, nodes, entries, field), dtype=np.int64).reshape(-1, 2) - 1
    edges = Edges(nodes, ends, np.full(len(ends), symmetry == "general"))
    return network_of(file, edges, passed_over=["values of entries"] if _VALUES[field] else [])


def _banner(file: InputFile, lines: Lines) -> tuple[str, str]:
    """Return the field and the symmetry from the first line."""
    number, line = next(lines, (1, ""))
    words = line.lower().split()
    if words[:1] != [_BANNER.lower()] or len(words) != 5:
        complaint = f"must be {_BANNER} and four words, not {quoted(line)}"
        raise wrong_line(file, number, complaint)
    for name, given, allowed in (
        ("object", words[1], ("matrix",)),
        ("form", words[2], ("coordinate",)),
        ("field", words[3], tuple(_VALUES)),
        ("symmetry", words[4], _SYMMETRIES),
    ):
        if given not in allowed:
            complaint = f"{name} of a graph must be {one_of(allowed)}, not {quoted(given)}"
            raise wrong_line(file, number, complaint)
    return words[3], words[4]


def _size(file: InputFile, body: Lines) -> tuple[int, int]:
    """Return the numbers of nodes and of entries from the size line."""
    number, line = next(body, (1, ""))
    found = _SIZE.fullmatch(line)
    if found is None:
        raise wrong_line(file, number, f"must be rows, columns and entries, not {quoted(line)}")
    rows, columns, entries = map(int, found.groups())
    if rows != columns:
        complaint = f"matrix of a graph must be square, not {rows} x {columns}"
        raise wrong_line(file, number, complaint)
    if not 1 <= rows <= LARGEST_NODE_COUNT:
        raise wrong_line(file, number, f"rows must be 1 to {LARGEST_NODE_COUNT}, not {rows}")
    return rows, entries


def _ends(
    file: InputFile, body: Lines, nodes: int, entries: int, field: str
) -> list[tuple[int, int]]:
    """Return row and column of each entry, from 1."""
    ends: list[tuple[int, int]] = []
    last = 0
    for last, line in body:
        found = _ENTRY.fullmatch(line)
        if found is None or (found[3] is not None) != bool(_VALUES[field]):
            value = " and a value" if _VALUES[field] else ""
            raise wrong_line(file, last, f"must be row, column{value}, not {quoted(line)}")
        row, column = int(found[1]), int(found[2])
        for name, given in (("row", row), ("column", column)):
            if not 1 <= given <= nodes:
                raise wrong_line(file, last, f"{name} must be 1 to {nodes}, not {given}")
        if found[3] is not None and not _NUMBER.fullmatch(found[3]):
            raise wrong_line(file, last, f"value must be a number, not {quoted(found[3])}")
        ends.append((row, column))
        if len(ends) > entries:
            raise wrong_line(file, last, f"entry must be one of the {entries} announced, not more")
    if len(ends) != entries:
        complaint = f"entries must be {entries}, as announced, not {len(ends)}"
        raise wrong_line(file, last, complaint)
    return ends


MATRIX_MARKET = Format(
    name="matrix-market",
    title="Matrix Market",
    suffixes=(".mtx",),
    looks=lambda content: content[: len(_BANNER)].lower() == _BANNER.lower().encode(),
    read_network=read_matrix_market,
)
