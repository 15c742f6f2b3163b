"""The cycle model: the behavior of the hardware, flit by flit (docs/router.md).

It is the executable specification of the hardware::

    Program ─► rows, headers ──────────┐
    Topology ─► lines up and down ─────┼─► loop.simulate ──► Prediction: cycles, memory, trace
    memory, refusal ───────────────────┘

Each cycle runs in ``loop``, with ``router``, ``links``, ``interface`` and ``receiver``.
"""

from typing import Any

import numpy as np
import numpy.typing as npt

from ..base.arrays import Words
from ..base.errors import InvalidInput, require_range
from ..base.ragged import offsets_of
from ..network.config import NetworkConfig, Timing
from ..network.exclusions import REFUSAL_CYCLES
from ..network.topology import NO_LINK
from ..program.addresses import source_ends
from ..program.checks import require_held
from ..program.program import Program
from ..run.run import Ending, EndState, Prediction
from ..run.trace import Trace
from .combine import codes, own_addresses
from .control import Control
from .loop import FINISHED, LIMIT, TRACE_FULL, simulate
from .state import (
    BAD,
    BLOCK,
    CULPRIT,
    CYCLE,
    ENDED,
    FLAGGED,
    NEVER,
    NOBODY,
    ROWS,
    Links,
    Network,
    Registers,
    Rows,
    empty_lists,
    reset_registers,
)

_TRACE_CHUNK_ROWS = 1 << 16


def run(
    program: Program,
    memory: npt.NDArray[np.uint64],
    *,
    timing: Timing,
    cycle_limit: int | None = None,
    record_trace: bool = True,
    refusal: npt.NDArray[np.uint16] | None = None,
    control: Control | None = None,
) -> Prediction:
    """Run ``program`` from reset until all nodes are finished.

    ``memory`` holds the message memories before the run, shape (nodes, message words); it is not
    changed, and a switch has zeros. ``timing`` is "barrier" or "self-timed" (docs/router.md,
    section 4). A run that is not finished by ``cycle_limit`` is given up; None means
    :func:`cycle_limit` of the program. ``record_trace`` False saves the time and memory of a trace.
    ``refusal`` holds a pattern for each node: in cycle t the node accepts no flit if bit t mod 16
    is set. None means that all nodes always accept; only networks with timed rows allow others.
    ``control`` holds the settings of a controller and of tiles (docs/router.md, sections 16 and
    17); None: none.

    The program may violate the protocol in any way that a table can express; the flags show it.
    Raises :class:`InvalidInput` for a value that no table or memory of the network can hold.
    """
    require_held(program)
    config = program.config
    _require_memory(config, memory)
    control = _control(config, control)
    most = _limit(program, refusal, control, cycle_limit)
    limit = min(most, control.limit - 1) if control.limit else most
    barrier = Timing.named(timing) is Timing.BARRIER
    network = _network(
        program, control, barrier=barrier, record_trace=record_trace, refusal=refusal
    )
    registers = reset_registers(network, memory)
    # A switch has no table, so it starts in the state of a sender at the end of its table.
    registers.sender[~np.repeat(config.topology.has_interface, config.lanes)] = ENDED
    finished, trace = _simulated(network, registers, limit, most, record_trace=record_trace)
    return Prediction(
        finished=finished,
        cycles=int(registers.total[CYCLE]),
        memory=registers.memory,
        trace=trace,
        flags=registers.flags,
        stalled_flits=registers.stalled_flits,
        step=np.where(config.topology.has_interface, registers.step, 0),
        arrived=registers.arrived.reshape(config.topology.nodes, config.lanes, -1),
        received=registers.received,
        step_ends=registers.step_end[1 : program.steps + 1],
        ending=_ending(registers, finished=finished),
    )


def _simulated(
    network: Network, registers: Registers, limit: int, most: int, *, record_trace: bool
) -> tuple[bool, Trace]:
    """Simulate to the end or to cycle ``limit``; return whether all nodes finished, and the trace.

    A run with a flag before its controller's ``limit`` goes on up to cycle ``most``.
    """
    lists = empty_lists(network)
    # One flit may leave by every output in a cycle; a chunk with fewer rows left than that is full.
    # So a chunk has rows for several cycles: with rows for one, most would stay empty.
    rows_per_chunk = max(_TRACE_CHUNK_ROWS, 4 * len(network.line_node)) if record_trace else 0
    chunks = []
    ended = TRACE_FULL
    while ended == TRACE_FULL:
        chunk = Trace.empty(rows_per_chunk)
        registers.total[ROWS] = 0
        ended = simulate(network, registers, lists, _rows(chunk), limit)
        chunks.append(chunk.first_rows(int(registers.total[ROWS])))
        if ended == LIMIT and limit < most and registers.total[FLAGGED] != NEVER:
            # The run failed before its limit; the hardware goes on, and so does the model.
            limit, ended = most, TRACE_FULL
    return ended == FINISHED, Trace.join(chunks)


def _ending(registers: Registers, *, finished: bool) -> Ending:
    """Return the end of a run, as a controller sees it, from its last registers."""
    cycle, flagged = int(registers.total[CYCLE]), int(registers.total[FLAGGED])
    if finished:
        return Ending(EndState.DONE, cycle, None)
    if flagged != NEVER and flagged <= cycle:
        return Ending(EndState.FAILED, flagged, int(registers.total[CULPRIT]))
    return Ending(EndState.TIMED_OUT, cycle, int(np.argmin(registers.finished)))


def cycle_limit(program: Program, refusal: npt.NDArray[np.uint16] | None = None) -> int:
    """Return a number of cycles by which ``program`` is finished if it ever finishes.

    A network in which nothing changes never changes again. So after the latest start there is an
    event in every cycle before the last: a flit moves, a control word is read or a node's step
    rises. The exceptions are the pauses after an event: at most R cycles on a link of R registers,
    r - 1 before a link of rate r, at most 16 until a refusing node accepts, and the delay until a
    word is written or may be sent on. So the bound is the number of events, as if they came one
    after another, times one cycle and its longest pause. Each step adds one cycle until the network
    sees that it is over, and one for each barrier register.
    """
    config = program.config
    packets = len(program.step)
    flits = len(program.header) + int(program.length.sum())
    # Events: reading control words, one more at the end of each sender's table; injecting each
    # flit, its hops, and its delivery.
    events = config.table.control_words * packets + flits + program.flit_hops
    events += config.leading_words * config.topology.nodes * config.lanes
    steps = program.steps + 1
    events += config.topology.nodes * (program.steps + config.lanes)
    events += (2 + config.barrier_registers) * steps
    pause = _most_registers(config) + int(config.link_rates.max()) - 1 + config.streams
    if config.operators:
        pause += 1 + config.operator_latency
    if refusal is not None and refusal.any():
        pause += REFUSAL_CYCLES
    return program.latest_start + events * (1 + pause)


def _control(config: NetworkConfig, given: Control | None) -> Control:
    """Return the given settings, checked, or the defaults."""
    control = given or Control()
    control.check(config)
    return control


def _limit(
    program: Program,
    refusal: npt.NDArray[np.uint16] | None,
    control: Control,
    given: int | None,
) -> int:
    """Return the given cycle limit, checked, or the default."""
    if given is None:
        held = 0 if control.hold is None else int(control.held_until(program.nodes).max())
        # The controller's limit may be later than any event of the program.
        return max(held + cycle_limit(program, refusal), control.limit)
    require_range("cycle limit", given, 0, int(np.iinfo(np.int64).max))
    return given


def _rows(trace: Trace) -> Rows:
    """Return the columns of ``trace`` as the compiled loop names them."""
    return Rows(trace.cycle, trace.node, trace.port, trace.vc, trace.kind, trace.data)


def _require_memory(config: NetworkConfig, memory: npt.NDArray[np.uint64]) -> None:
    """Raise :class:`InvalidInput` unless ``memory`` has the form of the message memories."""
    shape = (config.topology.nodes, config.message_words)
    if memory.shape != shape or memory.dtype != np.uint64:
        raise InvalidInput.of(
            "memory", f"uint64 of shape {shape}", f"{memory.dtype} of shape {memory.shape}"
        )
    for switch in config.topology.switches:
        if memory[switch].any():
            raise InvalidInput.of(f"memory of node {switch}", "0, as it is a switch", "other words")
    largest = int(memory.max(initial=0))
    if largest >> config.flit_width:
        raise InvalidInput.of(
            "a word of memory", f"at most {config.flit_width} bits wide", hex(largest)
        )


def _refusal(config: NetworkConfig, given: npt.NDArray[np.uint16] | None) -> npt.NDArray[np.uint16]:
    """Return the given refusal patterns, checked, or patterns that refuse nothing."""
    shape = (config.topology.nodes,)
    if given is None:
        return np.zeros(shape, dtype=np.uint16)
    if not config.timed_rows:
        raise InvalidInput.of("refusal", "left out in a network without timed rows", "given")
    if given.shape != shape or given.dtype != np.uint16:
        raise InvalidInput.of(
            "refusal", f"uint16 of shape {shape}", f"{given.dtype} of shape {given.shape}"
        )
    return given


def _lines(config: NetworkConfig) -> int:
    """Return ``Network.lines``: the lanes and link ports of a node."""
    return config.lanes + config.topology.ports - 1


def _downstream(config: NetworkConfig) -> Links:
    """Return ``Network.downstream``: the input channel that each output channel feeds."""
    topology, lanes = config.topology, config.lanes
    neighbor, peer = topology.neighbor[:, 1:, None], topology.peer[:, 1:, None]
    line = neighbor * _lines(config) + lanes - 1 + peer
    channel = line * config.vcs + np.arange(config.vcs)
    downstream = np.full((topology.nodes, _lines(config), config.vcs), NO_LINK, dtype=np.int32)
    downstream[:, lanes:] = np.where(neighbor == NO_LINK, NO_LINK, channel)
    return downstream.ravel()


def _upstream(config: NetworkConfig) -> Links:
    """Return ``Network.upstream``: the output or interface channel that feeds each input."""
    downstream = _downstream(config)
    upstream = np.full(len(downstream), NO_LINK, dtype=np.int32)
    outputs = np.flatnonzero(downstream != NO_LINK)
    upstream[downstream[outputs]] = outputs
    nodes = config.topology.nodes
    injected = upstream.reshape(nodes, -1)[:, : config.lanes * config.vcs]
    injected[:] = len(upstream) + np.arange(injected.size).reshape(injected.shape)
    return upstream


def _most_registers(config: NetworkConfig) -> int:
    return int(config.registers_of_links.max())


def _of_lines(config: NetworkConfig, of_links: npt.NDArray[np.int64]) -> npt.NDArray[np.int64]:
    """Return values of ports, shape (nodes, ports), for all lines; lanes have that of port 0."""
    return np.repeat(of_links, [config.lanes, *[1] * (config.topology.ports - 1)], axis=1)


def _channel_registers(config: NetworkConfig) -> npt.NDArray[np.uint8]:
    """Return ``Network.channel_registers``: registers of the link that feeds each input channel."""
    of_output = np.repeat(_of_lines(config, config.registers_of_links), config.vcs, axis=1).ravel()
    registers = np.zeros(len(of_output), np.uint8)
    downstream = _downstream(config)
    outputs = np.flatnonzero(downstream != NO_LINK)
    registers[downstream[outputs]] = of_output[outputs]
    return registers


def _exits(config: NetworkConfig) -> Words:
    """Return ``Network.exits``: for each input line, the port codes that its packets may request.

    A packet from a link may request every other link of the node, and delivery unless the node is
    a switch. An injected packet may request any link; in an all-port network, only its lane's.
    """
    topology = config.topology
    bits = np.uint64(1) << np.arange(topology.ports, dtype=np.uint64)[1:]
    linked = np.where(topology.neighbor[:, 1:] == NO_LINK, np.uint64(0), bits)
    all_linked = linked.sum(axis=1, dtype=np.uint64)[:, None]
    code = np.uint64(1 << config.header.deliver_code)
    deliver = np.where(config.topology.has_interface[:, None], code, np.uint64(0))
    injected = linked if config.all_port else all_linked
    return np.concatenate((injected, (all_linked & ~bits) | deliver), axis=1).ravel()


def _row_channel(program: Program, header: Words) -> Links:
    """Return ``Network.row_channel``: the injection channel of each row's packet, or ``BAD``.

    ``header`` has the header flits of all rows, in sender order.
    """
    config, order = program.config, program.sender_order
    buffers = _lines(config) * config.vcs
    flit = header[offsets_of(program.header_flits[order])[:-1]]
    port, vc = config.header.port(flit), config.header.vc(flit)
    bad = (source_ends(program) > config.message_words)[order]
    bad |= (program.stream > config.lanes)[order] | (program.window > config.most_window)[order]
    bad |= (program.window > 0)[order] & (program.length > 1 << program.window)[order]
    bad |= (port < 1) | (port >= config.topology.ports) | (vc >= config.vcs)
    bounds = program.first_sender_row
    lane = np.repeat(np.arange(len(bounds) - 1), np.diff(bounds))
    node, place = np.divmod(lane, config.lanes)
    if config.all_port:
        bad |= port != place + 1
    channel = node * buffers + place * config.vcs + vc
    return np.where(bad, BAD, channel).astype(np.int32)


def _streams(program: Program) -> dict[str, Any]:
    """Return the columns of a :class:`Network` for streaming rows and windows."""
    if not program.config.streams:
        return dict.fromkeys(("row_stream", "row_lead", "row_window"), np.zeros(0, dtype=np.int64))
    order, lanes = program.sender_order, program.config.lanes
    lane = program.row_node * lanes + program.stream - 1
    return {
        "row_stream": np.where(program.stream > 0, lane, NOBODY)[order],
        "row_lead": program.lead[order],
        "row_window": program.window[order],
    }


def _sizes(config: NetworkConfig) -> dict[str, Any]:
    """Return the numbers of a :class:`Network`."""
    lines = _lines(config)
    buffers = lines * config.vcs
    link_buffers = buffers - config.lanes * config.vcs
    return {
        "ports": config.topology.ports,
        "lanes": config.lanes if config.all_port else None,
        "lines": lines,
        "vcs": config.vcs,
        "buffers": buffers,
        "link_buffers": link_buffers,
        # With one VC, the buffers of links come only once in the order of turns.
        "places": buffers + link_buffers if config.vcs > 1 else buffers,
        "blocks": -(-buffers // BLOCK),
        "depth": config.depth,
        "port_bits": config.header.port_bits,
        "hop_bits": config.header.hop_bits,
        "vc_bits": config.header.vc_bits,
        "step_bits": config.header.step_bits,
        "address_bits": config.header.address_bits,
        "operator_bits": config.header.operator_bits,
        "window_bits": config.header.window_bits,
        "flit_width": config.flit_width,
        "operator_count": len(config.operators),
        "operator_latency": config.operator_latency,
        "control_words": config.table.control_words,
        "leading_words": config.leading_words,
        "message_words": config.message_words,
        "stages": _most_registers(config) + 1,
        # A flit on a link arrives, a link becomes free, and a node that ever accepts does so.
        "patience": _most_registers(config) + int(config.link_rates.max()) + REFUSAL_CYCLES,
        "barrier_registers": config.barrier_registers,
        "largest_word": min((1 << config.flit_width) - 1, int(np.iinfo(np.int64).max)),
        "timed_rows": config.timed_rows,
        "streams": config.streams,
    }


def _wiring(config: NetworkConfig) -> dict[str, Any]:
    """Return the columns of a :class:`Network` that locate and connect its lines and channels."""
    nodes, lines = config.topology.nodes, _lines(config)
    line_node, place = np.divmod(np.arange(nodes * lines, dtype=np.uint32), np.uint32(lines))
    routers, interfaces = (
        np.repeat(np.arange(nodes, dtype=np.uint32), channels)
        for channels in (lines * config.vcs, config.lanes * config.vcs)
    )
    return {
        "channel_node": np.concatenate((routers, interfaces)),
        "channel_place": np.repeat(place.astype(np.uint8), config.vcs),
        "line_node": line_node,
        "line_port": np.maximum(place.astype(np.int64) - config.lanes + 1, 0).astype(np.uint8),
        "exits": _exits(config),
        "downstream": _downstream(config),
        "upstream": _upstream(config),
        "channel_registers": _channel_registers(config),
        "line_rate": _of_lines(config, config.link_rates).ravel().astype(np.uint8),
    }


def _network(
    program: Program,
    control: Control,
    *,
    barrier: bool,
    record_trace: bool,
    refusal: npt.NDArray[np.uint16] | None,
) -> Network:
    """Collect everything that is fixed during a run.

    Copy the columns, because Numba would compile again for views and read-only arrays.
    """
    config, order = program.config, program.sender_order
    header = program.header_of(order)
    return Network(
        **_sizes(config),
        **_wiring(config),
        refuses=refusal is not None or config.operator_latency > 0,
        half_duplex=program.half_duplex,
        barrier=barrier,
        record_trace=record_trace,
        damages=control.damaged is not None,
        damaged_word=np.uint64(control.damaged or 0),
        expected=program.expected,
        awaited=np.array(program.awaited),
        refusal=np.array(_refusal(config, refusal)),
        held_until=control.held_until(program.nodes),
        slot_words=control.words_of(program),
        first_row=np.array(program.first_sender_row),
        row_channel=_row_channel(program, header),
        row_step=program.step[order],
        row_start=program.start[order],
        row_source=program.source_address[order],
        row_length=program.length[order],
        **_streams(program),
        operators=codes(config.operators),
        own_operators=own_addresses(config.operators),
        first_header=offsets_of(program.header_flits[order]),
        header=header,
    )
