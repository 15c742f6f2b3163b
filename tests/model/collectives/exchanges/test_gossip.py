"""Gossip: as few steps as the solver proves, and runs whose memories NumPy computes."""

import numpy as np
import pytest
from helpers.by_numpy import BY_NUMPY
from helpers.carried_out import carried_out
from helpers.drawn_reductions import case_of, draw_network, wrong_nodes
from helpers.generated import generated
from helpers.refusals import refusal_of
from helpers.tree_networks import graph_of

from eyecast.model.base.errors import InvalidInput
from eyecast.model.collectives.declared.request import Request
from eyecast.model.collectives.exchanges import gossip, gossip_scan
from eyecast.model.collectives.registry import find_algorithm
from eyecast.model.network.faults import with_faults
from eyecast.model.network.topology import Topology, line, mesh, ring, torus
from eyecast.model.schedule.collective import Collective
from eyecast.model.schedule.rules import ScheduleError

FEWEST = (
    ("all-to-all", mesh((3, 2)), True, 2),
    ("all-to-all", line(5), True, 3),
    ("all-to-all", torus((3, 2)), False, 3),
    ("all-reduce", torus((3, 2)), False, 3),
    ("all-reduce", mesh((3, 2)), True, 2),
    ("all-reduce", line(5), False, 4),
    ("all-reduce", line(5), True, 3),
    ("barrier", ring(5), True, 2),
    ("halo", mesh((2, 2, 2)), False, 3),
    ("halo", torus((3, 3)), False, 4),
    ("neighbor", mesh((3, 2)), False, 3),
    # The first node has a switch beside it, and no neighbor.
    ("neighbor", graph_of(4, [(0, 1), (1, 2), (2, 3)], [1]), False, 1),
    ("all-gather", line(6), True, 3),
    ("reduce-scatter", mesh((3, 2)), True, 2),
    ("scan", mesh((2, 2, 2)), True, 2),
    ("scan", torus((3, 3)), True, 2),
    ("exscan", mesh((2, 2)), True, 2),
    ("exscan", ring(5), False, 3),
    ("exscan", ring(6), True, 3),
)
"""Collectives, networks, whether all ports are used, and the steps that ``optimal`` proves."""
COLLECTIVES = (
    Collective.ALL_TO_ALL,
    Collective.ALL_GATHER,
    Collective.ALL_REDUCE,
    Collective.SCAN,
    Collective.EXSCAN,
)


@pytest.mark.parametrize(("collective", "topology", "all_port", "steps"), FEWEST, ids=str)
def test_as_few_steps_as_possible(
    collective: str, topology: Topology, all_port: bool, steps: int
) -> None:
    made = generated(collective, "gossip", topology, words=3, all_port=all_port)
    made.check()
    assert (made.steps, made.largest_link_load) == (steps, 1)


def test_a_message_carries_only_blocks_on_their_way() -> None:
    """Each block goes one way: from its source, by every node that gets it, to its target."""
    made = generated("all-to-all", "gossip", mesh((3, 2)), words=1, all_port=True)
    of_send = np.repeat(np.arange(len(made.step)), np.diff(made.block_offsets))
    for block, owed in enumerate(made.blocks.owed):
        sends = of_send[made.block_ids == block]
        sends = sends[np.argsort(made.step[sends])]
        way = [int(made.blocks.owner[block]), *made.target[sends].tolist()]
        assert made.source[sends].tolist() == way[:-1] and owed == (way[-1],)


@pytest.mark.parametrize("collective", ["all-reduce", "scan", "exscan"])
@pytest.mark.parametrize("topology", [line(5), torus((3, 3))], ids=str)
def test_no_sum_is_sent_in_vain(collective: str, topology: Topology) -> None:
    """Without any one of its messages, a reduction is wrong."""
    made = generated(collective, "gossip", topology, words=1)
    sends = np.arange(made.sends)
    for each in sends.tolist():
        kept = np.delete(sends, each)
        without = made.with_sends(kept, made.step[kept], np.arange(len(sends)), kept)
        with pytest.raises(ScheduleError):
            without.check()


def test_drawn_networks_are_carried_out() -> None:
    draw, made = np.random.default_rng(7), []
    while len(made) < 4 * len(COLLECTIVES):
        topology = draw_network(draw)
        collective = COLLECTIVES[len(made) % len(COLLECTIVES)]
        reduces = collective.reduces
        request = Request(
            topology=topology,
            words=int(draw.integers(1, 6)),
            all_port=bool(draw.integers(2)),
            operator=str(draw.choice(list(BY_NUMPY))) if reduces else None,
        )
        try:
            made.append(find_algorithm(collective, "gossip").generate(request))
        except InvalidInput:
            continue
        if reduces:
            made[-1].check()
            case = case_of(made[-1], 1)
            assert wrong_nodes(case, case.predicted.memory) == []
        else:
            carried_out(made[-1])


def test_refusals(monkeypatch: pytest.MonkeyPatch) -> None:
    """A fault parts two nodes; nodes that always rest get nowhere, and so do no tries."""
    apart = with_faults(line(3), [1])
    assert refusal_of(generated, "all-to-all", "gossip", apart, words=1).startswith(
        "network for gossip must be one in which every node reaches all others, not"
    )
    monkeypatch.setattr(gossip, "RESTING", (2,))
    monkeypatch.setattr(gossip, "TRIED_SUMS", 9)
    monkeypatch.setattr(gossip_scan, "TRIES", 0)
    for collective in ("all-reduce", "scan"):
        assert refusal_of(generated, collective, "gossip", line(3), words=1).startswith(
            "network for gossip must be one in which a random try has few steps, not"
        )
