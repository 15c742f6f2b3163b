"""Run tables of units of circuits: the settings of each node, cut into entries.

A node's settings begin and end in many cycles. Between two of these cycles nothing changes except
addresses, which go on by one each cycle. Neighboring times with the same settings are one entry::

    output 1 takes input 0        |=========|                   entries   idle, output 1,
    output 0 takes input 2             |============|                     outputs 0 and 1, output 0
"""

from collections.abc import Sequence

import numpy as np

from ...base.arrays import Numbers
from ...base.ragged import offsets_of, ranges
from ...network.config import NetworkConfig
from ..memory.puts import operator_numbers
from .program import FIRST_CYCLE, LONGEST_RUN, CircuitProgram
from .units import OWN_INPUT, Settings, Units

REPLACE = 1
"""The value of ``receive`` for words that replace others."""


def tables_of(units: Units, begin: Numbers, config: NetworkConfig) -> CircuitProgram:
    """Return the program of ``units``, each of which begins in its cycle of ``begin``."""
    ports, lanes = config.topology.ports, config.lanes
    first, second, operator, *of_lanes = range(ports, ports + 3 + 4 * lanes)
    eject, receive, sent, received = np.array(of_lanes).reshape(4, lanes)
    ways = np.concatenate((np.arange(ports), eject))
    of_unit, received_as = _operators(units, config)

    def row(each: Settings, column: int | Numbers, value: Numbers) -> tuple[Numbers, ...]:
        columns = np.broadcast_to(column, value.shape)
        return each.node, begin[each.unit] + each.time, each.length, columns, value

    def base(each: Settings) -> Numbers:
        """Return the address that each setting would have had in cycle 0."""
        addresses: Numbers = each.value - begin[each.unit] - each.time
        return addresses

    joins, sends, receives = units.joins, units.sends, units.receives
    rows = (
        row(units.codes, ways[units.codes.field], units.codes.value),
        row(joins, first, joins.field),
        row(joins, second, joins.value),
        row(joins, operator, of_unit[joins.unit]),
        row(sends, sent[sends.field], base(sends)),
        row(receives, received[receives.field], base(receives)),
        row(receives, receive[receives.field], received_as[receives.unit]),
    )
    columns = [np.concatenate(each) for each in zip(*rows, strict=True)]
    node, cycle, values = _runs(columns, ports + 3 + 4 * lanes)
    duration = np.append(np.diff(cycle), 0)
    # The last run of each node is its end entry.
    kept = np.flatnonzero(np.append(node[1:] == node[:-1], np.zeros(min(len(node), 1), np.bool_)))
    parts = -(-duration[kept] // LONGEST_RUN)
    entry = np.repeat(kept, parts)
    gone = LONGEST_RUN * (np.arange(len(entry)) - np.repeat(offsets_of(parts)[:-1], parts))
    cycle, values = cycle[entry] + gone, values[entry]
    reads = values[:, 1:ports] == OWN_INPUT
    if not config.all_port:
        reads = reads.any(axis=1, keepdims=True)
    reads[:, 0] |= values[:, first] == OWN_INPUT
    writes = values[:, receive] > 0
    return CircuitProgram(
        config=config,
        port_model=units.schedule.port_model,
        first_entry=offsets_of(np.bincount(node[entry], minlength=config.topology.nodes)),
        duration=np.minimum(duration[entry] - gone, LONGEST_RUN),
        codes=values[:, :ports].copy(),
        ejections=values[:, eject if config.all_port else eject[:0]],
        first=values[:, first].copy(),
        second=values[:, second].copy(),
        operator=values[:, operator].copy(),
        send_address=np.where(reads, values[:, sent] + cycle[:, None], 0),
        receive_address=np.where(writes, values[:, received] + cycle[:, None], 0),
        receive=values[:, receive],
    )


def _operators(units: Units, config: NetworkConfig) -> tuple[Numbers, Numbers]:
    """Return the number of each unit's operator, 0 for none, and its value of ``receive``."""
    schedule = units.schedule
    of_block = operator_numbers(schedule, config)
    # All blocks with words of a send have one operator; without words, a token has any of them.
    carried, token = schedule.blocks.words[schedule.block_ids] > 0, schedule.send_words == 0
    numbers = np.where(carried | token[schedule.block_sends], of_block[schedule.block_ids], 0)
    of_send = np.maximum.reduceat(numbers, schedule.block_offsets[:-1]) if len(numbers) else numbers
    operator = np.where(schedule.combine[units.first], of_send[units.first], 0)
    return operator, np.where(operator > 0, 1 + operator, REPLACE)


def _runs(rows: Sequence[Numbers], settings: int) -> tuple[Numbers, Numbers, Numbers]:
    """Return node, first cycle and settings of each run of equal settings, and of each end entry.

    ``rows`` are columns: node, first cycle, cycles, index of a setting, and its value. The settings
    have the shape (runs, ``settings``). A node without settings has no run.
    """
    node, begin, length, column, value = rows
    last = int((begin + length).max(initial=FIRST_CYCLE)) + 1
    key = node * last + begin
    begins = np.flatnonzero(np.bincount(node)) * last + FIRST_CYCLE
    # Millions of numbers are sorted sooner than np.unique() finds them.
    cuts = np.sort(np.concatenate((key, key + length, begins)))
    cuts = cuts[np.append(np.ones(min(len(cuts), 1), np.bool_), cuts[1:] != cuts[:-1])]
    first = np.searchsorted(cuts, key)
    counts = np.searchsorted(cuts, key + length) - first
    values = np.zeros((len(cuts), settings), np.int64)
    values[ranges(first, counts), np.repeat(column, counts)] = np.repeat(value, counts)
    node, cycle = np.divmod(cuts, last)
    new = np.ones(len(cuts), np.bool_)
    new[1:] = (values[1:] != values[:-1]).any(axis=1) | (node[1:] != node[:-1])
    new |= np.append(node[1:] != node[:-1], np.ones(min(len(node), 1), np.bool_))
    return node[new], cycle[new], values[new]
