"""Trivance with whole messages: rounds that triple, and copies of words sent meanwhile."""

from dataclasses import replace

import numpy as np
import pytest
from helpers.drawn_reductions import case_of, wrong_nodes
from helpers.generated import generated

from eyecast.model.base.errors import InvalidInput
from eyecast.model.collectives.declared.request import Request
from eyecast.model.collectives.registry import find_algorithm
from eyecast.model.compare.case import Case
from eyecast.model.network.config import NetworkConfig
from eyecast.model.network.topology import Topology, mesh, ring, torus
from eyecast.model.program.compiler import Compiled
from eyecast.model.program.deadlock import certify
from eyecast.model.program.layout import Layout
from eyecast.model.schedule.schedule import Schedule


def all_reduce(network: Topology, words: int = 5) -> Schedule:
    return generated("all-reduce", "trivance-whole", network, words=words, all_port=True)


@pytest.mark.parametrize(
    ("network", "steps", "vcs"),
    [
        (ring(3), 1, 1),
        (ring(9), 2, 3),
        (torus((3, 3)), 2, 1),
        (torus((9, 9)), 4, 3),
        (torus((3, 3, 3)), 3, 1),
        # In the last round nine messages share each link, but a network has at most 8 VCs.
        (ring(27), 4, 8),
    ],
    ids=str,
)
def test_rounds_triple(network: Topology, steps: int, vcs: int) -> None:
    made = all_reduce(network)
    made.check()
    assert (made.steps, int(made.vcs.max()) + 1) == (steps, vcs)
    case = case_of(made, 1)
    certify(case.program)
    assert case.predicted.finished
    assert wrong_nodes(case, case.predicted.memory) == []


def test_a_message_goes_to_every_copy_that_is_left() -> None:
    case = case_of(all_reduce(ring(9), 4), 1)
    program = case.program
    rounds = [program.step == step for step in (1, 2)]
    targets = [set(program.target_address[each].tolist()) for each in rounds]
    assert targets == [{0, 4}, {0}]
    assert [set(program.source_address[each].tolist()) for each in rounds] == [{8}, {4}]
    assert set(program.operator.tolist()) == {1}
    assert sorted({address for _, address, _ in case.payload.loads(program.config)}) == [0, 4, 8]


def test_across_alone_one_of_two_would_be_lost() -> None:
    made = all_reduce(ring(9))
    config = NetworkConfig(topology=ring(9), all_port=True, vcs=3, operators="add")
    layout = Layout.of(made, config.message_words)
    wrong = replace(layout, halves=replace(layout.halves, copied=False))
    case = Case.of(Compiled.of(made, config, wrong), timing="barrier", seed=1)
    assert len(wrong_nodes(case, case.predicted.memory)) == 9


def test_copies_must_stay_the_same() -> None:
    """The result of a custom operator may depend on the order of arrival, so it is refused."""
    made = all_reduce(ring(9))
    own = replace(made, blocks=replace(made.blocks, operator=("own",)))
    complaint = (
        "^what comes for block 0 at node 0 in step 1, in which it sends the block, must be one "
        "send, but by a built-in operator and without streams, not several by own: their order "
        "would decide$"
    )
    with pytest.raises(InvalidInput, match=complaint):
        Layout.of(own, 256)


def test_a_memory_without_room_for_the_copies_is_refused() -> None:
    made = all_reduce(ring(9))
    layout = Layout.of(made, 14)
    config = NetworkConfig(topology=ring(9), message_words=14, all_port=True)
    assert not layout.fits(config)
    assert layout.fits(replace(config, message_words=15))
    assert layout.limit(config) == "at most 4, the message memory for 3 copies"


@pytest.mark.parametrize("network", [ring(8), torus((3, 6)), mesh((3, 3))], ids=str)
def test_other_networks_are_refused(network: Topology) -> None:
    with pytest.raises(InvalidInput, match=r"^network for trivance-whole must be (of sides|a tor)"):
        all_reduce(network)


def test_an_operator_of_ones_own_is_refused() -> None:
    request = Request(topology=ring(9), words=5, all_port=True, operator="mine")
    complaint = r"^operator for trivance-whole must be .*add.*, not mine$"
    with pytest.raises(InvalidInput, match=complaint):
        find_algorithm("all-reduce", "trivance-whole").generate(request)


def test_any_schedule_may_combine_several_at_once_in_what_it_sends() -> None:
    """In one step each of three nodes sends to both others and gets words from both."""
    made = all_reduce(ring(3), 7)
    assert np.bincount(made.target[made.step == 1]).tolist() == [2, 2, 2]
    case = case_of(made, 3)
    assert case.payload.layout.halves.places == 2
    assert case.predicted.cycles < case_of(_by_parts(), 3).predicted.cycles


def _by_parts() -> Schedule:
    return generated("all-reduce", "trivance", ring(3), words=7, all_port=True)
