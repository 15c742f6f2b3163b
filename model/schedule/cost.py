"""Cost of a schedule in start-ups and words, counted from its table of sends.

The model of Johnsson & Ho (1986, section 2): a start-up takes τ and moves a packet of at most B
words, a word takes t_c, and a step ends when its longest send has ended. So a step takes
ceil(w / B) τ + w t_c for the w words of its longest send, and a schedule the sum of its steps.
(Through how many links a send goes makes no difference. In that model it is one.)
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from ..base.errors import InvalidInput, require_range
from .collective import Collective
from .schedule import Schedule
from .table import CUSTOM

_ONE_MESSAGE = (
    *(Collective.BROADCAST, Collective.MULTICAST, CUSTOM),
    *(Collective.REDUCE, Collective.ALL_REDUCE, Collective.BARRIER),
)
"""Collectives of one message, in however many blocks it is cut."""


@dataclass(frozen=True, eq=False)
class ScheduleCost:
    """Start-ups and words, as counted.

    ``words_per_step`` has shape (steps,), int64: the words of the longest send of each step, 0 in a
    step without sends. ``busiest_link`` is the words that cross the busiest directed link in all
    steps together.
    """

    words_per_step: npt.NDArray[np.int64]
    busiest_link: int

    @property
    def steps(self) -> int:
        """Number of steps, the paper's routing cycles."""
        return int(self.words_per_step.size)

    @property
    def transferred(self) -> int:
        """Words on the critical path: those of the longest send of each step, added up."""
        return int(self.words_per_step.sum())

    def start_ups(self, packet: int | None = None) -> int:
        """Packets of at most ``packet`` words that the longest sends need, step after step.

        One for each step with a send if ``packet`` is None. Raises :class:`.InvalidInput` for
        packets without words.
        """
        if packet is None:
            return int(np.count_nonzero(self.words_per_step))
        require_range("packet", packet, 1)
        return int((-(-self.words_per_step // packet)).sum())

    def time(self, tau: float, tc: float, packet: int | None = None) -> float:
        """Return the start-ups times ``tau`` and the words times ``tc``, in their unit."""
        for name, each in (("start-up time", tau), ("time of a word", tc)):
            if each < 0:
                raise InvalidInput.of(name, "0 or more", each)
        return self.start_ups(packet) * tau + self.transferred * tc


def message_words(schedule: Schedule) -> int | None:
    """Words that a node has for one other, or for all: M, in however many blocks it is cut.

    None where nodes, or pairs of them, have different numbers of words.
    """
    if schedule.collective in _ONE_MESSAGE:
        return int(schedule.blocks.words.sum())
    shares = {*share_words(schedule).tolist()}
    return shares.pop() if len(shares) == 1 else None


def share_words(schedule: Schedule) -> npt.NDArray[np.int64]:
    """Words of each node, or in an all-to-all of each pair, that are for others than itself.

    Where nobody has any for others, as on a single node, what each has for itself.
    """
    blocks, nodes = schedule.blocks, schedule.topology.nodes
    owner = blocks.owner.astype(np.int64)
    goal = np.array([-1 if owed is None else owed[0] for owed in blocks.owed], np.int64)
    if schedule.collective == Collective.ALL_GATHER:
        goal[:] = nodes
    # One of the two is the same for all, but in an all-to-all.
    _, share = np.unique(owner * (nodes + 1) + goal, return_inverse=True)
    words = np.bincount(share, blocks.words).astype(np.int64)
    moved = np.bincount(share, owner != goal) > 0
    return words[moved] if moved.any() else words


def count_cost(schedule: Schedule) -> ScheduleCost:
    """Count the steps, words and links of ``schedule``, which is taken to be correct."""
    words = schedule.send_words
    longest = np.zeros(schedule.steps + 1, dtype=np.int64)
    np.maximum.at(longest, schedule.step, words)
    _, places = np.unique(schedule.links, return_inverse=True)
    loads = np.bincount(places, weights=words[schedule.hop_sends])
    return ScheduleCost(longest[1:], int(loads.max(initial=0)))
