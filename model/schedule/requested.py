"""Requests kept in a schedule, so that its check can compare the blocks with them."""

from dataclasses import dataclass


@dataclass(frozen=True, kw_only=True)
class Requested:
    """A collective of all nodes, or of one group, as a user requests it.

    collective
        Name of the collective.
    words
        Words of the message, or of each block. For unequal blocks, a tuple with one entry for each
        node, or for each node of the group in ascending order.
    root
        The root; None for a collective in ``collective.ROOTLESS``.
    targets
        The nodes that get a multicast; None for all, and for any other collective.
    operator
        The name of the operator of a reduction; None for any other collective.
    partial
        True if the algorithm may leave working nodes out; the schedule's blocks name those served.
    copies
        True if each block is a whole copy of the message; every node gets at least one.
    canonical
        True if a reduction must make every sum in the one order of ``canonical.py``.
    """

    collective: str
    words: int | tuple[int | tuple[int, ...], ...]
    root: int | None = None
    targets: tuple[int, ...] | None = None
    operator: str | None = None
    partial: bool = False
    copies: bool = False
    canonical: bool = False
