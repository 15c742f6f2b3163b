"""The image of several programs that are loaded together in a network with a controller.

It is like the image of one program (:mod:`.image`), but without messages, which tiles or a host
write, and the JSON has a list of programs::

    "programs": [{"barrier": true, "half_duplex": false, "number": 0, "base": 0, "words": 9,
                  "limit": 166, "run": {"state": "done", "cycles": 33}}, ...]
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from ..base.arrays import Words
from ..network.config import Timing
from ..program.any_program import AnyProgram
from ..program.slots import slots_of
from ..run.run import Prediction
from .image import (
    DirectoryEntry,
    directory_entry,
    identity_write,
    network_description,
    table_writes,
    write_files,
)


@dataclass(frozen=True, eq=False, kw_only=True)
class ProgramsImage:
    """Programs of one network, stored in order in its tables; their numbers are their positions.

    predicted
        A run of each: its end and its cycles, which do not depend on the messages.
    limits
        The most cycles of a run of each.

    Raises :class:`.InvalidInput` for programs of several networks, more programs than the network
    keeps, or more words than its tables hold.
    """

    programs: Sequence[AnyProgram]
    timing: Timing
    predicted: Sequence[Prediction]
    limits: Sequence[int]

    def __post_init__(self) -> None:
        slots_of(self.programs)

    @property
    def entries(self) -> Iterator[DirectoryEntry]:
        """The programs' entries in the directory."""
        columns = zip(self.programs, slots_of(self.programs), self.limits, strict=True)
        for number, (program, slot, limit) in enumerate(columns):
            yield directory_entry(program, number, slot, self.timing, limit)

    @property
    def writes(self) -> Words:
        """Words to be written, in order: rows (node, space, address, word)."""
        writes = [identity_write(self.programs[0].config)]
        for program, entry in zip(self.programs, self.entries, strict=True):
            writes += [*table_writes(program, entry.slot.base), *entry.writes()]
        return np.concatenate(writes)

    def description(self) -> dict[str, object]:
        """Describe everything except the writes that a host must know, as JSON values."""
        programs = [
            {**entry.to_json(), "run": {"state": run.ending.state, "cycles": run.cycles}}
            for entry, run in zip(self.entries, self.predicted, strict=True)
        ]
        return {**network_description(self.programs[0].config), "programs": programs}

    def write(self, path: str | Path, described: str | Path) -> None:
        """Write the writes as CSV to ``path`` and all else as JSON to ``described``.

        Raises :class:`.InvalidInput` if a file cannot be written.
        """
        write_files(self.writes, self.description(), path, described)
