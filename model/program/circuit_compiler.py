"""Compilation of a schedule to the run tables of a network with circuits.

Units of sends (:mod:`.circuit_units`) are placed in an order (:mod:`.circuit_order`) in cycles
(:mod:`.circuit_times`). Several orders are tried, with a unit for each send, and if sends carry
several blocks with a unit for each block. The shortest run is cut into entries
(:mod:`.circuit_tables`).
"""

from __future__ import annotations

import numpy as np

from ..base.arrays import Numbers
from ..base.errors import InvalidInput
from ..network.config import NetworkConfig
from ..schedule.schedule import Schedule
from ..schedule.streams import streams_of
from .circuit_order import gangs_of, ties_of
from .circuit_tables import tables_of
from .circuit_units import Units, split, units_of
from .circuits import CircuitProgram
from .layout import Layout


def compile_circuits(schedule: Schedule, config: NetworkConfig, layout: Layout) -> CircuitProgram:
    """Compile ``schedule`` for a network of ``config`` with circuits.

    Raises :class:`.InvalidInput` if the schedule cannot be timed, or a table has too many entries.
    """
    # Numba takes long to load.
    from .circuit_times import begins_of  # noqa: PLC0415

    streams, every = streams_of(schedule), np.arange(schedule.sends)
    found: list[tuple[int, int, Units, Numbers]] = []
    parts = [(schedule, every)]
    if len(schedule.block_ids) > schedule.sends:
        parts.append(split(schedule))
    for part, origin in parts:
        units = units_of(part, config, layout)
        ties = ties_of(units, streams, origin)
        for key in _keys(units):
            gangs = gangs_of(units, ties, key)
            begin = begins_of(units, ties, gangs, operators=bool(config.operators))
            if begin is not None:
                found.append((int((begin + units.span).max(initial=0)), len(found), units, begin))
    if not found:
        allowed = "one whose nodes can send each word before another one changes it"
        raise InvalidInput.of("schedule for circuits", allowed, "not")
    _, _, units, begin = min(found, key=lambda each: each[:2])
    program = tables_of(units, begin, config)
    require_room(program)
    return program


def _keys(units: Units) -> list[Numbers]:
    """Return orders of the units of each step: as in the table, and the longest first."""
    table = np.arange(len(units.first))
    return [table] if units.schedule.timed else [table, -(units.length + units.span)]


def require_room(program: CircuitProgram) -> None:
    """Raise :class:`.InvalidInput` for the first node with more entries than ``table_words``."""
    most = program.config.table_words
    entries = program.table_entries - 1
    for node in np.flatnonzero(entries > most)[:1].tolist():
        allowed = f"at most {most} (table words)"
        raise InvalidInput.of(f"entries of node {node}", allowed, int(entries[node]))
