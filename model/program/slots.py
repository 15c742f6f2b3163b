"""Slots of programs in the table memories of a network with a controller: docs/router.md, 16."""

from collections.abc import Sequence
from itertools import pairwise
from typing import NamedTuple

from ..base.errors import InvalidInput, require_range
from ..base.ragged import offsets_of
from ..network.config_file import differing
from .any_program import AnyProgram


class Slot(NamedTuple):
    """The words of a program in the table memory of every sender; with circuits, its entries.

    base
        The address of its first word.
    words
        Number of words: those of the longest of its tables.
    """

    base: int
    words: int


def slot_of(program: AnyProgram, base: int = 0) -> Slot:
    """Return the slot of ``program`` from ``base`` on.

    Raises :class:`.InvalidInput` if it does not fit in the table memories, or if the network has no
    controller to start it.
    """
    config = program.config
    if not config.programs:
        raise InvalidInput.of("programs", "at least 1 for a program with a place of its own", 0)
    require_range("base", base, 0, config.table_words - 1)
    slot = Slot(base, int(program.table_sizes.max()))
    end = slot.base + slot.words
    if end > config.table_words:
        before = (
            f"words of all programs must be at most {config.table_words}, the table memory (raise "
        )
        raise InvalidInput.around(before, "table_words", f"), not {end}")
    return slot


def slots_of(programs: Sequence[AnyProgram]) -> list[Slot]:
    """Return the slots of ``programs`` of one network, one after the other from address 0 on.

    Raises :class:`.InvalidInput` if there are too many programs, or if they do not fit.
    """
    for one, other in pairwise(programs):
        if names := differing(one.config, other.config):
            differ = "differ" if len(names) > 1 else "differs"
            found = f"their {' and '.join(names)} {differ}"
            raise InvalidInput(f"the programs must be for one network: {found}")
    if programs and len(programs) > programs[0].config.programs:
        allowed = f"at most {programs[0].config.programs}, which the network keeps"
        raise InvalidInput.of("number of programs", allowed, len(programs))
    bases = offsets_of([int(program.table_sizes.max()) for program in programs]).tolist()
    return [slot_of(program, base) for program, base in zip(programs, bases, strict=False)]
