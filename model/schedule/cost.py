"""Cost of a schedule in start-ups and words, counted from its table of sends.

The model of Johnsson & Ho (1986, section 2): a start-up takes τ and moves a packet of at most B
words, a word takes t_c, and a step ends when its longest send ends. A step whose longest send has w
words takes ceil(w / B) τ + w t_c, and a schedule takes the sum of its steps. The number of links
that a send crosses does not count; in that paper it is always one.
"""

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from ..base.errors import InvalidInput, require_range
from .blocks import CUSTOM
from .collective import Collective
from .schedule import Schedule

_ONE_MESSAGE = (
    *(Collective.BROADCAST, Collective.MULTICAST, CUSTOM),
    *(Collective.REDUCE, Collective.ALL_REDUCE, Collective.BARRIER),
    *(Collective.SCAN, Collective.EXSCAN),
)
"""Collectives of one message, whatever number of blocks it is cut into."""


@dataclass(frozen=True, eq=False)
class ScheduleCost:
    """Start-ups and words of a schedule.

    ``words_per_step`` has shape (steps,), int64: the words of the longest send of each step, 0 in a
    step without sends. ``busiest_link`` is the largest number of words that cross one directed
    link, over all steps.
    """

    words_per_step: npt.NDArray[np.int64]
    busiest_link: int

    @property
    def steps(self) -> int:
        """Number of steps, the paper's routing cycles."""
        return int(self.words_per_step.size)

    @property
    def transferred(self) -> int:
        """Words on the critical path: the sum over the steps of their longest sends."""
        return int(self.words_per_step.sum())

    def start_ups(self, packet: int | None = None) -> int:
        """Return the number of packets of ``packet`` words or fewer in the steps' longest sends.

        If ``packet`` is None, each step with a send counts as one packet. Raises
        :class:`.InvalidInput` if ``packet`` is below 1.
        """
        if packet is None:
            return int(np.count_nonzero(self.words_per_step))
        require_range("packet", packet, 1)
        return int((-(-self.words_per_step // packet)).sum())

    def time(self, tau: float, tc: float, packet: int | None = None) -> float:
        """Return start-ups x ``tau`` + words x ``tc``, in the unit of ``tau`` and ``tc``."""
        for name, each in (("start-up time", tau), ("time of a word", tc)):
            if each < 0:
                raise InvalidInput.of(name, "0 or more", each)
        return self.start_ups(packet) * tau + self.transferred * tc


def message_words(schedule: Schedule) -> int | None:
    """Return M, the words that a node has for one other or for all; blocks are added up.

    None if nodes, or pairs of nodes, have different numbers of words.
    """
    if schedule.collective in _ONE_MESSAGE:
        return int(schedule.blocks.words.sum())
    shares = {*share_words(schedule).tolist()}
    return shares.pop() if len(shares) == 1 else None


def share_words(schedule: Schedule) -> npt.NDArray[np.int64]:
    """Return the words of each node, or in an all-to-all of each pair, for others than itself.

    If no node has words for others, as on a single node, return the words each has for itself.
    """
    blocks, nodes = schedule.blocks, schedule.topology.nodes
    owner = blocks.owner.astype(np.int64)
    goal = np.array([-1 if owed is None else owed[0] for owed in blocks.owed], np.int64)
    if schedule.collective == Collective.ALL_GATHER:
        goal[:] = nodes
    # In every collective except all-to-all, owner or goal is the same for all blocks.
    _, share = np.unique(owner * (nodes + 1) + goal, return_inverse=True)
    words = np.bincount(share, blocks.words).astype(np.int64)
    moved = np.bincount(share, owner != goal) > 0
    return words[moved] if moved.any() else words


def count_cost(schedule: Schedule) -> ScheduleCost:
    """Count the steps, words and links of ``schedule``, which must be correct."""
    words = schedule.send_words
    longest = np.zeros(schedule.steps + 1, dtype=np.int64)
    np.maximum.at(longest, schedule.step, words)
    crossed = schedule.crossings
    _, places = np.unique(schedule.links[crossed], return_inverse=True)
    loads = np.bincount(places, weights=words[schedule.hop_sends[crossed]])
    return ScheduleCost(longest[1:], int(loads.max(initial=0)))
