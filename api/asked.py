"""Collectives as users of Python ask for them, and the schedules that algorithms make of them."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property

from ..model.base.errors import InvalidInput, one_of, require_range
from ..model.collectives.block_words import BlockWords, as_block_words, require_block_words
from ..model.collectives.group_choice import Grouping
from ..model.collectives.group_file import Group
from ..model.collectives.registry import algorithms_for, find_algorithm
from ..model.collectives.request import Ports, Request
from ..model.network.operators import BUILT_IN, Operator
from ..model.network.topology import Topology
from ..model.schedule.collective import Collective
from ..model.schedule.schedule import Schedule
from .groups import Groups, grouping_of, require_source
from .nodes import Node, node_number, node_numbers

PORTS = tuple(Ports)
"""The ports that a node may use in a step, as ``--ports`` of the command line."""
_USUAL_FLITS = 16
"""Words of each block if nothing is said."""


@dataclass(frozen=True, kw_only=True)
class Asked:
    """A collective of all nodes of a network or of groups, whatever algorithm carries it out.

    The fields are the arguments of :func:`.schedule`.
    Raises :class:`.InvalidInput` for what could be asked of no algorithm.
    """

    network: Topology
    collective: str
    source: Node | None
    targets: Iterable[Node] | None
    flits: int | None
    ports: str
    packet: int | None
    partial: bool
    operator: str | Operator | None
    block_words: Sequence[int] | Sequence[Sequence[int]] | None
    groups: Groups | None

    def __post_init__(self) -> None:
        if self.ports not in PORTS:
            raise InvalidInput.of("ports", ", ".join(PORTS), self.ports)
        if self.groups is None:
            algorithms_for(self.collective)
            require_source(self.collective, self.source)
        if self.flits is not None:
            if self.block_words is not None:
                why = "they say how long blocks are"
                raise InvalidInput(f"flits must be left out with block_words: {why}")
            require_range("flits", self.flits, 1)
        if isinstance(self.operator, str) and self.operator not in BUILT_IN:
            allowed = f"{one_of(BUILT_IN)}, or an Operator"
            raise InvalidInput.of("operator", allowed, repr(self.operator))
        if self.flits is not None and self._collectives == {Collective.BARRIER}:
            raise InvalidInput("flits must be left out with barrier: it has 1 word")

    @property
    def algorithms(self) -> list[str]:
        """Names of the algorithms for the collective, or for those of groups that name none.

        Raises :class:`.InvalidInput` where all groups name one.
        """
        if self._grouping is None:
            if self._words is not None:
                require_block_words(self._words, self.collective, self.network)
            return [algorithm.name for algorithm in algorithms_for(self.collective)]
        if not self._grouping.algorithms:
            raise InvalidInput.of("groups", "some that name no algorithm, to be compared", "none")
        return self._grouping.algorithms

    def schedule(self, algorithm: str) -> Schedule:
        """Make the schedule of an algorithm, or of the best, and prove it.

        Raises :class:`.InvalidInput` for what the algorithm does not serve.
        """
        if self._grouping is None:
            return self._made(algorithm, self.network, self._whole)
        return self._grouping.schedule(
            lambda topology, group, _place: self._made(algorithm, topology, group)
        )

    @cached_property
    def _root(self) -> int | None:
        """The number of the source; None where none is named."""
        return None if self.source is None else node_number(self.network, self.source, "source")

    @cached_property
    def _words(self) -> BlockWords | None:
        """The words of unequal blocks; None where blocks are equal."""
        return None if self.block_words is None else as_block_words(self.block_words)

    @property
    def _whole(self) -> Group:
        """All nodes as one group."""
        return Group((), self._root, block_words=self._words)

    @cached_property
    def _grouping(self) -> Grouping | None:
        """The groups, of which a file is read once; None where all nodes are one."""
        if self.groups is None:
            return None
        return grouping_of(self.network, self.groups, self.collective, self._root, self._words)

    @property
    def _collectives(self) -> set[str]:
        """The collective, or those of all groups."""
        return {self.collective} if self._grouping is None else self._grouping.collectives

    def _made(self, algorithm: str, topology: Topology, group: Group) -> Schedule:
        """The schedule of a group on a network of its own, checked."""
        name, collective = group.algorithm or algorithm, group.collective or self.collective
        request = self._request(topology, group)
        if name == "best":
            return _best(collective, request, self.operator)
        made = find_algorithm(collective, name).generate(request)
        made.check()
        return made

    def _request(self, topology: Topology, group: Group) -> Request:
        """The request of a group on a network of its own, of whatever algorithm."""
        return Request(
            topology=topology,
            words=group.words or self.flits or _USUAL_FLITS,
            source=group.root,
            targets=node_numbers(topology, self.targets, "target"),
            partial=self.partial,
            all_port=self.ports == Ports.ALL,
            duplex=Ports(self.ports).duplex,
            packet=self.packet,
            operator=self.operator.name if isinstance(self.operator, Operator) else self.operator,
            block_words=group.block_words,
        )


def _best(collective: str, request: Request, own: str | Operator | None) -> Schedule:
    """The fastest schedule on a network as large as each needs."""
    # Loads the compiled cycle model.
    from ..model.compare.best import choose_best  # noqa: PLC0415
    from ..model.program.certified import compile_certified  # noqa: PLC0415

    choice = choose_best(collective, request, lambda made: compile_certified(made, {}, own))
    return choice.schedule
