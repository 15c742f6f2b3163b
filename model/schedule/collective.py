"""The names of collectives; :mod:`.promises` says what each promises."""

from enum import StrEnum


class Prefix(StrEnum):
    """The contributions that a node gets in a scan: those of nodes with lower numbers."""

    INCLUSIVE = "inclusive"
    """Its own, too."""
    EXCLUSIVE = "exclusive"
    """Not its own."""


class Collective(StrEnum):
    """A collective whose name is a promise."""

    BROADCAST = "broadcast"
    MULTICAST = "multicast"
    SCATTER = "scatter"
    GATHER = "gather"
    ALL_GATHER = "all-gather"
    ALL_TO_ALL = "all-to-all"
    NEIGHBOR = "neighbor"
    HALO = "halo"
    REDUCE = "reduce"
    REDUCE_SCATTER = "reduce-scatter"
    ALL_REDUCE = "all-reduce"
    BARRIER = "barrier"
    SCAN = "scan"
    EXSCAN = "exscan"

    @property
    def rooted(self) -> bool:
        """Tell whether one node, the root, has or gets all blocks."""
        return self in _ROOTED

    @property
    def reduces(self) -> bool:
        """Tell whether contributions of several nodes are combined by an operator."""
        return self in REDUCTIONS

    @property
    def prefix(self) -> Prefix | None:
        """The contributions that a node gets of each block; None for all."""
        return _PREFIXES.get(self)


EXCHANGES = (Collective.ALL_TO_ALL, Collective.NEIGHBOR, Collective.HALO)
"""Collectives in which nodes have blocks for each other, one or more for each pair."""

REDUCTIONS = (
    Collective.REDUCE,
    Collective.REDUCE_SCATTER,
    Collective.ALL_REDUCE,
    Collective.BARRIER,
    Collective.SCAN,
    Collective.EXSCAN,
)
"""Collectives of reduced blocks."""

_PREFIXES = {Collective.SCAN: Prefix.INCLUSIVE, Collective.EXSCAN: Prefix.EXCLUSIVE}

_ROOTED = (
    Collective.BROADCAST,
    Collective.MULTICAST,
    Collective.SCATTER,
    Collective.GATHER,
    Collective.REDUCE,
)


COLLECTIVES = tuple(Collective)
"""All collectives, as a tuple."""

ROOTLESS = tuple(each for each in Collective if not each.rooted)
"""Collectives without a single root: every node is one."""

OF_TARGETS = (Collective.SCATTER, Collective.REDUCE_SCATTER)
OF_OWNERS = (Collective.GATHER, Collective.ALL_GATHER)
"""Collectives with a block for each node, which gets the block (targets) or has it (owners)."""
