"""The least time and the least work of the host on any graph, by search, with a certificate.

:mod:`.plan` puts the question: can balls of radii t - 1, ..., t - s, one of each, cover all
nodes? The search takes an uncovered node that few balls can cover and tries them all::

    refuted(uncovered, radii):
        count:  if even the largest balls of all radii cover less than is uncovered, it is refuted
        split:  for a node u of uncovered, each radius r and each ball of radius r around u's reach:
                    refuted(uncovered - ball, radii - {r})

If a ball covers only a part of the uncovered nodes that another ball of the same radius covers, it
is left out. A set of nodes is an integer with one bit for each node.

The refuted cases are written down as a :class:`Certificate`, which
:func:`.certificate.check_certificate` follows without knowing anything of the search.
"""

from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass
from time import monotonic

from ...base.errors import InvalidInput
from ...network.topology import NO_LINK, Topology
from .certificate import BY_COUNT, SEEN, Certificate, check_certificate
from .plan import Plan, counted_work, require_connected

LARGEST_GRAPH = 4096
"""The largest number of nodes of a graph that is searched, with all its balls in memory."""


def require_searchable(topology: Topology) -> None:
    """Raise :class:`InvalidInput` for a network with too many nodes to be searched."""
    if topology.nodes > LARGEST_GRAPH:
        allowed = f"at most {LARGEST_GRAPH} to be searched"
        raise InvalidInput.of(f"nodes of the {topology.label}", allowed, topology.nodes)


class Balls:
    """Nodes that a message covers within r steps of each node, for r from 0 on."""

    def __init__(self, topology: Topology) -> None:
        require_searchable(topology)
        healthy = topology.working_nodes.tolist()
        self._following = [
            [end for end in set(topology.neighbor[node].tolist()) if end != NO_LINK]
            for node in healthy
        ]
        self._place = {node: place for place, node in enumerate(healthy)}
        self.centres: list[int] = healthy
        self.everything = sum(1 << node for node in healthy)
        self._of_radius = [[1 << node for node in healthy]]
        self._complete = False

    def __getitem__(self, radius: int) -> list[int]:
        """Return the balls of ``radius`` around the nodes :attr:`centres`, in their order."""
        while len(self._of_radius) <= radius and not self._complete:
            smaller = self._of_radius[-1]
            larger = []
            for ball, ends in zip(smaller, self._following, strict=True):
                union = ball
                for end in ends:
                    union |= smaller[self._place[end]]
                larger.append(union)
            self._complete = larger == smaller
            self._of_radius.append(larger)
        return self._of_radius[min(radius, len(self._of_radius) - 1)]

    def least_time(self) -> int:
        """Return the least time by counting (:func:`.plan.counted_time`)."""
        radius, held = 0, 0
        while held < len(self.centres):
            held += self._largest(radius)
            radius += 1
        return radius

    def least_work(self, time: int) -> int:
        """Return the least work in ``time`` by counting (:func:`.plan.counted_work`)."""
        sizes = [self._largest(radius) for radius in range(time)]
        return counted_work(sizes, len(self.centres), time)

    def _largest(self, radius: int) -> int:
        """Return the most nodes in a ball of ``radius``."""
        return max(map(int.bit_count, self[radius]))


@dataclass(frozen=True)
class Answer:
    """The best plan found, and the proved lower bounds.

    ``least_time`` and ``least_work`` are proved lower bounds, the latter on the work of plans of
    that time. ``certificates`` are the checked proofs: that one step less is too few, and that one
    send less is too few in this time.
    """

    plan: Plan
    least_time: int
    least_work: int
    certificates: tuple[Certificate, ...]

    @property
    def proved(self) -> bool:
        """Tell whether the plan is as good as any."""
        return self.plan.cost == (self.least_time, self.least_work)


def best_plan(topology: Topology, seconds: float, *, known: Sequence[Plan] = ()) -> Answer:
    """Return the optimal plan, or in ``seconds`` the best that is found and how good it may be.

    Networks of some hundred nodes or more get the greedy plan and the bound by counting alone.
    ``known`` are plans to improve on. Raises :class:`InvalidInput` for a network that is not
    connected or has more than :data:`LARGEST_GRAPH` nodes.
    """
    require_connected(topology)
    search = _Search(topology, seconds)
    best = min((*known, greedy_plan(topology, search.balls)), key=lambda plan: plan.cost)
    time = search.balls.least_time()
    work = search.balls.least_work(time)
    # From the bound upwards, so that the last refuted case is just below the answer.
    with suppress(_OutOfTime):
        while time < best.time:
            best = search.cover(time, time) or best
            time = min(time + 1, best.time)
            work = search.balls.least_work(time)
        while work < best.work:
            best = search.cover(time, work) or best
            work = min(work + 1, best.work)
        search.cover(time, work - 1)
        search.cover(time - 1, time - 1)
    proofs = tuple(
        search.refuted[case]
        for case in ((time - 1, time - 1), (time, work - 1))
        if case in search.refuted
    )
    for proof in proofs:
        check_certificate(topology, proof)
    return Answer(best, time, work, proofs)


def greedy_plan(topology: Topology, balls: Balls | None = None) -> Plan:
    """Return a plan found fast: each ball, the largest first, covers the most uncovered nodes."""
    balls = balls or Balls(topology)
    least = time = balls.least_time()
    while (best := _greedy_centres(balls, time)) is None:
        least, time = time + 1, 2 * time
    # With more time the greedy choice may fail again, so bisection may miss the least time.
    while least < time:
        middle = (least + time) // 2
        centres = _greedy_centres(balls, middle)
        if centres is None:
            least = middle + 1
        else:
            best, time = centres, middle
    return Plan.of_centres(topology, best, "greedy")


def _greedy_centres(balls: Balls, time: int) -> list[int] | None:
    """Return the centres of balls of radii time - 1, time - 2, ..., each chosen by itself."""
    uncovered, centres = balls.everything, []
    for radius in range(time - 1, -1, -1):
        pieces = [(ball & uncovered).bit_count() for ball in balls[radius]]
        best = pieces.index(max(pieces))
        centres.append(balls.centres[best])
        uncovered &= ~balls[radius][best]
        if not uncovered:
            return centres
    return None


_MOST_BALLS = 5000
"""Most balls for a search: with more, a single case takes seconds."""


class _OutOfTime(Exception):
    """The search has used up its time."""


class _Search:
    """The search on one network, with one limit of time; ``refuted`` by (time, sends)."""

    def __init__(self, topology: Topology, seconds: float) -> None:
        self.balls = Balls(topology)
        self.refuted: dict[tuple[int, int], Certificate] = {}
        self._topology = topology
        self._deadline = monotonic() + seconds
        self._seen: set[_Case] = set()
        self._entries: list[int] = []

    def cover(self, time: int, sends: int) -> Plan | None:
        """Return a plan of ``sends`` sends and at most ``time`` steps, or None if none exists."""
        if (time, sends) in self.refuted:
            return None
        if sends * len(self.balls.centres) > _MOST_BALLS:
            raise _OutOfTime
        self._entries = []
        self._seen = set()
        radii = tuple(range(time - 1, time - 1 - sends, -1))
        found = self._cover(self.balls.everything, radii)
        if found is None:
            self.refuted[time, sends] = Certificate(time, sends, tuple(self._entries))
            return None
        places = {time - radius: centre for radius, centre in found}
        return Plan(self._topology, tuple(sorted(places.items())), "search")

    def _cover(self, uncovered: int, radii: tuple[int, ...]) -> list[tuple[int, int]] | None:
        """(radius, centre) pairs of balls that cover all of ``uncovered``, None if none do."""
        if not uncovered:
            return []
        if (uncovered, radii) in self._seen:
            self._entries.append(SEEN)
            return None
        if monotonic() > self._deadline:
            raise _OutOfTime
        pieces = [self._pieces(uncovered, radius) for radius in radii]
        most = sum(max(map(int.bit_count, of_radius)) for of_radius in pieces)
        if most < uncovered.bit_count():
            self._entries.append(BY_COUNT)
            return None
        node = _least_covered(uncovered, pieces)
        self._entries.append(node)
        for radius, of_radius in zip(radii, pieces, strict=True):
            left = tuple(other for other in radii if other != radius)
            for piece, centre in _largest_around(node, of_radius):
                rest = self._cover(uncovered & ~piece, left)
                if rest is not None:
                    return [(radius, centre), *rest]
        self._seen.add((uncovered, radii))
        return None

    def _pieces(self, uncovered: int, radius: int) -> dict[int, int]:
        """Parts of ``uncovered`` that balls of ``radius`` cover, and the lowest centre of each."""
        pieces: dict[int, int] = {}
        for ball, centre in zip(self.balls[radius], self.balls.centres, strict=True):
            pieces.setdefault(ball & uncovered, centre)
        return pieces


_Case = tuple[int, tuple[int, ...]]


def _least_covered(uncovered: int, pieces: list[dict[int, int]]) -> int:
    """Return the node of ``uncovered`` that is in the fewest pieces."""
    every = [piece for of_radius in pieces for piece in of_radius]
    fewest, chosen = len(every) + 1, NO_LINK
    rest = uncovered
    while rest:
        bit = rest & -rest
        rest ^= bit
        count = sum(1 for piece in every if piece & bit)
        if count < fewest:
            fewest, chosen = count, bit.bit_length() - 1
    return chosen


def _largest_around(node: int, pieces: dict[int, int]) -> Iterator[tuple[int, int]]:
    """Yield the pieces that hold ``node`` and are no part of another, in a certificate's order."""
    bit = 1 << node
    around = [(piece, centre) for piece, centre in pieces.items() if piece & bit]
    around.sort(key=lambda entry: (-entry[0].bit_count(), entry[1]))
    kept: list[int] = []
    for piece, centre in around:
        if not any(piece & ~other == 0 for other in kept):
            kept.append(piece)
            yield piece, centre
