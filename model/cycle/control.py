"""Settings of a controller and of tiles for a run: docs/router.md, sections 16 and 17."""

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from ..base.errors import InvalidInput, require_range
from ..network.config import NetworkConfig
from ..program.program import Program


@dataclass(frozen=True, eq=False, kw_only=True)
class Control:
    """Settings of a run that its program does not contain; most need a controller.

    limit
        The most cycles of the run, as in the program's entry of the directory; 0: no limit.
    slot_words
        Words of the program's slot, as in its entry; None: the length of its longest table. With
        circuits, entries.
    hold
        The tile of node n holds the node in all cycles before ``hold[n]``; 0: never. With circuits,
        these are cycles of *starting*. Shape (nodes,), int64. None: no tile holds its node.
    damaged
        A word that each message memory damages: whenever it is written, its parity bit is wrong.
        None: no word. Not in networks with operators or circuits.
    """

    limit: int = 0
    slot_words: int | None = None
    hold: npt.NDArray[np.int64] | None = None
    damaged: int | None = None

    def check(self, config: NetworkConfig) -> None:
        """Raise :class:`.InvalidInput` for settings that a network of ``config`` lacks."""
        if not config.programs and (self.limit or self.slot_words is not None):
            raise InvalidInput.of("control", "left out in a network without programs", "given")
        largest = min((1 << config.flit_width) - 1, int(np.iinfo(np.int64).max))
        require_range("limit", self.limit, 0, largest)
        if self.slot_words is not None:
            require_range("words of the program", self.slot_words, 1, config.table_words)
        self._check_damaged(config)
        if self.hold is None:
            return
        if not config.tile_ports:
            raise InvalidInput.of("hold", "left out in a network without tile ports", "given")
        shape = (config.topology.nodes,)
        if self.hold.shape != shape or self.hold.dtype != np.int64:
            given = f"{self.hold.dtype} of shape {self.hold.shape}"
            raise InvalidInput.of("hold", f"int64 of shape {shape}", given)
        require_range("hold", int(self.hold.min()), 0)
        for switch in config.topology.switches:
            require_range(f"hold of node {switch}, a switch", int(self.hold[switch]), 0, 0)

    def _check_damaged(self, config: NetworkConfig) -> None:
        """Raise :class:`.InvalidInput` for a damaged word that a network of ``config`` lacks."""
        if self.damaged is None:
            return
        require_range("damaged word", self.damaged, 0, (1 << config.flit_width) - 1)
        if not config.parity or config.operators or config.circuits:
            allowed = "left out except with parity, without operators and circuits"
            raise InvalidInput.of("damaged word", allowed, self.damaged)

    def held_until(self, nodes: int) -> npt.NDArray[np.int64]:
        """Return each node's first cycle in which a row may begin: ``hold`` passes a register."""
        if self.hold is None:
            return np.zeros(nodes, dtype=np.int64)
        return np.where(self.hold > 0, self.hold + 1, 0)

    def words_of(self, program: Program) -> int:
        """Return the length of the slot in which the senders read ``program``, in words."""
        if self.slot_words is None:
            return int(program.table_sizes.max())
        return self.slot_words
