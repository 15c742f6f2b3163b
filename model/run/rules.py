"""Checks of a trace without a model: the rules of docs/router.md for any run of a program.

Each rule reads the trace once. ``packets`` puts packets together, and ``hops`` finds the row of
each one. The order of turns is no rule here: only a comparison with the cycle model checks it.
"""

import numpy as np
import numpy.typing as npt

from ..base.arrays import Numbers, words_differ
from ..base.errors import InvalidInput
from ..base.ragged import offsets_of
from ..program.any_program import AnyProgram
from ..program.program import Program
from .hops import NEVER, NO_ROW, Hops, Passages, expected_hops, matched, told_apart
from .packets import Packets, TraceError, flit_error, packets_of
from .trace import HEAD_MARK, TAIL_MARK, Trace


def check_trace(program: Program, trace: Trace, *, complete: bool = True) -> None:
    """Raise :class:`TraceError` for the first rule that ``trace``, a run of ``program``, breaks.

    1. outputs: :func:`check_outputs`
    2. packets: :func:`check_packets`
    3. rows: :func:`check_rows`
    4. routes: :func:`check_routes`
    5. buffers: :func:`check_buffers`

    ``complete`` False allows packets to be under way, and rows not to have begun, at the end.
    Raises :class:`InvalidInput` for an all-port network: a trace does not tell its ejection ports.
    """
    if program.config.all_port:
        allowed = "of a network with one ejection port per node"
        raise InvalidInput.of("trace to check", allowed, "all-port")
    check_outputs(program, trace)
    packets = check_packets(program, trace, complete=complete)
    passages = check_rows(program, packets, complete=complete)
    check_buffers(program, packets, check_routes(program, packets, passages))


def check_outputs(program: AnyProgram, trace: Trace) -> None:
    """Require at most one flit a cycle at each output, with port, VC, kind and data in range.

    A node has one delivery a cycle for each ejection port. A word of circuits has no marks.
    """
    config = program.config
    topology = config.topology
    node, port = trace.node, trace.port
    inside = (node >= 0) & (node < topology.nodes) & (port >= 0) & (port < topology.ports)
    linked = topology.neighbor[np.where(inside, node, 0), np.where(inside, port, 0)] >= 0
    order = np.lexsort((port, node, trace.cycle))
    places = np.stack((trace.cycle, node, port))[:, order]
    marks = 0 if config.circuits else HEAD_MARK + TAIL_MARK
    twice = np.zeros(len(trace), dtype=bool)
    for most, here in ((1, port != 0), (config.lanes, port == 0)):
        twice[order[most:]] |= (places[:, most:] == places[:, :-most]).all(axis=0) & here[
            order[most:]
        ]
    for wrong, what in (
        (trace.cycle < 0, "the cycle is negative"),
        (
            ~inside | np.where(port == 0, np.isin(node, topology.switches), ~linked),
            "there is no such output",
        ),
        ((trace.vc < 0) | (trace.vc >= config.vcs), f"the VC is not 0 to {config.vcs - 1}"),
        ((trace.kind < 0) | (trace.kind > marks), "there is no such kind of flit"),
        (
            trace.header_data > np.uint64((1 << config.narrow_width) - 1),
            f"the data are wider than {config.flit_width} bits",
        ),
        (_wide_headers(trace), "a header flit has data beyond its low 64 bits"),
        (twice, "a second flit leaves in this cycle"),
    ):
        _refuse_first("outputs", trace, wrong, what)


def _wide_headers(trace: Trace) -> npt.NDArray[np.bool_]:
    """Mark the header flits whose pieces above the lowest one are not 0."""
    if trace.data.ndim == 1:
        return np.zeros(len(trace), np.bool_)
    wide = (trace.data[:, 1:] != 0) & (trace.kind & HEAD_MARK != 0)[:, None]
    marked: npt.NDArray[np.bool_] = wide.any(axis=1)
    return marked


def check_packets(program: Program, trace: Trace, *, complete: bool = True) -> Packets:
    """Require whole packets, one after the other, on each output VC; return the packets.

    With ``complete`` False the last packet of a VC need not be whole.
    """
    packets = packets_of(program.config, trace)
    flits = packets.flits
    head = flits.kind & HEAD_MARK != 0
    first = np.zeros(len(flits), dtype=bool)
    first[packets.begin] = True
    payload_before = np.concatenate(([False], ~head[:-1])) if len(flits) else head
    _refuse_first("packets", flits, first & ~head, "a packet begins without a header flit")
    inside = head & ~first & payload_before
    _refuse_first("packets", flits, inside, "a header flit stands within a packet's payload")
    if complete:
        ends_short = np.zeros(len(flits), dtype=bool)
        ends_short[packets.end[~packets.whole] - 1] = True
        _refuse_first("packets", flits, ends_short, "the packet has no tail flit")
    return packets


def check_rows(program: Program, packets: Packets, *, complete: bool = True) -> Passages:
    """Require that each packet is that of a row on its way, by header and number of flits.

    A sender's packets of a VC leave in the order of its table, each after its start. With
    ``complete`` False packets may be missing.

    Return the row of each flit. Packets of several senders with equal headers on one channel are
    only counted, and have no row: a trace does not tell which is whose.
    """
    hops = expected_hops(program)
    number = matched(hops, packets)
    lengths, heads = packets.end - packets.begin, packets.header_end - packets.begin
    known = number != NO_ROW
    # A row is unknown until its packet's last header flit has left.
    what = "no row, or no further row, sends a packet with this header here"
    stranger = ~known & (packets.whole | (heads < lengths))
    _refuse_first("rows", packets.flits, _first_flits(packets, stranger), what)
    if complete:
        _require_all(program, packets, hops, number)
    certain = told_apart(program, hops)
    number[known] = np.where(certain[hops.row[number[known]]], number[known], NO_ROW)
    flits = np.append(hops.flits, 0)[number]
    wrong = np.where(packets.whole, lengths != flits, lengths >= flits)
    what = "the packet has not as many flits as its row"
    _refuse_first("rows", packets.flits, _first_flits(packets, (number != NO_ROW) & wrong), what)
    _require_table_order(program, packets, hops, number, certain)
    return Passages.of(hops, packets, np.repeat(number, lengths))


def check_routes(program: Program, packets: Packets, passages: Passages) -> Numbers:
    """Require that each flit came in before it leaves, and keeps its data and its order.

    It leaves at least one cycle after it has crossed the link before, over the link's registers,
    and after the flit ahead of it on its input VC. A router rewrites a packet's first flit alone.

    Return the cycle in which each flit leaves the next router, or the soonest possible one.
    """
    flits, source, row = packets.flits, passages.source, passages.row
    came = flits.cycle + program.config.registers_of_links[flits.node, flits.port]
    inside = source >= 0
    rewritten = _first_flits(packets, np.ones(len(packets.begin), dtype=bool))
    for wrong, what in (
        (~inside & (row != NO_ROW) & (passages.hop > 0), "the flit has not come in"),
        (inside & ~rewritten & words_differ(flits.data, flits.data[source]), "other data came in"),
        (
            inside & (flits.cycle <= came[source]),
            "the flit leaves before the cycle after it came in",
        ),
    ):
        _refuse_first("routes", flits, wrong, what)
    # A flit of a packet without a row may have left where the trace shows such a packet.
    following = program.config.topology.neighbor[flits.node, flits.port]
    unsure = (passages.left == NEVER) & np.isin(following, flits.node[row == NO_ROW])
    unseen = (flits.port == 0) | passages.dropped | unsure
    soonest = _in_order(packets, np.where(unseen, came + 1, passages.left))
    what = "the flit leaves before the one ahead of it on its input VC"
    _refuse_first("routes", flits, inside & (flits.cycle < soonest[source]), what)
    return soonest


def check_buffers(program: Program, packets: Packets, soonest: Numbers) -> None:
    """Require a credit for each flit that leaves over a link, so that no buffer overflows.

    One cycle and the link's registers after a flit left the buffer, its slot is free for the flit
    ``depth`` later. ``soonest`` is what :func:`check_routes` returns.
    """
    flits, depth = packets.flits, program.config.depth
    free = soonest + program.config.registers_of_links[flits.node, flits.port] + 1
    channel = np.repeat(packets.channel, packets.end - packets.begin)
    full = np.zeros(len(flits), dtype=bool)
    full[depth:] = (channel[depth:] == channel[:-depth]) & (free[:-depth] > flits.cycle[depth:])
    what = f"a flit leaves while the buffer that it goes to has all its {depth} full"
    _refuse_first("buffers", flits, full & (flits.port != 0), what)


def _require_all(program: Program, packets: Packets, hops: Hops, number: Numbers) -> None:
    """Require the packet of each hop of each row."""
    for missing in np.setdiff1d(np.arange(len(hops.row)), number)[:1].tolist():
        line, vc = divmod(int(hops.channel[missing]), program.config.vcs)
        node, port = divmod(line, program.config.topology.ports)
        what = f"the packet of {program.row_name(int(hops.row[missing]))} has not left by the end"
        last = int(packets.flits.cycle.max(initial=0))
        raise TraceError("rows", (last, node, port, vc), what)


def _require_table_order(
    program: Program, packets: Packets, hops: Hops, number: Numbers, certain: npt.NDArray[np.bool_]
) -> None:
    """Require that each packet enters the network after its start and the packet ahead of it."""
    injected = np.flatnonzero((number != NO_ROW) & (np.append(hops.hop, 0)[number] == 0))
    row, whole, cycle = hops.row[number[injected]], packets.whole[injected], packets.flits.cycle
    begin, end = np.full(len(certain), NEVER), np.where(certain, NEVER, -1)
    begin[row] = cycle[packets.begin[injected]]
    end[row[whole]] = cycle[packets.end[injected[whole]] - 1]
    vcs = program.config.header.vc(program.header[offsets_of(program.header_flits)[:-1]])
    queue = program.row_node * program.config.vcs + vcs
    order = np.argsort(queue, kind="stable")
    same = queue[order[1:]] == queue[order[:-1]]
    ahead, after = order[:-1][same], order[1:][same]
    soonest = program.start.copy()
    soonest[after] = np.maximum(soonest[after], end[ahead])
    wrong = np.zeros(len(packets.begin), dtype=bool)
    wrong[injected] = (begin <= soonest)[row]
    what = "the packet leaves before its start, or before the one ahead of it in its table"
    _refuse_first("rows", packets.flits, _first_flits(packets, wrong), what)


def _in_order(packets: Packets, cycles: Numbers) -> Numbers:
    """Raise cycles so that each flit of a channel has a later one than the flit before it."""
    turn, far = np.arange(len(cycles)), int(cycles[cycles < NEVER].max(initial=0)) + 1
    # The bases of channels are so far apart that the maximum begins anew in each.
    base = np.repeat(packets.channel, packets.end - packets.begin) * (far + len(cycles)) - turn
    soonest: Numbers = np.maximum.accumulate(base + np.minimum(cycles, far)) - base
    return soonest


def _first_flits(packets: Packets, which: npt.NDArray[np.bool_]) -> npt.NDArray[np.bool_]:
    """Mark the first flits of the packets of ``which``."""
    marks = np.zeros(len(packets.flits), dtype=bool)
    marks[packets.begin[which]] = True
    return marks


def _refuse_first(rule: str, flits: Trace, wrong: npt.NDArray[np.bool_], what: str) -> None:
    """Raise :class:`TraceError` for the earliest flit that is ``wrong``."""
    found = np.flatnonzero(wrong)
    if len(found):
        raise flit_error(rule, flits, int(found[np.argmin(flits.cycle[found])]), what)
