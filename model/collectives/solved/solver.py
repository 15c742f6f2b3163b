"""Parts that the solver's models share: CP-SAT of OR-tools, the network, the search."""

from __future__ import annotations

from collections.abc import Callable
from time import monotonic
from typing import TYPE_CHECKING, Any, TypeVar

from ...base.errors import InvalidInput
from ...network.links import linked_pairs
from ...network.topology import Topology

if TYPE_CHECKING:
    from ortools.sat.python.cp_model import CpModel, CpSolver

MOST_NODES = 9
"""Most nodes, with switches: the solver's models grow with their third power, or faster."""
SECONDS = 60.0
"""Seconds for each model, and for an objective."""
MOST_UNSOLVED = 10
"""Models that the solver may leave unsolved in their time before the search ends."""
SOLVED = ("OPTIMAL", "FEASIBLE")


class Model:
    """A model of schedules on a network, and its last solution; refused without OR-tools."""

    linearization = 1
    """How much of the model CP-SAT gives to its linear solver, too: OR-tools' default."""

    def __init__(self, topology: Topology, name: str) -> None:
        self._cp_model = _cp_model_of(name)
        self._model: CpModel = self._cp_model.CpModel()
        self._solver: CpSolver
        begins, ends = linked_pairs(topology)
        self._links = sorted({*zip(begins.tolist(), ends.tolist(), strict=True)})
        self._nodes = topology.working_nodes.tolist()

    def solve(self) -> str:
        """Look for any schedule, or keep the last solution; return the solver's status."""
        end = monotonic() + SECONDS
        while True:
            solver = self._cp_model.CpSolver()
            solver.parameters.max_time_in_seconds = max(0.0, end - monotonic())
            solver.parameters.num_workers = 1
            solver.parameters.linearization_level = self.linearization
            status = str(solver.status_name(solver.solve(self._model)))
            if status not in SOLVED:
                return status
            if not self._forbids(solver):
                self._solver = solver
                return status

    def _forbids(self, solver: CpSolver) -> bool:
        """Return whether a solution is none, and add what forbids it to the model."""
        return False


Found = TypeVar("Found", bound=Model)


def least(make: Callable[[int], Found], numbers: range) -> tuple[Found | None, int, int]:
    """Solve the models of ``numbers`` in turn, until one has a solution, or too many take too long.

    Return this model, or None, its number, and the number below which the solver has proved that
    none has a solution.
    """
    proved, number, unsolved = 0, 0, 0
    for number in numbers:
        model = make(number)
        status = model.solve()
        if status == "INFEASIBLE" and proved == number:
            proved = number + 1
        if status in SOLVED:
            return model, number, proved
        unsolved += status != "INFEASIBLE"
        if unsolved == MOST_UNSOLVED:
            break
    return None, number, proved


def _cp_model_of(name: str) -> Any:
    """Return the solver's module; refuse the algorithm of this name where it is not installed."""
    try:
        from ortools.sat.python import cp_model  # noqa: PLC0415 - of an extra
    except ImportError as error:
        allowed = "another one without OR-tools (pip install 'eyecast[certify]')"
        raise InvalidInput.of("algorithm", allowed, name) from error
    return cp_model
