"""Programs that cover the hardware of a network of packets, beside the program of a package.

The points of a network are values of fields that steer its hardware, meetings of packets at its
outputs, and flags. Programs are drawn and predicted by the cycle model; those that reach a new
point stay, so that a bench with few runs reaches every point.
"""

from collections.abc import Iterator
from dataclasses import dataclass, replace
from itertools import chain, permutations, product

import numpy as np

from ..model.base.arrays import Words
from ..model.base.errors import InvalidInput
from ..model.cycle.control import Control
from ..model.cycle.model import run
from ..model.network.config import NetworkConfig, Timing
from ..model.network.topology import NO_LINK, Topology
from ..model.program.any_program import AnyProgram
from ..model.program.payload import empty_memory, random_words
from ..model.program.program import Program
from ..model.program.row import Row
from ..model.run.packets import packets_of, routed
from ..model.run.run import FLAGS, EndState, Prediction
from ..model.run.trace import Trace
from .drawn_packets import drawn_programs
from .packet_failures import (
    culprits,
    failures,
    far_point,
    far_routes,
    far_turns,
    no_ways,
    wrong_turns,
)
from .packet_fields import (
    each_link,
    headers,
    in_turns,
    last_nodes,
    link_point,
    long_routes,
    operators,
    streams,
)
from .packet_meetings import (
    at_once,
    before,
    first_turn,
    first_turns,
    in_first_turns,
    kept_turn,
    meetings,
    taking_turns,
)
from .ways import end_of, end_of_route, links_between_nodes, places_of

NEVER = 1 << 62
"""A cycle after every run."""
DRAWN = 400
"""Drawn programs before the rest of the points is given up."""
MOST_CYCLES = 400
"""Limit of a run beside its steps: packets on any routes can wait for each other for ever."""
WITHOUT_NEWS = 150
"""Drawn programs in a row without a new point, after which drawing ends."""

Points = set[str]


@dataclass(frozen=True, eq=False)
class Stimulus:
    """A program, the words that are loaded, the memories then, and the points that it adds."""

    name: str
    program: AnyProgram
    timing: Timing
    loads: list[tuple[int, int, Words]]
    before: Words
    predicted: Prediction
    limit: int
    points: frozenset[str]

    def with_points(self, points: Points) -> "Stimulus":
        """Return the same with other points."""
        return replace(self, points=frozenset(points))


def stimuli(config: NetworkConfig) -> tuple[list[Stimulus], Points]:
    """Return the programs that cover a network of packets, and the points that none reaches."""
    left = wanted_points(config)
    found: list[Stimulus] = []
    directed = chain(
        *(make(config) for make in (last_nodes, headers, in_turns, streams)),
        meetings(config, left),
        in_first_turns(config, left),
        each_link(config, left),
        *(make(config) for make in (failures, wrong_turns, far_turns, culprits)),
    )
    idle = 0
    turns_taken, drawn = taking_turns(config), drawn_programs(config, DRAWN)
    # Drawn packets can all wait for each other for ever.
    for programs, most_idle in (
        *((turns_taken, NEVER), (directed, NEVER)),
        *((drawn, WITHOUT_NEWS), (operators(config), NEVER)),
    ):
        for name, barrier, program in programs:
            if not left or idle == most_idle:
                break
            made = _predicted(name, program, barrier=barrier)
            new = reached_points(program, made.predicted) & left if made else set()
            idle = 0 if new else idle + 1
            if made and (new or programs is turns_taken):
                found.append(made.with_points(new))
                left -= new
    return found, left


def _predicted(name: str, program: Program, *, barrier: bool) -> Stimulus | None:
    """Return the program with its prediction; None if the network cannot hold or predict it."""
    config = program.config
    timing = Timing.BARRIER if barrier else Timing.SELF_TIMED
    loads = [*_loads(program)]
    memory = empty_memory(config)
    for node, address, words in loads:
        memory[node, address : address + len(words)] = words
    try:
        if int(program.table_sizes.max()) > config.table_words:
            return None
        limit = MOST_CYCLES + config.steps * (8 + config.barrier_registers)
        predicted = run(program, memory, timing=timing, control=Control(limit=limit))
    except InvalidInput:
        return None
    if config.contention_free and predicted.stalled_flits.any():
        return None
    return Stimulus(name, program, timing, loads, memory, predicted, limit, frozenset())


def _loads(program: Program) -> Iterator[tuple[int, int, Words]]:
    """Yield the words that rows read, and with operators those that they combine with."""
    config = program.config
    used = np.zeros((program.nodes, config.message_words), dtype=np.bool_)
    for node in range(program.nodes):
        for row in program.rows[node]:
            begin = row.source_address >> row.window << row.window
            used[node, begin : row.source_address + row.length] = True
            if row.operator:
                # Across, a packet combines with the words of the other half.
                addresses = np.arange(row.target_address, row.target_address + row.length)
                both = np.concatenate((addresses, addresses ^ 1 << (config.address_bits - 1)))
                end, _ = end_of_route(config.topology, node, row.route)
                used[end, both[both < config.message_words]] = True
    used[list(config.topology.switches)] = False
    for node in range(program.nodes):
        edges = np.flatnonzero(np.diff(np.concatenate(([0], used[node], [0])).astype(np.int8)))
        for begin, end in edges.reshape(-1, 2).tolist():
            yield node, begin, random_words(config, (end - begin,), seed=4096 * node + begin)


def turns(topology: Topology) -> Iterator[tuple[int, int, int]]:
    """Yield (node, input, output) of every way through a router; 0 is the node itself."""
    links = links_between_nodes(topology)
    for node in range(topology.nodes):
        own = [0] * (node in topology.working_nodes)
        entries = [end_of(topology, link)[1] for link in links if topology.neighbor[link] == node]
        outs = [port for at, port in links if at == node]
        for entry, out in product([*own, *entries], [*own, *outs]):
            if entry != out:
                yield node, entry, out


def beyond_reach(config: NetworkConfig) -> Iterator[str]:
    """Yield what no run reaches in a network, and why: lines of at most 80 characters."""
    topology = config.topology
    links = {(node, port) for node, port in np.argwhere(topology.neighbor != NO_LINK).tolist()}
    for node, port in sorted(links - {*links_between_nodes(topology)}):
        yield f"link {node}:{port}: no way from a node to another one leads over it"
    if not links:
        yield "all points of links: no node has one"
    if config.all_port:
        yield "other inputs at an output to a node: each link has such an output of its own"
    if config.circuits or not links:
        return
    if config.contention_free:
        yield "packets that meet: what leaves is not defined where nothing arbitrates"
    else:
        yield from _never_at_once(config)
        yield "flags overflow and credit_overflow: sound routers keep to their credits"
    if config.depth == 1 or config.contention_free:
        yield "several header flits: a packet that crosses a link twice can block itself here"
    else:
        short = (flits for flits in (2, 3) if not long_routes(config, flits))
        yield from (
            f"{_HEADERS[flits - 1]}: no way is long enough, or all are too long" for flits in short
        )
    if config.steps == 1:
        yield "packets of a node to another, one after the other: there is one step"
    if (longest := _longest(config)) < config.header.reach:
        yield f"{longest} or more hops left: no straight way is longer"


def _never_at_once(config: NetworkConfig) -> Iterator[str]:
    """Yield the outputs at which no packets come at once, on one VC or first on two, and why."""
    places = [*places_of(config.topology, all_port=config.all_port)]
    meets = {
        "two packets at once": lambda place: len(place.ways) < 2 or bool(at_once(config, place)),
        "two VCs at once, first": lambda place: config.vcs == 1 or any(first_turns(config, place)),
    }
    for (what, comes), out in product(meets.items(), sorted({place.out for place in places})):
        if not any(comes(place) for place in places if place.out == out):
            yield f"{what} at output {out}: no two ways there take the same time"


def wanted_points(config: NetworkConfig) -> Points:
    """Return the points that runs of a network of packets can reach."""
    header, vcs = config.header, range(config.vcs)
    ways = {*turns(config.topology)}
    if not ways:
        # A node without links sends and receives no packet.
        return set()
    links = {(node, out) for node, _, out in ways if out}
    points = {link_point(link, vc) for link, vc in product(links, vcs)}
    points |= {f"turn 0 to {out}" for _, entry, out in ways if not entry}
    points |= {f"turn 0 to {out} on VC {vc}" for _, entry, out in ways if not entry for vc in vcs}
    two, three = (long_routes(config, flits) for flits in (2, 3))
    header_flits = _HEADERS[: 1 + bool(two) + bool(three)]
    points |= {f"a header flit ends at input {entry}" for _, entry in two}
    points |= {f"three header flits by port {port}" for port, _ in three}
    if config.steps > 1:
        points |= {f"{words} after {flits}" for words, flits in product(_WORDS, header_flits)}
    for place in places_of(config.topology, all_port=config.all_port):
        points |= {point for point, *_ in before(config, place)}
        points |= {point for point, _ in first_turns(config, place)}
    points |= {f"step {step}" for step in range(1, config.steps + 1)}
    points |= {f"bit {bit} of {what}" for bit in range(config.address_bits) for what in _FIELDS}
    points |= {"half-duplex" for _ in in_turns(config)}
    points |= {"first source", "last source", "first target", "last target"}
    own = {node for node, _, out in ways if out == 0}
    points |= {f"node {node} ends a step" for node in own}
    ends = (EndState.FAILED, EndState.TIMED_OUT)
    points |= {f"{state} at node {node}" for node, state in product(own, ends)}
    points |= {f"{left} hops left" for left in range(min(header.reach, _longest(config)))}
    flags = {"unexpected_receive", "bad_write", "bad_row", "bad_route"}
    points |= {f"flag {flag}" for flag in flags}
    points |= {f"input {entry} to no output {out}" for entry, out in no_ways(config)}
    far = far_routes(config)
    points |= {far_point(entry, route[-1].hops) for entry, (_, route) in far.items()}
    if config.operators:
        points |= {f"operator {number + 1}" for number in range(2 * len(config.operators))}
    if config.streams:
        points |= {"stream", "lead"}
        points |= {f"window {number}" for number in range(1, config.most_window + 1)}
    return points


_WORDS = ("no words", "one word", "several words")
_HEADERS = ("one header flit", "two header flits", "three header flits")
_FIELDS = ("a source", "a target")


def _longest(config: NetworkConfig) -> int:
    """Return the hops of the longest straight way, or the most that a slot counts."""
    topology, longest = config.topology, 0
    for node, port in product(topology.working_nodes.tolist(), range(1, topology.ports)):
        hops, at, entry = 0, node, 0
        while topology.neighbor[at, port] != NO_LINK and port != entry:
            entry = int(topology.peer[at, port])
            at, hops = int(topology.neighbor[at, port]), hops + 1
            if hops == config.header.reach:
                return hops
        longest = max(longest, hops)
    return longest


def reached_points(program: Program, run_: Prediction) -> Points:
    """Return the points that the run of a program reaches, before its end or failure."""
    config, trace, state = program.config, run_.trace, run_.ending.state
    if state is not EndState.DONE:
        # The bench does not look at flits that are on the way then.
        trace = trace[: int(np.searchsorted(trace.cycle, run_.ending.cycle))]
    points = {*_of_rows(program, run_)} | {*_of_links(config, trace)}
    points |= {f"flag {FLAGS[bit]}" for bit in FLAGS if (run_.flags >> bit & 1).any()}
    points |= {*_of_wrong_turns(program, run_)} | {*_of_far_turns(program, run_)}
    points |= {*_of_first_turns(program, run_)}
    if state is not EndState.DONE:
        points.add(f"{state} at node {run_.ending.culprit}")
    return points


def _of_wrong_turns(program: Program, run_: Prediction) -> Iterator[str]:
    """Yield the inputs from which a packet has turned to an output that its node lacks."""
    neighbor = program.config.topology.neighbor
    if not (run_.flags & flag_bit("bad_route")).any():
        return
    for (entry, out), ways in no_ways(program.config).items():
        for node, port in ways:
            for first, *others in (row.route for row in program.rows[node]):
                turned = first[:2] == (port, 1) and others and others[0].port == out
                if turned and run_.flags[neighbor[node, port]] & flag_bit("bad_route"):
                    yield f"input {entry} to no output {out}"


def _of_far_turns(program: Program, run_: Prediction) -> Iterator[str]:
    """Yield hops in one direction that packets have before them at inputs, in runs that show it."""
    config = program.config
    rows = [(node, row) for node, rows in enumerate(program.rows) for row in rows]
    if not run_.finished and len(rows) > 1:
        return
    left = {*zip(run_.trace.node.tolist(), run_.trace.port.tolist(), strict=True)}
    for node, row in rows:
        at, entry = node, 0
        for segment in row.route:
            if (at, segment.port) in left:
                yield far_point(entry, segment.hops)
            at, entry = end_of_route(config.topology, at, [segment])


def _of_first_turns(program: Program, run_: Prediction) -> Iterator[str]:
    """Yield the outputs to which a program's only two packets come at once, on VC 0 and another VC.

    Either one would leave the output in the same cycle if it were alone. The one on VC 0 leaves it
    first, and its tail is the last flit.
    """
    if len(program.step) != 2 or program.config.vcs == 1:
        return
    alone = [_leaving(program, row) for row in range(2)]
    for one, two in permutations(alone):
        for (node, port), (cycle, vc) in two.items():
            order = run_.trace.vc[(run_.trace.node == node) & (run_.trace.port == port)]
            if vc and one.get((node, port)) == (cycle, 0) and not order[[0, -1]].any():
                yield first_turn(port, vc)


def _leaving(program: Program, row: int) -> dict[tuple[int, int], tuple[int, int]]:
    """Return cycle and VC of the head of a row alone, by each output (node, port) that it leaves.

    The other rows are left out, but not their receives.
    """
    listed, nodes = [each for rows in program.rows for each in rows], range(program.nodes)
    rows = [[listed[row]] if program.row_node[row] == node else [] for node in nodes]
    made = Program.from_rows(
        program.config,
        program.port_model,
        rows,
        program.receives,
        receive_ports=program.receive_ports,
    )
    control = Control(limit=MOST_CYCLES)
    memory = empty_memory(program.config)
    trace = run(made, memory, timing=Timing.SELF_TIMED, control=control).trace
    found: dict[tuple[int, int], tuple[int, int]] = {}
    for cycle, node, port, vc, *_ in trace:
        found.setdefault((node, port), (cycle, vc))
    return found


def flag_bit(flag: str) -> int:
    """Return the word of flags in which only this flag is set."""
    return 1 << next(bit for bit, name in FLAGS.items() if name == flag)


def _of_rows(program: Program, run_: Prediction) -> Iterator[str]:
    """Yield the points of a finished program's rows."""
    config, last = program.config, program.config.message_words
    for rows in program.rows:
        for row in rows if run_.finished else ():
            yield f"turn 0 to {row.route[0].port}"
            yield f"turn 0 to {row.route[0].port} on VC {row.route[0].vc}"
            yield f"step {row.step}"
            for segment in row.route:
                yield from (
                    f"{left} hops left" for left in range(min(segment.hops, config.header.reach))
                )
            if row.length:
                yield from _of_addresses(row, last)
            if row.operator:
                yield f"operator {row.operator}"
            if row.stream:
                yield "stream"
            if row.lead:
                yield "lead"
            if row.window:
                yield f"window {row.window}"
    if run_.finished:
        if program.half_duplex:
            yield "half-duplex"
        yield from _of_lengths(program)
        yield from _of_long_headers(program)
    if run_.finished and run_.step_ends is not None:
        yield from _of_ends(program, run_)


def _of_lengths(program: Program) -> Iterator[str]:
    """Yield the words and header flits of packets that another packet of their node follows."""
    node = program.row_node
    followed = (node[1:] == node[:-1]) & (program.first_port[1:] == program.first_port[:-1])
    for row in np.flatnonzero(followed).tolist():
        words, flits = int(program.length[row]), int(program.header_flits[row])
        yield f"{_WORDS[min(words, 2)]} after {_HEADERS[min(flits, 3) - 1]}"


def _of_long_headers(program: Program) -> Iterator[str]:
    """Yield the inputs at the ends of routes that need a second header flit, and ports of three."""
    rows = [(node, row) for node, rows in enumerate(program.rows) for row in rows]
    for at in np.flatnonzero(program.header_flits > 1).tolist():
        node, row = rows[at]
        _, entry = end_of_route(program.config.topology, node, row.route)
        yield f"a header flit ends at input {entry}"
        if program.header_flits[at] > 2:
            yield f"three header flits by port {row.route[0].port}"


def _of_addresses(row: Row, last: int) -> Iterator[str]:
    for what, address in (("source", row.source_address), ("target", row.target_address)):
        if address == 0:
            yield f"first {what}"
        if address + row.length == last:
            yield f"last {what}"
        for bit in range(last.bit_length()):
            if address >> bit & 1:
                yield f"bit {bit} of a {what}"


def _of_ends(program: Program, run_: Prediction) -> Iterator[str]:
    """Yield the nodes whose packets are the last of a step."""
    here = (run_.trace.port == 0) & (run_.trace.kind & 2 != 0)
    for end in run_.step_ends.tolist():
        before = np.flatnonzero(here & (run_.trace.cycle <= end))
        if len(before):
            last = before[np.argmax(run_.trace.cycle[before])]
            yield f"node {int(run_.trace.node[last])} ends a step"


def _of_links(config: NetworkConfig, trace: Trace) -> Iterator[str]:
    """Yield the points of packets on links: links, turns, and meetings at outputs."""
    packets = packets_of(config, trace)
    router, front, channel, leaving = routed(config, packets)
    flits, topology = packets.flits, config.topology
    on_link = (flits.port[packets.begin] != 0) & (front < packets.end)
    # The last flits of packets at an output, by the first flit.
    left: dict[tuple[int, int], list[int]] = {}
    for place in np.argsort(-flits.cycle[packets.begin], kind="stable").tolist():
        last, first_flit = packets.end[place] - 1, int(flits.header_data[packets.begin[place]])
        left.setdefault((int(packets.channel[place]), first_flit), []).append(flits.cycle[last])
    arrivals: dict[tuple[int, int, int], list[tuple[int, int, int, int]]] = {}
    for place in np.flatnonzero(on_link).tolist():
        begin, end = int(packets.begin[place]), int(packets.end[place]) - 1
        node, port, vc = (int(column[begin]) for column in (flits.node, flits.port, flits.vc))
        if packets.whole[place]:
            yield link_point((node, port), vc)
        entry, out = int(topology.peer[node, port]), int(channel[place])
        if out < 0:
            continue
        out_port = out // config.vcs % topology.ports
        yield f"turn {entry} to {out_port}"
        yield f"turn {entry} to {out_port} on VC {out % config.vcs}"
        at = int(router[place]), out_port, out % config.vcs if out_port else vc
        departures = left.get((out, int(leaving[place])))
        times = int(flits.cycle[begin]), int(departures.pop() if departures else flits.cycle[end])
        arrivals.setdefault(at, []).append((*times, entry, vc))
    for (_, out, vc), each in arrivals.items():
        first, second, *_ = (*sorted(come for come, *_ in each), NEVER)
        if first == second:
            yield f"two packets at once at output {out}, VC {vc}"
        if not out:
            yield from (kept_turn(entry, vc) for entry in _before_pauses(sorted(each)))
        for (first, last, *one), (second, _, *two) in permutations(each, 2):
            if first <= second <= last and one[0] != two[0]:
                yield f"{one[0]} before {two[0]} at output {out}, VC {vc}"
            elif first <= second <= last:
                yield f"VC {one[1]} before {two[1]} of input {one[0]} at output {out}, VC {vc}"


def _before_pauses(packets: list[tuple[int, int, int, int]]) -> Iterator[int]:
    """Yield the inputs whose turn stays in a pause: after it, two packets come in one cycle.

    Packets are (cycle of the first flit, cycle in which the last one leaves, input, VC), sorted.
    """
    ended = 0
    for at, (_, last, entry, _) in enumerate(packets[:-2]):
        (one, _, *first), (two, _, *second) = packets[at + 1 : at + 3]
        ended = max(ended, last)
        if ended < one == two and entry in (first[0], second[0]):
            yield entry
