"""Checks of a program's values against the limits of its tables, or of its whole network.

A table can hold rows that a network cannot carry out: a port code without a port, an address beyond
the message memory. Senders and routers flag such rows, and the cycle model reproduces the flags, so
it runs every program that tables can hold (:func:`require_held`). A compiled program, or one from a
file, must be one that its network can carry out (:func:`check_program`).
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np

from ..base.arrays import Numbers
from ..base.errors import InvalidInput
from ..network.config import Timing
from ..network.table_format import MOST_HEADER_FLITS
from .addresses import across_ends, ends, source_ends, window_sizes
from .overwriting import require_no_overwriting
from .row import NO_START
from .streams import require_streams
from .table import RowTable

_ANY = int(np.iinfo(np.int64).max)
"""The largest value of a column."""


class _Limit(NamedTuple):
    """The least and the largest value of a column, with a text if errors need more than both."""

    name: str
    column: Numbers
    least: int
    most: int
    allowed: str | None = None

    def wrong(self) -> Numbers:
        """Return the indices of values out of the limits."""
        return np.flatnonzero((self.column < self.least) | (self.column > self.most))

    @property
    def words(self) -> str:
        """The allowed values."""
        return self.allowed or f"{self.least} to {self.most}"


def require_held(table: RowTable) -> None:
    """Raise :class:`.InvalidInput` for the first value that no table or register can hold."""
    require_interfaces(table)
    config = table.config
    most_step, most_address = (1 << config.step_bits) - 1, (1 << config.address_bits) - 1
    rows = [
        _Limit("step", table.step, 0, most_step),
        *_start_limits(table),
        _Limit("source address", table.source_address, 0, most_address),
        _Limit("target address", table.target_address, 0, most_address),
        _Limit("length", table.length, 0, (1 << config.length_bits) - 1),
        *_held_additions(table),
    ]
    segments = [
        _Limit("port", table.routes.port, 0, (1 << config.header.port_bits) - 1),
        _Limit("vc", table.routes.vc, 0, (1 << config.header.vc_bits) - 1),
        _hops_limit(table, 0),
    ]
    _require_rows(table, rows, segments)
    if config.all_port:
        most_port = config.topology.ports - 1
        _require_rows(table, [_Limit("first port", table.first_port, 1, most_port)], [])
    _require_received(table, 0, most_step)


def check_program(table: RowTable) -> None:
    """Raise :class:`.InvalidInput` for the first row that the network cannot hold or carry out."""
    require_interfaces(table)
    config = table.config
    memory = f"at most {config.message_words} (the message memory)"
    read_and_written = {
        "source address + length": source_ends(table),
        "target address + length": ends(table, table.target_address),
        "target address + length, in the other half": across_ends(table),
    }
    rows = [
        _Limit("step", table.step, 1, config.steps),
        _Limit("source address", table.source_address, 0, _ANY, "at least 0"),
        _Limit("target address", table.target_address, 0, _ANY, "at least 0"),
        _Limit("length", table.length, 0, _ANY, "at least 0"),
        *_additions(table),
        *(
            _Limit(name, end, 0, config.message_words, memory)
            for name, end in read_and_written.items()
        ),
        *_start_limits(table),
        _Limit("hops of the route", table.row_hops, 1, _ANY, "at least 1"),
    ]
    segments = [
        _Limit("port", table.routes.port, 1, config.topology.ports - 1),
        _Limit("vc", table.routes.vc, 0, config.vcs - 1),
        _hops_limit(table, 1),
    ]
    _require_rows(table, rows, segments)
    _require_order_of_steps(table)
    require_table_room(table)
    _require_continuations(table)
    _require_received(table, 1, config.steps)
    _require_one_way(table)
    require_streams(table)
    require_no_overwriting(table)


def require_hops(table: RowTable) -> None:
    """Raise :class:`.InvalidInput` for the first row with a segment of no hops.

    To follow such a segment never ends on a ring.
    """
    _require_rows(table, [], [_hops_limit(table, 1)])


def require_timing(table: RowTable, timing: Timing) -> None:
    """Raise :class:`InvalidInput` for rows that combine or stream without a barrier between steps.

    Without a barrier, a packet of a later step would be combined, or counted, too early. In a
    network that combines, a packet could also overwrite words that are not sent yet.
    """
    if timing != Timing.BARRIER and (table.operator.any() or table.stream.any()):
        does = "streams" if table.stream.any() else "combines"
        raise InvalidInput.of(f"timing of a program that {does}", Timing.BARRIER, timing)
    if timing != Timing.BARRIER:
        require_no_overwriting(table, self_timed=True)


def require_interfaces(table: RowTable) -> None:
    """Raise :class:`InvalidInput` for the first row, receive or awaited packet of a switch."""
    for switch in table.config.topology.switches:
        for name, count in (
            ("rows", table.first_row[switch + 1] - table.first_row[switch]),
            ("receives", table.first_receive[switch + 1] - table.first_receive[switch]),
            ("awaited packets", table.awaited[switch]),
        ):
            if count:
                raise InvalidInput.of(f"{name} of switch {switch}", "none", int(count))


def require_table_room(table: RowTable, otherwise: str = "") -> None:
    """Raise :class:`InvalidInput` for the first node with more rows than its table memory holds.

    ``otherwise`` tells the user what to do instead of raising ``table_words``.
    """
    most = table.config.table_words
    for sender in np.flatnonzero(table.table_sizes > most)[:1].tolist():
        name, words = f"table of node {sender // table.config.lanes}", table.table_sizes[sender]
        if otherwise:
            raise InvalidInput.of(name, f"at most {most} words long{otherwise}", words)
        before = f"{name} must be at most {most} words long (raise "
        raise InvalidInput.around(before, "table_words", f"), not {words}")


def require_loadable(table: RowTable) -> None:
    """Raise :class:`InvalidInput` for a program that an image through the host port cannot hold.

    Timed rows are refused, and tables that are too short. With a controller the room depends on the
    program's slot (:mod:`.slots`) instead.
    """
    if table.config.timed_rows:
        raise InvalidInput.of("timed rows", "left out of the network of an image", "given")
    if not table.config.programs:
        require_table_room(table)


def _hops_limit(table: RowTable, least: int) -> _Limit:
    """Return a limit without a largest number of hops: the header flits limit their slots."""
    return _Limit("hops", table.routes.hops, least, _ANY, f"at least {least}")


def _start_limits(table: RowTable) -> Iterator[_Limit]:
    """Yield the limits of a row's start: none may be given in a network without timed rows."""
    if not table.config.timed_rows:
        yield _Limit("start", table.start, NO_START, NO_START, "left out here")
    else:
        latest = (1 << table.config.start_bits) - 2
        yield _Limit("start", table.start, NO_START, latest, f"0 to {latest}")


def _held_additions(table: RowTable) -> Iterator[_Limit]:
    """Yield the limits of a delivery's operator and window, and of a row's stream and lead."""
    config = table.config
    for name, bits in (
        ("operator", config.operator_bits),
        ("stream", config.stream_bits),
        ("lead", config.length_bits if config.streams else 0),
        ("window", config.window_bits),
    ):
        yield _Limit(name, getattr(table, name), 0, (1 << bits) - 1)


def _additions(table: RowTable) -> Iterator[_Limit]:
    """Yield limits to the operators, streams, windows and lengths that the network carries out."""
    config = table.config
    yield _Limit("operator", table.operator, 0, 2 * len(config.operators))
    yield _Limit("stream", table.stream, 0, config.lanes if config.streams else 0)
    lead = np.where(table.stream == 0, table.lead, 0)
    yield _Limit("lead", lead, 0, 0, "0 in a row that streams nothing")
    yield _Limit("lead", table.lead, 0, (1 << config.length_bits) - 1)
    yield _Limit("window", table.window, 0, config.most_window)
    too_long = (table.window > 0) & (table.length > window_sizes(table))
    length = np.where(too_long, table.length, 0)
    yield _Limit("length", length, 0, 0, "at most the words of the window")


def _require_rows(table: RowTable, rows: list[_Limit], segments: list[_Limit]) -> None:
    """Raise :class:`InvalidInput` for the first row with a value out of its limits."""
    found = [(int(place), limit, int(place)) for limit in rows for place in limit.wrong()[:1]]
    for limit in segments:
        places = limit.wrong()
        if places.size:
            routes = np.searchsorted(table.routes.first, places, side="right") - 1
            for row in np.flatnonzero(np.isin(table.route, routes))[:1].tolist():
                place = places[np.argmax(routes == table.route[row])]
                found.append((row, limit, int(place)))
    if not found:
        flits = table.header_flits
        limit = _Limit("header flits of the route", flits, 1, MOST_HEADER_FLITS)
        found = [(int(place), limit, int(place)) for place in limit.wrong()[:1]]
    if found:
        row, limit, place = min(found, key=lambda one: one[0])
        raise table.refusal(row, limit.name, limit.words, int(limit.column[place]))


def _require_order_of_steps(table: RowTable) -> None:
    """Raise :class:`InvalidInput` for the first row of a sender after a row of a later step.

    The sender would wait for the later step to end, and that step for the row: a deadlock.
    """
    order = table.sender_order
    step, sender = table.step[order], table.sender[order]
    early = (sender[1:] == sender[:-1]) & (step[1:] < step[:-1])
    for place in np.flatnonzero(early)[:1].tolist():
        allowed = f"at least {step[place]}, the step of its sender's row before"
        raise table.refusal(int(order[place + 1]), "step", allowed, int(step[place + 1]))


def _require_continuations(table: RowTable) -> None:
    """Raise :class:`InvalidInput` for a continued row that the next one does not continue."""
    order, sender = table.sender_order, table.sender
    follower = np.full(len(order), -1)
    follower[order[:-1]] = order[1:]
    rows = np.flatnonzero(table.continued)
    after = follower[rows]
    goes_on = (after >= 0) & (sender[after] == sender[rows])
    goes_on &= table.step[after] == table.step[rows]
    # A sender seldom has two equal routes with different indices.
    for place in np.flatnonzero(~goes_on | (table.route[after] != table.route[rows])).tolist():
        routes = (table.routes[table.route[row]] for row in (rows[place], after[place]))
        if not goes_on[place] or len(set(routes)) > 1:
            row = rows[place]
            where = f"continued row of node {table.row_node[row]}, step {table.step[row]}"
            raise InvalidInput.of(where, "followed by one of the same step and route", "not")


def _require_one_way(table: RowTable) -> None:
    """Raise :class:`InvalidInput` for the first row of a half-duplex node's step with a receive.

    The hardware flags the row as it begins, and the run stops. A row that streams is exempt: it
    sends on what its node receives.
    """
    if not table.half_duplex:
        return
    receiver = np.repeat(np.arange(table.nodes), np.diff(table.first_receive))
    steps = table.steps + 1
    received = np.isin(table.row_node * steps + table.step, receiver * steps + table.receive_step)
    for row in np.flatnonzero(received & (table.stream == 0))[:1].tolist():
        allowed = "one in which its half-duplex node receives nothing"
        raise table.refusal(row, "step", allowed, int(table.step[row]))


def _require_received(table: RowTable, least: int, most: int) -> None:
    """Raise :class:`InvalidInput` for a receive, or a count of packets, out of its limits."""
    config = table.config
    limits = [_Limit("receives of node", table.receive_step, least, most)]
    ports = (1, config.topology.ports - 1) if config.all_port else (0, 0)
    limits.append(_Limit("receive ports of node", table.receive_port, *ports))
    for limit in limits:
        for place in limit.wrong()[:1].tolist():
            node = int(np.searchsorted(table.first_receive, place, side="right")) - 1
            value = int(limit.column[place])
            raise InvalidInput.of(f"{limit.name} {node}", limit.words, value)
    largest_word = min((1 << config.narrow_width) - 1, _ANY)
    awaited = _Limit("", table.awaited, 0, largest_word)
    if not config.timed_rows:
        awaited = _Limit("", table.awaited, 0, 0, "0 in a network without timed rows")
    for node in awaited.wrong()[:1].tolist():
        value = int(table.awaited[node])
        raise InvalidInput.of(f"awaited packets of node {node}", awaited.words, value)
