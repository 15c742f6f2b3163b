"""Compilation of a schedule to the run tables of a network with circuits.

Units of sends (``circuit_units``) are placed in an order (``circuit_order``) in cycles
(``circuit_times``). Several orders are tried, with a unit for each send, and if sends carry several
blocks, with a unit for each block. Sends that wait for no words are also packed
(``schedule/packing``). The shortest run is cut into entries (``circuit_tables``).
"""

from contextlib import suppress

import numpy as np

from ...base.arrays import Numbers
from ...base.errors import InvalidInput
from ...network.config import NetworkConfig
from ...network.port_model import PortModel
from ...schedule.resources import resources_of
from ...schedule.rules import ScheduleError, first_clash, send_name
from ...schedule.schedule import Schedule
from ...schedule.streams import NO_STREAMS, streams_of
from ...schedule.trees import check_trees
from ..memory.layout import Layout
from ..memory.puts import operator_numbers
from .checks import require_room
from .order import gangs_of, ties_of
from .program import FIRST_CYCLE, CircuitProgram
from .tables import tables_of
from .units import Units, split, units_of

MOST_TRIES = 40
TRIED_WORDS = 3_000_000
"""Words packed in all tries together, at most."""


def compile_circuits(schedule: Schedule, config: NetworkConfig, layout: Layout) -> CircuitProgram:
    """Compile ``schedule`` for a network of ``config`` with circuits.

    Raises :class:`.InvalidInput` if the schedule cannot be timed, or a table has too many entries.
    """
    # Numba takes long to load.
    from .times import begins_of  # noqa: PLC0415

    _require_links_once(schedule)
    streams = streams_of(schedule)
    found: list[tuple[int, int, Units, Numbers]] = []
    mixed = _several_operators(schedule, config)
    parts = [] if mixed else [(schedule, np.arange(schedule.sends), streams)]
    if len(schedule.block_ids) > schedule.sends:
        # With a port for every link, sends of some common blocks may become one wrong tree.
        with suppress(ScheduleError):
            by_block = split(schedule)
            check_trees(by_block[0])
            parts.append((*by_block, NO_STREAMS))
    if mixed and not parts:
        raise InvalidInput("sends that combine must have one operator each on all ports")
    if (packed := _packed(schedule, config)) is not None:
        units = units_of(schedule, config, layout, streams)
        found.append((int((packed + units.span).max()), 0, units, packed))
    for part, origin, through in parts:
        units = units_of(part, config, layout, through)
        ties = ties_of(units, streams, origin)
        for key in _keys(units):
            gangs = gangs_of(units, ties, key)
            begin = begins_of(units, ties, gangs, operators=bool(config.operators))
            if begin is not None:
                found.append((int((begin + units.span).max(initial=0)), len(found), units, begin))
    if not found:
        name = f"the {schedule.algorithm} {schedule.collective}"
        order = "send each word before another one changes it"
        raise InvalidInput(f"nodes of {name} must {order}, which they cannot here")
    _, _, units, begin = min(found, key=lambda each: each[:2])
    program = tables_of(units, begin, config)
    require_room(program)
    return program


def _require_links_once(schedule: Schedule) -> None:
    """Refuse a send that crosses a link twice: circuits have no VCs to keep its words apart."""
    sends = schedule.hop_sends
    links = np.int64(schedule.topology.nodes * schedule.topology.ports)
    clash = first_clash(schedule, sends * links + schedule.links, sends)
    if clash is not None:
        begin, end = (ends[clash[1]] for ends in schedule.hop_ends)
        name = send_name(schedule, int(sends[clash[1]]))
        raise InvalidInput(f"{name}: its path crosses link {begin} -> {end} twice, without VCs")


def _several_operators(schedule: Schedule, config: NetworkConfig) -> bool:
    """Tell whether a send combines blocks of several operators, as no entry of a table can."""
    sends, blocks = schedule.block_sends, schedule.block_ids
    combined = schedule.combine[sends] & (schedule.blocks.words[blocks] > 0)
    number = operator_numbers(schedule, config)[blocks[combined]]
    least, most = np.full(schedule.sends, len(config.operators)), np.zeros(schedule.sends, np.int64)
    np.minimum.at(least, sends[combined], number)
    np.maximum.at(most, sends[combined], number)
    return bool((least < most).any())


def _packed(schedule: Schedule, config: NetworkConfig) -> Numbers | None:
    """Return the cycles of sends that wait for no words, packed; None for other schedules.

    All sends must be alone, of equal length, and of words that their nodes have from the start.
    """
    blocks, words = schedule.blocks, schedule.send_words
    own = blocks.owner[schedule.block_ids] == schedule.source[schedule.block_sends]
    alone = (schedule.trees == np.arange(schedule.sends)).all()
    half = schedule.port_model == PortModel.HALF_DUPLEX
    if half or not schedule.sends or not (alone and own.all() and (words == words[0]).all()):
        return None
    # Compiled code takes long to import.
    from ...schedule.packing import Packets, pack  # noqa: PLC0415
    from ...schedule.repacking import repacked  # noqa: PLC0415

    flits, hop_cycles = max(1, int(words[0])), 1 + config.link_registers
    tries = min(MOST_TRIES, TRIED_WORDS // (flits * schedule.sends))
    if not tries:
        return None
    # A word passes its port and its first link in one cycle, here one hop apart. As that is so for
    # all packets alike, ports and links are free in these cycles as well.
    resources = resources_of(schedule, all_port=config.all_port)
    packets = Packets(*resources, flits, gap=0, hop_cycles=hop_cycles)
    return repacked(packets, pack(packets, tries)) + FIRST_CYCLE


def _keys(units: Units) -> list[Numbers]:
    """Return orders of the units of each step: as in the table, and the longest first."""
    table = np.arange(len(units.first))
    return [table] if units.schedule.timed else [table, -(units.length + units.span)]
