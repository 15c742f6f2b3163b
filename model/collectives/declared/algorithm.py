"""Declarations: each module of an algorithm ends in its own, and the registry collects them."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import KW_ONLY, dataclass
from typing import Any

from ...network.topology import Topology
from ...schedule.schedule import Schedule
from .asked import Asked

ONE, ALL = "one", "all"
"""The ports that a node uses in a step."""


@dataclass(frozen=True)
class Declared:
    """One way to carry out a collective, as its module declares it.

    collective, name
        The collective, and the name after ``--algorithm``.
    make
        Makes the schedule of a request, of which it reads :class:`.Asked`; raises
        :class:`.InvalidInput` for a topology that the algorithm does not serve.
    networks
        The networks that it serves, in words.
    steps
        The number of steps, in words: N is the number of nodes that take part, n that of a side.
    paper
        Authors and year; empty for an algorithm of this project.
    ports
        The ports that nodes use in a step: one, all, or either as it is asked.
    takes
        The parts of a request, of ``CHOICES``, that it heeds.
    landmarks
        Returns the nodes that its papers give a name and that a picture marks.
    keeps_whole
        True for an all-reduce that sends whole messages, and not a part for each node.
    copies
        True where each block is a whole copy of the message, of which a node needs one.
    leaves_out
        The kind of working nodes that it may give nothing, in words.
    most
        Returns the upper bounds of its paper on some measures.
    """

    collective: str
    name: str
    make: Callable[[Any], Schedule]
    _: KW_ONLY
    networks: str
    steps: str
    paper: str = ""
    ports: tuple[str, ...] = (ONE,)
    takes: tuple[str, ...] = ()
    landmarks: Callable[[Topology], tuple[int, ...]] = lambda _topology: ()
    keeps_whole: bool = True
    copies: bool = False
    leaves_out: str = ""
    most: Callable[[Topology], dict[str, int]] = lambda _topology: {}


def rooted(generate: Callable[[Topology, int, int], Schedule]) -> Callable[[Asked], Schedule]:
    """Return what makes a schedule from the network, root and words of a request."""
    return lambda request: generate(request.topology, request.root, request.words)


def multicast(
    generate: Callable[[Topology, int, Iterable[int] | None, int], Schedule],
) -> Callable[[Asked], Schedule]:
    """Return what makes a schedule from the network, root, targets and words of a request."""
    return lambda request: generate(request.topology, request.root, request.targets, request.words)
