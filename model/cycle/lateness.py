"""The worst time of a program whose tiles may be late, from two runs of the cycle model.

The packet checker requires that no output chooses between packets. Then each event, such as a flit
that leaves an output or a step that ends, comes a fixed time after the latest of a fixed set of
events. A maximum never falls when one of its values rises. So if every tile is as late as it may
be, every event is as late as it can be: that run is the worst of all.
"""

from typing import NamedTuple

import numpy as np

from ..network.config import Timing
from ..program.payload import empty_memory
from ..program.program import Program
from .control import Control
from .model import run


class Lateness(NamedTuple):
    """Cycles of a run without late tiles, and the most if each tile may be late."""

    on_time: int
    worst: int


def lateness(program: Program, timing: Timing, late: int) -> Lateness:
    """Return the cycles of a program that no tile and that every tile holds ``late`` cycles.

    The words do not matter, as the certificate shows. Raises :class:`.InvalidInput` for a network
    whose nodes have no tiles.
    """
    topology = program.config.topology
    memory = empty_memory(program.config)
    held = np.where(topology.has_interface, late, 0)
    cycles = []
    for hold in (None, held):
        control = Control(hold=hold)
        found = run(program, memory, timing=timing, record_trace=False, control=control)
        if not found.finished or found.flags.any():
            raise RuntimeError("the program does not end without flags")
        cycles.append(found.cycles)
    return Lateness(*cycles)
