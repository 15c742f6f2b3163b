"""Broadcast and multicast by trees of sends; their compiled code is imported when needed."""

from ...schedule.collective import Collective
from ...schedule.schedule import Schedule
from ..declared.algorithm import Declared
from ..declared.request import Request


def _broadcast(asked: Request) -> Schedule:
    from .broadcast import partial_tree_broadcast, tree_broadcast  # noqa: PLC0415

    generate = partial_tree_broadcast if asked.partial else tree_broadcast
    return generate(asked.topology, asked.root, asked.words)


def _multicast(asked: Request) -> Schedule:
    from .broadcast import tree_multicast  # noqa: PLC0415

    return tree_multicast(asked.topology, asked.root, asked.targets, asked.words)


BROADCAST = Declared(
    Collective.BROADCAST,
    "tree",
    _broadcast,
    networks="any network",
    steps="⌈log2 N⌉ where links work both ways",
    takes=("partial",),
    leaves_out="no path leads to them",
)
MULTICAST = Declared(
    Collective.MULTICAST,
    "tree",
    _multicast,
    networks="any network",
    steps="⌈log2 (targets + 1)⌉ where links work both ways",
)
