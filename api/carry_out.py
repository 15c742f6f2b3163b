"""Schedules carried out, for users of Python: compiled, predicted, run on simulated hardware.

What carries out a schedule is a network with the parameters of :class:`.NetworkConfig`. Those that
only make room (step numbers, VCs, memories) are as large as the schedule needs unless given.
"""

from __future__ import annotations

import pathlib
from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

from ..model.base.errors import InvalidInput
from ..model.base.files import require_writable
from ..model.collectives.request import Ports
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
    """Compile a schedule to the injection tables of a network, which cannot deadlock.

    ``parameters`` are fields of :class:`.NetworkConfig` but for the topology: ``vcs``, ``depth``,
    ``flit_width``, ``link_registers``, ... Those that only make room (``steps``, ``vcs``,
    ``message_words``, ``table_words``) are as large as the schedule needs unless they are given.
    Raises :class:`.InvalidInput` for what does not fit, and where routes may deadlock.
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

    ``timing`` is "barrier" (a step begins when the last one is over everywhere) or "self-timed" (a
    node goes on as soon as it can); ``parameters`` are those of :func:`compile`. ``hold`` has the
    cycles for which the tiles of some nodes hold them back, in a network with ``tile_ports``; None
    where none does. The result has the
    cycles, the end of each step, stalls, flags, memories and the trace.
    Raises :class:`.InvalidInput` for what does not fit, and where routes may deadlock.
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
    """Run a schedule on the simulated hardware, and compare it with the prediction, flit for flit.

    Arguments are those of :func:`predict`. The simulator of a network is built once and kept.
    ``agrees`` of the result tells whether all was as predicted, ``checks`` each line.
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
    """Write a page (HTML) with which a run is watched in a browser.

    shown
        A schedule, of which the page shows what is predicted, as :func:`predict` takes it with
        ``timing`` and ``parameters``; or what :func:`verify` has returned.

    Raises :class:`.InvalidInput` as :func:`predict` does, for a network that is too large to be
    seen, and where the file cannot be written.
    """
    # Loads what draws networks.
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
    """Predict all algorithms for a collective, or those named, that serve ``network``.

    Each entry has the schedule, ``cycles`` by timing, and ``refusals`` of timings without. All are
    predicted on one network, with ``operator``, with ``ports`` and with room for each of them.
    Other arguments are those of :func:`.schedule` and :func:`compile`.
    Raises :class:`.InvalidInput` where none serves.
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
    """Compile and certify a schedule; refused if its own operator is only known by its name."""
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
