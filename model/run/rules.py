"""Checks of a trace without a model: the rules of docs/router.md for any run of a program.

``packets`` puts packets together. ``matching`` matches arrivals with departures of each router, and
so proves order, routes and the time in each buffer. ``grants`` checks turns with that.
"""

from collections import Counter
from collections.abc import Iterable

import numpy as np
import numpy.typing as npt

from ..base.arrays import Numbers
from ..base.errors import InvalidInput
from ..network.segment import Segment
from ..network.topology import Topology
from ..program.any_program import AnyProgram
from ..program.program import Program
from .grants import check_grants, check_vcs
from .matching import Buffered, Matching
from .packets import Packets, TraceError, flit_error, later, packets_of
from .trace import HEAD_MARK, TAIL_MARK, Trace

__all__ = [
    "Packets",
    "TraceError",
    "check_buffers",
    "check_deliveries",
    "check_grants",
    "check_outputs",
    "check_packets",
    "check_routes",
    "check_trace",
    "check_vcs",
]


def check_trace(program: Program, trace: Trace, *, complete: bool = True) -> None:
    """Raise :class:`TraceError` for the first rule that ``trace``, a run of ``program``, breaks.

    1. outputs: :func:`check_outputs`
    2. packets: :func:`check_packets`
    3. routes: :func:`check_routes`
    4. deliveries: :func:`check_deliveries`
    5. buffers: :func:`check_buffers`
    6. grants: :func:`.check_grants` and :func:`.check_vcs`

    ``complete`` False allows packets to be under way, and rows not to have begun, at the end.
    Raises :class:`InvalidInput` for an all-port network: a trace does not tell its ejection ports.
    """
    if program.config.all_port:
        allowed = "of a network with one ejection port per node"
        raise InvalidInput.of("trace to check", allowed, "all-port")
    check_outputs(program, trace)
    packets = check_packets(program, trace, complete=complete)
    buffered = check_routes(program, packets, complete=complete)
    check_deliveries(program, packets, complete=complete)
    check_buffers(program, buffered)
    check_grants(program, buffered)
    check_vcs(program, packets, buffered)


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
            trace.data > np.uint64((1 << config.flit_width) - 1),
            f"the data are wider than {config.flit_width} bits",
        ),
        (twice, "a second flit leaves in this cycle"),
    ):
        _refuse_first("outputs", trace, wrong, what)


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


def check_routes(program: Program, packets: Packets, *, complete: bool = True) -> Buffered:
    """Require that each packet that leaves a router arrived there and obeys its header.

    It leaves by the output and VC of its header, rewritten, with its payload unchanged; each flit
    at least one cycle after it arrived, over a link's registers or from the rows of this node;
    packets of an input VC in order of arrival. Returns the cycles in which flits left.
    """
    return Matching(program, packets, complete=complete).run()


def check_deliveries(program: Program, packets: Packets, *, complete: bool = True) -> None:
    """Require that each node gets every packet whose row leads to it exactly once, and no other.

    A packet is known by its delivery (step and address) and its length; :func:`check_routes` has
    checked its words hop by hop. With ``complete`` False packets may be missing.
    """
    flits = packets.flits
    columns = _targets(program), program.deliveries, program.length
    owed = Counter(zip(*(column.tolist() for column in columns), strict=True))
    arrived = np.flatnonzero(packets.whole & (flits.port[packets.begin] == 0))
    for packet in arrived[np.argsort(flits.cycle[packets.begin[arrived]], kind="stable")].tolist():
        begin, end = int(packets.begin[packet]), int(packets.end[packet])
        got = int(flits.node[begin]), int(flits.data[begin]), end - begin - 1
        if not owed[got]:
            what = f"no row or no further row sends this packet of {got[2]} words here"
            raise flit_error("deliveries", flits, begin, what)
        owed[got] -= 1
    if complete and owed.total():
        node, delivery, length = next(owed.elements())
        what = f"a packet of {length} words with delivery {delivery:x} has not arrived by the end"
        raise TraceError("deliveries", (int(flits.cycle.max(initial=0)), node, 0, 0), what)


def check_buffers(program: Program, buffered: Buffered) -> None:
    """Require a credit for each flit that leaves over a link, so that no buffer overflows.

    One cycle and the link's registers after a flit left the buffer, its slot is free for the flit
    ``depth`` later. Buffers of port 0 are not checked: a trace does not record injections.
    """
    arrivals = buffered.arrivals
    flits = arrivals.flits
    soonest = buffered.left + program.config.registers_of_links[flits.node, flits.port] + 1
    early = later(arrivals, program.config.depth, soonest, -1) > arrivals.flits.cycle
    what = f"a flit leaves while the buffer that it goes to has all its {program.config.depth} full"
    _refuse_first("buffers", arrivals.flits, early & (arrivals.flits.port != 0), what)


def _targets(program: Program) -> Numbers:
    """Return the last node of each row's route inside the network."""
    config, routes = program.config, len(program.routes)
    pairs, of_row = np.unique(
        program.row_node.astype(np.int64) * routes + program.route, return_inverse=True
    )
    starts = (divmod(pair, routes) for pair in pairs.tolist())
    ends = [_end_of(config.topology, node, program.routes[route]) for node, route in starts]
    return np.array(ends, dtype=np.int64)[of_row]


def _end_of(topology: Topology, node: int, route: Iterable[Segment]) -> int:
    """Return the last node of a route inside the network."""
    for segment in route:
        for _ in range(segment.hops):
            following = int(topology.neighbor[node, segment.port])
            if following < 0:
                return node
            node = following
    return node


def _refuse_first(rule: str, flits: Trace, wrong: npt.NDArray[np.bool_], what: str) -> None:
    """Raise :class:`TraceError` for the earliest flit that is ``wrong``."""
    found = np.flatnonzero(wrong)
    if len(found):
        raise flit_error(rule, flits, int(found[np.argmin(flits.cycle[found])]), what)
