"""Compiling, predicting and verifying schedules from Python.

``parameters`` are those of :class:`.NetworkConfig`. Parameters that only set sizes (step numbers,
VCs, memories) default to what the schedule needs.
"""

from __future__ import annotations

import pathlib
from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

from ..model.base.errors import InvalidInput
from ..model.base.files import require_writable
from ..model.collectives.declared.request import Ports
from ..model.compare.comparison import compare as compare_algorithms
from ..model.network.config import Timing
from ..model.network.operators import BUILT_IN, Operator, operator_names
from ..model.network.port_model import PortModel
from ..model.network.topology import Topology
from ..model.program.certified import compile_certified
from ..model.program.program import Program
from ..model.schedule.collective import Collective
from ..model.schedule.schedule import Schedule
from .arguments import checked
from .task import BlockWords, Groups, Node, node_number, room_of, task_of

if TYPE_CHECKING:
    from ..model.compare.case import Case
    from ..model.compare.checks import Verification
    from ..model.compare.side_by_side import Entry
    from ..model.program.compiler import Compiled
    from ..model.run.run import Prediction


@checked
def compile(made: Schedule, /, **parameters: Any) -> Program:
    """Compile a schedule to injection tables, and prove that they cannot deadlock.

    ``parameters`` are fields of :class:`.NetworkConfig` except the topology: ``vcs``, ``depth``,
    ``flit_width``, ``link_registers``, ... ``steps``, ``vcs``, ``message_words`` and
    ``table_words`` default to what the schedule needs.

    Raises :class:`.InvalidInput` if the schedule does not fit or its routes may deadlock.
    """
    return _compiled(made, parameters).program


@checked
def predict(
    made: Schedule,
    /,
    *,
    timing: str = Timing.BARRIER,
    hold: Mapping[Node, int] | None = None,
    **parameters: Any,
) -> Prediction:
    """Predict, cycle for cycle, what the hardware does with a schedule.

    timing
        "barrier": a step begins when the last one has ended at every node. "self-timed": each node
        goes on as soon as it can.
    hold
        Cycles for which a node's tile holds it back, by node; needs ``tile_ports``. None for no
        hold.

    ``parameters`` are those of :func:`compile`.
    Returns the cycles, the end of each step, stalls, flags, memories and the trace.
    Raises :class:`.InvalidInput` if the schedule does not fit or its routes may deadlock.
    """
    return _case(made, timing, parameters, hold, simulated=False).predicted


@checked
def verify(
    made: Schedule,
    /,
    *,
    timing: str = Timing.BARRIER,
    hold: Mapping[Node, int] | None = None,
    **parameters: Any,
) -> Verification:
    """Run a schedule on the simulated hardware, and check it flit for flit against the prediction.

    Takes the arguments of :func:`predict`. Builds the simulator of a network once and keeps it.
    Returns the result: ``agrees`` is true if everything is as predicted, ``checks`` has each check.
    """
    from ..sim.verify import verify as carry_out  # noqa: PLC0415 - loads the simulator's tools

    (result,) = carry_out([_case(made, timing, parameters, hold)])
    return result


@checked
def write_report(
    shown: Schedule | Verification,
    path: str | pathlib.Path,
    /,
    *,
    timing: str = Timing.BARRIER,
    **parameters: Any,
) -> None:
    """Write an HTML page that replays a run in a browser.

    shown
        A schedule, which is predicted with ``timing`` and ``parameters`` as in :func:`predict`; or
        the result of :func:`verify`.

    Raises :class:`.InvalidInput` as :func:`predict` does, if the network is too large to draw, and
    if the file cannot be written.
    """
    # Loads the drawing code.
    from ..report.reports import report_case, report_verification  # noqa: PLC0415

    require_writable(path)
    if isinstance(shown, Schedule):
        report_case(_case(shown, timing, parameters)).write(path)
    else:
        report_verification(shown).write(path)


@checked
def compare(
    network: Topology,
    *,
    source: Node | None = None,
    collective: str = Collective.BROADCAST,
    algorithms: Iterable[str] | None = None,
    targets: Iterable[Node] | None = None,
    flits: int | None = None,
    ports: str = Ports.ONE,
    packet: int | None = None,
    partial: bool = False,
    operator: str | Operator | None = None,
    block_words: BlockWords | None = None,
    groups: Groups | None = None,
    **parameters: Any,
) -> list[Entry]:
    """Predict all algorithms for a collective, or the named ones, that serve ``network``.

    All run on one network that has ``operator``, ``ports`` and room for every algorithm. Other
    arguments are those of :func:`.schedule` and :func:`compile`.
    Returns entries with the schedule, ``cycles`` by timing, and ``refusals`` of the other timings.
    Raises :class:`.InvalidInput` if no algorithm serves the network.
    """
    if "all_port" in parameters:
        raise InvalidInput("all_port must be left out: ports says it")
    task = task_of(
        network,
        source=source,
        collective=collective,
        targets=targets,
        flits=flits,
        ports=ports,
        packet=packet,
        partial=partial,
        operator=operator,
        block_words=block_words,
        groups=groups,
    )
    room = room_of(operator, {**parameters, "all_port": ports == Ports.ALL})
    return [*compare_algorithms(task, room, algorithms).entries]


def _compiled(made: Schedule, parameters: dict[str, Any]) -> Compiled:
    """Compile and certify a schedule; raise if a custom operator's definition is missing."""
    known: tuple[Operator, ...] = parameters.get("operators", ())
    names = {*BUILT_IN, *(each.name for each in known)}
    for name in made.blocks.operator:
        if name is not None and name not in names:
            allowed = f"given with the Operator {name}, by which the schedule combines"
            raise InvalidInput.of("operators", allowed, operator_names(known) or "left out")
    return compile_certified(made, parameters)


def _case(
    made: Schedule,
    timing: str,
    parameters: dict[str, Any],
    hold: Mapping[Node, int] | None = None,
    *,
    simulated: bool = True,
) -> Case:
    """Compile, certify and predict a schedule."""
    from ..model.compare.case import Case  # noqa: PLC0415 - loads the compiled cycle model

    if parameters.get("all_port") and made.port_model != PortModel.ALL_PORT:
        why = 'schedule(..., ports="all") makes one of all ports'
        raise InvalidInput(f"all_port must be left out with a schedule of one port: {why}")
    held = None
    if hold is not None:
        held = np.zeros(made.topology.nodes, dtype=np.int64)
        for node, cycles in hold.items():
            held[node_number(made.topology, node, "node to hold")] = cycles
    compiled = _compiled(made, parameters)
    return Case.of(compiled, timing=Timing.named(timing), seed=0, hold=held, simulated=simulated)
