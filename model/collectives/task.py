"""Tasks: the wishes of a user, from the command line, from Python or from a sweep.

A task names a collective and its network. An algorithm gets a :class:`.Request` made from the task:
for all nodes, or for one group on a network of its own. This module has the defaults and the rules
that hold for every algorithm::

    Task ──► Request of a group ──► algorithm, or the best of all ──► Schedule, checked
"""

from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from functools import cached_property

from ..base.errors import InvalidInput, require_range
from ..network.boxes import Nodes
from ..network.operators import Operator, require_built_in
from ..network.topology import Topology, hypercube
from ..schedule.blocks import CUSTOM
from ..schedule.canonical import CANONICAL
from ..schedule.collective import REDUCTIONS, ROOTLESS, Collective
from ..schedule.requested import Requested
from ..schedule.schedule import Schedule
from .declared.block_words import BlockWords, require_block_words
from .declared.request import Ports, Request, combining_operator, words_of
from .group_choice import Grouping, NamedGroups
from .group_file import Group
from .registry import algorithms_for, find_algorithm

USUAL_WORDS = 16
"""Default words of each block."""
MOST_BLOCK_WORDS = (1 << 31) - 1

BEST = "best"
"""A name in place of an algorithm's: the fastest of all that serve the request."""

USUAL_ALGORITHMS: dict[str, str] = {
    Collective.BROADCAST: "eye",
    Collective.MULTICAST: "u-mesh",
    Collective.REDUCE: "eye",
    Collective.BARRIER: "eye",
    **dict.fromkeys((Collective.SCAN, Collective.EXSCAN), "brent-kung"),
    **dict.fromkeys((Collective.NEIGHBOR, Collective.HALO), "direct"),
}
"""The default algorithm of a broadcast; of others, above :data:`MOST_NODES` nodes."""

MOST_NODES = 256
"""Most nodes of a network in which the default of all but a broadcast is the best.

In larger networks the choice can take minutes.
"""

STRAIGHT = (Collective.SCATTER, Collective.GATHER, Collective.ALL_TO_ALL)
"""Collectives with direct messages by default, above as many nodes, on other than whole grids."""

Choose = Callable[[str, Request, int | None], Schedule]
"""A function that returns the best schedule of a collective, for a request and a group's index."""


def require_ends(collective: str, *, source: object, targets: object) -> None:
    """Raise :class:`.InvalidInput` unless source and targets are given as ``collective`` needs."""
    algorithms_for(collective)
    rootless, multicast = collective in ROOTLESS, collective == Collective.MULTICAST
    if (source is None) != rootless:
        beside = f"with {collective}" + rootless * ": each node is one"
        raise InvalidInput.must_be("source", "left out" if rootless else "given", beside)
    if (targets is not None) != multicast:
        allowed = "given" if multicast else "left out"
        raise InvalidInput.must_be("targets", allowed, f"with {collective}")


@dataclass(frozen=True, kw_only=True)
class Task:
    """A collective of all nodes of a network or of groups, for any algorithm.

    collective
        The collective of all nodes, or of the groups that name none.
    source
        The root; None for a collective without a root, and for groups that name theirs.
    words
        Words of each block, in a broadcast of the message; None for 16, in a barrier for 1.
    operator
        The operator of a reduction, or its name; None for the default.
    groups
        The groups and the user's name for them; None if all nodes are one group.

    Other fields are those of :class:`.Request`.
    Raises :class:`.InvalidInput` for fields that no algorithm could serve.
    """

    topology: Topology
    collective: str = Collective.BROADCAST
    source: int | None = None
    targets: tuple[int, ...] | None = None
    words: int | None = None
    ports: str = Ports.ONE
    packet: int | None = None
    order: str | None = None
    partial: bool = False
    operator: str | Operator | None = None
    block_words: BlockWords | None = None
    groups: NamedGroups | None = None

    def __post_init__(self) -> None:
        if self.ports not in tuple(Ports):
            raise InvalidInput.unknown("ports", Ports, self.ports)
        if self.groups is None or self.groups.alike:
            require_ends(self.collective, source=self.source, targets=self.targets)
        elif self.source is not None:
            beside = f"with groups of {self.groups.name}: each has a root"
            raise InvalidInput.must_be("source", "left out", beside)
        self._require_words()
        if isinstance(self.operator, str):
            require_built_in("operator", self.operator)

    def _require_words(self) -> None:
        """Raise :class:`.InvalidInput` for words out of range, or given twice."""
        beside = "with block words, which say how long blocks are"
        for name, count in (("words", self.words), ("packet", self.packet)):
            if count is not None:
                if self.block_words is not None:
                    raise InvalidInput.must_be(name, "left out", beside)
                require_range(name, count, 1, MOST_BLOCK_WORDS)
        if self.words is not None and self.collectives == {Collective.BARRIER}:
            raise InvalidInput.must_be("words", "left out", "with barrier: it has 1 word")
        if self._grouping is None and self.block_words is not None:
            require_block_words(self.block_words, self.collective, self.topology)

    @cached_property
    def _grouping(self) -> Grouping | None:
        """The groups, which share no node; None if all nodes are one group."""
        if self.groups is None:
            return None
        return Grouping(self.topology, self.groups.groups, self.collective, self.block_words)

    @property
    def collectives(self) -> set[str]:
        """The task's collective, or the collectives of all its groups."""
        return {self.collective} if self._grouping is None else self._grouping.collectives

    @property
    def title(self) -> str:
        """The collective's name; "custom collective" if groups have different ones."""
        one, *others = self.collectives
        return f"{CUSTOM} collective" if others else one

    @property
    def block_length(self) -> int:
        """Words of each block, unless a group or a table gives others."""
        return words_of(self.title, self.words or USUAL_WORDS)

    @property
    def operator_name(self) -> str | None:
        """The name of the operator asked for; None for the default."""
        return self.operator.name if isinstance(self.operator, Operator) else self.operator

    @property
    def algorithms(self) -> list[str]:
        """Names of the algorithms for the collective, or for the groups without an algorithm.

        Raises :class:`.InvalidInput` if all groups name an algorithm.
        """
        if self._grouping is None:
            return [algorithm.name for algorithm in algorithms_for(self.collective)]
        if not self._grouping.algorithms:
            assert self.groups is not None
            allowed = "groups of which at least one names no algorithm, to be compared"
            raise InvalidInput.of("groups", allowed, self.groups.name)
        return self._grouping.algorithms

    @property
    def _is_canonical(self) -> bool:
        """True if the task asks for sums in the canonical order."""
        return self.order == CANONICAL and self.title in REDUCTIONS

    @property
    def usual_algorithm(self) -> str:
        """The name of the default algorithm."""
        tried = self.collective != Collective.BROADCAST and self.topology.nodes <= MOST_NODES
        if tried or self.groups is not None or self._is_canonical:
            return BEST
        name = USUAL_ALGORITHMS.get(self.collective)
        if name is None and self.topology.whole_grid:
            name = "sbt" if self.topology.kind == "hypercube" else "ring"
        name = name or ("direct" if self.collective in STRAIGHT else "ring")
        all_ports = self.ports == Ports.ALL
        served = not all_ports or "all_port" in find_algorithm(self.collective, name).takes
        return name if served else BEST

    def schedule(self, algorithm: str, choose: Choose, *, advise: bool = True) -> Schedule:
        """Return a proved schedule by ``algorithm``; for "best", by the one that ``choose`` finds.

        Each group may name its own algorithm instead. Raises :class:`.InvalidInput` if the
        algorithm does not serve the task. If only all ports at once are too much for it, the
        message names algorithms that serve them, unless ``advise`` is False.
        """

        def make(topology: Topology, group: Group, number: int | None) -> Schedule:
            collective = group.collective or self.collective
            request = self._request(topology, group)
            name = group.algorithm or algorithm
            if name == BEST:
                return choose(collective, request, number)
            found = find_algorithm(collective, name)
            try:
                made = found.generate(request)
            except InvalidInput as error:
                if not (advise and request.all_port and "all_port" not in found.takes):
                    raise
                served = all_port_served(request, collective)
                raise error.between("", f" ({served})") from error
            made.check()
            return made

        if self._grouping is None:
            return make(self.topology, self._whole, None)
        return self._grouping.schedule(make)

    @property
    def requests(self) -> tuple[Requested, ...]:
        """The promise of every schedule for the task: of all nodes, or of each group."""
        if self._grouping is None:
            return (self._request(self.topology, self._whole).of(self.collective),)

        def promise(topology: Topology, group: Group) -> Requested:
            return self._request(topology, group).of(group.collective or self.collective)

        return self._grouping.requests(promise)

    @property
    def members(self) -> tuple[Nodes, ...]:
        """The nodes of each group, ascending; empty if all nodes are one group."""
        groups = () if self._grouping is None else self._grouping.groups
        return tuple(tuple(sorted(group.nodes)) for group in groups)

    def all_port_served(self) -> str:
        """Return a text that names the algorithms that serve the task with all ports."""
        return all_port_served(self._request(self.topology, self._whole), self.collective)

    @property
    def _whole(self) -> Group:
        """All nodes as one group."""
        return Group((), self.source, block_words=self.block_words, targets=self.targets)

    def _request(self, topology: Topology, group: Group) -> Request:
        """Return the request of a group on its own network, for any algorithm."""
        return Request(
            topology=topology,
            words=group.words or self.words or USUAL_WORDS,
            source=group.root,
            targets=group.targets,
            partial=self.partial,
            all_port=self.ports == Ports.ALL,
            duplex=Ports(self.ports).duplex,
            order=self.order,
            packet=self.packet,
            operator=self.operator_name,
            block_words=group.block_words,
        )

    @property
    def combining(self) -> str | None:
        """The operator name of a reduction; None for a collective that only copies."""
        reduces = self.title in REDUCTIONS
        return combining_operator(self.title, self.operator_name) if reduces else None


def all_port_served(request: Request, collective: str) -> str:
    """Return a text that names the algorithms for a request with all ports, or on a hypercube."""
    root = None if collective in ROOTLESS else 0
    cube = Request(topology=hypercube(3), words=1, source=root, all_port=True)
    for where, each in (("", request), ("on a hypercube ", cube)):
        if names := _served(each, collective):
            return f"{where}use {', '.join(names)}"
    return "no algorithm does so yet"


def _served(request: Request, collective: str) -> list[str]:
    """Return the names of the algorithms that serve a request."""
    served = []
    for algorithm in algorithms_for(collective, circuits=False):
        with suppress(InvalidInput):
            algorithm.generate(request)
            served.append(algorithm.name)
    return served
