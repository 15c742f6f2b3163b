"""A list of sends that grows one by one, and its schedule."""

from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np
import numpy.typing as npt

from ...network.port_model import PortModel
from ...network.topology import Topology
from ...schedule.blocks import Blocks
from ...schedule.builder import path_columns
from ...schedule.schedule import Schedule


def blocks_for_all(owners: npt.ArrayLike, words: npt.ArrayLike) -> Blocks:
    """Return blocks owed to every node; ``words`` is a length for each owner, or one for all."""
    owner = np.asarray(owners, np.int32)
    lengths = np.broadcast_to(np.asarray(words, np.int32), owner.shape)
    return Blocks(owner, (None,) * len(owner), lengths)


@dataclass(frozen=True)
class SendList:
    """Sends on VC 0: equally long lists, a row for each."""

    step: list[int] = field(default_factory=list)
    path: list[Sequence[int]] = field(default_factory=list)
    blocks: list[Sequence[int] | npt.NDArray[np.int32]] = field(default_factory=list)
    stream: list[bool] = field(default_factory=list)
    combine: list[bool] = field(default_factory=list)

    def add(
        self,
        step: int,
        path: Sequence[int],
        blocks: Sequence[int] | npt.NDArray[np.int32],
        *,
        stream: bool = False,
        combine: bool = False,
    ) -> None:
        """Add a send of ``blocks`` along ``path`` in ``step``."""
        self.step.append(step)
        self.path.append(path)
        self.blocks.append(blocks)
        self.stream.append(stream)
        self.combine.append(combine)

    def schedule(
        self,
        algorithm: str,
        topology: Topology,
        collective: str,
        port_model: PortModel,
        root: int | None,
        blocks: Blocks,
    ) -> Schedule:
        """Return the schedule of these sends; only the shapes are checked."""
        return Schedule(
            topology=topology,
            collective=collective,
            algorithm=algorithm,
            port_model=port_model,
            root=root,
            blocks=blocks,
            step=np.array(self.step, np.int32),
            stream=np.array(self.stream, np.bool_),
            combine=np.array(self.combine, np.bool_),
            **path_columns(self.path, self.blocks),
        )
