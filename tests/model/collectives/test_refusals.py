"""Refusals of collectives, groups and words of blocks: each call and its line."""

from dataclasses import replace
from functools import partial

import numpy as np
import pytest
from helpers.drawn_reductions import case_of
from helpers.generated import generated
from helpers.refusals import refusal_of
from helpers.schedules import Send, build
from helpers.switch_networks import switch_mesh, switch_star

from eyecast.model.collectives.cube.broadcast_copies import nesbt_copies
from eyecast.model.collectives.cube.collectives import cube_schedule
from eyecast.model.collectives.cube.spanning_graphs import spanning_graph
from eyecast.model.collectives.declared.block_words import require_block_words, with_block_words
from eyecast.model.collectives.direct.all_to_all import direct_all_to_all
from eyecast.model.collectives.direct.rooted import direct_gather, direct_scatter
from eyecast.model.collectives.exchanges.swing import swing_all_gather
from eyecast.model.collectives.fault_blocks.blocks import fault_blocks
from eyecast.model.collectives.fault_blocks.broadcast import jiang_wu_broadcast
from eyecast.model.collectives.grid.collectives import recursive_doubling, ring
from eyecast.model.collectives.group_choice import Grouping
from eyecast.model.collectives.group_file import groups_of
from eyecast.model.collectives.halving.eye import eye_broadcast
from eyecast.model.collectives.halving.eye_tcd import grid_eye_tcd
from eyecast.model.collectives.halving.minimum import minimum_broadcast, minimum_tcds, tcds_by_eye
from eyecast.model.collectives.halving.rectangle import rectangle_broadcast
from eyecast.model.collectives.lower_bounds import lower_bounds
from eyecast.model.collectives.reductions.all_reduce import scattered_all_reduce
from eyecast.model.collectives.row_column.all_to_all import row_column_all_to_all
from eyecast.model.collectives.streaming.chain import chain_broadcast
from eyecast.model.collectives.streaming.greedy import greedy_all_gather, greedy_broadcast
from eyecast.model.collectives.streaming.overlapped import overlapped_all_reduce
from eyecast.model.collectives.streaming.packed_chains import packed_chains
from eyecast.model.collectives.streaming.rings import hamiltonian, stream_ring
from eyecast.model.collectives.streaming.trees import packed_trees_broadcast, packed_trees_multicast
from eyecast.model.collectives.tree.broadcast import (
    partial_tree_broadcast,
    tree_broadcast,
    tree_multicast,
)
from eyecast.model.collectives.unicast_chain import (
    u_mesh_multicast,
    u_torus_multicast,
    u_torus_open_multicast,
)
from eyecast.model.network.chiplets import chiplets
from eyecast.model.network.faults import with_faults
from eyecast.model.network.neighbor_table import graph
from eyecast.model.network.topology import hypercube, line, mesh, torus
from eyecast.model.network.topology import ring as ring_of
from eyecast.model.papers.items.jiang_wu import FIGURE_1
from eyecast.model.program.memory.layout import Layout
from eyecast.model.schedule.blocks import Blocks
from eyecast.model.schedule.groups import require_groups
from eyecast.model.schedule.schedule import Schedule

APART = with_faults(line(3), [1])
"""Two nodes without a path between them."""
BROKEN = with_faults(mesh((4, 4)), [5])
CUT_OFF = with_faults(mesh((4, 4)), [1, 4])
"""A 4x4 mesh whose node 0 has no neighbors left."""
ONE_WAY = with_faults(line(6), [], [(n + 1, n) for n in range(5)])
TWO = graph([[-1, 1], [-1, 0]])
CUBE = hypercube(3)

cube = partial(cube_schedule, all_port=False, graph="sbt")
all_reduce = partial(generated, "all-reduce")
ring_all_gather = partial(generated, "all-gather", "stream-ring", mesh((2, 2)), words=1)


def group(collective: str = "broadcast", nodes: tuple[int, ...] = (0, 1), **more: object) -> None:
    """Make a choice of one group on a 4x4 mesh."""
    asked = {"nodes": [*nodes], "collective": collective, **more}
    Grouping(mesh((4, 4)), groups_of([asked], "broadcast"), "broadcast")


def words(collective: str, given: object) -> None:
    """Require words of blocks on a square whose node 3 is faulty."""
    require_block_words(given, collective, with_faults(mesh((2, 2)), [3]))


def leaving_a_group() -> None:
    made = eye_broadcast(mesh((2, 2)), 0, 4)
    replace(made, collective="custom", root=None, groups=((0, 1), (2, 3))).check()


def crossing(group: list[int]) -> None:
    """Check two groups that share node 1; each block is owed to both nodes of its group."""
    blocks = Blocks(np.array([1, 2]), ((0, 1), (1, 2)), [2, 2], group=np.array(group))
    made = build(line(3), [Send(1, [1, 0], [0]), Send(1, [2, 1], [1])], blocks, "custom")
    replace(made, port_model="full-duplex", groups=((0, 1), (1, 2))).check()


def of_own_operator() -> None:
    """The result of a custom operator may depend on the order of arrival."""
    made = all_reduce("trivance-whole", ring_of(9), words=5, all_port=True)
    own = replace(made, blocks=replace(made.blocks, operator=("own",)))
    Layout.of(own, 256)


def halves(total: int) -> Schedule:
    """Join a reduce-scatter and an all-gather of two words a block, as one of ``total`` words."""
    both = (
        generated(half, "circulant", mesh((3, 3)), words=2)
        for half in ("reduce-scatter", "all-gather")
    )
    return scattered_all_reduce(*both, total)


def combined_and_replaced() -> Schedule:
    """Node 1 sends its words, gets them back, and gets other words as well."""
    blocks = Blocks.reduced_to(((1,),), 2, "add")
    sends = [Send(1, [1, 2]), Send(1, [2, 1]), Send(1, [0, 1])]
    return replace(
        build(line(3), sends, blocks, "custom", "all-port"),
        root=None,
        combine=np.array([True, False, True]),
        stream=np.array([False, True, False]),
    )


REFUSED = {
    # Words of blocks.
    "block words must be 4, one for each node, not 3": lambda: words("all-gather", (1,) * 3),
    "block words must be 0 to 1073741824, not -1": lambda: words("gather", (1, 1, 1, -1)),
    "block words of scatter must be a number for each node": lambda: words(
        "scatter", ((1,) * 4,) * 4
    ),
    "block words of all-to-all must be a row of words for each source": lambda: words(
        "all-to-all", (1,) * 4
    ),
    "block words of source 2 must be 4, one for each node, not 5": lambda: words(
        "all-to-all", ((1,) * 4, (1,) * 4, (1,) * 5, (1,) * 4)
    ),
    "block words of node 3 must be 0, as it takes no part, not 2": lambda: words(
        "scatter", (1, 0, 0, 2)
    ),
    "block words of node 1 for node 3 must be 0, as both are not in one collective, "
    "not 7": lambda: words("all-to-all", ((0, 1, 1, 0), (1, 1, 1, 7), (0,) * 4, (0,) * 4)),
    "block words must be left out with reduce, or given for "
    "scatter, reduce-scatter, gather, all-gather or all-to-all": lambda: words("reduce", (1,) * 4),
    "block words must be left out with stream-ring all-gather, whose "
    "streams take equal blocks": lambda: with_block_words(stream_ring(mesh((4, 4)), 4), (3,) * 16),
    "block words with stream-ring all-gather, which streams, must be at least 1, not 0": lambda: (
        ring_all_gather(block_words=(3, 1, 0, 2))
    ),
    # Groups.
    "send 1 (step 2, 0 -> 2): it takes block 0 out of its group": leaving_a_group,
    "send 0 (step 1, 1 -> 0): it takes block 0 out of its group": lambda: crossing([1, 1]),
    "blocks must have the number of their group, as groups share nodes": lambda: crossing([]),
    "group of block 1 must be 0 to 1, not 2": lambda: crossing([0, 2]),
    "node 2 has block 1, but is not in its group 0": lambda: crossing([0, 0]),
    "group of the blocks must be 2 long, not 1": lambda: crossing([0]),
    "node of group 0 must be a working node, not faulty node 5": lambda: require_groups(
        BROKEN, [(0, 5)]
    ),
    "node of group 0 must be 0 to 15, not 99": lambda: require_groups(BROKEN, [(0, 99)]),
    "nodes of group 0 must be 2 or more, not 1": lambda: require_groups(BROKEN, [(0,)]),
    "root of group 0 must be one of its nodes, not 5": lambda: group(root=5),
    "root of group 0 must be a node, not None": group,
    "root of group 0 must be left out, as every node is one, not 0": lambda: group(
        "all-gather", root=0
    ),
    "nodes of group 0 must be different, not node 0 twice": lambda: group(nodes=(0, 0), root=0),
    "groups[0].words: Expected int >= 1": lambda: group(root=0, words=0),
    "words of group 0 must be left out with its block_words": lambda: group(
        "gather", root=0, words=2, block_words=[1, 2]
    ),
    "group 0: block words must be 2, one for each node, not 1": lambda: group(
        "gather", root=0, block_words=[1]
    ),
    "collective of group 0 must be another, "
    "such as a broadcast among those who get it, not multicast": lambda: group("multicast", root=0),
    # Bounds.
    "nodes for bounds must be at least 2, not 1": lambda: lower_bounds(
        "broadcast", mesh((1,)), 0, 1, "exchange"
    ),
    "source must be 0 to 3, not 4": lambda: lower_bounds("broadcast", ring_of(4), 4, 1, "exchange"),
    # Unicast chains.
    "network for u-mesh must be a mesh, line or hypercube "
    "without faults, not a 4x4 torus": lambda: u_mesh_multicast(torus((4, 4)), 0, None, 1),
    "network for u-torus must be a torus or ring without faults, not a 4x4 mesh": lambda: (
        u_torus_multicast(mesh((4, 4)), 0, None, 1)
    ),
    "network for u-torus-open must be a torus or ring without faults, not a 4x4 torus with "
    "1 faulty node": lambda: u_torus_open_multicast(with_faults(torus((4, 4)), [3]), 0, None, 1),
    "network for u-mesh must be a mesh, "
    "line or hypercube without faults, not a graph of 2": lambda: u_mesh_multicast(TWO, 0, None, 1),
    # Hypercubes.
    "faults must be such that some tree of nesbt reaches every node, not such "
    "that 3 is lost": lambda: nesbt_copies(with_faults(hypercube(2), (), [(1, 3), (2, 3)]), 0, 1),
    "faults must be such that some tree of nesbt reaches every "
    "node, not such that 1 is lost": lambda: nesbt_copies(with_faults(hypercube(2), [1]), 1, 1),
    "topology for nesbt must be a hypercube, not a 2x2 mesh": lambda: nesbt_copies(
        mesh((2, 2)), 0, 1
    ),
    "order of all-to-all must be none with one port, not postorder": lambda: cube(
        "all-to-all", CUBE, None, 1, order="postorder"
    ),
    "order of all-to-all must be postorder or reverse-breadth-first, not preorder": lambda: cube(
        "all-to-all", CUBE, None, 1, all_port=True, order="preorder"
    ),
    "collective must be broadcast, scatter, gather, all-gather or all-to-all, not sum": lambda: (
        cube("sum", CUBE, 5, 1)
    ),
    "source must be an integer, not None": lambda: cube("scatter", CUBE, None, 1),
    "blocks carried by the sends must be at most 67108864, not 2147483647": lambda: cube(
        "broadcast", hypercube(6), 5, (1 << 31) - 1, graph="brg", packet=1
    ),
    "blocks carried by the sends must be at most 67108864, not 8455716864": lambda: cube(
        "scatter", hypercube(6), 5, 1 << 22, graph="brg", packet=1
    ),
    "blocks carried by the sends must be at most 67108864, not 2147483646": lambda: cube(
        "broadcast", hypercube(6), 5, (1 << 31) - 2, graph="nrsbt", all_port=True, packet=1
    ),
    "blocks carried by the sends must be at most 67108864, not 805306368": lambda: cube(
        "scatter", hypercube(6), 5, 1 << 22, graph="nrsbt", all_port=True, packet=1
    ),
    "spanning graph must be brg, nrbrg, sbt, tcbt, nrsbt, nesbt or sbnt, not hsbt": lambda: (
        spanning_graph("hsbt", 3, 0)
    ),
    "dimension of hypercube must be 1 to 20, not 0": lambda: spanning_graph("sbt", 0, 0),
    "dimension of hypercube must be 1 to 20, not 21": lambda: spanning_graph("sbt", 21, 0),
    "source must be 0 to 7, not 8": lambda: spanning_graph("sbt", 3, 8),
    "source must be 0 to 7, not -1": lambda: spanning_graph("sbt", 3, -1),
    # Direct messages, and rows and columns.
    "target of a route from node 2 must be a node that it can reach, not 0": lambda: (
        direct_all_to_all(APART, 1)
    ),
    "source must be a node that is not faulty, not 1": lambda: direct_scatter(APART, 1, 4),
    "target of a route from node 0 must be a node that it can reach, not 2": lambda: direct_gather(
        APART, 2, 4
    ),
    "network for row-column must be a mesh or torus of "
    "two axes without faults, not a 4x4x2 mesh": lambda: row_column_all_to_all(mesh((4, 4, 2)), 4),
    "network for row-column must be a mesh or torus of two axes without faults, not a "
    "3x3 mesh with 1 faulty node": lambda: row_column_all_to_all(with_faults(mesh((3, 3)), [4]), 4),
    # Exchanges.
    "network for swing must be of sides that are powers of two, not a 3x4 torus": lambda: (
        swing_all_gather(torus((3, 4)), 2)
    ),
    "network for swing must be a torus or ring without faults, not 4x4 mesh": lambda: (
        swing_all_gather(mesh((4, 4)), 2)
    ),
    "words for block 0 at node 0 in step 1, in which it sends the block, must be one send, "
    "but by a built-in "
    "operator and without streams, not several by own: their order would decide": of_own_operator,
    "network for trivance-whole must be of sides that are powers of three, unless the operator is "
    "min, max, min-signed, max-signed, and or or, not a ring of 8": lambda: all_reduce(
        "trivance-whole", ring_of(8), words=5, all_port=True
    ),
    "network for trivance-whole must be of sides that are powers of three, unless the operator is "
    "min, max, min-signed, max-signed, and or or, not a 3x6 torus": lambda: all_reduce(
        "trivance-whole", torus((3, 6)), words=5, all_port=True
    ),
    "network for trivance-whole must be a torus or ring without faults, not 3x3 mesh": lambda: (
        all_reduce("trivance-whole", mesh((3, 3)), words=5, all_port=True)
    ),
    "operator for trivance-whole must be add, min, max, min-signed, max-signed, and, or or "
    "xor, not mine": lambda: all_reduce(
        "trivance-whole", ring_of(9), words=5, all_port=True, operator="mine"
    ),
    # Fault blocks.
    "source must be a node that is not faulty, not 52": lambda: jiang_wu_broadcast(
        FIGURE_1, FIGURE_1.node_at((2, 5)), 1
    ),
    "source must be a node outside of fault blocks for jiang-wu (use tree instead), not 62, "
    "disabled "
    "in the block [2:5, 3:6]": lambda: jiang_wu_broadcast(FIGURE_1, FIGURE_1.node_at((2, 6)), 1),
    "faulty node for jiang-wu must be off the edge of the mesh (use tree "
    "instead), not 4,1": lambda: fault_blocks(with_faults(mesh((5, 4)), [9, 12])),
    "faulty links for jiang-wu must be none (use tree instead), not 1,1:2,1": lambda: fault_blocks(
        with_faults(mesh((5, 4)), faulty_links=[(6, 7)])
    ),
    "network for jiang-wu must be a 2-D mesh (use tree instead), not a 4x4 torus": lambda: (
        fault_blocks(torus((4, 4)))
    ),
    "network for jiang-wu must be a 2-D mesh (use tree instead), not a 3x3x3 mesh": lambda: (
        fault_blocks(mesh((3, 3, 3)))
    ),
    "network for jiang-wu must be a 2-D mesh (use tree instead), not a line of 9": lambda: (
        fault_blocks(line(9))
    ),
    "network for jiang-wu must be a 2-D mesh (use tree instead), not a 2-cube": lambda: (
        fault_blocks(hypercube(2))
    ),
    # Grids.
    "network for recursive-doubling all-gather must be of sides that are powers of two up to 16, "
    "or served "
    "by ring, not a 6x8 mesh": lambda: recursive_doubling("all-gather", mesh((6, 8)), None, 1),
    "network for recursive-doubling all-to-all must be of sides that are powers of two up to 16, "
    "or "
    "served by ring, not a 32 mesh": lambda: recursive_doubling("all-to-all", mesh((32,)), None, 1),
    "network for recursive-doubling all-to-all must be of sides that are powers of two up to 16, "
    "or served "
    "by ring, not a 4x4x3 mesh": lambda: recursive_doubling("all-to-all", mesh((4, 4, 3)), None, 1),
    "collective must be broadcast, scatter, gather, all-gather or all-to-all, not reduce": lambda: (
        recursive_doubling("reduce", mesh((2, 2)), 0, 1)
    ),
    "network for recursive-doubling must be a mesh, torus or "
    "hypercube without faults, not a graph of 2": lambda: recursive_doubling("scatter", TWO, 0, 1),
    "network for ring must be a mesh, torus or hypercube without faults, not "
    "a 4x4 mesh with 1 faulty node": lambda: ring("scatter", with_faults(mesh((4, 4)), [5]), 0, 1),
    "source must be left out with all-gather, not 1": lambda: recursive_doubling(
        "all-gather", mesh((2, 2)), 1, 1
    ),
    "source must be left out with all-to-all, not 1": lambda: ring(
        "all-to-all", mesh((2, 2)), 1, 1
    ),
    "source must be given with gather, not None": lambda: ring("gather", mesh((2, 2)), None, 1),
    "source must be given with scatter, not None": lambda: recursive_doubling(
        "scatter", mesh((2, 2)), None, 1
    ),
    # Halving.
    "network for the minimum broadcast must be a mesh of at most 2048 nodes where "
    "a side is no power of two, not a 46x45 mesh": lambda: minimum_broadcast(mesh((46, 45)), 0, 1),
    "network for the minimum broadcast must be a mesh of at most 2048 "
    "nodes where a side is no power of two, not a 45x46 mesh": lambda: minimum_tcds(mesh((45, 46))),
    "network for the minimum broadcast must be a mesh without faults, not an 8x8 torus": lambda: (
        minimum_broadcast(torus((8, 8)), 0, 1)
    ),
    "network for the minimum broadcast must "
    "be a mesh without faults, not a 4x4 mesh with 1 faulty node": lambda: minimum_tcds(BROKEN),
    "mesh to compare with the eye must "
    "be of equal sides that are powers of two, not 8x4 mesh": lambda: tcds_by_eye(mesh((8, 4))),
    "mesh to compare with the eye must "
    "be of equal sides that are powers of two, not 6x6 mesh": lambda: tcds_by_eye(mesh((6, 6))),
    "axes of Eq. 16 must be at least 2, not 1": lambda: grid_eye_tcd(1, 3),
    "network for the eye broadcast must be a 2^k x 2^k mesh (1x1, 2x2, 4x4, 8x8, "
    "...), of which the nearest is 8x8, not a 6x6 mesh": lambda: eye_broadcast(mesh((6, 6)), 0, 1),
    "network for the eye broadcast must be a 2^k x 2^k mesh (1x1, 2x2, 4x4, 8x8, "
    "...), of which the nearest is 8x8, not an 8x4 mesh": lambda: eye_broadcast(mesh((8, 4)), 0, 1),
    "network for the eye broadcast must be a 2^k x 2^k mesh (1x1, 2x2, 4x4, 8x8, "
    "...), of which the nearest is 4x4, not a 5x5 mesh": lambda: eye_broadcast(mesh((5, 5)), 0, 1),
    "network for the eye broadcast must be a 2^k x 2^k mesh (1x1, 2x2, 4x4, 8x8, "
    "...), of which the nearest is 2x2, not a 1x2 mesh": lambda: eye_broadcast(mesh((1, 2)), 0, 1),
    "network for the eye broadcast must be a 2^k mesh (1, 2, 4, "
    "8, ...), of which the nearest is 16, not a line of 17": lambda: eye_broadcast(line(17), 0, 1),
    "network for the eye broadcast must be a 2^k x 2^k x 2^k torus (1x1x1, 2x2x2, 4x4x4, 8x8x8, "
    "...), of "
    "which the nearest is 4x4x4, not a 3x4x4 torus": lambda: eye_broadcast(torus((3, 4, 4)), 0, 1),
    "network for the eye broadcast must be a mesh or "
    "torus without faults, not a 4x4 mesh with 1 faulty node": lambda: eye_broadcast(BROKEN, 0, 1),
    "network for the eye broadcast must be a mesh or torus "
    "with sides of 2^k (8, 4x4, 8x8x8, ...), not a graph of 2": lambda: eye_broadcast(TWO, 0, 1),
    "network for the rectangle broadcast must be a mesh or torus without faults, not a 3x4 "
    "mesh with 1 faulty node": lambda: rectangle_broadcast(with_faults(mesh((3, 4)), [5]), 0, 1),
    "network for the rectangle broadcast must be a mesh or torus, not a graph of 2": lambda: (
        rectangle_broadcast(TWO, 0, 1)
    ),
    # Reductions.
    "contributors of a reduce to node 0 must be nodes from which a path leads to it, not node "
    "2": lambda: generated("reduce", "tree", with_faults(line(3), [], [(2, 1)]), words=1, source=0),
    "words of all blocks must be 8 to 17, not 18": lambda: halves(8),
    "words of all blocks must be 19 to 28, not 18": lambda: halves(19),
    "send 2 (step 1, 0 -> 1): node 1 gets block 0 in the same step by send "
    "1 (step 1, 2 -> 1), and one of the two replaces it": lambda: combined_and_replaced().check(),
    "words for block 0 at node 1 in step 1, in which it sends the block, must be one send, "
    "but by a built-in operator and without streams, not several in a "
    "schedule that streams: their order would decide": lambda: case_of(combined_and_replaced(), 1),
    "network for combs must be a mesh of one or two axes without faults, not a 4x4 torus": lambda: (
        all_reduce("combs", torus((4, 4)), words=16, all_port=True)
    ),
    "network for packed-trees must be one whose links lead both ways, not a 3x3 mesh with 1 faulty "
    "node and "
    "1 faulty link": lambda: all_reduce(
        "packed-trees", with_faults(mesh((3, 3)), [4], [(0, 1)]), words=16, all_port=True
    ),
    "words must be at least 16 for stream-ring, not 15": lambda: all_reduce(
        "stream-ring", mesh((4, 4)), words=15
    ),
    # Streams.
    "network for overlapped must be one whose links differ in rate, not a 4x2 mesh": lambda: (
        overlapped_all_reduce(mesh((4, 2)), 16, "add")
    ),
    "network for overlapped must be one in which links that lead both ways join all nodes, not a "
    "4x1 mesh with 1 faulty link and 2 "
    "links that differ": lambda: overlapped_all_reduce(
        with_faults(chiplets((2, 1), (2, 1), rate=4), [], [(0, 1)]), 16, "add"
    ),
    "network for paced must be one whose links differ, not a 4x2 mesh": lambda: greedy_broadcast(
        mesh((4, 2)), 0, 16
    ),
    "network for packed-chains must be one with paths by which "
    "it reaches all others, not a line of 3 with 1 faulty node": lambda: packed_chains(APART, 0, 4),
    "network for packed-chains must be one with paths by which all others reach the source, not a "
    "line of 2 with "
    "1 faulty link": lambda: packed_chains(with_faults(line(2), [], [(1, 0)]), 0, 4, gather=True),
    "network for packed-trees must be one in which the source reaches all "
    "targets, not a line of 3 with 1 faulty node": lambda: packed_trees_multicast(APART, 0, [2], 4),
    "target must be a node with a network interface, not switch 0": lambda: packed_trees_multicast(
        switch_star(3), 1, [0], 4
    ),
    "network for packed-trees must be one in which the source reaches "
    "all nodes, not a line of 3 with 1 faulty node": lambda: packed_trees_broadcast(APART, 0, 4),
    "source must be a node that is not faulty, not 7": lambda: chain_broadcast(
        with_faults(line(9), [7]), 7, 4
    ),
    "network for chain must be one in which a chain of links that are used once "
    "leads to all nodes, not a line of 3 with 1 faulty node": lambda: chain_broadcast(APART, 0, 4),
    "network for stream-ring must be one in which a ring of links that are used once "
    "leads through all nodes, not a line of 3 with 1 faulty node": lambda: stream_ring(APART, 4),
    "network for hamiltonian must be a ring, mesh, torus or hypercube without "
    "faults in which a cycle is known, not a 3x3 mesh": lambda: hamiltonian(mesh((3, 3)), 4),
    "network for greedy must be one in which every node "
    "reaches all others, not a line of 3 with 1 faulty node": lambda: greedy_all_gather(APART, 4),
    # Trees.
    "network for a broadcast from node 5 must be one in which it reaches all nodes, not a 4x4 mesh "
    "with 2 faulty nodes, where no path leads to node 0": lambda: tree_broadcast(CUT_OFF, 5, 1),
    "source must be 0 to 15, not 16": lambda: tree_broadcast(BROKEN, 16, 1),
    "source must be 0 to 15, not -1": lambda: partial_tree_broadcast(BROKEN, -1, 1),
    "source must be a node that is not faulty, not 5": lambda: partial_tree_broadcast(BROKEN, 5, 1),
    "words must be at least 1, not 0": lambda: tree_broadcast(BROKEN, 0, 0),
    "network for a broadcast from node 0 must be one in which it reaches all nodes, not a line of "
    "3 with 1 faulty link, where "
    "no path leads to node 2": lambda: tree_broadcast(with_faults(line(3), [], [(1, 2)]), 0, 1),
    "source must be a node with a network interface, not switch 0": lambda: tree_broadcast(
        switch_star(3), 0, 2
    ),
    "network for a broadcast from node 1 must be one in which it reaches all nodes, not a graph of "
    "4 with 1 switch and 1 faulty node, "
    "where no path leads to node 2": lambda: tree_broadcast(with_faults(switch_star(3), [0]), 1, 2),
    "network for a multicast from node 1 must be one in which it reaches its targets, not a line "
    "of 6 with "
    "5 faulty links, where no path leads to node 0": lambda: tree_multicast(ONE_WAY, 1, [0, 3], 2),
    "source must be a node with a network interface, not switch 1": lambda: tree_multicast(
        switch_mesh(2, 2), 1, [2], 2
    ),
    "target must be 0 to 4, not 9": lambda: tree_multicast(
        with_faults(switch_star(4), [3]), 1, [9], 2
    ),
    "target must be a node that is not faulty, not 3": lambda: tree_multicast(
        with_faults(switch_star(4), [3]), 1, [3], 2
    ),
}


@pytest.mark.parametrize("said", REFUSED)
def test_what_is_refused(said: str) -> None:
    assert refusal_of(REFUSED[said]) == said
