"""Networks of foreign graphs, and lines on what of a graph a network has no place for."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import islice

from ..model.base.errors import InvalidInput
from ..model.base.files import InputFile, input_name
from ..model.network.edges import Edges
from ..model.network.topology import Topology
from .notes import say

_MOST_NAMES = 16
"""Names of nodes that a line lists."""

_LONGEST_NAME = 40


def network_of(
    file: InputFile, edges: Edges, *, names: Sequence[str] = (), passed_over: Iterable[str] = ()
) -> Topology:
    """Make the network of a graph, and say how it differs from the graph of ``file``.

    ``names`` are the nodes' names in the file, in the order of their numbers, if it has any;
    ``passed_over`` names attributes and the like that a network has no place for. Raises
    :class:`InvalidInput` that names the file where the graph is too large or has switches alone.
    """
    try:
        topology = edges.topology()
    except InvalidInput as error:
        raise InvalidInput(f"{input_name(file)}: {error}") from error
    for count, what in (
        (edges.loops, "from a node to itself: left out"),
        (edges.repeated, "where there is one already: left out"),
    ):
        if count:
            say(file, f"{count} edge{'s' * (count > 1)} {what}")
    if listed := ", ".join(sorted(set(passed_over))):
        say(file, f"passed over, as a network has no place for it: {listed}")
    if any(name != str(number) for number, name in enumerate(names)):
        shown = (f"{number} is {_short(name)}" for number, name in enumerate(names))
        more = len(names) - _MOST_NAMES
        rest = f" and so on, {more} more" if more > 0 else ""
        say(file, f"numbers of nodes: {', '.join(islice(shown, _MOST_NAMES))}{rest}")
    return topology


def _short(name: str) -> str:
    """A name that leaves room for others in a line."""
    return name if len(name) <= _LONGEST_NAME else f"{name[:_LONGEST_NAME]}..."
