"""Scatter and gather on all ports of any network, by chains that leave the root at the same time.

In a step each port of the root sends one packet, along a path. Nodes on the path take their blocks
and stream the others on, those for the farthest node first. So the words of a whole chain leave the
root one after the other, and no node waits::

    root --- c b a ---> a --- c b ---> b --- c ---> c       block c is for the farthest node

The paths share the links evenly (:mod:`...network.spread_routes`), so all ports of the root, or
all links of a tight cut, carry equally many words. Packets of one step share no link. A step begins
with the chain over the link with the most words left; its other chains carry no more words. Short
chains end at about the same time but need more steps; long chains need fewer. The search tries
several lengths, chains joined to longer ones, and blocks whole and in pieces. A gather is a scatter
backwards: a node sends its own block first, then the arriving blocks.
"""

from __future__ import annotations

from collections import Counter, deque
from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import pairwise
from typing import TYPE_CHECKING

import numpy as np

from ...base.arrays import Numbers
from ...base.errors import require_range
from ...base.ragged import even_shares
from ...bounds.hops import UNREACHED, hops_from
from ...network.port_model import PortModel
from ...network.route_layers import has_circle, layered_vcs
from ...network.topology import NO_LINK, Topology
from ...schedule.blocks import Blocks
from ...schedule.collective import Collective
from ...schedule.duration import expected_cycles
from ...schedule.schedule import Schedule
from ..declared.algorithm import ALL, Declared
from ..declared.request import Request
from ..reductions.backwards import against
from .sends import SendList

if TYPE_CHECKING:
    from .passing import Path

MOST_ROUTES = 128
"""Most pieces of all blocks together, if blocks are cut."""
MOST_PIECES = 4
LEAST_PIECE = 16
"""Least words of a piece: a shorter one is not worth its step."""

Links = frozenset[tuple[int, int]]


@dataclass(frozen=True)
class _Chain:
    """Blocks that leave the root by one path.

    ``stops`` has a pair for each block, the farthest first: its goal's index in ``path``, and its
    number.
    """

    path: Path
    stops: tuple[tuple[int, int], ...]

    def cut(self, blocks: int) -> tuple[_Chain, _Chain | None]:
        """Cut the chain into its farthest ``blocks`` blocks and the others, None without others."""
        rest = self.stops[blocks:]
        near = _Chain(self.path[: rest[0][0] + 1], rest) if rest else None
        return _Chain(self.path, self.stops[:blocks]), near

    @cached_property
    def links(self) -> Links:
        """The links of the path."""
        return frozenset(pairwise(self.path))

    def load(self) -> Counter[tuple[int, int]]:
        """Count the blocks that cross each link."""
        return Counter(link for index, _ in self.stops for link in pairwise(self.path[: index + 1]))


def packed_chains(
    topology: Topology, root: int, words: int, *, gather: bool = False, streams: bool = True
) -> Schedule:
    """Scatter ``words`` words from ``root`` to each other working node, or gather, on all ports.

    Without ``streams`` each packet has one block. Raises :class:`.InvalidInput` for a root that is
    faulty or a switch, for one node, and for nodes without a path.
    """
    topology.require_working("source", root)
    require_range("words", words, 1)
    forwards = against(topology) if gather else topology
    others = np.setdiff1d(topology.working_nodes, [root])
    (hops,) = hops_from(forwards, np.array([root]))
    if not len(others) or (hops[others] == UNREACHED).any():
        ways = (
            "by which all others reach the source" if gather else "by which it reaches all others"
        )
        raise topology.refusal("packed-chains", f"one with paths {ways}")
    most_pieces = min(MOST_PIECES, words // LEAST_PIECE, MOST_ROUTES // len(others))
    found = (
        _schedule(
            topology,
            root,
            steps,
            np.repeat(others, pieces),
            np.tile(even_shares(words, pieces), len(others)),
            gather,
        )
        for pieces in range(1, max(most_pieces, 1) + 1)
        for steps in _tries(forwards, root, np.repeat(others, pieces), streams)
    )
    return min(found, key=expected_cycles)


def _tries(
    topology: Topology, root: int, targets: Numbers, streams: bool
) -> Iterator[list[list[_Chain]]]:
    """Yield chains by step, of up to 1, 2, 4, ... blocks; without ``streams`` of one block."""
    # Compiled code takes long to import, and few commands need it.
    from ...network.spread_routes import spread_paths  # noqa: PLC0415

    offsets, nodes = spread_paths(topology, np.full(len(targets), root), targets)
    paths = [tuple(nodes[begin:end].tolist()) for begin, end in pairwise(offsets.tolist())]
    chains = _chains(paths)
    for tried in (chains, _joined(topology, chains)) if streams else (chains,):
        longest = max(len(chain.stops) for chain in tried) if streams else 1
        for doublings in range((longest - 1).bit_length() + 1):
            yield _steps(tried, 1 << doublings)


def _chains(paths: list[Path]) -> list[_Chain]:
    """Join blocks whose paths begin with the same link; a path serves all targets on it."""
    groups: dict[int, list[int]] = {}
    for block, path in enumerate(paths):
        groups.setdefault(path[1], []).append(block)
    chains = []
    for group in groups.values():
        left = group
        while left:
            goals = Counter(paths[block][-1] for block in left)
            longest = max(
                left,
                key=lambda block: (sum(goals[node] for node in paths[block]), len(paths[block])),
            )
            path = paths[longest]
            met = [block for block in left if paths[block][-1] in path]
            left = [block for block in left if paths[block][-1] not in path]
            stops = sorted(((path.index(paths[block][-1]), block) for block in met), reverse=True)
            chains.append(_Chain(path, tuple(stops)))
    return chains


def _joined(topology: Topology, chains: list[_Chain]) -> list[_Chain]:
    """Join each chain repeatedly with the nearest chain that begins with the same link."""
    groups: dict[Path, list[_Chain]] = {}
    for chain in chains:
        groups.setdefault(chain.path[:2], []).append(chain)
    joined: list[_Chain] = []
    for group in groups.values():
        foreign = Links().union(
            *(chain.links for chain in (*chains, *joined) if chain.path[:2] != group[0].path[:2])
        )
        left = sorted(group, key=lambda chain: len(chain.stops))
        while left:
            chain = left.pop()
            while longer := _led_on(topology, chain, left, foreign):
                chain, taken = longer
                left.remove(taken)
            joined.append(chain)
    return joined


def _led_on(
    topology: Topology, chain: _Chain, others: list[_Chain], foreign: Links
) -> tuple[_Chain, _Chain] | None:
    """Join the chain with the nearest of ``others`` by links that neither uses; None if impossible.

    ``foreign`` links are left to chains that begin with other links.
    """
    ways = _ways(topology, chain.path[-1], chain.links | foreign)
    reached = [other for other in others if other.path[other.stops[-1][0]] in ways]
    for other in sorted(reached, key=lambda other: len(ways[other.path[other.stops[-1][0]]])):
        begin = other.stops[-1][0]
        way, ahead = ways[other.path[begin]], other.path[begin + 1 :]
        path = (*chain.path, *way, *ahead)
        if len({*pairwise(path)}) == len(path) - 1:
            later = len(chain.path) + len(way) - 1 - begin
            stops = tuple((index + later, block) for index, block in other.stops)
            return _Chain(path, (*stops, *chain.stops)), other
    return None


def _ways(topology: Topology, start: int, taken: Links) -> dict[int, Path]:
    """Return shortest paths from ``start`` by links not ``taken``; they leave out ``start``."""
    ways: dict[int, Path] = {start: ()}
    queue = deque(ways)
    while queue:
        node = queue.popleft()
        for end in topology.neighbor[node, 1:].tolist():
            if end != NO_LINK and end not in ways and (node, end) not in taken:
                ways[end] = (*ways[node], end)
                queue.append(end)
    return ways


def _steps(chains: list[_Chain], most: int) -> list[list[_Chain]]:
    """Return the chains of each step, in parts of up to ``most`` blocks; none share a link."""
    load: Counter[tuple[int, int]] = Counter()
    for chain in chains:
        load += chain.load()
    left, steps = chains, []
    while left:
        left = sorted(
            left,
            key=lambda chain: (max(load[link] for link in chain.links), len(chain.stops)),
            reverse=True,
        )
        step: list[_Chain] = []
        waiting: list[_Chain] = []
        used: set[tuple[int, int]] = set()
        blocks = most
        for chain in left:
            if used.isdisjoint(chain.links):
                part, rest = chain.cut(blocks)
                blocks = min(blocks, len(part.stops)) if not step else blocks
                step.append(part)
                used |= part.links
                waiting += [rest] if rest else []
            else:
                waiting.append(chain)
        for part in step:
            load -= part.load()
        left = waiting
        steps.append(step)
    return steps


def _schedule(
    topology: Topology,
    root: int,
    steps: list[list[_Chain]],
    targets: Numbers,
    lengths: Numbers,
    gather: bool,
) -> Schedule:
    """Return the schedule of these steps; ``targets`` and ``lengths`` are those of each block."""
    sends = SendList()
    order: list[int] = []
    for step, chains in enumerate(steps, 1):
        for chain in chains:
            stops = chain.stops[::-1] if gather else chain.stops
            number = {block: len(order) + index for index, (_, block) in enumerate(stops)}
            order += number
            _add(sends, step, chain.path, [(at, number[block]) for at, block in stops], gather)
    goals = targets[order]
    mine, theirs = np.full(len(order), root, np.int32), goals.astype(np.int32)
    owner, owed = (theirs, mine) if gather else (mine, theirs)
    blocks = Blocks(
        owner, tuple((node,) for node in owed.tolist()), lengths[order].astype(np.int32)
    )
    name = Collective.GATHER if gather else Collective.SCATTER
    made = sends.schedule("packed-chains", topology, name, PortModel.ALL_PORT, root, blocks)
    if not has_circle(made.path_offsets, made.path_nodes, made.vcs):
        return made
    return replace(made, vcs=layered_vcs(made.path_offsets, made.path_nodes))


def _add(
    sends: SendList, step: int, path: Path, stops: list[tuple[int, int]], gather: bool
) -> None:
    """Add the sends of a chain, whose blocks leave each node in the order of ``stops``."""
    from .passing import without_circles  # noqa: PLC0415

    at = sorted({0, *(index for index, _ in stops)})
    for begin, end in pairwise(at):
        carried = [block for index, block in stops if index >= end]
        # Between two stops a joined chain may turn back.
        way = without_circles(path[begin : end + 1])
        if gather:
            sends.add(step, way[::-1], carried, stream=end != at[-1])
        else:
            sends.add(step, way, carried, stream=begin != 0)


def _declared(collective: Collective) -> Declared:
    def make(asked: Request) -> Schedule:
        # Streaming blocks must be equal.
        streams, gather = asked.block_words is None, collective == Collective.GATHER
        return packed_chains(
            asked.topology, asked.root, asked.words, gather=gather, streams=streams
        )

    return Declared(
        collective,
        "packed-chains",
        make,
        networks="any network",
        steps="as many as the chains of the root need",
        takes=("all_port",),
        ports=(ALL,),
    )


ALGORITHMS = (_declared(Collective.SCATTER), _declared(Collective.GATHER))
