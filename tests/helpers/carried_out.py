"""A schedule carried out in the cycle model: proved, compiled, finished and delivered."""

from eyecast.model.compare.case import Case
from eyecast.model.network.config import Timing
from eyecast.model.program.certified import compile_certified
from eyecast.model.schedule.schedule import Schedule


def carried_out(made: Schedule, *, waits: bool = True, circuits: bool = False) -> Case:
    """Return the predicted run; require that each node gets all blocks that it is owed.

    Without ``waits``, require that no flit waits. ``circuits`` chooses the kind of network.
    """
    made.check()
    parameters = {"circuits": True} if circuits else {}
    case = Case.of(compile_certified(made, parameters), timing=Timing.BARRIER, seed=1)
    assert case.predicted.finished
    assert waits or not case.predicted.stalled_flits.any()
    got = case.payload.delivered(case.predicted.memory, made.topology)
    assert got.sum() == len(made.blocks.served(made.topology))
    return case


def cycles_of(made: Schedule) -> int:
    """Return a schedule's cycles; require that it delivers all blocks, and that no flit waits."""
    return carried_out(made, waits=False).predicted.cycles
