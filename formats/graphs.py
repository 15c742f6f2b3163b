"""Networks of foreign graphs, and notices of dropped content."""

from collections.abc import Iterable
from itertools import islice

from ..model.base.errors import InvalidInput
from ..model.base.files import InputFile, input_name
from ..model.network.edges import Edges
from ..model.network.topology import Topology
from .notes import say

_MOST_NAMES = 16
"""Most node names in a notice."""

_LONGEST_NAME = 40


def network_of(file: InputFile, edges: Edges, *, passed_over: Iterable[str] = ()) -> Topology:
    """Make the network of a graph, and report how it differs from the graph of ``file``.

    ``passed_over`` names skipped attributes. Raises :class:`InvalidInput` with the file's name if
    the graph is too large or has only switches.
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
    if any(name != str(number) for number, name in enumerate(edges.names)):
        shown = (f"{number} is {_short(name)}" for number, name in enumerate(edges.names))
        more = len(edges.names) - _MOST_NAMES
        rest = f" and so on, {more} more" if more > 0 else ""
        say(file, f"numbers of nodes: {', '.join(islice(shown, _MOST_NAMES))}{rest}")
    return topology


def _short(name: str) -> str:
    """Return a name, cut so that a notice has room for others."""
    return name if len(name) <= _LONGEST_NAME else f"{name[:_LONGEST_NAME]}..."
