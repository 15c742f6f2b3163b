"""Sends with an order are packed into steps: every rule of a schedule holds, no send is late."""

from itertools import pairwise

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from eyecast.model.base.errors import InvalidInput
from eyecast.model.network.neighbor_table import graph
from eyecast.model.network.port_model import PORT_MODELS, PortModel
from eyecast.model.network.topology import Topology, hypercube, mesh, ring, torus
from eyecast.model.schedule.blocks import Blocks
from eyecast.model.schedule.ordered import CircleError, OrderedSends, packed_schedule
from eyecast.model.schedule.schedule import Schedule

CHORDS = graph([[-1, (i + 1) % 9, (i - 1) % 9, (i + 3) % 9, (i - 3) % 9] for i in range(9)])
NETWORKS = (mesh((3, 3)), torus((3, 3)), ring(9), hypercube(3), CHORDS)


def all_to_all(topology: Topology, port_model: PortModel) -> Schedule:
    nodes = range(topology.nodes)
    pairs = [(source, target) for source in nodes for target in nodes if source != target]
    sends = OrderedSends(
        source=[source for source, _ in pairs],
        target=[target for _, target in pairs],
        blocks=[(block,) for block in range(len(pairs))],
        after=[()] * len(pairs),
    )
    owed = tuple((target,) for _, target in pairs)
    blocks = Blocks([source for source, _ in pairs], owed, [4] * len(pairs))
    return packed_schedule(topology, "all-to-all", "mine", port_model, None, blocks, sends)


def relayed(topology: Topology, walks: list[list[int]], port_model: PortModel) -> Schedule:
    """Return a schedule in which each walk passes its own block from node to node."""
    source, target, blocks, after = [], [], [], []
    for block, walk in enumerate(walks):
        for place, (begin, end) in enumerate(pairwise(walk)):
            after.append((len(source) - 1,) if place else ())
            source.append(begin)
            target.append(end)
            blocks.append((block,))
    owned = Blocks([w[0] for w in walks], tuple((w[-1],) for w in walks), [1] * len(walks))
    sends = OrderedSends(source=source, target=target, blocks=blocks, after=after)
    return packed_schedule(topology, "custom", "mine", port_model, None, owned, sends)


@pytest.mark.parametrize("port_model", PORT_MODELS)
@pytest.mark.parametrize("topology", NETWORKS, ids=lambda topology: topology.label)
def test_all_pairs_are_packed_by_the_rules(topology: Topology, port_model: PortModel) -> None:
    schedule = all_to_all(topology, port_model)
    schedule.check()
    assert schedule.largest_link_load == 1
    assert schedule.sends == topology.nodes * (topology.nodes - 1)


def test_pairs_of_a_hypercube_need_as_many_steps_as_a_node_has_partners() -> None:
    assert all_to_all(hypercube(4), PortModel.EXCHANGE).steps == 15


@settings(max_examples=60, deadline=None)
@given(
    st.sampled_from(NETWORKS),
    st.sampled_from(PORT_MODELS),
    st.lists(st.lists(st.integers(0, 7), min_size=2, max_size=6), min_size=1, max_size=12),
)
def test_what_a_send_comes_after_ends_in_earlier_steps(
    topology: Topology, port_model: PortModel, walks: list[list[int]]
) -> None:
    walks = [[w[0], *(b for a, b in pairwise(w) if a != b)] for w in walks]
    walks = [walk for walk in walks if len(walk) > 1]
    if walks:
        relayed(topology, walks, port_model).check()


def test_the_longest_chain_is_placed_first() -> None:
    schedule = relayed(mesh((4,)), [[0, 3], [0, 1, 2, 3]], PortModel.FULL_DUPLEX)
    pairs = zip(schedule.source.tolist(), schedule.target.tolist(), strict=True)
    steps = dict(zip(pairs, schedule.step.tolist(), strict=True))
    assert (steps[0, 1], steps[1, 2], schedule.steps) == (1, 2, 4)


def test_sends_that_wait_for_each_other_are_refused() -> None:
    sends = OrderedSends(
        source=[0, 1, 0], target=[1, 2, 3], blocks=[(0,)] * 3, after=[(1,), (2,), (0,)]
    )
    blocks = Blocks([0], (None,), [1])
    line = "order of sends must be without a circle, not send 0 after send 1 after send 2 after"
    with pytest.raises(CircleError, match=line) as caught:
        packed_schedule(mesh((4,)), "custom", "mine", PortModel.FULL_DUPLEX, 0, blocks, sends)
    assert caught.value.circle == [0, 1, 2]


def test_a_target_that_no_path_leads_to_is_refused() -> None:
    apart = graph([[-1, 1], [-1, 0], [-1, 3], [-1, 2]])
    with pytest.raises(InvalidInput, match="target of a route from node 0 must be a node that"):
        relayed(apart, [[0, 2]], PortModel.FULL_DUPLEX)
