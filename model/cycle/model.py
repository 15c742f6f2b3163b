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
from .control import Control
from .loop import FINISHED, LIMIT, TRACE_FULL, simulate
from .pieces import MovedWords
from .state import (
    BLOCK,
    CULPRIT,
    CYCLE,
    ENDED,
    FLAGGED,
    NEVER,
    NONE,
    ROWS,
    Indices,
    Network,
    Records,
    Registers,
    Row,
    Rows,
    empty_lists,
    records,
    reset_registers,
)
from .wiring import channels_of, lines_of, most_registers, of_lines, wired

_MOST_ROWS = 1 << 24
"""Rows of a trace for which room is reserved at once."""


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
    control = _control(config, control)
    most = _limit(program, refusal, control, cycle_limit)
    limit = min(most, control.limit - 1) if control.limit else most
    barrier = Timing.named(timing) is Timing.BARRIER
    words = MovedWords(config, memory, int(program.length.sum()), control.damaged)
    network = _network(
        program, control, words, barrier=barrier, record_trace=record_trace, refusal=refusal
    )
    registers = reset_registers(network, wired(config), words.memory)
    # A switch has no table, so it starts in the state of a sender at the end of its table.
    senders: Any = registers.senders
    senders["state"][~np.repeat(config.topology.has_interface, config.lanes)] = ENDED
    rows = program.flit_hops if record_trace else None
    finished, trace = _simulated(network, registers, limit, most, rows)
    interfaces: Any = registers.interfaces
    step = np.where(config.topology.has_interface, interfaces["step"], 0)
    found = Prediction(
        finished=finished,
        cycles=int(registers.total[CYCLE]),
        memory=registers.memory,
        trace=trace,
        flags=interfaces["flags"].copy(),
        stalled_flits=_stalled_flits(registers),
        step=step.astype(np.int64),
        arrived=registers.arrived.reshape(config.topology.nodes, config.lanes, -1),
        received=interfaces["received"].copy(),
        step_ends=registers.step_end[1 : program.steps + 1],
        ending=_ending(registers, finished=finished),
    )
    return words.restored(found)


def _simulated(
    network: Network, registers: Registers, limit: int, most: int, rows: int | None
) -> tuple[bool, Trace]:
    """Simulate to the end or to cycle ``limit``; return whether all nodes finished, and the trace.

    The trace has at most ``rows`` rows; None: no trace. A run with a flag before its controller's
    ``limit`` goes on up to cycle ``most``.
    """
    lists = empty_lists(network)
    # One flit may leave by every output in a cycle; a chunk with fewer rows left than that is full.
    # Memory of the rows that stay empty is never touched.
    outputs = len(network.line_rate)
    rows_per_chunk = 0 if rows is None else min(rows, max(_MOST_ROWS, 4 * outputs)) + outputs
    chunks = []
    ended = TRACE_FULL
    while ended == TRACE_FULL:
        chunk = Trace.empty(rows_per_chunk)
        registers.total[ROWS] = 0
        ended = simulate(network, registers, lists, _columns(chunk), limit)
        chunks.append(chunk.first_rows(int(registers.total[ROWS])))
        if ended == LIMIT and limit < most and registers.total[FLAGGED] != NEVER:
            # The run failed before its limit; the hardware goes on, and so does the model.
            limit, ended = most, TRACE_FULL
    return ended == FINISHED, Trace.join(chunks)


def _stalled_flits(registers: Registers) -> npt.NDArray[np.int64]:
    """Return the stalled flits of each node: of its senders, and of its router's buffers."""
    interfaces: Any = registers.interfaces
    buffers: Any = registers.buffers
    of_router = buffers["stalled"].reshape(len(interfaces), -1).sum(axis=1, dtype=np.int64)
    return np.asarray(interfaces["stalled"] + of_router)


def _ending(registers: Registers, *, finished: bool) -> Ending:
    """Return the end of a run, as a controller sees it, from its last registers."""
    cycle, flagged = int(registers.total[CYCLE]), int(registers.total[FLAGGED])
    interfaces: Any = registers.interfaces
    if finished:
        return Ending(EndState.DONE, cycle, None)
    if flagged != NEVER and flagged <= cycle:
        return Ending(EndState.FAILED, flagged, int(registers.total[CULPRIT]))
    return Ending(EndState.TIMED_OUT, cycle, int(np.argmin(interfaces["finished"])))


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
    pause = most_registers(config) + int(config.link_rates.max()) - 1 + config.streams
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


def _columns(trace: Trace) -> Rows:
    """Return the columns of ``trace`` as the compiled loop names them."""
    return Rows(trace.cycle, trace.node, trace.port, trace.vc, trace.kind, trace.data)


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


def _channel_node(config: NetworkConfig) -> Indices:
    """Return ``Network.channel_node``: the node of each channel, those of senders too."""
    nodes = np.arange(config.topology.nodes, dtype=np.uint32)
    return np.concatenate([np.repeat(nodes, each[0].size) for each in channels_of(config)])


def _rows(program: Program, header_flits: npt.NDArray[np.int64], header: Words) -> Records[Row]:
    """Return ``Network.rows``; the header flits are those of all rows, in sender order."""
    config, order = program.config, program.sender_order
    first_header = offsets_of(header_flits)
    flit = header[first_header[:-1]]
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
    _, senders = channels_of(config)
    streams = program.stream > 0
    feeder = program.row_node * config.lanes + program.stream - 1
    columns = {
        "start": program.start[order],
        "channel": np.where(bad, NONE, senders[node, place, np.where(bad, 0, vc)]),
        "step": program.step[order],
        "source": program.source_address[order],
        "length": program.length[order],
        "stream": np.where(streams, feeder, NONE)[order],
        "lead": program.lead[order],
        "headers": header_flits,
        "window": program.window[order],
    }
    rows = {name: np.append(column, 0) for name, column in columns.items()}
    return records(Row, len(order) + 1, first_header=first_header, **rows)


def _sizes(config: NetworkConfig) -> dict[str, Any]:
    """Return the numbers of a :class:`Network`."""
    lines = lines_of(config)
    buffers = lines << config.header.vc_bits
    link_buffers = buffers - (config.lanes << config.header.vc_bits)
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
        "operator_count": len(config.operators),
        "operator_latency": config.operator_latency,
        "control_words": config.table.control_words,
        "leading_words": config.leading_words,
        "message_words": config.message_words,
        "stages": most_registers(config) + 1,
        # A flit on a link arrives, a link becomes free, and a node that ever accepts does so.
        "patience": most_registers(config) + int(config.link_rates.max()) + REFUSAL_CYCLES,
        "barrier_registers": config.barrier_registers,
        "largest_word": min((1 << config.narrow_width) - 1, int(np.iinfo(np.int64).max)),
        "timed_rows": config.timed_rows,
        "streams": config.streams,
    }


def _network(
    program: Program,
    control: Control,
    words: MovedWords,
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
        channel_node=_channel_node(config),
        exits=_exits(config),
        line_rate=of_lines(config, config.link_rates).ravel().astype(np.uint8),
        rated=bool(config.link_rates.max() > 1),
        refuses=refusal is not None or config.operator_latency > 0,
        half_duplex=program.half_duplex,
        barrier=barrier,
        record_trace=record_trace,
        damages=control.damaged is not None,
        damaged_word=np.uint64(words.damaged),
        expected=program.expected,
        awaited=np.array(program.awaited),
        refusal=np.array(_refusal(config, refusal)),
        held_until=control.held_until(program.nodes),
        slot_words=control.words_of(program),
        first_row=np.array(program.first_sender_row),
        rows=_rows(program, program.header_flits[order], header),
        **words.operators,
        header=header,
    )
