"""Runs of a program: predicted by the cycle model, or measured on hardware.

The names of flags and sender states are those of docs/router.md. The hardware defines its own
numbers for them; a test checks that both agree.
"""

from dataclasses import dataclass
from enum import StrEnum
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from ..base.notebook import ShowsItself
from ..network.topology import Topology
from .link_flits import link_flits
from .trace import Trace

FLAGS = {
    0: "overflow",
    1: "parity",
    2: "credit_overflow",
    3: "bad_route",
    4: "unexpected_receive",
    5: "send_and_receive",
    6: "bad_row",
    7: "bad_write",
}
"""Names of the bits of ``Run.flags`` (docs/router.md, section 6)."""

CIRCUIT_FLAGS = FLAGS | {0: "lost_word", 2: "missing_word"}
"""Names of the bits in a network with circuits (docs/router.md, section 23)."""

SENDER_STATES = ("control", "ready", "header", "payload", "ended", "failed", "expect")
"""Names of the states of a sender, by number (docs/router.md, sections 4 and 16)."""


@dataclass(frozen=True, eq=False, kw_only=True, repr=False)
class Run(ShowsItself):
    """A run of a program, predicted or measured.

    Attributes
    ----------
    finished
        True if all nodes were finished in or before the cycle limit.
    cycles
        Cycles before the first one in which all nodes were finished (docs/router.md, section 5);
        the cycle limit if there was none.
    memory
        The first words of the message memories after the run: shape (nodes, words).
    trace
        Every flit that left a router in the cycles of the run, in order; empty if not recorded.
    flags
        Sticky flags of each node, bit i being ``FLAGS[i]``: shape (nodes,).
    stalled_flits
        Stalled flits of each node's router and senders (sections 3 and 4): shape (nodes,).
    step
        The step register of each node: shape (nodes,).
    arrived
        True where a packet of a step has arrived: shape (nodes, lanes, 2 ** step_bits). In an
        all-port network lane l is link port l + 1; otherwise there is one lane.
    circuits
        True for a network with circuits, in which some flags have other names, ``step`` is the
        number of each node's entry, and ``arrived`` has no steps.
    """

    finished: bool
    cycles: int
    memory: npt.NDArray[np.uint64]
    trace: Trace
    flags: npt.NDArray[np.uint8]
    stalled_flits: npt.NDArray[np.int64]
    step: npt.NDArray[np.int64]
    arrived: npt.NDArray[np.bool_]
    circuits: bool = False

    def __repr__(self) -> str:
        end = "finished" if self.finished else "not finished"
        flagged = int(np.count_nonzero(self.flags))
        flags = f"flags at {flagged} nodes" if flagged else "no flags"
        return f"<{type(self).__name__}: {end}, {self.cycles} cycles, {flags}>"

    def link_flits(self, topology: Topology) -> npt.NDArray[np.int64]:
        """Count the flits that crossed each link: shape (nodes, ports); column 0 is deliveries."""
        return link_flits(topology, self.trace)

    def flag_names(self, node: int) -> list[str]:
        """List the names of the flags that ``node`` has set."""
        names = CIRCUIT_FLAGS if self.circuits else FLAGS
        return [name for bit, name in names.items() if self.flags[node] >> bit & 1]


class EndState(StrEnum):
    """States of a controller in which a run has ended by itself (docs/router.md, section 16)."""

    DONE = "done"
    FAILED = "failed"
    TIMED_OUT = "timed out"


class Ending(NamedTuple):
    """The end of a run, as a controller sees it.

    state
        The controller's state.
    cycle
        The first cycle in which all nodes were finished or a flag was seen; otherwise the last
        cycle that the limit allowed.
    culprit
        The lowest node whose flag was seen, or that was not finished; None if the run is done.
    """

    state: EndState
    cycle: int
    culprit: int | None

    def __str__(self) -> str:
        if self.culprit is None:
            return str(self.state)
        return f"{self.state} in cycle {self.cycle}, node {self.culprit} first"


@dataclass(frozen=True, eq=False, kw_only=True, repr=False)
class Prediction(Run):
    """A run of the cycle model, with measures that the hardware does not have.

    Attributes
    ----------
    received
        Packets of timed rows that each node has received: shape (nodes,).
    step_ends
        Entry s - 1 is for step s of 1 to ``program.steps``: the cycle after the one in which a node
        wrote the last tail of that step; 0 if there was none. Without operators a node writes a
        tail in the cycle in which the tail leaves port 0 of its router.
    ending
        The end of the run as a controller sees it (docs/router.md, section 16).
    """

    received: npt.NDArray[np.int64]
    step_ends: npt.NDArray[np.int64]
    ending: Ending


@dataclass(frozen=True, eq=False, kw_only=True, repr=False)
class HardwareRun(Run):
    """A run of the hardware, simulated or on a board.

    sender_state
        State of each of a node's senders when the run ended: shape (nodes, lanes).
    signature
        Signature of each node: shape (nodes,); 0 in a network without signatures.
    seconds
        CPU time that the run took in the simulator; 0 on a board.
    ending
        End of the run as the network's controller tells it; None in a network without one.
    events
        What the host saw of the runs before this one; empty if there were none.
    """

    sender_state: npt.NDArray[np.int64]
    signature: npt.NDArray[np.uint32]
    seconds: float
    ending: Ending | None = None
    events: tuple[str, ...] = ()

    def sender_state_name(self, node: int, lane: int) -> str:
        """Return the name of a sender's state at the end of the run."""
        state = int(self.sender_state[node, lane])
        return SENDER_STATES[state] if state < len(SENDER_STATES) else f"unknown state {state}"
