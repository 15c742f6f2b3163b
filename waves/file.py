"""Waveforms as a VCD file, in which the time is the clock cycle of the trace.

A flit that leaves an output in cycle c stands at time c, for one unit of time. :mod:`.names`
explains the names. Each VC of a link, and of a node's delivery, has:

===========  =====================================================================================
``valid``    1 in the cycles in which a flit leaves
``kind``     head, body, tail or single, as in a trace; otherwise empty
``data``     the flit's bits; otherwise z
``step``     the step in the packet's delivery: 0 if no step waits for the packet, as in traffic;
             z without a flit, or if unknown
``address``  address of the packet's words in its target's message memory; z as for ``step``
===========  =====================================================================================

Words of circuits have ``valid`` and ``data`` only.
"""

import heapq
import io
from collections.abc import Iterator
from operator import itemgetter
from pathlib import Path
from typing import Any, NamedTuple

from vcd import VCDWriter

from ..model.base.arrays import as_integers
from ..model.base.files import write_pieces_atomically
from ..model.network.config import NetworkConfig
from ..model.network.topology import NO_LINK
from ..model.run.trace import HEAD_MARK, KINDS, TAIL_MARK, Trace
from .flits import UNKNOWN, flits_of
from .names import (
    NETWORK,
    Scope,
    delivery_scope,
    has_interface,
    interface_scope,
    link_scopes,
    vc_scope,
)
from .registers import NO_REGISTERS, Register, RegisterChanges

TIMESCALE = "1 ns"
"""Time unit of a cycle: viewers need one, whatever the network's clock is."""

_PIECE_ROWS = 1 << 16
_PIECE_CHARACTERS = 1 << 20
_NOTHING = "z"
_WORDS, _STEP = "words_arrived", "received_step"

_Change = tuple[int, Any, Any]
"""A time, a variable of the file, and its value from then on."""


class _Channel(NamedTuple):
    """Variables of one VC of an output; words of circuits have only the first two."""

    valid: Any
    data: Any
    kind: Any = None
    step: Any = None
    address: Any = None


class _Variables(NamedTuple):
    """All variables of a file; channels by node, port, number of the delivery, and VC.

    Variables of interfaces are by node; ``received_step`` is empty if the trace does not show it.
    """

    cycle: Any
    channels: dict[tuple[int, int, int, int], _Channel]
    words_arrived: dict[int, Any]
    received_step: dict[int, Any]
    registers: list[Any]


def write_waves(
    path: str | Path,
    config: NetworkConfig,
    trace: Trace,
    cycles: int,
    registers: RegisterChanges = NO_REGISTERS,
) -> None:
    """Write the ``cycles`` cycles of a run with ``trace`` to a VCD file, whole or not at all.

    Raises :class:`.InvalidInput` if ``path`` cannot be written.
    """
    write_pieces_atomically(path, _pieces(config, trace, cycles, registers))


def _pieces(
    config: NetworkConfig, trace: Trace, cycles: int, registers: RegisterChanges
) -> Iterator[bytes]:
    """Yield the file in pieces."""
    text = io.StringIO()
    with VCDWriter(text, TIMESCALE, date="", version="eyecast", check_values=False) as writer:
        variables = _declare(writer, config, registers)
        for time, variable, value in heapq.merge(
            ((cycle, variables.cycle, cycle) for cycle in range(cycles)),
            _register_changes(variables, registers, cycles),
            _flit_changes(config, trace, variables),
            key=itemgetter(0),
        ):
            writer.change(variable, time, value)
            if text.tell() > _PIECE_CHARACTERS:
                yield text.getvalue().encode()
                text.seek(0)
                text.truncate()
        writer.close(max(cycles, int(trace.cycle[-1]) + 1 if len(trace) else 0))
        yield text.getvalue().encode()


def arrivals(config: NetworkConfig) -> tuple[str, ...]:
    """Return the names of interface signals that follow from the trace alone.

    They are the number of arrived words, and the step of the last complete packet. Timed rows and
    circuits have no step, and all-port traces do not tell the ejection port, so they lack the
    second signal.
    """
    steps = not (config.timed_rows or config.all_port or config.circuits)
    return (_WORDS, _STEP) if steps else (_WORDS,)


def _declare(writer: VCDWriter, config: NetworkConfig, registers: RegisterChanges) -> _Variables:
    """Declare every link and every node, used or not."""
    topology = config.topology
    nodes = range(topology.nodes)
    channels = {}
    for node in nodes:
        for port in range(1, topology.ports):
            if topology.neighbor[node, port] != NO_LINK:
                begin, end = link_scopes(topology, node, port)
                for vc in range(config.vcs):
                    channel = _declare_channel(writer, vc_scope(begin, vc), config)
                    _declare_again(writer, vc_scope(end, vc), channel)
                    channels[node, port, 0, vc] = channel
        for place in range(config.lanes if has_interface(topology, node) else 0):
            scope = delivery_scope(topology, node, place, config.lanes)
            for vc in range(config.vcs):
                channels[node, 0, place, vc] = _declare_channel(writer, vc_scope(scope, vc), config)
    words, steps = (
        {
            node: writer.register_var(interface_scope(topology, node), name, "integer", 32, 0)
            for node in nodes
            if name in arrivals(config) and has_interface(topology, node)
        }
        for name in (_WORDS, _STEP)
    )
    seen = [
        writer.register_var(interface_scope(topology, each.node), each.name, *_type_of(each))
        for each in registers.registers
    ]
    cycle = writer.register_var(NETWORK, "cycle", "integer", 32, 0)
    return _Variables(cycle, channels, words, steps, seen)


def _declare_channel(writer: VCDWriter, scope: Scope, config: NetworkConfig) -> _Channel:
    """Declare the variables of one VC of an output."""
    word = (
        writer.register_var(scope, "valid", "wire", 1, 0),
        writer.register_var(scope, "data", "wire", config.flit_width, _NOTHING),
    )
    if config.circuits:
        return _Channel(*word)
    return _Channel(
        *word,
        writer.register_var(scope, "kind", "string", init=""),
        writer.register_var(scope, "step", "integer", 32, _NOTHING),
        writer.register_var(scope, "address", "integer", 32, _NOTHING),
    )


def _declare_again(writer: VCDWriter, scope: Scope, channel: _Channel) -> None:
    """Declare other names for the variables of a channel."""
    for name, variable in channel._asdict().items():
        if variable is not None:
            writer.register_alias(scope, name, variable)


def _type_of(register: Register) -> tuple[str, int | None, int | str]:
    """Return type, size and first value of a register's variable."""
    if register.words:
        return "string", None, ""
    return ("wire", 1, 0) if register.is_bit else ("integer", 32, 0)


def _register_changes(
    variables: _Variables, registers: RegisterChanges, cycles: int
) -> Iterator[_Change]:
    """Yield every change of a register within the run; numbers with names become words."""
    for cycle, number, value in registers.changes:
        if cycle < cycles:
            words = registers.registers[number].words
            shown = words[value] if value < len(words) else value
            yield cycle, variables.registers[number], str(shown) if words else shown


def _flit_changes(config: NetworkConfig, trace: Trace, variables: _Variables) -> Iterator[_Change]:
    """Yield every change of a channel, and of the words that have arrived at each node."""
    found = flits_of(config, trace)
    columns = (*trace.columns, found.place, found.last, found.step, found.address)
    words = [0] * config.topology.nodes
    now, after = -1, list[_Change]()  # the changes of the next cycle
    for begin in range(0, len(trace), _PIECE_ROWS):
        rows = (as_integers(column[begin : begin + _PIECE_ROWS]) for column in columns)
        for cycle, node, port, vc, kind, data, place, last, step, address in zip(
            *rows, strict=True
        ):
            if cycle != now:
                yield from after
                now, after = cycle, []
            channel = variables.channels[node, port, place, vc]
            yield cycle, channel.valid, 1
            yield cycle, channel.data, data
            if channel.kind is not None:
                yield cycle, channel.kind, KINDS[kind]
            if kind & HEAD_MARK:
                yield cycle, channel.step, _NOTHING if step == UNKNOWN else step
                yield cycle, channel.address, _NOTHING if address == UNKNOWN else address
            elif port == 0:
                words[node] += 1
                after.append((cycle + 1, variables.words_arrived[node], words[node]))
            if port == 0 and kind & TAIL_MARK and step > 0 and variables.received_step:
                after.append((cycle + 1, variables.received_step[node], step))
            if last:
                ends = zip(channel, (0, _NOTHING, "", _NOTHING, _NOTHING), strict=True)
                after += [(cycle + 1, *end) for end in ends if end[0] is not None]
    yield from after
