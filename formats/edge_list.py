"""Graphs as lists of edges in plain text, as SNAP, KONECT and networkx write them.

::

    # comments begin with # or %
    0 1
    1 2 17             text after the two names is skipped

Every edge is a link both ways. If all names are numbers, nodes are numbered in ascending order of
their names, otherwise in the order of the file.
"""

import re

import numpy as np

from ..model.base.errors import InvalidInput
from ..model.base.files import InputFile, input_name
from ..model.network.edges import Edges
from ..model.network.topology import LARGEST_NODE_COUNT, Topology
from .format import Format
from .graphs import network_of
from .lines import numbered_lines, quoted, wrong_line

_COMMENTS = ("#", "%")
_EDGE = re.compile(r"(\S+)\s+(\S+)(\s.*)?")
_HEAD = re.compile(rb"(?:[ \t]*+(?:[#%].*+)?\r?\n)*+[ \t]*+\d+[ \t]+\d+\s")
_LONGEST_NUMBER = 18


def read_edge_list(file: InputFile) -> Topology:
    """Read a graph from a list of edges.

    Raises :class:`InvalidInput` with the first line that is not an edge, and for a file without
    edges.
    """
    names: dict[str, int] = {}
    ends: list[tuple[int, int]] = []
    passed_over = False
    for number, line in numbered_lines(file):
        if line.startswith(_COMMENTS):
            continue
        found = _EDGE.fullmatch(line)
        if found is None:
            raise wrong_line(file, number, f"must be two names of nodes, not {quoted(line)}")
        first, second = (names.setdefault(name, len(names)) for name in found.groups()[:2])
        ends.append((first, second))
        passed_over |= found[3] is not None and found[3].strip() != "{}"
    if not 1 <= len(names) <= LARGEST_NODE_COUNT:
        allowed = f"1 to {LARGEST_NODE_COUNT}"
        raise InvalidInput.of(f"{input_name(file)}: nodes", allowed, len(names))
    table, ordered = _in_order(np.array(ends, dtype=np.int64), list(names))
    edges = Edges(len(names), table, np.zeros(len(table), dtype=np.bool_), names=tuple(ordered))
    return network_of(file, edges, passed_over=["data of edges"] if passed_over else [])


def _in_order(ends: np.ndarray, names: list[str]) -> tuple[np.ndarray, list[str]]:
    """Number nodes in ascending order of their names, if these are numbers."""
    if not all(name.isdecimal() and len(name) <= _LONGEST_NUMBER for name in names):
        return ends, names
    order = sorted(range(len(names)), key=lambda place: int(names[place]))
    place = np.empty(len(names), dtype=np.int64)
    place[order] = np.arange(len(names))
    return place[ends], [names[node] for node in order]


EDGE_LIST = Format(
    name="edge-list",
    title="edge list",
    suffixes=(".edgelist", ".edges"),
    marked=False,
    looks=lambda content: _HEAD.match(content) is not None,
    read_network=read_edge_list,
)
