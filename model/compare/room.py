"""The network that carries out schedules: what its user asked for, with room for what they need."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from ..base.errors import InvalidInput
from ..network.config import MOST_MEMORY_WORDS, TIMINGS, NetworkConfig
from ..network.port_model import PortModel
from ..program.compiler import (
    Compiled,
    compile_all,
    make_room,
    make_table_room,
    with_largest_tables,
)
from ..program.deadlock import certify
from ..program.layout import Layout
from ..program.program import Program
from ..schedule.schedule import Schedule
from .side_by_side import Entry


@dataclass(frozen=True)
class Room:
    """The network that a user asks for.

    Parameters
    ----------
        Fields of :class:`.NetworkConfig`.
    fixed
        Names of those that no schedule raises; other step numbers, VCs, memories and operators are
        as many as schedules need.
    require
        Refuses a program that must not run, by default one that may deadlock.

    """

    parameters: Mapping[str, Any] = field(default_factory=dict)
    fixed: Collection[str] = ()
    require: Callable[[Program], None] = certify

    def compile(self, schedules: Sequence[Schedule]) -> list[Compiled]:
        """Compile all of ``schedules`` for one network with room for each."""
        config, layouts = self._common(schedules)
        return compile_all(config, schedules, layouts, fixed=self.fixed)[1]

    def compile_one(self, schedule: Schedule) -> Compiled:
        """Compile a schedule for a network with room for it, and require that it may run."""
        (compiled,) = self.compile([schedule])
        self.require(compiled.program)
        return compiled

    def compile_entries(
        self, entries: Sequence[Entry], say: Callable[[str], None]
    ) -> dict[str, Compiled]:
        """Compile all that can be for one network, with streams or timed rows if needed, by name.

        The reason why another one cannot be compiled is noted in its entry.
        """
        config, layouts = self._common_of_fitting([entry.schedule for entry in entries])
        compiled: dict[tuple[bool, bool], tuple[NetworkConfig, list[Compiled]]] = {}
        for entry, layout in zip(entries, layouts, strict=True):
            say(f"compiling {entry.name}")
            # Both make every row longer, and a schedule that needs neither does without them.
            streams = bool(entry.schedule.stream.any()) or self.parameters.get("streams", False)
            timed = entry.schedule.timed
            try:
                own = replace(config, streams=streams, timed_rows=timed)
                wide = with_largest_tables(own, fixed=self.fixed)
                one = Compiled.of(entry.schedule, wide, layout)
                self.require(one.program)
            except InvalidInput as error:
                entry.refusals.update(dict.fromkeys(TIMINGS, str(error)))
            else:
                compiled.setdefault((streams, timed), (own, []))[1].append(one)
        room = (make_table_room(own, some, fixed=self.fixed)[1] for own, some in compiled.values())
        return {each.schedule.algorithm: each for some in room for each in some}

    def _common(self, schedules: Sequence[Schedule]) -> tuple[NetworkConfig, list[Layout]]:
        """The network with room for all of ``schedules`` but their tables, and their layouts."""
        needed = any(schedule.port_model == PortModel.ALL_PORT for schedule in schedules)
        all_port = self.parameters.get("all_port", False) or needed
        parameters = {**self.parameters, "all_port": all_port}
        config = NetworkConfig(topology=schedules[0].topology, **parameters)
        config, layouts = make_room(config, schedules, fixed=self.fixed)
        for layout in layouts:
            if not layout.fits(config):
                before = f"flits of the message must be {layout.limit(config)}"
                if config.message_words == MOST_MEMORY_WORDS:
                    raise InvalidInput(f"{before}, not {layout.size}")
                after = f" raises it), not {layout.size}"
                raise InvalidInput.around(f"{before} (", "message_words", after)
        return config, layouts

    def _common_of_fitting(
        self, schedules: Sequence[Schedule]
    ) -> tuple[NetworkConfig, list[Layout | None]]:
        """One network for all, or their cycles could not be compared, and their layouts.

        The layout is None for a schedule that has no network of its own either.
        """
        try:
            config, layouts = self._common(schedules)
        except InvalidInput as error:
            fitting = [schedule for schedule in schedules if self._fits(schedule)]
            if not fitting:
                raise
            if len(fitting) == len(schedules):
                raise error.between("no network serves all of them: ") from error
            # With the others' network it is refused again, and then for itself alone.
            config, found = self._common(fitting)
            known = dict(zip(map(id, fitting), found, strict=True))
            return config, [known.get(id(schedule)) for schedule in schedules]
        return config, [*layouts]

    def _fits(self, schedule: Schedule) -> bool:
        """Tell whether there is such a network that carries out ``schedule``."""
        try:
            self._common([schedule])
        except InvalidInput:
            return False
        return True
