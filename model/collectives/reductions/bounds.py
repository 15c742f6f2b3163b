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

In **cycles** a reduce or reduce-scatter takes as many as backwards, as a broadcast or all-gather
over links turned round: any schedule of the one, backwards, is one of the other. A block that goes
to several nodes takes as many as the contribution of any one node to all of them. And the ports or
links of all nodes share the sends of all words: the sends before some node has the result, one by
each other contributor, and the sends after, one to each other node that is owed the result.
"""

from __future__ import annotations

from collections import defaultdict
from dataclasses import replace
from typing import TYPE_CHECKING, NamedTuple

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
    """The least cycles of any schedule for reduced ``blocks``, as :func:`.least_cycles`.

    How the words are cut into blocks makes no difference.
    """
    # What is compiled takes long to import, and most commands refuse what they refuse before it.
    from ...bounds.cycles import CycleBound, least_cycles  # noqa: PLC0415

    asked = _asked(topology, blocks)
    if not asked:
        return CycleBound(0, "nothing has to be sent")
    alone = {ends: words for ends, words in asked.items() if len(ends.owed) == 1}
    several = {ends: words for ends, words in asked.items() if len(ends.owed) > 1}
    found = [_shared(topology, several, port_model)]
    if alone:
        turned = Blocks(
            np.array([ends.owed[0] for ends in alone], np.int32),
            tuple(ends.contributors for ends in alone),
            np.array([*alone.values()], np.int32),
        )
        bound = least_cycles(against(topology), turned, port_model, hop_cycles=hop_cycles)
        found.append(replace(bound, reason=f"backwards {bound.reason}"))
    # What one of its contributors has must get to all whom a block is owed to: the first's, or the
    # last's.
    for end in (0, -1) if several else ():
        copied = Blocks(
            np.array([ends.contributors[end] for ends in several], np.int32),
            tuple(ends.owed for ends in several),
            np.array([*several.values()], np.int32),
        )
        found.append(least_cycles(topology, copied, port_model, hop_cycles=hop_cycles))
    return max(found)


class _Ends(NamedTuple):
    """The nodes between which words go, each ascending."""

    contributors: tuple[int, ...]
    owed: tuple[int, ...]


def _asked(topology: Topology, blocks: Blocks) -> dict[_Ends, int]:
    """The words that are asked for between the same nodes, in however many blocks."""
    everyone = tuple(topology.working_nodes.tolist())
    asked: dict[_Ends, int] = defaultdict(int)
    for contributors, owed, words in zip(
        blocks.contributors, blocks.owed, blocks.words.tolist(), strict=True
    ):
        nodes = (everyone if each is None else tuple(sorted(each)) for each in (contributors, owed))
        ends = _Ends(*nodes)
        if words and ends.contributors and ends.owed and len({*ends.contributors, *ends.owed}) > 1:
            asked[ends] += words
    return asked


def _shared(topology: Topology, asked: dict[_Ends, int], port_model: PortModel) -> CycleBound:
    """The sends of all words, over the ports or links by which all nodes can send."""
    from ...bounds.cycles import CycleBound  # noqa: PLC0415 - as above

    sends = 0
    for (contributors, owed), words in asked.items():
        common = 2 if not {*contributors}.isdisjoint(owed) else 1
        sends += (len(contributors) + len(owed) - common) * words
    leaving = np.count_nonzero(topology.neighbor[topology.working_nodes] != NO_LINK, axis=1)
    links = port_model == PortModel.ALL_PORT
    ports = int(leaving.sum() if links else np.count_nonzero(leaving))
    sharing = counted(ports, "link" if links else "port")
    reason = f"{sharing} share {counted(sends, 'hop')} of words"
    return CycleBound(-(-sends // max(1, ports)), reason)


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
