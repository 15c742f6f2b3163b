"""Flits of a trace for waveforms: by channel, with the step and address of their packet."""

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from ..model.base.arrays import Numbers
from ..model.network.config import NetworkConfig
from ..model.run.packets import Packets, packets_of
from ..model.run.trace import Trace

UNKNOWN = -1


@dataclass(frozen=True, eq=False)
class Flits:
    """Columns besides those of a trace, one entry per row.

    place
        Number of the flit among a node's deliveries of one cycle (several ejection ports may
        deliver); 0 for a flit on a link.
    last
        True if the same channel sends nothing in the next cycle.
    step, address
        Step and address in the delivery of the flit's packet (docs/router.md, section 1);
        ``UNKNOWN`` if the trace does not tell, as with several ejection ports.
    """

    place: Numbers
    last: npt.NDArray[np.bool_]
    step: Numbers
    address: Numbers


def flits_of(config: NetworkConfig, trace: Trace) -> Flits:
    """Return the columns that a waveform of ``trace`` shows besides its rows."""
    place = _places(trace)
    step = np.full(len(trace), UNKNOWN, dtype=np.int64)
    address = step.copy()
    if config.circuits:
        return Flits(place, _last(trace, place), step, address)
    known = np.flatnonzero(trace.port != 0) if config.all_port else np.arange(len(trace))
    packets = packets_of(config, Trace(*(column[known] for column in trace.columns)))
    lengths = packets.end - packets.begin
    for column, values in zip((step, address), _deliveries(config, packets), strict=True):
        column[known[packets.row]] = np.repeat(values, lengths)
    return Flits(place, _last(trace, place), step, address)


def _places(trace: Trace) -> Numbers:
    """Number the rows of one cycle and output; only deliveries have several."""
    same = np.zeros(len(trace), dtype=bool)
    same[1:] = True
    for column in (trace.cycle, trace.node, trace.port):
        same[1:] &= column[1:] == column[:-1]
    rows = np.arange(len(trace))
    return rows - np.maximum.accumulate(np.where(same, 0, rows))


def _last(trace: Trace, place: Numbers) -> npt.NDArray[np.bool_]:
    """Return True for flits without a flit in the next cycle on the same output, place and VC."""
    order = np.lexsort((trace.cycle, trace.vc, place, trace.port, trace.node))
    follows = trace.cycle[order][1:] == trace.cycle[order][:-1] + 1
    for column in (trace.vc, place, trace.port, trace.node):
        follows &= column[order][1:] == column[order][:-1]
    last = np.ones(len(trace), dtype=bool)
    last[order[:-1]] = ~follows
    return last


def _deliveries(config: NetworkConfig, packets: Packets) -> tuple[Numbers, Numbers]:
    """Read step and address of each packet from its header flits, after its route."""
    header, data = config.header, packets.flits.header_data
    step = np.full(len(packets.begin), UNKNOWN, dtype=np.int64)
    address = step.copy()
    reading = np.flatnonzero(packets.begin < packets.header_end)
    flit = packets.begin.copy()
    word = data[flit] if len(flit) else data
    while len(reading):
        port = header.port(word[reading])
        found = reading[port == header.deliver_code]
        step[found], address[found] = header.step(word[found]), header.address(word[found])
        used_up, slots = reading[port == 0], (port != 0) & (port != header.deliver_code)
        word[reading[slots]] >>= np.uint64(header.slot_bits)
        flit[used_up] += 1
        used_up = used_up[flit[used_up] < packets.header_end[used_up]]
        word[used_up] = data[flit[used_up]]
        reading = np.sort(np.concatenate((reading[slots], used_up)))
    return step, address
