"""The network of a comparison: one for all algorithms, and what they need is in it."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from ..model.base.errors import InvalidInput
from ..model.compare.side_by_side import Entry
from ..model.network.config import TIMINGS, NetworkConfig
from ..model.program.compiler import Compiled, make_table_room, with_largest_tables
from .options.hardware import chosen_room, require_no_deadlock, typed_room
from .options.values import OptionValues

if TYPE_CHECKING:
    from ..model.program.layout import Layout
    from ..model.schedule.schedule import Schedule


def compile_all_entries(
    chosen: OptionValues, entries: Sequence[Entry], say: Callable[[str], None]
) -> dict[str, Compiled]:
    """Compile all that can be, for one network, with streams or timed rows where needed, by name.

    Why the others cannot be compiled is noted.
    """
    config, layouts = _common_room(chosen, [entry.schedule for entry in entries])
    compiled: dict[tuple[bool, bool], tuple[NetworkConfig, list[Compiled]]] = {}
    for entry, layout in zip(entries, layouts, strict=True):
        say(f"compiling {entry.name}")
        # They make every row longer, and who needs neither does without them.
        streams = bool(entry.schedule.stream.any()) or chosen["streams"]
        timed = entry.schedule.timed
        try:
            own = replace(config, streams=streams, timed_rows=timed)
            wide = with_largest_tables(own, fixed=typed_room())
            one = Compiled.of(entry.schedule, wide, layout)
            require_no_deadlock(chosen, one.program)
        except InvalidInput as error:
            entry.refusals.update(dict.fromkeys(TIMINGS, str(error)))
        else:
            compiled.setdefault((streams, timed), (own, []))[1].append(one)
    room = (make_table_room(own, some, fixed=typed_room())[1] for own, some in compiled.values())
    return {each.schedule.algorithm: each for some in room for each in some}


def _common_room(
    chosen: OptionValues, schedules: Sequence[Schedule]
) -> tuple[NetworkConfig, list[Layout | None]]:
    """One network for all, or their cycles could not be compared: what they need is in it.

    Beside it, where the blocks of each lie; None for one that has no network of its own either.
    """
    try:
        config, layouts = chosen_room(chosen, schedules)
    except InvalidInput as error:
        fitting = [schedule for schedule in schedules if _fits(chosen, schedule)]
        if not fitting:
            raise
        if len(fitting) == len(schedules):
            raise InvalidInput(f"no network serves all of them: {error}") from error
        # With the others' network it is refused again, and then for itself alone.
        config, found = chosen_room(chosen, fitting)
        known = dict(zip(map(id, fitting), found, strict=True))
        return config, [known.get(id(schedule)) for schedule in schedules]
    return config, [*layouts]


def _fits(chosen: OptionValues, schedule: Schedule) -> bool:
    """Tell whether there is a network as chosen that carries out ``schedule``."""
    try:
        chosen_room(chosen, [schedule])
    except InvalidInput:
        return False
    return True
