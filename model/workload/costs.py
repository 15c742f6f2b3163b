"""Costs of calls: the best algorithm for each, its cycles, its links and its lower bound.

A call is carried out as programs of one engine (docs/router.md, section 16). A message that is too
long for the message memory is cut into pieces, each a program::

    words ─► pieces of nearly equal words ─► best algorithm on the group's own network
                                               │
          cycles of each program  ◄────────────┘  on the network of all, by the cycle model

A group that fills a box of a grid has the box as its network. In any other group the nodes between
its members forward packets, as switches do. Groups of equal networks share one search, wherever
they lie.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from ..base.errors import InvalidInput, require_range
from ..base.ragged import even_shares
from ..collectives.declared.request import Request, combining_operator
from ..collectives.groups import side_by_side
from ..collectives.registry import find_algorithm
from ..collectives.shown_bounds import blocks_bound
from ..compare.best import choose_best
from ..exact.arithmetic import predict
from ..network.boxes import GroupNetwork, box_around, part_of
from ..network.config import MOST_MEMORY_WORDS, NetworkConfig, Timing
from ..network.operators import in_lanes
from ..network.port_model import PortModel
from ..network.topology import Topology
from ..program.certified import Room
from ..program.compiler import Compiled
from ..program.payload import empty_memory
from ..program.program import Program
from ..schedule.collective import Collective
from ..schedule.ordered import OrderedSends, packed_schedule
from ..schedule.requested import Requested
from ..schedule.requested_blocks import blocks_of
from ..schedule.schedule import Schedule
from .workload import MESSAGE, Call

LAUNCH = 4
"""Cycles of a program beside those of its run: one for the command, two in state *starting*, and
one because the run's cycles count from 0.

Source: docs/router.md, section 16, without barrier registers.
"""

MEMORY_WORDS = 1 << 13
"""Words of each message memory, of which a piece fills half: the next piece goes to the other."""

_OF_ALL = (
    *(Collective.SCATTER, Collective.GATHER),
    *(Collective.ALL_GATHER, Collective.REDUCE_SCATTER),
)
"""Collectives in which a node holds a block of each member."""


@dataclass(frozen=True, eq=False)
class Cost:
    """The cycles, flits and links of a call on its network, by itself.

    ``cycles`` are those of all its programs, one after another, with their launches. ``counts``
    says how many pieces each of ``schedules`` carries, the longest first. ``flits``
    counts the flits that leave each node by each port, shape (nodes, ports); port 0 delivers.
    ``resources`` are the links and ports that it uses, as bits. ``shape`` is equal for calls whose
    programs differ only in where they lie, ``together`` for calls that may share a program: those
    of one shape, and messages of as many words. ``bound`` is the least cycles of any schedule.
    ``schedules`` are those of its programs, on the network of its group ``part``.
    """

    algorithm: str
    cycles: int
    counts: tuple[int, ...]
    flits: npt.NDArray[np.int64]
    resources: int
    shape: object
    together: object
    bound: int
    part: GroupNetwork
    schedules: tuple[Schedule, ...]

    @property
    def pieces(self) -> int:
        """Number of pieces, each a program."""
        return sum(self.counts)


class _Key(NamedTuple):
    """The facts on which the cost of a call depends; ``nodes`` are ascending."""

    request: Requested
    nodes: tuple[int, ...]
    message: bool


class _Shape(NamedTuple):
    """The programs of equal calls, where they were first placed.

    ``counts`` says how many pieces each of ``schedules`` carries; ``placed`` are the schedules on
    the whole network.
    """

    part: GroupNetwork
    counts: tuple[int, ...]
    schedules: tuple[Schedule, ...]
    placed: tuple[Schedule, ...]


class _Programs(NamedTuple):
    """Cycles, flits and senders of all pieces of a shape, on the engine's network."""

    cycles: int
    flits: npt.NDArray[np.int64]
    injects: npt.NDArray[np.bool_]


class Costs:
    """Costs of calls on ``topology``, each found once.

    All programs run on one network, ``config``: it has the operators, streams, VCs, steps and
    memories that any of them needs, and their cycles are those on this network. ``circuits``
    chooses routers with circuits instead of packets. ``memory_words`` are the words of each message
    memory that pieces may fill, and ``flit_width`` their bits.
    """

    config: NetworkConfig

    def __init__(
        self,
        topology: Topology,
        *,
        circuits: bool = False,
        memory_words: int = MEMORY_WORDS,
        flit_width: int = NetworkConfig.flit_width,
    ) -> None:
        require_range("message words", memory_words, 2, MOST_MEMORY_WORDS)
        self.topology, self.circuits, self.memory_words = topology, circuits, memory_words
        self._room = Room({"circuits": circuits, "programs": 1, "flit_width": flit_width})
        self._shapes: dict[object, _Shape] = {}

    def find(
        self,
        calls: Sequence[tuple[Call, tuple[int, ...]]],
        tell: Callable[[], object] = lambda: None,
    ) -> list[Cost]:
        """Return the cost of each call; beside it are the nodes of its ranks, in their order.

        ``tell`` is called for each call, when its algorithm is known. Raises
        :class:`.InvalidInput` with a call's name if no algorithm serves it.
        """
        keys, shapes = [], dict[_Key, tuple[object, GroupNetwork]]()
        for call, members in calls:
            key = _key(call, members, self._room.parameters["flit_width"])
            keys.append(key)
            try:
                if key not in shapes:
                    shapes[key] = self._shape_of(key)
            except InvalidInput as error:
                raise error.between(f"{call.name} ({call.kind}): ") from error
            tell()
        programs = self._run_all() if self._shapes else {}
        costs = {
            key: self._cost(key, shape, part, programs[shape])
            for key, (shape, part) in shapes.items()
        }
        return [costs[key] for key in keys]

    def _shape_of(self, key: _Key) -> tuple[object, GroupNetwork]:
        """Return the shape of a call, whose algorithms are then known, and its group's network."""
        part, where = network_of_group(self.topology, key.nodes)
        root = None if key.request.root is None else part.nodes.index(key.request.root)
        request = replace(key.request, root=root)
        shape = (request, key.message, where)
        if shape not in self._shapes:
            self._shapes[shape] = self._search(part, request, key.message)
        return shape, part

    def _search(self, part: GroupNetwork, request: Requested, message: bool) -> _Shape:
        """Find the best algorithm of a request for its longest piece; schedule all lengths."""
        assert isinstance(request.words, int)
        size = part.topology.working_nodes.size
        pieces = -(-request.words // self._most_words(request.collective, size))
        lengths = Counter(even_shares(request.words, pieces).tolist())
        schedules = list[Schedule]()
        for words in sorted(lengths, reverse=True):
            algorithm = schedules[0].algorithm if schedules else None
            asked = replace(request, words=words)
            schedules.append(self._schedule(part.topology, asked, message, algorithm))
        return _Shape(
            part,
            tuple(lengths[words] for words in sorted(lengths, reverse=True)),
            tuple(schedules),
            tuple(side_by_side(self.topology, [(part, made)]) for made in schedules),
        )

    def _run_all(self) -> dict[object, _Programs]:
        """Run the programs of all shapes on one network with room for each."""
        placed = [made for shape in self._shapes.values() for made in shape.placed]
        compiled = self._room.compile(placed)
        self.config = compiled[0].program.config
        programs = iter(compiled)
        return {name: self._run(shape, programs) for name, shape in self._shapes.items()}

    def _run(self, shape: _Shape, compiled: Iterator[Compiled]) -> _Programs:
        """Run the programs of a shape, which are the next of ``compiled``."""
        cycles = 0
        flits = np.zeros(self.topology.neighbor.shape, np.int64)
        injects = np.zeros(self.topology.nodes, np.bool_)
        for count, made in zip(shape.counts, shape.placed, strict=True):
            program = next(compiled).program
            if isinstance(program, Program):
                self._room.require(program)
            run = predict(program, empty_memory(program.config), timing=Timing.BARRIER)
            if not run.finished:
                raise RuntimeError(f"internal error: {made.algorithm} does not finish")
            cycles += count * (run.cycles + LAUNCH)
            flits += count * run.link_flits(self.topology)
            injects[made.source] = True
        return _Programs(cycles, flits, injects)

    def _cost(self, key: _Key, shape: object, part: GroupNetwork, programs: _Programs) -> Cost:
        """Return the cost of a call; its programs may have been found for a group elsewhere."""
        found = self._shapes[shape]
        here, there = list(part.nodes), list(found.part.nodes)
        flits, injects = np.zeros_like(programs.flits), np.zeros_like(programs.injects)
        flits[here], injects[here] = programs.flits[there], programs.injects[there]
        blocks = blocks_of(self.topology, (key.request,), (key.nodes,), 1)
        ports = PortModel.FULL_DUPLEX
        return Cost(
            found.schedules[0].algorithm,
            programs.cycles,
            found.counts,
            flits,
            _as_bits(np.append(flits > 0, injects)),
            shape,
            (MESSAGE, key.request.words) if key.message else shape,
            blocks_bound(self.topology, blocks, ports, joins=self.circuits).value,
            part,
            found.schedules,
        )

    def _most_words(self, collective: str, size: int) -> int:
        """Return the most words of each block in a piece, for a group of ``size`` nodes."""
        blocks = size if collective in _OF_ALL else 1
        if collective == Collective.ALL_TO_ALL:
            blocks = 2 * size
        most = self.memory_words // 2 // blocks
        if not most:
            allowed = f"at least {2 * blocks} for {collective} of {size} nodes"
            raise InvalidInput.of("message words", allowed, self.memory_words)
        return most

    def _schedule(
        self, topology: Topology, request: Requested, message: bool, algorithm: str | None
    ) -> Schedule:
        """Return a checked schedule; the best, unless an ``algorithm`` is given."""
        if message or algorithm == PACKED:
            return _packed(topology, request)
        assert isinstance(request.words, int)
        asked = Request(
            topology=topology,
            words=request.words,
            source=request.root,
            operator=request.operator,
        )
        if algorithm is not None:
            made = find_algorithm(request.collective, algorithm).generate(asked)
            made.check()
            return made
        try:
            return choose_best(
                request.collective, asked, self._room.compile_one, circuits=self.circuits
            ).schedule
        except InvalidInput:
            if Collective(request.collective).reduces:
                raise
            return _packed(topology, request)


def _key(call: Call, members: tuple[int, ...], flit_width: int) -> _Key:
    """Return what the cost of a call depends on."""
    message = call.kind == MESSAGE
    kind = Collective.BROADCAST if message else Collective(call.kind)
    if kind.prefix and list(members) != sorted(members):
        allowed = "ascending, as a scan goes in their order"
        raise InvalidInput.of(f"nodes of the ranks of {kind} {call.name}", allowed, members)
    root = call.ranks[0] if message else call.root
    operator = combining_operator(kind, call.operator) if kind.reduces else None
    request = Requested(
        collective=kind,
        words=1 if kind is Collective.BARRIER else call.words,
        root=None if root is None else members[call.ranks.index(root)],
        operator=operator and in_lanes(operator, flit_width),
    )
    return _Key(request, tuple(sorted(members)), message)


PACKED = "packed"
"""The algorithm of a message, and of a collective that combines nothing and that no other serves:
each block is sent straight to its targets, in the earliest step with free ports and links."""


def _packed(topology: Topology, request: Requested) -> Schedule:
    """Return the checked schedule of straight sends of a message, or of uncombined blocks."""
    blocks = blocks_of(topology, (request,), (), 1)
    working = topology.working_nodes.tolist()
    pairs = [
        (owner, target, block)
        for block, (owner, owed) in enumerate(zip(blocks.owner.tolist(), blocks.owed, strict=True))
        for target in (working if owed is None else owed)
        if target != owner
    ]
    sends = OrderedSends(
        source=[source for source, _, _ in pairs],
        target=[target for _, target, _ in pairs],
        blocks=[(block,) for _, _, block in pairs],
        after=[()] * len(pairs),
    )
    made = packed_schedule(
        topology,
        request.collective,
        PACKED,
        PortModel.FULL_DUPLEX,
        request.root,
        blocks,
        sends,
    )
    made.check()
    return made


def network_of_group(topology: Topology, nodes: tuple[int, ...]) -> tuple[GroupNetwork, object]:
    """Return the network of a group, and a key that is equal for groups of equal networks.

    ``nodes`` are ascending. Nodes between the members are switches of the network.
    """
    everyone = tuple(range(topology.nodes))
    around = box_around(topology, nodes)
    if around is None:
        others = [node for node in topology.working_nodes.tolist() if node not in {*nodes}]
        small = _with_switches(topology, others) if others else topology
        return GroupNetwork(small, everyone), nodes
    box, _ = around
    part = part_of(topology, box)
    inside, links = part.topology, topology.links_differ
    if len(box) == len(nodes):
        return part, (inside.dims, inside.wrapped, nodes if links else ())
    switches = [place for place, node in enumerate(part.nodes) if node not in {*nodes}]
    small = _with_switches(inside, switches)
    return GroupNetwork(small, part.nodes), (inside.dims, tuple(switches), nodes if links else ())


def _with_switches(topology: Topology, nodes: Sequence[int]) -> Topology:
    """Return ``topology`` as a graph in which ``nodes`` forward packets only."""
    switches = tuple(sorted({*topology.switches, *nodes}))
    name = f"{topology.label} with groups"
    return replace(
        topology, kind="graph", dims=(), wrapped=(), name=name, node_names=(), switches=switches
    )


def _as_bits(used: npt.NDArray[np.bool_]) -> int:
    """Return a mask as the bits of an integer, the first one lowest."""
    return int.from_bytes(np.packbits(used, bitorder="little").tobytes(), "little")
