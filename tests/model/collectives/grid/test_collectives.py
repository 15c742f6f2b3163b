"""Recursive doubling and rings on meshes and tori: proved, counted, and compared with bounds."""

from dataclasses import asdict
from functools import cache
from math import log2, prod

import numpy as np
import pytest
from helpers.schedules import listed

import eyecast
from eyecast.model.base.errors import InvalidInput
from eyecast.model.collectives.grid.collectives import recursive_doubling, ring
from eyecast.model.collectives.lower_bounds import Costs, counted_costs, lower_bounds
from eyecast.model.cycle.model import run
from eyecast.model.network.config import NetworkConfig
from eyecast.model.network.port_model import PORT_MODELS
from eyecast.model.network.topology import Topology, hypercube, line, mesh, torus
from eyecast.model.network.topology import ring as ring_of
from eyecast.model.program.compiler import Compiled, compile_schedule
from eyecast.model.program.deadlock import certify
from eyecast.model.program.payload import Payload
from eyecast.model.schedule.schedule import Schedule

ROOTED = ("broadcast", "scatter", "gather")
COLLECTIVES = (*ROOTED, "all-gather", "all-to-all")
EXCHANGED = COLLECTIVES[3:]
GRIDS = [
    *(mesh(sides) for sides in [(1,), (2, 2), (3, 4), (2, 3, 1, 2)]),
    *(torus(sides) for sides in [(2,), (4, 3), (2, 3, 1, 2)]),
    *(line(7), ring_of(7), ring_of(8), hypercube(3)),
]
POWERS = [grid for grid in GRIDS if all(side.bit_count() == 1 for side in grid.dims)]


@cache
def made(topology: Topology, collective: str, words: int = 1) -> list[Schedule]:
    """Return every schedule for a collective: by both algorithms, from every root."""
    roots = range(topology.nodes) if collective in ROOTED else [None]
    algorithms = [ring]
    if collective in ROOTED or all(side in (1, 2, 4, 8, 16) for side in topology.dims):
        algorithms.append(recursive_doubling)
    return [make(collective, topology, r, words) for make in algorithms for r in roots]


@pytest.mark.parametrize("collective", COLLECTIVES)
@pytest.mark.parametrize("topology", GRIDS)
def test_every_schedule_is_proved_and_above_its_bounds(topology: Topology, collective: str) -> None:
    for schedule in made(topology, collective, words=3):
        schedule.check()
        assert (schedule.collective, schedule.topology) == (collective, topology)
        assert all(send.blocks == sorted(set(send.blocks)) for send in listed(schedule))
        if topology.nodes > 1:
            assert_above_bounds(schedule, 3)


def assert_above_bounds(schedule: Schedule, words: int) -> None:
    asked = (schedule.collective, schedule.topology, schedule.root, words, schedule.port_model)
    bounds = asdict(lower_bounds(*asked))
    for name, count in asdict(counted_costs(schedule)).items():
        assert count >= bounds[name]["value"], name


def test_drawn_grids_of_up_to_four_axes() -> None:
    draw = np.random.default_rng(11)
    for _ in range(12):
        axes = int(draw.integers(1, 5))
        sides = tuple(draw.integers(1, (0, 60, 9, 6, 4)[axes], axes).tolist())
        topology = (mesh, torus)[draw.integers(2)](sides)
        for collective in COLLECTIVES:
            root = int(draw.integers(topology.nodes)) if collective in ROOTED else None
            schedule = ring(collective, topology, root, 2)
            schedule.check()
            if collective in ROOTED:
                recursive_doubling(collective, topology, root, 2).check()
            if topology.nodes > 1:
                assert_above_bounds(schedule, 2)


@pytest.mark.parametrize("topology", GRIDS)
def test_steps_are_the_closed_forms(topology: Topology) -> None:
    sides = topology.dims
    halvings = sum((side - 1).bit_length() for side in sides)
    for collective in COLLECTIVES:
        for schedule in made(topology, collective):
            if schedule.algorithm == "recursive-doubling":
                assert schedule.steps == halvings
            elif collective != "broadcast":
                assert schedule.steps == sum(side - 1 for side in sides)
            else:
                place = topology.coordinates(schedule.root)
                assert schedule.steps == sum(
                    -(-side // 2) * (side > 1)
                    if axis in topology.wrapped
                    else max(side - 1 - at, at) + (2 * at == side - 1 > 0)
                    for axis, (side, at) in enumerate(zip(sides, place.tolist(), strict=True))
                )


@pytest.mark.parametrize("topology", [grid for grid in GRIDS if grid.nodes > 1])
def test_words_are_the_closed_forms(topology: Topology) -> None:
    nodes, sides = topology.nodes, topology.dims
    for collective in ("scatter", "gather", "all-gather"):
        for schedule in made(topology, collective, words=5):
            assert counted_costs(schedule).node_words == 5 * (nodes - 1)
    for schedule in made(topology, "all-to-all", words=5):
        blocks = sum(side**2 // 4 * (nodes // side) for side in sides)
        if schedule.algorithm == "recursive-doubling":
            blocks = nodes // 2 * int(log2(nodes))
        assert counted_costs(schedule).node_words == 5 * blocks


@pytest.mark.parametrize("topology", [grid for grid in GRIDS if grid.nodes > 1])
def test_what_reaches_its_bound(topology: Topology) -> None:
    """These schedules have no gap; ``test_gaps_on_8x8_torus`` states the gaps of others."""

    def gaps(schedule: Schedule) -> dict[str, int]:
        bounds = lower_bounds(schedule.collective, topology, schedule.root, 1, schedule.port_model)
        costs = asdict(counted_costs(schedule))
        return {name: costs[name] - getattr(bounds, name).value for name in costs}

    for schedule in made(topology, "broadcast"):
        if schedule.algorithm == "ring":
            assert gaps(schedule)["hops"] == gaps(schedule)["link_words"] == 0
    for schedule in [*made(topology, "scatter"), *made(topology, "gather")]:
        assert gaps(schedule)["word_hops"] == gaps(schedule)["node_words"] == 0
        if schedule.algorithm == "recursive-doubling" and topology in POWERS:
            assert gaps(schedule)["steps"] == 0
    for collective in EXCHANGED:
        for schedule in made(topology, collective):
            if schedule.algorithm == "recursive-doubling":
                assert gaps(schedule)["steps"] == 0
            elif len(topology.wrapped) == sum(side > 1 for side in topology.dims):
                assert gaps(schedule)["word_hops"] == 0


@pytest.mark.parametrize(
    ("topology", "algorithm", "ports"),
    [
        (torus((8, 8)), "rings", "all"),
        (mesh((3, 5)), "rings", "all"),
        (torus((3, 4, 5)), "rings", "all"),
        (mesh((3, 1, 4)), "rings", "all"),
        (torus((8, 8)), "aligned-halving", "full-duplex"),
    ],
)
def test_sends_carry_adjacent_words(topology: Topology, algorithm: str, ports: str) -> None:
    made = eyecast.schedule(
        topology, collective="reduce-scatter", algorithm=algorithm, ports=ports, words=7
    )
    made.check()
    sends = range(made.sends)
    blocks = (np.sort(made.block_ids[slice(*made.block_offsets[i : i + 2])]) for i in sends)
    assert all((np.diff(each) == 1).all() for each in blocks)


@pytest.mark.parametrize("side", [2, 6, 10])
def test_the_middle_of_a_line_is_as_busy_as_it_must_be(side: int) -> None:
    schedule = ring("all-to-all", line(side), None, 1)
    bound = lower_bounds("all-to-all", line(side), None, 1, schedule.port_model).link_words
    assert counted_costs(schedule).link_words == bound.value == side**2 // 4


@pytest.mark.parametrize(
    ("make", "collective", "counted"),
    [
        (recursive_doubling, "broadcast", Costs(6, 81, 81, 6, 2)),
        (recursive_doubling, "scatter", Costs(6, 81, 256, 63, 32)),
        (recursive_doubling, "gather", Costs(6, 81, 256, 63, 32)),
        (recursive_doubling, "all-gather", Costs(6, 896, 12096, 63, 128)),
        (recursive_doubling, "all-to-all", Costs(6, 896, 28672, 192, 160)),
        (ring, "broadcast", Costs(8, 63, 63, 4, 1)),
        (ring, "scatter", Costs(14, 144, 256, 63, 32)),
        (ring, "gather", Costs(14, 144, 256, 63, 32)),
        (ring, "all-gather", Costs(14, 896, 4032, 63, 56)),
        (ring, "all-to-all", Costs(14, 896, 16384, 256, 80)),
    ],
)
def test_gaps_on_8x8_torus(make: type, collective: str, counted: Costs) -> None:
    """The cost on an 8x8 torus, for each bound: the remaining gap."""
    topology = torus((8, 8))
    root = 0 if collective in ROOTED else None
    schedule = make(collective, topology, root, 1)
    schedule.check()
    assert counted_costs(schedule) == counted
    bounds = lower_bounds(collective, topology, root, 1, schedule.port_model)
    least = {
        "broadcast": (6, 63, 63, 1, 1),
        "scatter": (6, 63, 256, 63, 16),
        "gather": (6, 63, 256, 63, 16),
        "all-gather": (6, 126, 4032, 63, 16),
        "all-to-all": (6, 126, 16384, 63, 64),
    }[collective]
    assert tuple(bound["value"] for bound in asdict(bounds).values()) == least


@pytest.mark.parametrize("topology", GRIDS)
def test_the_port_model_is_the_strictest_that_holds(topology: Topology) -> None:
    """The proof fails with every stricter port model. For one root, half duplex is enough.

    The exception is a ring's scatter and gather on lines that are not wrapped.
    """
    for schedule in (s for collective in COLLECTIVES for s in made(topology, collective)):
        passing_on = schedule.algorithm == "ring" and schedule.collective != "broadcast"
        if schedule.collective in ROOTED and (topology.wrapped or not passing_on):
            assert schedule.port_model == "half-duplex"
        stricter = PORT_MODELS[: PORT_MODELS.index(schedule.port_model)]
        for port_model in stricter:
            columns = {f: getattr(schedule, f) for f in schedule.__dataclass_fields__}
            with pytest.raises(InvalidInput, match=f"which {port_model} forbids"):
                Schedule(**columns | {"port_model": port_model}).check()


@pytest.mark.parametrize("topology", GRIDS)
def test_links_are_not_shared_but_by_exchanges(topology: Topology) -> None:
    for schedule in (s for collective in COLLECTIVES for s in made(topology, collective)):
        if schedule.algorithm == "recursive-doubling" and schedule.collective in EXCHANGED:
            most = max(max(topology.dims) // 2, int(topology.nodes > 1))
            assert schedule.largest_link_load == most
            assert schedule.vcs.max(initial=0) == max(most - 1, 0)
        else:
            assert schedule.largest_link_load <= 1
            assert not schedule.vcs.any()


@pytest.mark.parametrize("side", [2, 3, 8])
def test_a_folded_ring_uses_every_link_once_in_each_step(side: int) -> None:
    schedule = ring("all-gather", line(side), None, 1)
    assert schedule.longest_per_step.max() <= 2
    for step in range(1, side):
        links = schedule.links[schedule.step[schedule.hop_sends] == step]
        assert sorted(set(links.tolist())) == sorted(links.tolist())
        assert links.size == 2 * (side - 1)


@pytest.mark.parametrize("topology", POWERS)
def test_exchanges_send_all_that_there_is_across_one_bit(topology: Topology) -> None:
    """Compare with the textbook's loop, node by node."""
    gathered = {node: {node} for node in range(topology.nodes)}
    sent = listed(recursive_doubling("all-gather", topology, None, 1))
    nodes = range(topology.nodes)
    held = {node: {(node, target) for target in nodes} for node in nodes}
    traded = listed(recursive_doubling("all-to-all", topology, None, 1))
    for bit in range(int(log2(topology.nodes))):
        expected_gather, expected_trade = {}, {}
        for node, had in gathered.items():
            partner = node ^ 1 << bit
            expected_gather[node, partner] = sorted(had)
            leaving = {(s, d) for s, d in held[node] if (d ^ node) >> bit & 1}
            expected_trade[node, partner] = sorted(s * topology.nodes + d for s, d in leaving)
        for sends, expected in ((sent, expected_gather), (traded, expected_trade)):
            now = {(s.source, s.target): s.blocks for s in sends if s.step == bit + 1}
            assert now == expected
        gathered = {node: had | gathered[node ^ 1 << bit] for node, had in gathered.items()}
        for (source, target), blocks in expected_trade.items():
            pairs = {divmod(block, topology.nodes) for block in blocks}
            held[source] -= pairs
            held[target] |= pairs


def test_halving_a_line_as_drawn() -> None:
    sends = listed(recursive_doubling("scatter", line(8), 3, 1))
    assert [(s.step, s.source, s.target, s.blocks) for s in sends[:3]] == [
        (1, 3, 4, [4, 5, 6, 7]),
        (2, 3, 1, [0, 1]),
        (2, 4, 6, [6, 7]),
    ]
    last = {(s.source, s.target) for s in sends if s.step == 3}
    assert last == {(1, 0), (3, 2), (4, 5), (6, 7)}


def test_a_scatter_round_a_ring_by_hand() -> None:
    sends = listed(ring("scatter", ring_of(5), 0, 1))
    assert {(s.step, s.source, s.target, *s.blocks) for s in sends} == {
        *((1, 0, 4, 3), (2, 4, 3, 3)),
        *((2, 0, 1, 2), (3, 1, 2, 2)),
        *((3, 0, 4, 4), (4, 0, 1, 1)),
    }


def test_a_gather_is_a_scatter_backwards() -> None:
    for make in (recursive_doubling, ring):
        out, back = (listed(make(name, torus((4, 3)), 5, 1)) for name in ("scatter", "gather"))
        last = out[-1].step + 1
        assert {(s.step, *s.path, -1, *s.blocks) for s in back} == {
            (last - s.step, *s.path[::-1], -1, *s.blocks) for s in out
        }


@pytest.mark.parametrize("topology", [torus((4, 4)), torus((3, 5)), mesh((2, 5))])
def test_no_packet_waits_in_a_circle(topology: Topology) -> None:
    for collective in COLLECTIVES:
        for schedule in made(topology, collective):
            certify(compile_schedule(schedule, config(topology)))


def config(topology: Topology) -> NetworkConfig:
    return NetworkConfig(topology=topology, vcs=2, message_words=1024, table_words=256)


@pytest.mark.parametrize("timing", ["barrier", "self-timed"])
@pytest.mark.parametrize("collective", COLLECTIVES)
def test_routers_deliver_every_word(collective: str, timing: str) -> None:
    """Run in the cycle model; if no sends share a link, no flit waits between two barriers."""
    topology = torus((4, 4))
    for schedule in made(topology, collective, words=2)[::5]:
        program = compile_schedule(schedule, config(topology))
        payload = Payload.random(Compiled.of(schedule, config(topology)), seed=3)
        after = run(program, payload.memory(config(topology)), timing=timing)
        served = topology.nodes if collective != "gather" else 1
        assert after.finished
        assert payload.delivered(after.memory, schedule.topology).sum() == served
        if timing == "barrier" and schedule.largest_link_load <= 1:
            assert not after.stalled_flits.any()


def test_a_broadcast_to_many_nodes() -> None:
    topology = mesh((512, 16))
    for make in (recursive_doubling, ring):
        schedule = make("broadcast", topology, 777, 1)
        schedule.check()
        assert schedule.sends == prod(topology.dims) - 1
