"""Compilation of a schedule to the injection tables of a network.

A send becomes one put, or several if its blocks are not adjacent
(:class:`~.memory.layout.Layout`). All rows of a send except the last are *continued*.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import replace
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from ..base.arrays import Numbers
from ..base.errors import InvalidInput
from ..base.ragged import offsets_of
from ..network.config import MOST_MEMORY_WORDS, MOST_VCS, NetworkConfig
from ..network.operators import as_operators
from ..network.port_model import PortModel
from ..network.routes import segments_of_paths
from ..schedule.rules import send_name
from ..schedule.schedule import Schedule
from ..schedule.streams import Streams, streams_of
from .any_program import AnyProgram, without_circuits
from .circuits.compiler import compile_circuits
from .memory.layout import Layout, power_for
from .memory.puts import Puts, puts_of
from .program import Program
from .row import NO_START
from .table import RowError
from .timed_program import require_no_other, require_timed_rows, timed


def compile_schedule(
    schedule: Schedule, config: NetworkConfig, layout: Layout | None = None
) -> Program:
    """Compile ``schedule`` for a network of ``config``.

    ``layout`` gives the addresses of the blocks; None makes one. Raises :class:`InvalidInput` if a
    limit of the network is too small, naming the limit, or if its nodes have too few ports.
    """
    layout = layout or Layout.of(schedule, config.message_words)
    _require_memory(layout, config)
    steps = 0 if schedule.timed else schedule.steps
    vcs = int(schedule.vcs.max(initial=0)) + 1
    # No network has more VCs than MOST_VCS: such a send is refused by its number.
    for name, least in (("steps", steps), ("vcs", vcs if vcs <= MOST_VCS else 0)):
        if getattr(config, name) < least:
            allowed = f"at least {least} for this schedule"
            raise InvalidInput.of(name, allowed, getattr(config, name))
    if schedule.port_model == PortModel.ALL_PORT and not config.all_port:
        raise InvalidInput.of("ports", "all, which an all-port schedule needs", "one")
    nodes = config.topology.nodes
    streams = streams_of(schedule)
    if len(streams.send) and not config.streams:
        raise InvalidInput.must_be("streams", "given", "for a schedule that streams")
    if schedule.timed:
        require_timed_rows(config)
    require_circuits(schedule, circuits=False)
    puts, receives = puts_of(schedule, layout, config), _receives(schedule, config)
    # A node's rows are ordered by step, and within a step as the sends of the schedule.
    order = np.lexsort((schedule.step[puts.send], schedule.source[puts.send]))
    send = puts.send[order]
    continued = np.append(send[1:] == send[:-1], np.zeros(min(len(send), 1), dtype=np.bool_))
    # A network with timed rows counts the packets that carry no step.
    counted = schedule.target[send[continued & config.timed_rows]]
    additions = {"operator": puts.operator} | _stream_columns(schedule, streams, puts)
    program = Program(
        config=config,
        port_model=schedule.port_model,
        first_row=offsets_of(np.bincount(schedule.source[send], minlength=nodes)),
        step=schedule.step[send].astype(np.int64),
        start=np.full(len(send), NO_START),
        source_address=puts.source_address[order],
        target_address=puts.target_address[order],
        length=puts.length[order],
        continued=continued,
        **{name: column[order] for name, column in additions.items()},
        route=send,
        routes=segments_of_paths(
            schedule.topology, schedule.path_offsets, schedule.path_nodes, schedule.vcs
        ),
        first_receive=offsets_of(np.bincount(receives.node, minlength=nodes)),
        receive_step=receives.step,
        receive_port=receives.port,
        awaited=np.bincount(counted, minlength=nodes),
    )
    if schedule.timed:
        program = timed(program, schedule)
    try:
        program.check()
    except RowError as error:
        name = send_name(schedule, int(program.route[error.row]))
        raise InvalidInput(f"{name}: {error.complaint}") from error
    return program


def _require_memory(layout: Layout, config: NetworkConfig) -> None:
    """Refuse a layout that does not fit in the message memories."""
    if layout.fits(config):
        return
    raise InvalidInput.of("words", layout.limit(config), layout.size)


def require_circuits(schedule: Schedule, *, circuits: bool) -> None:
    """Raise :class:`.InvalidInput` for a schedule with trees in a network without circuits."""
    if schedule.circuits and not circuits:
        before = "a schedule with trees needs a network with circuits ("
        raise InvalidInput.around(before, "circuits", ")")


class Compiled(NamedTuple):
    """A schedule, the layout of its blocks, and the program that carries it out."""

    schedule: Schedule
    layout: Layout
    program: AnyProgram

    @classmethod
    def of(
        cls, schedule: Schedule, config: NetworkConfig, layout: Layout | None = None
    ) -> Compiled:
        """Compile ``schedule`` for a network that has room for it."""
        layout = layout or layout_in(schedule, config)
        compile_it = compile_circuits if config.circuits else compile_schedule
        return cls(schedule, layout, compile_it(schedule, config, layout))

    @property
    def injection(self) -> Program:
        """The program; raises :class:`.InvalidInput` for one of a network with circuits."""
        return without_circuits(self.program)

    @property
    def table_words(self) -> int:
        """The longest table of a node: its words, or in a network with circuits its entries."""
        return int(self.program.table_sizes.max())


def layout_in(schedule: Schedule, config: NetworkConfig) -> Layout:
    """Return the layout of the blocks of ``schedule`` in a network's memories, if it can have."""
    make = Layout.of_circuits if config.circuits else Layout.of
    return make(schedule, config.message_words)


def fit(
    config: NetworkConfig, schedules: Sequence[Schedule], *, fixed: Collection[str] = ()
) -> tuple[NetworkConfig, list[Compiled]]:
    """Give ``config`` room for all of ``schedules``, and compile each for the resulting network.

    Step numbers, VCs and memories grow as needed, up to their limits. Fields of
    :class:`.NetworkConfig` named in ``fixed`` do not grow.
    Raises :class:`InvalidInput` for the first schedule that still does not fit.
    """
    config, layouts = make_room(config, schedules, fixed=fixed)
    return compile_all(config, schedules, layouts, fixed=fixed)


def compile_all(
    config: NetworkConfig,
    schedules: Sequence[Schedule],
    layouts: Sequence[Layout],
    *,
    fixed: Collection[str] = (),
) -> tuple[NetworkConfig, list[Compiled]]:
    """Compile ``schedules`` for ``config``; table memories grow as in :func:`fit`."""
    wide = with_largest_tables(config, fixed=fixed)
    pairs = zip(schedules, layouts, strict=True)
    compiled = [Compiled.of(schedule, wide, layout) for schedule, layout in pairs]
    return make_table_room(config, compiled, fixed=fixed)


def make_room(
    config: NetworkConfig, schedules: Sequence[Schedule], *, fixed: Collection[str] = ()
) -> tuple[NetworkConfig, list[Layout]]:
    """Return ``config`` with all that ``schedules`` need, and the layout of each schedule.

    It may get more steps, VCs, words of message memories and operators, except those named in
    ``fixed``, and also streams and timed rows. The message memories may still be too small, if they
    are fixed or at their limit. Raises :class:`.InvalidInput` for a schedule of too many blocks.
    """
    if config.circuits:
        return _room_for_circuits(config, schedules, fixed)
    steps, vcs = config.steps, config.vcs
    streams = config.streams or any(schedule.stream.any() for schedule in schedules)
    require_no_other(config, schedules)
    timed_rows = config.timed_rows or any(schedule.timed for schedule in schedules)
    if "steps" not in fixed:
        steps = max([steps, *(each.steps for each in schedules if not each.timed)])
    if "vcs" not in fixed:
        needed = [int(schedule.vcs.max(initial=0)) + 1 for schedule in schedules]
        vcs = min(max([vcs, *needed]), MOST_VCS)
    words = config.message_words
    layouts = []
    for schedule in schedules:
        layouts.append(Layout.of(schedule, words))
        if "message_words" not in fixed:
            words = max(words, _room(layouts[-1].room))
    config = replace(config, steps=steps, vcs=vcs, message_words=words)
    config = replace(config, streams=streams, timed_rows=timed_rows)
    config = _with_operators(config, schedules, fixed)
    return config, [layout.aligned_if_within(words) for layout in layouts]


def _room_for_circuits(
    config: NetworkConfig, schedules: Sequence[Schedule], fixed: Collection[str]
) -> tuple[NetworkConfig, list[Layout]]:
    """Give ``config`` the memories and operators that ``schedules`` need, as circuits."""
    layouts = []
    for schedule in schedules:
        schedule.require_listable("a program")
        layouts.append(Layout.of_circuits(schedule, config.message_words))
        if "message_words" not in fixed:
            words = max(config.message_words, _room(layouts[-1].room))
            config = replace(config, message_words=words)
    config = _with_operators(config, schedules, fixed)
    return config, [Layout.of_circuits(each, config.message_words) for each in schedules]


def _with_operators(
    config: NetworkConfig, schedules: Sequence[Schedule], fixed: Collection[str]
) -> NetworkConfig:
    """Give ``config`` the further operators of ``schedules``, and words as wide as their lanes."""
    if "operators" in fixed:
        return config
    names = (name for schedule in schedules for name in schedule.blocks.operator if name)
    known = {operator.name: operator for operator in config.operators}
    operators = as_operators(known.get(name, name) for name in dict.fromkeys((*known, *names)))
    width = config.flit_width
    if "flit_width" not in fixed:
        width = max([width, *(operator.lane_width for operator in operators)])
    return replace(config, operators=operators, flit_width=width)


def with_largest_tables(config: NetworkConfig, *, fixed: Collection[str] = ()) -> NetworkConfig:
    """Return ``config`` with the largest table memories, for a compilation that measures tables."""
    if "table_words" in fixed:
        return config
    # The host reads the number of an entry of circuits in one word.
    most = 1 << (config.narrow_width - 1) if config.circuits else MOST_MEMORY_WORDS
    return replace(config, table_words=min(most, MOST_MEMORY_WORDS))


def make_table_room(
    config: NetworkConfig, compiled: Sequence[Compiled], *, fixed: Collection[str] = ()
) -> tuple[NetworkConfig, list[Compiled]]:
    """Give ``config`` table memories for all of ``compiled``, and each program the new network."""
    if "table_words" not in fixed:
        words = max((each.table_words for each in compiled), default=0)
        config = replace(config, table_words=max(config.table_words, _room(words)))
    return config, [
        each._replace(program=replace(each.program, config=config)) for each in compiled
    ]


def _room(words: int) -> int:
    """Return the least power of two that holds ``words``, at most the largest memory."""
    return min(MOST_MEMORY_WORDS, power_for(words))


def _stream_columns(schedule: Schedule, streams: Streams, puts: Puts) -> dict[str, Numbers]:
    """Return the columns stream, lead and window of the puts."""
    lane, lead = np.zeros((2, schedule.sends), np.int64)
    lane[streams.send] = 1
    if schedule.port_model == PortModel.ALL_PORT:
        lane[streams.send] = _ports_in(schedule)[streams.feeder]
    lead[streams.send] = streams.lead
    return {"stream": lane[puts.send], "lead": lead[puts.send], "window": puts.window}


class _Receives(NamedTuple):
    """Receives as columns, sorted by node, step and port; port is 0 unless all-port."""

    node: Numbers
    step: Numbers
    port: Numbers


def _receives(schedule: Schedule, config: NetworkConfig) -> _Receives:
    """Return the steps and ports in which each node receives, ascending."""
    target, ports = schedule.target, _ports_in(schedule)
    order = np.lexsort((ports, schedule.step, target))
    node, step, port = (column[order].astype(np.int64) for column in (target, schedule.step, ports))
    if not config.all_port:
        port = np.zeros_like(port)
    again = (node[1:] == node[:-1]) & (step[1:] == step[:-1]) & (port[1:] == port[:-1])
    for place in np.flatnonzero(again)[:1].tolist():
        where = f" by port {port[place]}" if config.all_port else ""
        where = f"receives of node {node[place]} in step {step[place]}{where}"
        raise InvalidInput.of(where, "at most 1", 2)
    return _Receives(node, step, port)


def _ports_in(schedule: Schedule) -> npt.NDArray[np.int32]:
    """Return the link port by which each send enters its target, shape (sends,)."""
    before, target = schedule.path_nodes[schedule.path_offsets[1:] - 2], schedule.target
    ports: npt.NDArray[np.int32] = schedule.topology.peer[
        before, schedule.topology.ports_between(before, target)
    ]
    return ports
