"""ForestColl trees in XML: an all-gather as trees that span all GPUs.

::

    <Algo nchunkspernode="1">
      <tree root="(0, 'GPU', 0)" index="0" nchunks="1" height="1">
        <send src="(0, 'GPU', 0)" dst="(0, 'GPU', 1)"
              path="(0, 'GPU', 0),(0, 'NVSwitch', 0),(0, 'GPU', 1)"/>
        ...

A tree carries the next ``nchunks`` chunks of its root: each GPU sends them to its successors in the
tree. Names look like Python values. The roots are the GPUs; rank r is the r-th root in the file.
Other names in paths are switches.

Without a given network, the paths define it: the GPUs, then the switches in order of appearance.
Its links work both ways, and sends follow the paths. On a given network, sends take that network's
routes, and the paths are ignored.

(Source: liangyuRain/ForestColl, pipeline_allgather.py, spanning_trees_to_xml.)
"""

from collections import defaultdict
from dataclasses import dataclass, field
from itertools import pairwise

import numpy as np

from ..model.base.files import InputFile, input_name
from ..model.network.neighbor_table import graph
from ..model.network.topology import NO_LINK, Topology
from ..model.schedule.blocks import Blocks
from ..model.schedule.collective import Collective
from ..model.schedule.ordered import OrderedSends, packed_schedule
from ..model.schedule.schedule import Schedule
from .format import Format, Setting, Wishes
from .ranks import name_on, nodes_of_ranks
from .xml_file import Element, XmlFile, root_name

MOST_CHUNKS = 1 << 16
"""Most chunks of one root, and of all roots together."""


@dataclass
class _Trees:
    """The sends of all trees, a row for each.

    ``source`` and ``target`` are ranks; ``chunks`` the first chunk and the one after the last;
    ``after`` the row that brings them to the source; ``paths`` names.
    """

    ranks: dict[str, int]
    each: int
    source: list[int] = field(default_factory=list)
    target: list[int] = field(default_factory=list)
    chunks: list[tuple[int, int]] = field(default_factory=list)
    after: list[tuple[int, ...]] = field(default_factory=list)
    paths: list[list[str]] = field(default_factory=list)


def read_forestcoll_on(file: InputFile, setting: Setting) -> Schedule:
    """Return the all-gather of a file's trees on a network's working nodes, by its own routes."""
    trees = _read(file)
    nodes = nodes_of_ranks(setting.topology, len(trees.ranks), f"{input_name(file)}: roots")
    return _schedule(trees, setting.topology, nodes, setting, None)


def read_forestcoll(file: InputFile, wishes: Wishes) -> Schedule:
    """Return the all-gather of a file's trees on the network of its paths."""
    trees = _read(file)
    number = dict(trees.ranks)
    for path in trees.paths:
        for name in path:
            number.setdefault(name, len(number))
    paths = [[number[name] for name in path] for path in trees.paths]
    topology = _network(paths, len(trees.ranks), len(number))
    return _schedule(trees, topology, list(range(len(trees.ranks))), wishes, paths)


def _schedule(
    trees: _Trees,
    topology: Topology,
    nodes: list[int],
    wishes: Wishes,
    paths: list[list[int]] | None,
) -> Schedule:
    """Return the schedule of the trees, with rank r on ``nodes[r]``."""
    collective = name_on(topology, Collective.ALL_GATHER, len(nodes))
    owed = None if collective == Collective.ALL_GATHER else tuple(nodes)
    owner = np.repeat(np.array(nodes, np.int32), trees.each)
    words = np.full(owner.size, wishes.words, np.int32)
    sends = OrderedSends(
        source=[nodes[rank] for rank in trees.source],
        target=[nodes[rank] for rank in trees.target],
        blocks=[range(*chunks) for chunks in trees.chunks],
        after=trees.after,
    )
    return packed_schedule(
        topology,
        collective,
        "ForestColl trees",
        wishes.ports,
        None,
        Blocks(owner, (owed,) * owner.size, words),
        sends,
        paths,
    )


def _network(paths: list[list[int]], gpus: int, nodes: int) -> Topology:
    """Return the network of all links of ``paths``, both ways; nodes after GPUs are switches."""
    links = {tuple(sorted(link)) for path in paths for link in pairwise(path)}
    neighbors: list[list[int]] = [[NO_LINK] for _ in range(nodes)]
    for one, other in sorted(links):
        neighbors[one].append(other)
        neighbors[other].append(one)
    ports = max(map(len, neighbors))
    table = [row + [NO_LINK] * (ports - len(row)) for row in neighbors]
    return graph(table, range(gpus, nodes))


def _read(file: InputFile) -> _Trees:
    """Read all trees; each must reach every root, and together they must carry every chunk."""
    xml = XmlFile(file)
    root = xml.root
    if root.tag != "Algo":
        raise xml.refusal(root, "must be an <Algo>")
    xml.require_attributes(root, ("nchunkspernode",))
    each = xml.integer(root, "nchunkspernode", 1, MOST_CHUNKS)
    elements = xml.children(root, "tree")
    for tree in elements:
        xml.require_attributes(tree, ("root", "index", "nchunks", "height"))
    names = dict.fromkeys(tree.attrib["root"] for tree in elements)
    trees = _Trees({name: rank for rank, name in enumerate(names)}, each)
    if len(names) * each > MOST_CHUNKS:
        complaint = f"chunks of all roots must be at most {MOST_CHUNKS}"
        raise xml.refusal(root, f"{complaint}, not {len(names) * each}")
    if len(names) < 2:
        raise xml.refusal(root, "must have trees of two roots at least")
    taken: defaultdict[int, int] = defaultdict(int)
    for tree in elements:
        rank = trees.ranks[tree.attrib["root"]]
        count = xml.integer(tree, "nchunks", 1, each - taken[rank])
        begin = rank * each + taken[rank]
        taken[rank] += count
        _read_tree(xml, tree, trees, (begin, begin + count))
    for name, rank in trees.ranks.items():
        if taken[rank] < each:
            given = f"nchunks of all trees of root {name} must be {each}, nchunkspernode"
            raise xml.refusal(root, f"{given}, not {taken[rank]}")
    xml.say_unknown()
    return trees


def _read_tree(xml: XmlFile, tree: Element, trees: _Trees, chunks: tuple[int, int]) -> None:
    """Add the sends of a tree, which may stand in any order."""
    sends = xml.children(tree, "send")
    root = tree.attrib["root"]
    bringer: dict[int, int] = {}
    first = len(trees.source)
    for row, send in enumerate(sends, first):
        xml.require_attributes(send, ("src", "dst", "path"))
        xml.require_empty(send)
        source, target = (xml.text(send, end, trees.ranks) for end in ("src", "dst"))
        rank = trees.ranks[target]
        if rank in bringer or target == root:
            raise xml.refusal(send, f"dst must be reached once in its tree, not {target} again")
        bringer[rank] = row
        trees.source.append(trees.ranks[source])
        trees.target.append(rank)
        trees.chunks.append(chunks)
        trees.paths.append(_path(xml, send))
    for name, rank in trees.ranks.items():
        if rank not in bringer and name != root:
            raise xml.refusal(tree, f"must reach every root, and has no send to {name}")
    for sender in trees.source[first:]:
        trees.after.append((bringer[sender],) if sender in bringer else ())
    _require_height(xml, tree, trees, first)


def _require_height(xml: XmlFile, tree: Element, trees: _Trees, first: int) -> None:
    """Require that a tree's sends lead away from its root, to the stated height."""
    depth: dict[int, int] = {trees.ranks[tree.attrib["root"]]: 0}
    left = list(range(first, len(trees.source)))
    while left:
        near = [row for row in left if trees.source[row] in depth]
        if not near:
            raise xml.refusal(tree, "its sends must begin at its root, not go in a circle")
        depth |= {trees.target[row]: depth[trees.source[row]] + 1 for row in near}
        left = [row for row in left if trees.target[row] not in depth]
    xml.integer(tree, "height", max(depth.values()), max(depth.values()))


def _path(xml: XmlFile, send: Element) -> list[str]:
    """Return the names in a path; commas within brackets belong to a name."""
    names, depth = [""], 0
    for letter in send.attrib["path"]:
        depth += (letter in "([{") - (letter in ")]}")
        if letter == "," and not depth:
            names.append("")
        else:
            names[-1] += letter
    ends = (send.attrib["src"], send.attrib["dst"])
    if (names[0], names[-1]) != ends or len(set(names)) < len(names) or "" in names:
        allowed = f"from {ends[0]} to {ends[1]}, to no place twice"
        raise xml.refusal(send, f"path must be {allowed}")
    return names


FORESTCOLL = Format(
    name="forestcoll",
    title="ForestColl trees",
    suffixes=(".xml",),
    looks=lambda content: root_name(content) == "Algo",
    read_schedule_in=read_forestcoll,
    read_schedule_on=read_forestcoll_on,
)
