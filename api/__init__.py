"""The Python interface of Eyecast: the names that ``import eyecast`` provides.

::

    import eyecast

    network = eyecast.mesh((8, 8))
    schedule = eyecast.schedule(network, "eye", source=(2, 2), words=16)
    print(eyecast.measures(schedule))                       # steps, TCD, and their lower bounds
    print(eyecast.predict(schedule).cycles)                 # the cycle model
    print(eyecast.verify(schedule).agrees)                  # the simulated hardware
    eyecast.draw(schedule, "eye.svg")

A node is a number or its coordinates. Bad input raises :class:`.InvalidInput`: one line that names
the parameter, the allowed values and the given value.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

from ..model.base.errors import InvalidInput
from ..model.network.config import NetworkConfig
from ..model.network.operators import Operator
from ..model.network.topology import Topology
from ..model.program.program import Program
from ..model.run.run import Prediction
from ..model.run.trace import Trace
from ..model.schedule.rules import ScheduleError
from ..model.schedule.schedule import Schedule
from .annotations import (
    BlockWords,
    CollectiveName,
    Group,
    Groups,
    Hold,
    NetworkParameters,
    Node,
    OperatorName,
    OrderName,
    PatternName,
    PolicyName,
    PortModelName,
    PortsName,
    TimingName,
)
from .networks import (
    binary_tree,
    chiplets,
    de_bruijn,
    diagonal_mesh,
    graph,
    hypercube,
    line,
    mesh,
    read_network,
    ring,
    star_tree,
    torus,
    with_faults,
    with_random_faults,
)
from .notebook import Entries, Measures, Player
from .own_schedule import schedule_of_rounds, schedule_of_sends
from .runs import (
    compare,
    compile,
    play,
    predict,
    read_program,
    verify,
    write_program,
    write_report,
)
from .schedules import (
    algorithms,
    draw,
    measures,
    read_schedule,
    schedule,
    transmit,
    transmit_schedule,
    write_schedule,
)
from .sends import Block, RoundSendLike, Send, SendLike
from .sweeps import SweepRows, sweep
from .traffic import TrafficRun, traffic
from .workload import workload

if TYPE_CHECKING:
    from ..model.compare.checks import Verification
    from ..model.compare.side_by_side import Entry
    from ..model.papers.transmit.plan import Plan
    from ..model.papers.transmit.schemes import Findings
    from ..model.workload.run import WorkloadRun

__all__ = [
    "Block",
    "BlockWords",
    "CollectiveName",
    "Entries",
    "Entry",
    "Findings",
    "Group",
    "Groups",
    "Hold",
    "InvalidInput",
    "Measures",
    "NetworkConfig",
    "NetworkParameters",
    "Node",
    "Operator",
    "OperatorName",
    "OrderName",
    "PatternName",
    "Plan",
    "Player",
    "PolicyName",
    "PortModelName",
    "PortsName",
    "Prediction",
    "Program",
    "RoundSendLike",
    "Schedule",
    "ScheduleError",
    "Send",
    "SendLike",
    "SweepRows",
    "TimingName",
    "Topology",
    "Trace",
    "TrafficRun",
    "Verification",
    "WorkloadRun",
    "algorithms",
    "binary_tree",
    "chiplets",
    "compare",
    "compile",
    "de_bruijn",
    "diagonal_mesh",
    "draw",
    "graph",
    "hypercube",
    "line",
    "measures",
    "mesh",
    "play",
    "predict",
    "read_network",
    "read_program",
    "read_schedule",
    "ring",
    "schedule",
    "schedule_of_rounds",
    "schedule_of_sends",
    "star_tree",
    "sweep",
    "torus",
    "traffic",
    "transmit",
    "transmit_schedule",
    "verify",
    "with_faults",
    "with_random_faults",
    "workload",
    "write_program",
    "write_report",
    "write_schedule",
]

_LATER = {
    "Entry": "compare.side_by_side",
    "Findings": "papers.transmit.schemes",
    "Plan": "papers.transmit.plan",
    "Verification": "compare.checks",
    "WorkloadRun": "workload.run",
}
"""Modules of the model with results' classes, of which some load the compiled cycle model."""

if not TYPE_CHECKING:

    def __getattr__(name: str) -> Any:
        """Load the class of a result when it is first asked for."""
        if name not in _LATER:
            raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
        return getattr(import_module(f"..model.{_LATER[name]}", __name__), name)
