"""Lower bounds that no all-reduce can beat, on any network.

With N contributors, which are those who are owed the result, and M words:

* **Steps**: those of an all-gather (:mod:`..lower_bounds`): whoever has something of
  one node at most doubles in a step.
* **Hops**: 2 (N - 1). Put the sends of all steps in one row, and consider the first after which
  some node has the result. By then each other node has sent, to give what only it had: N - 1 sends.
  And each other node still has to receive: N - 1 more.
* **Words x hops**: 2 (N - 1) M, as that holds for every word by itself.
* **Words of a node**: the most of 2 (N - 1) M / N, as N nodes share the words that are sent
  (P. Patarasuk and X. Yuan, 2009), and of M, as every node sends each word at least once.
* **Words of a link**: the most of what the links out of the node with the fewest share, M, and what
  all links share of words x hops.

In **cycles** a reduce or reduce-scatter takes what it takes backwards, as a broadcast or all-gather
over links turned round: any schedule of the one, backwards, is one of the other. An all-reduce
takes what its words take over the ports or links that share them, and what the contribution of any
one node takes to get to all.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from ...base.texts import counted
from ...network.port_model import PortModel
from ...network.topology import NO_LINK, Topology
from ...schedule.broadcast_bounds import least_broadcast_steps
from ...schedule.table import Blocks
from .backwards import against

if TYPE_CHECKING:
    from ...bounds.cycles import CycleBound


def reduction_cycles(
    topology: Topology, blocks: Blocks, port_model: PortModel, *, hop_cycles: int
) -> CycleBound:
    """The least cycles of any schedule for reduced ``blocks``, as :func:`.least_cycles`."""
    # What is compiled takes long to import, and most commands refuse what they refuse before it.
    from ...bounds.cycles import CycleBound, least_cycles  # noqa: PLC0415

    alone = np.array([owed is not None and len(owed) == 1 for owed in blocks.owed])
    if alone.any() and not alone.all():
        kinds = (blocks.some(alone), blocks.some(~alone))
        return max(
            reduction_cycles(topology, kind, port_model, hop_cycles=hop_cycles) for kind in kinds
        )
    if alone.all():
        goals = np.array([nodes[0] for nodes in blocks.owed if nodes], np.int32)
        turned = Blocks(goals, blocks.contributors, blocks.words)
        bound = least_cycles(against(topology), turned, port_model, hop_cycles=hop_cycles)
        return replace(bound, reason=f"backwards {bound.reason}")
    words = int(blocks.words.sum())
    nodes = topology.working_nodes
    holders = [blocks.holders(block, topology) for block in range(len(blocks))]
    # What one of its contributors has must get to all whom a block is owed to: the first's, or the
    # last's.
    found = [
        least_cycles(
            topology,
            Blocks(np.array([each[end] for each in holders]), blocks.owed, blocks.words),
            port_model,
            hop_cycles=hop_cycles,
        )
        for end in (0, -1)
    ]
    if set(blocks.owed) == set(blocks.contributors) == {None}:
        links = int(np.count_nonzero(topology.neighbor != NO_LINK))
        ports = links if port_model == PortModel.ALL_PORT else nodes.size
        shared = 2 * (nodes.size - 1) * words
        sharing = counted(int(ports), "link" if ports == links else "port")
        share = "shares" if ports == 1 else "share"
        reason = f"{sharing} {share} {counted(int(shared), 'hop')} of words"
        found.append(CycleBound(-(-shared // max(1, ports)), reason))
    return max(found)


def all_reduce_bounds(
    topology: Topology, nodes: int, words: int, port_model: PortModel, ports: int
) -> dict[str, int]:
    """The bounds for ``nodes`` nodes and ``words`` words; ``ports`` leave who sends by the most."""
    if nodes < 2:
        return dict.fromkeys(("steps", "tcd", "word_hops", "node_words", "link_words"), 0)
    steps = least_broadcast_steps(nodes, ports if port_model == PortModel.ALL_PORT else 1)
    idle = port_model == PortModel.HALF_DUPLEX or (
        port_model == PortModel.EXCHANGE and nodes % 2 == 1
    )
    links = np.count_nonzero(topology.neighbor != NO_LINK, axis=1)
    least = int(links[topology.working_nodes].min())
    hops = 2 * (nodes - 1)
    return {
        # Who sends nothing in step 1 is still alone with what it has.
        "steps": steps + idle,
        "tcd": hops,
        "word_hops": hops * words,
        "node_words": max(words, -(-hops * words // nodes)),
        "link_words": max(-(-words // least), -(-hops * words // int(links.sum()))),
    }
