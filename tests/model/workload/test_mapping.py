"""Mappings of ranks: the best is a local optimum, found from a shuffled ring; files are checked."""

from itertools import combinations
from pathlib import Path

import numpy as np
import pytest

from eyecast.model.base.errors import InvalidInput
from eyecast.model.bounds.hops import hops_from
from eyecast.model.network.topology import Topology, mesh, torus
from eyecast.model.workload.mapping import mapped
from eyecast.model.workload.workload import MESSAGE, Call, Rows, Workload


def shuffled_ring(topology: Topology, ranks: int) -> Workload:
    """Return messages around a ring of ranks, which are drawn in another order than the nodes."""
    rows, order = Rows(), np.random.default_rng(1).permutation(ranks).tolist()
    for number, (one, other) in enumerate(zip(order, order[1:] + order[:1], strict=True)):
        rows.take_part(one, number, Call(MESSAGE, (one, other), 10, f"m{number}"))
    return rows.workload("ring", topology, range(ranks))


def cost(workload: Workload, nodes: np.ndarray) -> int:
    """Return the words x hops of all messages."""
    hops = hops_from(workload.topology, np.arange(workload.topology.nodes))
    return sum(int(hops[tuple(nodes[list(call.ranks)])]) * call.words for call in workload.calls)


@pytest.mark.parametrize("topology", [mesh((4, 4)), torus((4, 4))], ids=["mesh", "torus"])
@pytest.mark.parametrize("ranks", [16, 11])
def test_no_exchange_improves_the_best_mapping(topology: Topology, ranks: int) -> None:
    before = shuffled_ring(topology, ranks)
    after = mapped(before, "best")
    least = cost(after, after.nodes)
    assert least < cost(before, before.nodes)
    for one, other in combinations(range(ranks), 2):
        nodes = after.nodes.copy()
        nodes[[one, other]] = nodes[[other, one]]
        assert cost(after, nodes) >= least
    assert mapped(before, "rows") is before


def test_a_file_lists_the_node_of_each_rank(tmp_path: Path) -> None:
    workload, path = shuffled_ring(mesh((2, 2)), 4), tmp_path / "nodes"
    path.write_text("3 2\n1 0\n")
    assert mapped(workload, str(path)).nodes.tolist() == [3, 2, 1, 0]
    for text, words in {
        "3 2 1": "must be 4, one for each rank, not 3",
        "3 2 1 x": "node must be a number, not 'x'",
        "3 2 1 4": "node of rank 3 must be a working node of the 2x2 mesh, not 4",
        "3 2 1 1": "node of rank 3 must be another than that of rank 2, not 1",
    }.items():
        path.write_text(text)
        with pytest.raises(InvalidInput, match=words):
            mapped(workload, str(path))
