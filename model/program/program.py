"""Programs: the injection tables that make a network carry out a schedule.

A row is a *put*: in a step, copy ``length`` words from an address of this node to an address of the
node at the end of a route. The encoding into table words and header flits is that of
docs/router.md, sections 1 and 4.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from itertools import zip_longest

import numpy as np

from ..base.errors import InvalidInput, require_range
from ..network.config import NetworkConfig
from ..network.port_model import PortModel
from ..network.segment import Routes, Segment
from ..network.table_format import HEADER_COUNT_BITS, pack_positions


@dataclass(frozen=True)
class Row:
    """One put. Addresses and length count words; length 0 is a packet of its header alone.

    ``start`` is the first cycle in which it may begin, None for as soon as its step has come.
    ``continued``: the row after it, of the same step and route, has more of the same message.
    """

    step: int
    route: tuple[Segment, ...]
    source_address: int
    target_address: int
    length: int
    start: int | None = None
    continued: bool = False


@dataclass(frozen=True)
class Program:
    """The tables of every node of a network, and what they assume of it.

    ``rows[node]`` are in order of step; ``receives[node]`` are the steps in which the node
    receives, ascending. ``port_model`` is the schedule's; with "half-duplex" the hardware flags a
    send and a receive in one step. ``awaited[node]`` is how many packets of timed rows the node
    receives; it has no entries where there are none anywhere.

    In an all-port network ``receive_ports[node]`` are the link ports by which the node receives,
    one for each entry of ``receives[node]``; in any other it has no entries. A row is sent by the
    injection port of its route's first port.
    """

    config: NetworkConfig
    port_model: PortModel
    rows: tuple[tuple[Row, ...], ...]
    receives: tuple[tuple[int, ...], ...]
    awaited: tuple[int, ...] = ()
    receive_ports: tuple[tuple[int, ...], ...] = ()

    @property
    def steps(self) -> int:
        """The last step in which anything is sent or received; 0 where nothing is."""
        sends = (row.step for rows in self.rows for row in rows)
        receives = (step for steps in self.receives for step in steps)
        return max((*sends, *receives), default=0)

    def lane_rows(self, node: int) -> list[list[Row]]:
        """The rows of each injection port of ``node``, in order."""
        if not self.config.all_port:
            return [list(self.rows[node])]
        lanes: list[list[Row]] = [[] for _ in range(self.config.lanes)]
        for row in self.rows[node]:
            lanes[row.route[0].port - 1].append(row)
        return lanes

    def lane_receives(self, node: int) -> list[list[int]]:
        """The steps in which something comes through each ejection port of ``node``."""
        if not self.config.all_port:
            return [list(self.receives[node])]
        lanes: list[list[int]] = [[] for _ in range(self.config.lanes)]
        ports = self.receive_ports[node] if self.receive_ports else ()
        for step, port in zip(self.receives[node], ports, strict=True):
            lanes[port - 1].append(step)
        return lanes


def encode_header(
    config: NetworkConfig, route: Iterable[Segment], step: int, target_address: int
) -> list[int]:
    """Header flits of a packet, as they enter the network (docs/router.md, section 1)."""
    one = np.zeros(1, dtype=np.int64)
    header = config.header.pack(Routes.of([list(route)]), one, one + step, one + target_address)
    flits: list[int] = header.tolist()
    return flits


def row_header(config: NetworkConfig, row: Row) -> list[int]:
    """Header flits of a row's packet; that of a timed or continued row carries step 0."""
    step = row.step if row.start is None and not row.continued else 0
    return encode_header(config, row.route, step, row.target_address)


def encode_table(config: NetworkConfig, rows: Iterable[Row]) -> list[int]:
    """Words of one sender's table, end mark included (docs/router.md, section 4)."""
    words: list[int] = []
    widths = [width for _, width in config.table.fields]
    for row in rows:
        header = row_header(config, row)
        start = 0 if row.start is None else row.start + 1
        values = (row.step, len(header), row.source_address, row.length, start)
        words += _pack(list(zip(values, widths, strict=True)), config.flit_width)
        words += header
    return [*words, 0]


def table_words(program: Program) -> int:
    """The most words that any table of ``program`` takes."""
    nodes = range(len(program.rows))
    lanes = (lane for node in nodes for lane in program.lane_rows(node))
    return max(len(encode_table(program.config, rows)) for rows in lanes)


def encode_expected(config: NetworkConfig, receives: Iterable[int]) -> list[int]:
    """The steps of one ejection port as a bit mask over step numbers, cut into words."""
    mask = sum(1 << step for step in receives)
    word = (1 << config.flit_width) - 1
    return [mask >> (i * config.flit_width) & word for i in range(config.mask_words)]


def _pack(groups: list[tuple[int, int]], word_width: int) -> list[int]:
    """Pack (value, width) groups into words by :func:`pack_positions`."""
    positions = pack_positions(tuple(("", width) for _, width in groups), word_width)
    words = [0] * (positions[-1][0] + 1)
    for (value, _), (word, low) in zip(groups, positions, strict=True):
        words[word] |= value << low
    return words


def check_limits(program: Program) -> None:
    """Raise :class:`InvalidInput` for the first row that the network cannot hold or carry out."""
    config = program.config
    for node, rows in enumerate(program.rows):
        for place, row in enumerate(rows):
            _check_row(config, f"node {node}, row {place}", row)
        for lane in program.lane_rows(node):
            _check_lane(config, node, lane)
    for node, steps in enumerate(program.receives):
        for step in steps:
            if not 1 <= step <= config.steps:
                raise InvalidInput.of(f"receives of node {node}", f"1 to {config.steps}", step)
    _check_receive_ports(program)
    most = (1 << config.flit_width) - 1 if config.timed_rows else 0
    for node, packets in enumerate(program.awaited):
        if not 0 <= packets <= most:
            raise InvalidInput.of(f"awaited packets of node {node}", f"0 to {most}", packets)


def _check_lane(config: NetworkConfig, node: int, rows: list[Row]) -> None:
    """Raise :class:`InvalidInput` if one sender's rows do not fit, or one is not continued."""
    words = len(encode_table(config, rows))
    if words > config.table_words:
        raise InvalidInput.of(
            f"table of node {node}", f"at most {config.table_words} words long", words
        )
    for row, following in zip_longest(rows, rows[1:]):
        place = (row.step, row.route)
        goes_on = following is not None and (following.step, following.route) == place
        if row.continued and not goes_on:
            allowed = "followed by one of the same step and route"
            raise InvalidInput.of(f"continued row of node {node}, step {row.step}", allowed, "not")


def _check_receive_ports(program: Program) -> None:
    """Raise :class:`InvalidInput` unless all-port receives have ports, and no others do."""
    wanted = [len(steps) if program.config.all_port else 0 for steps in program.receives]
    given = [len(ports) for ports in program.receive_ports] or [0] * len(wanted)
    last = program.config.topology.ports - 1
    for node, (want, ports) in enumerate(zip(wanted, given, strict=True)):
        if want != ports:
            raise InvalidInput.of(f"receive ports of node {node}", f"{want} long", ports)
    for node, listed in enumerate(program.receive_ports):
        for port in listed:
            if not 1 <= port <= last:
                raise InvalidInput.of(f"receive ports of node {node}", f"1 to {last}", port)


def _check_row(config: NetworkConfig, where: str, row: Row) -> None:
    """Raise :class:`InvalidInput` if ``config`` cannot carry out ``row``."""
    if not 1 <= row.step <= config.steps:
        raise InvalidInput.of(f"{where}: step", f"1 to {config.steps}", row.step)
    for name, address in (("source", row.source_address), ("target", row.target_address)):
        if address + row.length > config.message_words:
            raise InvalidInput.of(
                f"{where}: {name} address + length",
                f"at most {config.message_words} (the message memory)",
                address + row.length,
            )
    for segment in row.route:
        if not 1 <= segment.port < config.topology.ports:
            raise InvalidInput.of(
                f"{where}: port", f"1 to {config.topology.ports - 1}", segment.port
            )
        if not 0 <= segment.vc < config.vcs:
            raise InvalidInput.of(f"{where}: vc", f"0 to {config.vcs - 1}", segment.vc)
    if row.start is not None and not 0 <= row.start < (1 << config.start_bits) - 1:
        allowed = f"0 to {(1 << config.start_bits) - 2}" if config.timed_rows else "left out here"
        raise InvalidInput.of(f"{where}: start", allowed, row.start)
    most = (1 << HEADER_COUNT_BITS) - 1
    # Counted before it is made: a file may say any number of hops.
    slots = sum(-(-segment.hops >> config.header.hop_bits) for segment in row.route)
    header_flits = -(-slots // (config.flit_width // config.header.slot_bits))
    if 1 <= header_flits <= most:
        header_flits = len(row_header(config, row))
    require_range(f"{where}: header flits of the route", header_flits, 1, most)
