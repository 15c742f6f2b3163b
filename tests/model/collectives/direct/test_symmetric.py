"""The symmetric all-to-all: its cycles on all known tori, its words, and its refusals."""

import pytest
from helpers.carried_out import carried_out
from helpers.refusals import refusal_of
from helpers.schedule_judge import problems

import eyecast
from eyecast.model.collectives.direct.symmetric import known_paths, symmetric_all_to_all
from eyecast.model.network.topology import Topology, mesh, torus

CYCLES = {3: 15, 4: 23, 5: 32, 6: 44, 7: 57, 8: 73, 9: 100, 10: 135, 11: 177, 12: 250}
"""S4NOC's tables take 24, 32, 47, 63, 92 and 163 cycles on 4, 5, 6, 7, 8 and 10."""


@pytest.mark.parametrize("side", known_paths())
def test_its_cycles(side: int) -> None:
    made = symmetric_all_to_all(torus((side, side)), 1)
    made.check()
    assert eyecast.predict(made, circuits=True).cycles == CYCLES[side]


@pytest.mark.parametrize(("side", "words"), [(3, 5), (4, 1), (4, 3), (5, 2)])
def test_it_is_carried_out(side: int, words: int) -> None:
    made = symmetric_all_to_all(torus((side, side)), words)
    assert problems(made) == set()
    carried_out(made, circuits=True)


@pytest.mark.parametrize(
    "network", [mesh((4, 4)), torus((4, 5)), torus((13, 13)), torus((4, 4, 4))]
)
def test_other_networks_are_refused(network: Topology) -> None:
    said = refusal_of(eyecast.schedule, network, "symmetric", collective="all-to-all")
    assert said.startswith("network for symmetric must be a square torus of side 3, 4, 5")


def test_packets_are_refused() -> None:
    made = eyecast.schedule(torus((4, 4)), "symmetric", collective="all-to-all")
    said = refusal_of(eyecast.predict, made)
    assert said == "a schedule with trees needs a network with circuits (circuits)"
