"""Options of a run: its timing, tiles that hold back their nodes, and deadlocks."""

from dataclasses import dataclass

import click
import numpy as np
import numpy.typing as npt

from ...model.base.errors import InvalidInput
from ...model.network.config import NetworkConfig, Timing
from ...model.network.network_text import node_in_words
from ...model.program.any_program import AnyProgram
from .hardware import force_option, require_no_deadlock, timing_option
from .values import recorded

LONGEST_HOLD = 1_000_000
"""Most cycles that a tile may hold its node: such a run simulates in a minute."""


@dataclass(frozen=True)
class RunOptions:
    """The timing of a run, its holds as they are typed, and whether it may deadlock."""

    timing: Timing
    hold: tuple[str, ...]
    force: bool

    def require_no_deadlock(self, program: AnyProgram) -> None:
        """Refuse a program whose routes may deadlock, unless forced."""
        require_no_deadlock(program, force=self.force)

    def held(self, config: NetworkConfig) -> npt.NDArray[np.int64] | None:
        """Return for how many cycles each node is held back: shape (nodes,); None without holds."""
        if not self.hold:
            return None
        if not config.tile_ports:
            raise InvalidInput("--hold needs --tile-ports")
        topology = config.topology
        held, given = np.zeros(topology.nodes, dtype=np.int64), set[int]()
        for text in self.hold:
            place, colon, count = text.partition(":")
            if not colon:
                raise InvalidInput.of("--hold", "a node and cycles, such as 3,4:20", repr(text))
            node = node_in_words(topology, place, "--hold")
            topology.require_interface("--hold", node)
            if node in given:
                raise InvalidInput.of("--hold", "given once for each node", f"twice for {place}")
            given.add(node)
            held[node] = _cycles(count)
        return held


def _cycles(text: str) -> int:
    """Read the cycles of a hold; refuse other text."""
    # Python converts no number of thousands of digits.
    short = text.isascii() and text.isdecimal() and len(text) <= len(str(LONGEST_HOLD))
    if not short or int(text) > LONGEST_HOLD:
        raise InvalidInput.of("cycles of --hold", f"0 to {LONGEST_HOLD}", text)
    return int(text)


run_options = recorded(
    "run",
    RunOptions,
    timing_option,
    click.option(
        "--hold",
        metavar="X,Y:CYCLES",
        multiple=True,
        help=(
            "Keep this node from sending for this many cycles at the start, as a late tile "
            "does; repeat the option for several nodes; needs --tile-ports."
        ),
    ),
    force_option,
    heading="Run",
)
