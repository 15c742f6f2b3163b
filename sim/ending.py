"""The end of a run, decoded from a controller's word *result* (docs/router.md, section 16)."""

from ..model.run.run import Ending, EndState
from ..rtl.parts.host_map import RunState
from .job import state_of

_STATES = {
    RunState.DONE: EndState.DONE,
    RunState.FAILED: EndState.FAILED,
    RunState.TIMED_OUT: EndState.TIMED_OUT,
}
_CULPRIT_LOW = 16


def ending_of(result: int, cycle: int) -> Ending | None:
    """Return the end of the last run; None if it has not ended by itself.

    ``result`` is the controller's word *result*, ``cycle`` the cycle at which its count stopped.
    """
    state = _STATES.get(RunState(state_of(result)))
    if state is None:
        return None
    culprit = None if state is EndState.DONE else result >> _CULPRIT_LOW
    return Ending(state, cycle, culprit)
