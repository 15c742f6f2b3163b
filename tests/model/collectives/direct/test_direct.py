"""The direct all-to-all: packed cycles, its bound and circuits; the symmetric one of tori."""

import numpy as np
import pytest
from helpers.carried_out import carried_out, cycles_of
from helpers.irregular_networks import KINDS, drawn_network, drawn_networks
from helpers.refusals import refusal_of
from helpers.schedule_judge import problems
from helpers.switch_networks import fat_tree

import eyecast
from eyecast.model.collectives.declared.request import Request
from eyecast.model.collectives.direct.all_to_all import direct_all_to_all
from eyecast.model.collectives.direct.rooted import direct_gather, direct_scatter
from eyecast.model.collectives.direct.symmetric import known_paths, symmetric_all_to_all
from eyecast.model.collectives.row_column.all_to_all import row_column_all_to_all
from eyecast.model.collectives.row_column.messages import Message, passage_of, way_of
from eyecast.model.collectives.shown_bounds import schedule_bound
from eyecast.model.compare.best import choose_best
from eyecast.model.network.faults import draw_faults, with_faults
from eyecast.model.network.named_graphs import de_bruijn
from eyecast.model.network.port_model import PortModel
from eyecast.model.network.topology import Topology, hypercube, line, mesh, torus
from eyecast.model.program.certified import compile_certified
from eyecast.model.schedule.duration import expected_cycles
from eyecast.model.schedule.packing import Packets, pack, steps_of
from eyecast.model.schedule.repacking import repacked

FAULTY = with_faults(mesh((5, 4)), draw_faults(mesh((5, 4)), 3 / 20, seed=1))


def cycles(topology: Topology, words: int, *, all_port: bool = False) -> int:
    """Return an all-to-all's cycles; require all blocks, and that no flit waited."""
    made = direct_all_to_all(topology, words, all_port=all_port)
    assert (made.timed, made.port_model == PortModel.ALL_PORT) == (not all_port, all_port)
    found = cycles_of(made)
    assert found >= schedule_bound(made).value
    return found


@pytest.mark.parametrize(("side", "words", "most"), [(8, 4, 768), (4, 4, 130), (4, 64, 1_281)])
def test_cycles_on_meshes(side: int, words: int, most: int) -> None:
    assert cycles(mesh((side, side)), words) <= most


@pytest.mark.parametrize(
    "topology", [line(2), mesh((3, 2)), FAULTY, torus((3, 3, 2)), hypercube(3), de_bruijn(2, 3)]
)
def test_any_network(topology: Topology) -> None:
    assert cycles(topology, 3) > 0
    assert cycles(topology, 3, all_port=True) > 0


def test_all_ports_are_near_the_bound() -> None:
    assert cycles(torus((4, 4, 4)), 64, all_port=True) <= 1.3 * 32 * 64


@pytest.mark.parametrize(
    ("topology", "most"), [(with_faults(mesh((5, 7)), [8, 25]), 1.3), (fat_tree(4), 1.5)]
)
def test_irregular_networks_are_near_the_bound(topology: Topology, most: float) -> None:
    bound = schedule_bound(direct_all_to_all(topology, 64)).value
    assert cycles(topology, 64) <= most * bound


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("kind", KINDS)
def test_drawn_networks_are_near_the_bound(kind: str, seed: int) -> None:
    topology = drawn_network(kind, seed)
    assert cycles(topology, 64) <= 1.6 * schedule_bound(direct_all_to_all(topology, 64)).value


def test_what_is_expected_is_what_comes_where_a_header_is_one_flit() -> None:
    made = direct_all_to_all(mesh((4, 4)), 5)
    assert expected_cycles(made) == cycles(mesh((4, 4)), 5)


def test_it_is_the_best_where_rows_may_be_timed() -> None:
    request = Request(topology=mesh((4, 4)), words=4)
    best = choose_best("all-to-all", request, lambda made: compile_certified(made, {}))
    assert best.schedule.algorithm == "direct"
    free = {"contention_free": True}
    best = choose_best("all-to-all", request, lambda made: compile_certified(made, free))
    assert best.schedule.algorithm != "direct"


@pytest.mark.parametrize(("flits", "gap"), [(1, 2), (2, 1)])
def test_no_place_is_taken_twice(flits: int, gap: int) -> None:
    """Neither by packed packets, nor by those that a search has moved to end earlier."""
    draw = np.random.default_rng(5)
    sources = 12
    rows = [
        [source, *(sources + draw.permutation(20)[: draw.integers(1, 6)]), 40 + draw.integers(9)]
        for source in np.sort(draw.integers(sources, size=150))
    ]
    first = np.cumsum([0, *map(len, rows)])
    packets = Packets(first, np.concatenate(rows), 49, flits, gap, hop_cycles=1)
    packed = pack(packets, 2)
    moved = repacked(packets, packed)
    way = np.diff(first)
    assert (moved + way).max() < (packed + way).max()
    for begin in (packed, moved):
        assert begin.min() == 0
        taken: set[tuple[int, int]] = set()
        for row, cycle in zip(rows, begin.tolist(), strict=True):
            for hop, place in enumerate(row):
                for at in range(cycle + hop, cycle + hop + flits + (gap if hop == 0 else 0)):
                    assert (place, at) not in taken
                    taken.add((place, at))


def test_packets_begin_as_they_always_have() -> None:
    # A search over whole tables of channels and cycles found these cycles.
    rows = [[node, 4 + link, 12 + (node + link) % 4] for node in range(4) for link in range(8)]
    first, places = 3 * np.arange(len(rows) + 1), np.concatenate(rows)
    begin = pack(Packets(first, places, 16, flits=3, gap=1, hop_cycles=2), 1)
    assert begin.reshape(4, 8).tolist() == [
        [8, 12, 4, 20, 25, 0, 30, 16],
        [18, 0, 26, 12, 30, 8, 4, 22],
        [12, 23, 29, 4, 16, 33, 0, 8],
        [0, 19, 15, 33, 8, 4, 23, 27],
    ]


def test_steps_rise_at_each_place_in_the_order_of_the_cycles() -> None:
    packets = Packets(np.array([0, 2, 4, 6]), np.array([0, 2, 0, 3, 1, 3]), 4, 1, 0, 1)
    assert steps_of(packets, np.array([5, 0, 1])).tolist() == [2, 1, 2]


# ---- Scatter and gather by direct messages ------------------------------------------------------


NETWORKS = [fat_tree(4), torus((5, 3)), mesh((4, 5)), *drawn_networks(2, seed=2)]


@pytest.mark.parametrize("topology", NETWORKS)
def test_near_the_bound(topology: Topology) -> None:
    root = int(topology.working_nodes[len(topology.working_nodes) // 2])
    for made, most in (
        (direct_scatter(topology, root, 64), 1.10),
        (direct_gather(topology, root, 64), 1.05),
    ):
        bound = schedule_bound(made).value
        assert bound <= cycles_of(made) <= most * bound
        assert made.blocks.words.tolist() == [64] * len(topology.working_nodes)


def test_long_ways_are_hidden_behind_short_ones() -> None:
    """The root sends eight messages, each of 64 words and a header, one after another."""
    assert cycles_of(direct_scatter(line(9), 0, 64)) == 8 * (64 + 1 + 2) + 2
    assert cycles_of(direct_gather(line(9), 0, 64)) == 8 * (64 + 1) + 4


def test_a_node_alone_sends_nothing() -> None:
    assert direct_scatter(with_faults(line(2), [1]), 0, 4).sends == 0


# ---- All-to-all by rows and columns -------------------------------------------------------------


@pytest.mark.parametrize("all_port", [False, True])
@pytest.mark.parametrize("topology", [mesh((4, 4)), mesh((5, 3)), torus((5, 3)), torus((2, 6))])
def test_all_get_all(topology: Topology, all_port: bool) -> None:
    made = row_column_all_to_all(topology, 2, all_port=all_port)
    assert made.port_model == (PortModel.ALL_PORT if all_port else PortModel.FULL_DUPLEX)
    cycles_of(made)


@pytest.mark.parametrize(
    ("topology", "steps"), [(mesh((8, 8)), 32), (torus((8, 8)), 16), (mesh((4, 4)), 8)]
)
def test_all_ports_take_as_few_steps_as_the_middle_needs(topology: Topology, steps: int) -> None:
    # Half of all blocks cross the middle; in a step each link there carries side / 2 of them.
    side = topology.dims[0]
    links = 2 * side if topology.wrapped else side
    assert steps == (topology.nodes // 2) ** 2 / links / (side // 2)
    assert row_column_all_to_all(topology, 1, all_port=True).steps == steps


@pytest.mark.parametrize("topology", [mesh((4, 4)), torus((4, 4))])
def test_rows_and_columns_are_near_the_bound(topology: Topology) -> None:
    made = row_column_all_to_all(topology, 64, all_port=True)
    assert cycles_of(made) <= 1.07 * schedule_bound(made).value


@pytest.mark.parametrize(
    ("source", "target", "way", "begin"),
    [((1, 0), (3, 0), [(1, 0), (2, 0), (3, 0)], 1), ((3, 2), (1, 2), [(3, 2), (2, 2), (1, 2)], 4)],
)
def test_the_way_of_a_line(
    source: tuple[int, int], target: tuple[int, int], way: list[tuple[int, int]], begin: int
) -> None:
    # Downwards, coordinates are counted from the other end: 3 of 0 to 7 becomes 4.
    message = Message(source, target, [], [])
    passage = passage_of(message, (8, 8), ())
    assert way_of(message, passage) == way
    assert (passage.begin, passage.hops) == (begin, 2)


def test_the_shorter_way_round_a_ring() -> None:
    def way(*ends: tuple[int, int]) -> list[tuple[int, int]]:
        message = Message(*ends, [], [])
        return way_of(message, passage_of(message, (4, 8), (0, 1)))

    assert way((0, 0), (0, 6)) == [(0, 0), (0, 7), (0, 6)]
    assert way((3, 1), (0, 1)) == [(3, 1), (0, 1)]
    # Both directions are equally long: up from an even coordinate, down from an odd one.
    assert way((2, 0), (0, 0)) == [(2, 0), (3, 0), (0, 0)]
    assert way((3, 0), (1, 0)) == [(3, 0), (2, 0), (1, 0)]


@pytest.mark.parametrize(("side", "cycles"), [(5, 39), (6, 62)])
def test_cycles_on_meshes_of_circuits(side: int, cycles: int) -> None:
    """The best published slot tables, by Poseidon, take 42 and 66 cycles."""
    made = eyecast.schedule(mesh((side, side)), "direct", collective="all-to-all", words=1)
    assert eyecast.predict(made, circuits=True).cycles == cycles


# ---- The symmetric all-to-all of square tori -----------------------------------------------------


CYCLES = {3: 15, 4: 23, 5: 32, 6: 44, 7: 57, 8: 73, 9: 100, 10: 135, 11: 177, 12: 250}
"""S4NOC's tables take 24, 32, 47, 63, 92 and 163 cycles on 4, 5, 6, 7, 8 and 10."""


@pytest.mark.parametrize(
    "side", [pytest.param(side, marks=[pytest.mark.slow] * (side > 7)) for side in known_paths()]
)
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
