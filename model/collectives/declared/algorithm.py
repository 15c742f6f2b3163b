"""Declarations of algorithms: each algorithm's module ends in one; the registry collects them."""

from collections.abc import Callable, Iterable
from dataclasses import KW_ONLY, dataclass

from ...network.topology import Topology
from ...schedule.schedule import Schedule
from .request import Request

ONE, ALL = "one", "all"
"""The ports that a node uses in a step."""


@dataclass(frozen=True)
class Declared:
    """One way to carry out a collective, as its module declares it.

    collective, name
        The collective, and the name after ``--algorithm``.
    make
        A function that makes the schedule of a request. Raises :class:`.InvalidInput` for a
        topology that the algorithm does not serve.
    networks
        The networks that it serves, as text.
    steps
        The number of steps, as text: N is the number of nodes that take part, n that of a side.
    paper
        Authors and year; empty for an algorithm of this project.
    ports
        The ports that nodes use in a step: one, all, or both if the request chooses.
    takes
        The parts of a request, among ``CHOICES``, that it supports.
    landmarks
        A function that returns the nodes named in its papers; a picture marks them.
    first
        The node that the root sends to first, described for a reader who asks why.
    keeps_whole
        Whether an all-reduce sends whole messages, not a part for each node.
    copies
        Whether each block is a whole copy of the message; a node needs only one.
    leaves_out
        The kind of working nodes that may get nothing, as text.
    circuits
        Whether its words fork or join in routers, so that it needs a network with circuits.
    most
        A function that returns the upper bounds of its paper on some measures.
    """

    collective: str
    name: str
    make: Callable[[Request], Schedule]
    _: KW_ONLY
    networks: str
    steps: str
    paper: str = ""
    ports: tuple[str, ...] = (ONE,)
    takes: tuple[str, ...] = ()
    landmarks: Callable[[Topology], tuple[int, ...]] = lambda _topology: ()
    first: str = ""
    keeps_whole: bool = True
    copies: bool = False
    leaves_out: str = ""
    circuits: bool = False
    most: Callable[[Topology], dict[str, int]] = lambda _topology: {}


def rooted(generate: Callable[[Topology, int, int], Schedule]) -> Callable[[Request], Schedule]:
    """Return a function that calls ``generate`` with a request's network, root and words."""
    return lambda request: generate(request.topology, request.root, request.words)


def multicast(
    generate: Callable[[Topology, int, Iterable[int] | None, int], Schedule],
) -> Callable[[Request], Schedule]:
    """Return a function that calls ``generate`` with a request's network, root, targets, words."""
    return lambda request: generate(request.topology, request.root, request.targets, request.words)
