"""The names of collectives; what each promises is in :mod:`.promises`."""

from __future__ import annotations

from enum import StrEnum


class Collective(StrEnum):
    """A collective whose name promises something."""

    BROADCAST = "broadcast"
    MULTICAST = "multicast"
    SCATTER = "scatter"
    GATHER = "gather"
    ALL_GATHER = "all-gather"
    ALL_TO_ALL = "all-to-all"

    @property
    def rooted(self) -> bool:
        """Tell whether one node, the root, has or gets everything."""
        return self not in (Collective.ALL_GATHER, Collective.ALL_TO_ALL)


COLLECTIVES = tuple(Collective)
"""All of them."""

ROOTLESS = tuple(each for each in Collective if not each.rooted)
"""Collectives in which every node is a root."""
