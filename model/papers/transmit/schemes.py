"""Plans and bounds for transmitting on a network: the paper's plan, ours, and lower bounds."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from math import isqrt
from typing import NamedTuple

from ...base.errors import InvalidInput, with_article
from ...network.named_graphs import de_bruijn_size, star_tree_size
from ...network.topology import Topology
from .certificate import Certificate
from .covering import cover_plan, square_balls
from .cubes_and_de_bruijn import (
    antipodal_plan,
    de_bruijn_balls,
    hypercube_balls,
    hypercube_plan,
    theorem_6_plan,
)
from .diagonal_mesh import ta_plan
from .lines import path_balls, path_plan, theorem_1_plan
from .plan import Plan, counted_time, counted_work, require_connected
from .search import best_plan, require_searchable
from .trees import (
    binary_tree_bound,
    corollary_2_plan,
    star_bound,
    star_plan,
    theorem_3_lines_plan,
    theorem_4_plan,
)

LARGEST_SEARCHED = 256
"""Nodes of a network of a kind with a plan of its own that is searched for a better one too."""

_Cost = tuple[int, int]


class Scheme(NamedTuple):
    """Knowledge of a kind of network: a bound on (t, s), and plans, the paper's first."""

    bound: Callable[[Topology], _Cost]
    plans: tuple[Callable[[Topology], Plan], ...]


@dataclass(frozen=True)
class Findings:
    """Plans for one network, the best last, and the proved bounds.

    Attributes
    ----------
    plans
        The plans, the best last.
    refusals
        The errors of plans that could not be made.
    bound
        A lower bound on (time, work): no plan takes less time, and no plan of that time has less
        work.
    certificates
        The proofs that the search found; empty if it did not run.
    """

    plans: tuple[Plan, ...]
    refusals: tuple[str, ...]
    bound: _Cost
    certificates: tuple[Certificate, ...]

    @property
    def best(self) -> Plan:
        """The best of all plans."""
        return self.plans[-1]

    @property
    def proved(self) -> bool:
        """Tell whether no plan is better than the best found."""
        return self.best.cost == self.bound


def transmit(topology: Topology, seconds: float = 30) -> Findings:
    """Return all plans for ``topology`` and the best bound; the search stops after ``seconds``.

    The search runs on networks of a kind that the paper does not treat. On other networks it runs
    up to :data:`LARGEST_SEARCHED` nodes, if counting has not proved our plan optimal. Raises
    :class:`InvalidInput` for a network with switches, that is not connected, or that has no known
    plan and is too large to search. (Theorem 3 serves a star tree without its centre, which is
    separate lines.)
    """
    if topology.switches:
        allowed = "one without switches, as every node passes the message on"
        raise InvalidInput.of("network to transmit on", allowed, with_article(topology.label))
    if _is_lines(topology):
        return _lines_findings(topology)
    scheme = SCHEMES.get(topology.kind) if topology.without_faults is None else None
    if scheme is None:
        require_searchable(topology)
    require_connected(topology)
    plans: list[Plan] = []
    refusals = []
    bound = (1, 1)
    if scheme is not None:
        bound = scheme.bound(topology)
        for make in scheme.plans:
            try:
                plan = make(topology)
            except InvalidInput as error:
                refusals.append(str(error))
            else:
                if plan.sends not in [other.sends for other in plans]:
                    plans.append(plan)
    certificates: Sequence[Certificate] = ()
    done = bound in [plan.cost for plan in plans]
    if not done and not (plans and topology.nodes > LARGEST_SEARCHED):
        answer = best_plan(topology, seconds, known=plans)
        if answer.plan not in plans:
            plans.append(answer.plan)
        bound = max(bound, (answer.least_time, answer.least_work))
        certificates = answer.certificates
    # The best last; of equals, those that were there first are before.
    best = min(reversed(plans), key=lambda plan: plan.cost)
    ordered = [*(plan for plan in plans if plan is not best), best]
    return Findings(tuple(ordered), tuple(refusals), bound, tuple(certificates))


def _is_lines(topology: Topology) -> bool:
    """Tell whether it is a star tree that has lost its centre, and nothing else."""
    alone = topology.faulty_nodes == (0,) and not topology.faulty_links
    return topology.kind == "star-tree" and alone


def _lines_findings(topology: Topology) -> Findings:
    """Return the plan of Theorem 3 for separate lines of the same length, where it has one."""
    lines, length = star_tree_size(topology)
    n = isqrt(lines * length)
    if n * n != lines * length or n % lines or n == lines:
        allowed = f"{lines} of n^2/{lines} nodes, n a multiple of {lines} and more (Theorem 3)"
        raise InvalidInput.of("separate lines", allowed, f"of {length}")
    bound = _by_count(path_balls(length), lines * length)
    return Findings((theorem_3_lines_plan(lines, n),), (), bound, ())


def _by_count(balls: Sequence[int], nodes: int) -> _Cost:
    time = counted_time(balls, nodes)
    return time, counted_work(balls, nodes, time)


def _path_bound(topology: Topology) -> _Cost:
    return _by_count(path_balls(topology.nodes), topology.nodes)


def _star_bound(topology: Topology) -> _Cost:
    return star_bound(*star_tree_size(topology))


def _square_bound(topology: Topology) -> _Cost:
    return _by_count(square_balls(topology.dims[0]), topology.nodes)


def _hypercube_bound(topology: Topology) -> _Cost:
    return _by_count(hypercube_balls(len(topology.dims)), topology.nodes)


def _de_bruijn_bound(topology: Topology) -> _Cost:
    return _by_count(de_bruijn_balls(*de_bruijn_size(topology)), topology.nodes)


SCHEMES = {
    "line": Scheme(_path_bound, (theorem_1_plan, path_plan)),
    "ring": Scheme(_path_bound, (theorem_1_plan, path_plan)),
    "binary-tree": Scheme(binary_tree_bound, (corollary_2_plan,)),
    "star-tree": Scheme(_star_bound, (theorem_4_plan, star_plan)),
    "diagonal-mesh": Scheme(_square_bound, (ta_plan, cover_plan)),
    "hypercube": Scheme(_hypercube_bound, (antipodal_plan, hypercube_plan)),
    "de-bruijn": Scheme(_de_bruijn_bound, (theorem_6_plan,)),
}
"""By the kind of the topology."""
