"""Compiling, predicting and verifying schedules from Python.

``parameters`` are those of :class:`.NetworkConfig`. Parameters that only set sizes (step numbers,
VCs, memories) default to what the schedule needs.
"""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING, Any, Unpack

import numpy as np

from ..model.base.errors import InvalidInput
from ..model.base.files import require_writable
from ..model.compare.comparison import compare as compare_algorithms
from ..model.network.config import Timing
from ..model.network.network_text import SizeLimit
from ..model.network.operators import Operator, is_built_in, operator_names
from ..model.network.port_model import PortModel
from ..model.network.topology import Topology
from ..model.program import file as program_file
from ..model.program.any_program import AnyProgram
from ..model.program.certified import compile_certified
from ..model.schedule.schedule import Schedule
from .annotations import (
    BlockWords,
    CollectiveName,
    Groups,
    Hold,
    NetworkParameters,
    Node,
    OperatorName,
    OrderName,
    PortsName,
    TimingName,
)
from .arguments import checked
from .notebook import Entries, Player
from .task import node_number, room_of, task_of

if TYPE_CHECKING:
    from ..model.compare.case import Case
    from ..model.compare.checks import Verification
    from ..model.program.compiler import Compiled
    from ..model.run.run import Prediction
    from ..model.workload.run import WorkloadRun
    from ..report.contents import Report


read_program = checked(program_file.read_program)
write_program = checked(program_file.write_program)


@checked
def compile(schedule: Schedule, /, **parameters: Unpack[NetworkParameters]) -> AnyProgram:
    """Compile a schedule to injection tables, and prove that they cannot deadlock.

    Parameters
    ----------
    schedule
        The schedule.
    **parameters
        Fields of :class:`.NetworkConfig` except the topology: ``vcs``, ``depth``, ``flit_width``,
        ``link_registers``, ... ``steps``, ``vcs``, ``message_words`` and ``table_words`` default to
        what the schedule needs.

    Returns
    -------
    Program or CircuitProgram
        The injection tables of all nodes; with ``circuits``, their run tables.

    Raises
    ------
    InvalidInput
        If the schedule does not fit or its routes may deadlock.

    References
    ----------
    W. J. Dally & C. L. Seitz, "Deadlock-Free Message Routing in Multiprocessor Interconnection
    Networks", IEEE Transactions on Computers, 1987.
    """
    return _compiled(schedule, dict(parameters)).program


@checked
def predict(
    schedule: Schedule,
    /,
    *,
    timing: TimingName = "barrier",
    hold: Hold | None = None,
    **parameters: Unpack[NetworkParameters],
) -> Prediction:
    """Predict, cycle for cycle, what the hardware does with a schedule.

    Parameters
    ----------
    schedule
        The schedule.
    timing
        "barrier": a step begins when the last one has ended at every node. "self-timed": each node
        goes on as soon as it can.
    hold
        Cycles for which a node's tile holds it back, by node; needs ``tile_ports``. None for no
        hold.
    **parameters
        Those of :func:`compile`.

    Returns
    -------
    Prediction
        The cycles, the end of each step, stalls, flags, memories and the trace.

    Raises
    ------
    InvalidInput
        If the schedule does not fit or its routes may deadlock.
    """
    return _case(schedule, timing, dict(parameters), hold, simulated=False).predicted


@checked
def verify(
    schedule: Schedule,
    /,
    *,
    timing: TimingName = "barrier",
    hold: Hold | None = None,
    **parameters: Unpack[NetworkParameters],
) -> Verification:
    """Run a schedule on the simulated hardware, and check it flit for flit against the prediction.

    The simulator of a network is built once and kept.

    Parameters
    ----------
    schedule
        The schedule.
    timing
        As in :func:`predict`.
    hold
        As in :func:`predict`.
    **parameters
        Those of :func:`compile`.

    Returns
    -------
    Verification
        ``agrees`` is true if everything is as predicted, ``checks`` has each check.

    Raises
    ------
    InvalidInput
        As :func:`predict` does, for more than 1,024 nodes, and if the simulator cannot be built.
    """
    from ..sim.verify import verify as carry_out  # noqa: PLC0415 - loads the simulator's tools

    SizeLimit.HARDWARE.require(schedule.topology.label, schedule.topology.nodes)
    (result,) = carry_out([_case(schedule, timing, dict(parameters), hold)])
    return result


@checked
def write_report(
    shown: Schedule | Verification | WorkloadRun,
    path: str | Path,
    /,
    *,
    timing: TimingName = "barrier",
    **parameters: Unpack[NetworkParameters],
) -> None:
    """Write an HTML page that replays a run in a browser.

    Parameters
    ----------
    shown
        A schedule, which is predicted with ``timing`` and ``parameters``; or the result of
        :func:`verify` or :func:`.workload`.
    path
        The file, .html.
    timing
        As in :func:`predict`.
    **parameters
        Those of :func:`compile`.

    Returns
    -------
    None

    Raises
    ------
    InvalidInput
        As :func:`predict` does, if the network is too large to draw, and if the file cannot be
        written.
    """
    require_writable(path)
    _report(shown, timing, dict(parameters)).write(path)


@checked
def play(
    shown: Schedule | Verification | WorkloadRun,
    /,
    *,
    timing: TimingName = "barrier",
    **parameters: Unpack[NetworkParameters],
) -> Player:
    """Play a run in a notebook: the network cycle by cycle, with buttons and a slider.

    Parameters
    ----------
    shown
        As in :func:`write_report`.
    timing
        As in :func:`predict`.
    **parameters
        Those of :func:`compile`.

    Returns
    -------
    Player
        What a notebook shows if it is the last value of a cell.

    Raises
    ------
    InvalidInput
        As :func:`predict` does, and if the network is too large to draw.
    """
    report = _report(shown, timing, dict(parameters))
    return Player(report.title, report.player())


def _report(
    shown: Schedule | Verification | WorkloadRun, timing: TimingName, parameters: dict[str, Any]
) -> Report:
    """Return the page of a run."""
    # Loads the drawing code.
    from ..model.workload.run import WorkloadRun  # noqa: PLC0415
    from ..report.reports import (  # noqa: PLC0415
        report_case,
        report_verification,
        report_workload,
    )

    if isinstance(shown, Schedule):
        return report_case(_case(shown, timing, parameters))
    if isinstance(shown, WorkloadRun):
        return report_workload(shown)
    return report_verification(shown)


@checked
def compare(
    network: Topology,
    *,
    source: Node | None = None,
    collective: CollectiveName = "broadcast",
    algorithms: Iterable[str] | None = None,
    targets: Iterable[Node] | None = None,
    words: int | None = None,
    ports: PortsName = "one",
    packet: int | None = None,
    partial: bool = False,
    order: OrderName | None = None,
    operator: OperatorName | Operator | None = None,
    block_words: BlockWords | None = None,
    groups: Groups | None = None,
    **parameters: Unpack[NetworkParameters],
) -> Entries:
    """Predict all algorithms for a collective, or the named ones, that serve a network.

    All run on one network that has ``operator``, ``ports`` and room for every algorithm.

    Parameters
    ----------
    network
        The network.
    source, collective, targets, words, ports, packet, partial, order, operator
        As in :func:`.schedule`.
    block_words, groups
        As in :func:`.schedule`.
    algorithms
        Names of algorithms; None for all.
    **parameters
        Those of :func:`compile`.

    Returns
    -------
    Entries
        A list of :class:`.Entry`: each algorithm's schedule, its ``cycles`` by timing, and the
        ``refusals`` of the other timings.

    Raises
    ------
    InvalidInput
        If no algorithm serves the network.
    """
    if "all_port" in parameters:
        raise InvalidInput("all_port must be left out beside ports")
    SizeLimit.COMPARISON.require(network.label, network.nodes)
    task = task_of(
        network,
        source=source,
        collective=collective,
        targets=targets,
        words=words,
        ports=ports,
        packet=packet,
        partial=partial,
        order=order,
        operator=operator,
        block_words=block_words,
        groups=groups,
    )
    room = room_of(operator, {**parameters, "all_port": ports == "all"})
    return Entries(compare_algorithms(task, room, algorithms).entries)


def _compiled(schedule: Schedule, parameters: dict[str, Any]) -> Compiled:
    """Compile and certify a schedule; raise if a custom operator's definition is missing."""
    SizeLimit.PROGRAM.require(schedule.topology.label, schedule.topology.nodes)
    known: tuple[Operator, ...] = parameters.get("operators", ())
    names = {each.name for each in known}
    for name in schedule.blocks.operator:
        if not (name is None or is_built_in(name) or name in names):
            allowed = f"given with the Operator {name}, by which the schedule combines"
            raise InvalidInput.of("operators", allowed, operator_names(known) or "left out")
    return compile_certified(schedule, parameters)


def _case(
    schedule: Schedule,
    timing: str,
    parameters: dict[str, Any],
    hold: Hold | None = None,
    *,
    simulated: bool = True,
) -> Case:
    """Compile, certify and predict a schedule."""
    from ..model.compare.case import Case  # noqa: PLC0415 - loads the compiled cycle model

    if parameters.get("all_port") and schedule.port_model != PortModel.ALL_PORT:
        why = 'schedule(..., ports="all") makes one of all ports'
        raise InvalidInput(f"all_port must be left out with a schedule of one port: {why}")
    held = None
    if hold is not None:
        held = np.zeros(schedule.topology.nodes, dtype=np.int64)
        for node, cycles in hold.items():
            held[node_number(schedule.topology, node, "node to hold")] = cycles
    compiled = _compiled(schedule, parameters)
    return Case.of(compiled, timing=Timing.named(timing), seed=0, hold=held, simulated=simulated)
