"""Exchanges with distant partners, collectives by levels, and scans."""

from collections import Counter
from dataclasses import replace

import numpy as np
import pytest
from helpers.carried_out import carried_out
from helpers.drawn_reductions import case_of, wrong_nodes
from helpers.generated import generated
from helpers.refusals import refusal_of
from helpers.schedules import Send, build

import eyecast
from eyecast.formats.chunks import in_chunks
from eyecast.formats.format import Setting
from eyecast.formats.rounds import read_rounds
from eyecast.model.base.errors import InvalidInput
from eyecast.model.base.files import InputFile
from eyecast.model.collectives.declared.request import Request
from eyecast.model.collectives.exchanges import mixed_radix
from eyecast.model.collectives.exchanges.circulant import circulant_all_gather
from eyecast.model.collectives.exchanges.partners import swing_distance, swing_partners
from eyecast.model.collectives.exchanges.swing import swing_all_gather
from eyecast.model.collectives.exchanges.trivance import trivance_all_gather
from eyecast.model.collectives.halving.eye import eye_tcd
from eyecast.model.collectives.halving.eye_tcd import line_eye_tcd
from eyecast.model.collectives.registry import find_algorithm
from eyecast.model.collectives.shown_bounds import schedule_bound
from eyecast.model.compare.case import Case
from eyecast.model.network.chiplets import chiplets
from eyecast.model.network.config import NetworkConfig
from eyecast.model.network.faults import with_faults
from eyecast.model.network.neighbor_table import graph
from eyecast.model.network.topology import UNSAID, Topology, hypercube, line, mesh, ring, torus
from eyecast.model.program.compiler import Compiled
from eyecast.model.program.deadlock import certify
from eyecast.model.program.memory.layout import Layout
from eyecast.model.schedule.blocks import Blocks
from eyecast.model.schedule.file import read_schedule, write_schedule
from eyecast.model.schedule.rules import ScheduleError
from eyecast.model.schedule.schedule import Schedule


def complete(nodes: int) -> object:
    """Return a network in which every node has a link to every other."""
    return graph([[-1, *(other for other in range(nodes) if other != n)] for n in range(nodes)])


def swing_broadcast_tcd(side: int, axes: int) -> int:
    """Return the TCD of a broadcast from node 0 by Swing's partners, the farthest first."""
    topology = torus((side,) * axes) if axes > 1 else ring(side)
    reached, total = {0}, 0
    for partner in reversed(swing_partners(topology)):
        for node in sorted(reached):
            other = int(partner[node])
            ends = topology.coordinates(np.array([node, other]))
            away = np.abs(ends[0] - ends[1])
            total += int(np.minimum(away, side - away).sum())
            reached.add(other)
    assert len(reached) == side**axes
    return total


def test_distances_are_those_of_the_eyes() -> None:
    eyes = [(2**k - (-1) ** k) // 3 for k in range(1, 20)]
    assert [abs(swing_distance(number)) for number in range(19)] == eyes


@pytest.mark.parametrize("k", range(1, 6))
def test_a_broadcast_by_swings_partners_costs_what_the_eyes_does(k: int) -> None:
    line = ((3 * k + 1) * 2**k - (-1) ** k) // 9
    assert swing_broadcast_tcd(2**k, 1) == line == line_eye_tcd(k)
    assert swing_broadcast_tcd(2**k, 2) == eye_tcd(k) == [3, 15, 69, 291, 1197][k - 1]


@pytest.mark.parametrize("nodes", [2, 3, 7, 8, 11])
def test_any_number_of_nodes_in_the_fewest_rounds(nodes: int) -> None:
    """With a link between every two nodes, each round is one step."""
    schedule = circulant_all_gather(complete(nodes), 1)
    schedule.check()
    assert schedule.steps == (nodes - 1).bit_length()
    assert np.bincount(schedule.target, np.diff(schedule.block_offsets)).max() == nodes - 1


def test_a_circulant_on_what_faults_have_left() -> None:
    topology = with_faults(mesh((4, 4)), [5, 10], [(0, 1)])
    schedule = circulant_all_gather(topology, 2)
    schedule.check()
    assert schedule.pairs_sharing_links == 0


@pytest.mark.parametrize("nodes", [3, 4, 8, 9, 14])
def test_trivance_triples_in_each_round(nodes: int) -> None:
    schedule = trivance_all_gather(ring(nodes), 1)
    schedule.check()
    # Rounds, not steps: at distance h each link carries h messages, one step after another.
    rounds, held = 0, 1
    while held < nodes:
        rounds, held = rounds + 1, 3 * held
    distances = {int(distance) for distance in schedule.distances}
    assert len(distances) <= rounds
    if nodes <= 3:
        assert schedule.steps == rounds


def test_swing_on_a_torus() -> None:
    swing_all_gather(torus((4, 8)), 2).check()


@pytest.mark.parametrize(
    ("topology", "algorithm", "steps"),
    [
        (hypercube(4), "recursive-doubling", 4),
        (torus((4, 4)), "swing-whole", 4),
        (torus((8, 8)), "swing-whole", None),
        (mesh((8, 2)), "recursive-doubling", None),
    ],
    ids=str,
)
def test_whole_messages_are_exchanged(topology: object, algorithm: str, steps: int | None) -> None:
    for all_port in (False, True):
        schedule = generated("all-reduce", algorithm, topology, words=5, all_port=all_port)
        schedule.check()
        assert schedule.port_model == ("all-port" if all_port else "exchange")
        assert schedule.pairs_sharing_links == 0
        assert steps in (None, schedule.steps)
        case = case_of(schedule, 1)
        assert wrong_nodes(case, case.predicted.memory) == []


@pytest.mark.parametrize(
    ("topology", "rounds", "apart"),
    [
        (torus((3, 2)), 3, True),
        (mesh((2, 3)), 3, True),
        (line(5), 4, True),
        (ring(6), 3, False),
        (torus((3, 3)), 5, True),
        (torus((3, 3, 2)), 5, True),
        (torus((7, 2)), 5, False),
        (mesh((6, 5)), 6, False),
    ],
    ids=str,
)
def test_recursive_doubling_on_any_sides(topology: Topology, rounds: int, apart: bool) -> None:
    """The rounds are ⌈log2 N⌉, one more for runs of 7, and two more where the last nodes rest.

    If the paths of each round share no link, these are the steps, too.
    """
    assert len(mixed_radix._rounds(topology)) == rounds
    for all_port in (False, True):
        schedule = generated(
            "all-reduce", "recursive-doubling", topology, words=3, all_port=all_port
        )
        schedule.check()
        assert all_port or schedule.port_model == "full-duplex"
        assert (schedule.steps == rounds) == apart
        case = case_of(schedule, 1)
        assert wrong_nodes(case, case.predicted.memory) == []


def test_what_is_exchanged_changes_halves_and_ends_at_its_own_address() -> None:
    """In three exchanges, the words move from the upper half down, up and down again."""
    schedule = generated("all-reduce", "recursive-doubling", hypercube(3), words=4)
    case = case_of(schedule, 1)
    half = 1 << (case.program.config.address_bits - 1)
    assert half >= 4
    by_step = [case.program.target_address[case.program.step == step] for step in (1, 2, 3)]
    assert [set(each.tolist()) for each in by_step] == [{0}, {half}, {0}]
    assert set(case.program.operator.tolist()) == {2}
    assert {address for _, address, _ in case.payload.loads(case.program.config)} == {half}


def test_where_nothing_is_sent_while_it_is_combined_it_stays_in_place() -> None:
    schedule = generated("all-reduce", "ring", mesh((4, 2)), words=16)
    case = case_of(schedule, 1)
    assert not case.payload.layout.halves.any
    assert set(case.program.operator.tolist()) == {0, 1}


# ---- Trivance with whole messages ---------------------------------------------------------------


def all_reduce(network: Topology, words: int = 5, operator: str = "add") -> Schedule:
    asked = {"words": words, "all_port": True, "operator": operator}
    return generated("all-reduce", "trivance-whole", network, **asked)


@pytest.mark.parametrize(
    ("network", "operator", "steps", "vcs"),
    [
        (ring(3), "add", 1, 1),
        (ring(9), "add", 2, 3),
        (torus((3, 3)), "add", 2, 1),
        (torus((3, 3, 3)), "add", 3, 1),
        # In the last round nine messages share each link, but a network has at most 8 VCs.
        (ring(27), "add", 4, 8),
        # Contributions that may arrive twice: any sides.
        (ring(6), "max", 2, 2),
        (torus((2, 5, 4)), "and", 5, 1),
    ],
    ids=str,
)
def test_rounds_triple(network: Topology, operator: str, steps: int, vcs: int) -> None:
    made = all_reduce(network, operator=operator)
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


def test_a_memory_without_room_for_the_copies_is_refused() -> None:
    made = all_reduce(ring(9))
    layout = Layout.of(made, 14)
    config = NetworkConfig(topology=ring(9), message_words=14, all_port=True)
    assert not layout.fits(config)
    assert layout.fits(replace(config, message_words=15))
    assert layout.limit(config) == "at most 4, the message memory for 3 copies"


def test_any_schedule_may_combine_several_at_once_in_what_it_sends() -> None:
    """In one step each of three nodes sends to both others and gets words from both."""
    made = all_reduce(ring(3), 7)
    assert np.bincount(made.target[made.step == 1]).tolist() == [2, 2, 2]
    case = case_of(made, 3)
    assert case.payload.layout.halves.places == 2
    assert case.predicted.cycles < case_of(_by_parts(), 3).predicted.cycles


def _by_parts() -> Schedule:
    return generated("all-reduce", "trivance", ring(3), words=7, all_port=True)


@pytest.mark.parametrize(
    ("topology", "operator"),
    [
        (ring(6), "max"),
        (mesh((5, 3)), "and"),
        (hypercube(3), "add"),
        (with_faults(mesh((4, 4)), [5]), "min-signed"),
    ],
    ids=str,
)
def test_dissemination_on_any_number_of_nodes(topology: Topology, operator: str) -> None:
    for all_port in (False, True):
        asked = {"words": 5, "operator": operator, "all_port": all_port}
        schedule = generated("all-reduce", "dissemination", topology, **asked)
        schedule.check()
        case = case_of(schedule, 1)
        assert wrong_nodes(case, case.predicted.memory) == []


@pytest.mark.parametrize(
    ("nodes", "operator", "said"),
    [
        (6, "add", "operator must be min, .* or or for dissemination on 6 nodes, not add"),
        (9, "max", "VCs for dissemination must be at most 8 on the ring of 9 .*, not 10"),
    ],
)
def test_dissemination_refuses_what_no_network_carries_out(
    nodes: int, operator: str, said: str
) -> None:
    with pytest.raises(InvalidInput, match=said):
        generated("all-reduce", "dissemination", ring(nodes), words=5, operator=operator)


# ---- Collectives by levels: on chiplets of several shapes and on a graph -------------------------


def slow_ring(topology: Topology, parts: int) -> Topology:
    """Return the network with a slow link between any two of ``parts`` runs of node numbers."""
    part = np.arange(topology.nodes) * parts // topology.nodes
    ends = np.where(topology.neighbor < 0, 0, topology.neighbor)
    between = (topology.neighbor >= 0) & (part[:, np.newaxis] != part[ends])
    return replace(topology, link_rate_of=np.where(between, 3, UNSAID))


LADDER = [
    (-1, *ends) for ends in ((1, 2, -1), (0, 3, -1), (0, 3, 4), (1, 2, 5), (2, 5, -1), (3, 4, -1))
]
OF_LEVELS = {
    "two of 2x2": chiplets((2, 1), (2, 2), 8, 4),
    "two of 3x3": chiplets((2, 1), (3, 3), 3, 2),
    "3x2 of 2x1": chiplets((3, 2), (2, 1), 1, 4),
    "2x2 of 2x2, latency": chiplets((2, 2), (2, 2), 8),
    "three axes": chiplets((2, 2, 2), (1, 2, 2), 4, 3),
    "torus": slow_ring(torus((4, 4)), 2),
    "graph": slow_ring(eyecast.graph(LADDER), 3),
}


@pytest.mark.parametrize("network", OF_LEVELS)
@pytest.mark.parametrize("collective", ["all-gather", "reduce-scatter", "all-reduce"])
def test_all_ports_and_one_carry_it_out(network: str, collective: str) -> None:
    for all_port, words in ((False, 5), (True, 1), (True, 5)):
        if words > 1 or collective == "all-reduce":
            request = Request(topology=OF_LEVELS[network], words=words, all_port=all_port)
            carried_out(find_algorithm(collective, "hierarchy").generate(request))


@pytest.mark.parametrize(
    ("chiplet", "order", "words", "cycles"),
    [
        ((4, 4), None, 1024, 2995),
        ((4, 4), "submesh 2x2,submesh 4x4", 1024, 2879),
        ((2, 2), None, 4096, 12380),
    ],
)
def test_one_port_between_chiplets(
    chiplet: tuple[int, int], order: str | None, words: int, cycles: int
) -> None:
    network = chiplets((2, 2), chiplet, 8, 4)
    made = eyecast.schedule(network, "hierarchy", collective="all-reduce", words=words, order=order)
    assert eyecast.predict(made, depth=8).cycles == cycles


BOXES = [[[0, 1], [4, 5]], [[2, 3], [6, 7]], [[8, 9], [12, 13]], [[10, 11], [14, 15]]]
"""The nodes of a 4x4 grid in three levels: pairs, 2x2 boxes, and the four boxes."""
GIVEN = {
    "rows": (mesh((4, 4)), "rows", (4, 4)),
    "rows, then columns of a torus": (torus((3, 5)), "rows,columns", (3, 5)),
    "boxes of boxes": (mesh((4, 4)), "submesh 2x1,submesh 2x2", (2, 2, 4)),
    "odd boxes": (mesh((6, 3)), "submesh 3x3", (9, 2)),
    "lists": (mesh((4, 4)), str(BOXES), (2, 2, 4)),
    "lists of working nodes": (with_faults(ring(7), [3]), "[[0, 1, 2], [4, 5, 6]]", (3, 2)),
}
"""Network, levels, and the nodes of a group of each level, the innermost first."""
TAKING_LEVELS = [
    *((name, "hierarchy") for name in ("broadcast", "all-gather", "all-to-all", "reduce")),
    *(("reduce-scatter", "hierarchy"), ("all-reduce", "hierarchy")),
    *(("all-reduce", "hierarchy-rooted"), ("barrier", "hierarchy-rooted")),
]


@pytest.mark.parametrize(
    "circuits", [False, pytest.param(True, marks=pytest.mark.slow)], ids=["packets", "circuits"]
)
@pytest.mark.parametrize("given", GIVEN)
@pytest.mark.parametrize(("collective", "algorithm"), TAKING_LEVELS)
def test_given_levels_are_carried_out(
    collective: str, algorithm: str, given: str, circuits: bool
) -> None:
    topology, order, _ = GIVEN[given]
    source = 5 if collective in ("broadcast", "reduce") else None
    takes = find_algorithm(collective, algorithm).takes
    assert {"order", "all_port"} <= {*takes}
    for ports, words in (("one", 6), ("all", 1), ("all", 7)):
        made = eyecast.schedule(
            topology,
            algorithm,
            collective=collective,
            source=source,
            order=order,
            ports=ports,
            words=None if collective == "barrier" else words,
        )
        carried_out(made, circuits=circuits)


@pytest.mark.parametrize("given", GIVEN)
def test_inner_levels_carry_the_blocks_of_outer_ones(given: str) -> None:
    """A node passes on its own block in the outermost groups, and all of them in the next.

    In an all-to-all each block moves once in each level, unless it is at its place already.
    """
    topology, order, sizes = GIVEN[given]
    gathered, exchanged = (
        eyecast.schedule(topology, "hierarchy", collective=collective, order=order, words=1)
        for collective in ("all-gather", "all-to-all")
    )
    carried, times = np.unique(gathered.send_words, return_counts=True)
    nodes, inside, moved, expected = len(topology.working_nodes), 1, 0, Counter[int]()
    for size in reversed(sizes):
        # A box that a level cuts along two axes has a ring for each, as 2 by 2 for 4.
        for side in (2, 2) if size == 4 and order.startswith("sub") else (size,):
            expected[inside] += nodes * (side - 1)
            moved += nodes * (nodes - nodes // side)
            inside *= side
    assert dict(zip(carried.tolist(), times.tolist(), strict=True)) == expected
    assert exchanged.send_words.sum() == moved


OF_NO_LEVELS = {
    "diagonals": "order must be rows, columns or 'submesh AxB', one or more joined by a comma, or "
    "lists, not 'diagonals'",
    "rows,submesh 3x4": "order: group must be of sides that divide those of a 4x4 mesh, not "
    "submesh 3x4",
    "submesh 4x4": "order must be levels of which the first is a part of the grid, not all of it",
    **{
        lists: "order must be lists of equally long lists with each working node once, as "
        f"[[0, 1], [2, 3]], not {lists}"
        for lists in ("[[0, 1], [2]]", "[[0, 1], [2, null]]", "[[0.0, 1], [2, 3]]")
    },
}


@pytest.mark.parametrize("order", OF_NO_LEVELS)
def test_an_order_without_levels_is_refused(order: str) -> None:
    asked = {"collective": "all-to-all", "order": order}
    said = refusal_of(eyecast.schedule, mesh((4, 4)), "hierarchy", **asked)
    assert said == OF_NO_LEVELS[order]
    other = refusal_of(eyecast.schedule, mesh((4, 4)), "ring", collective="all-reduce", order=order)
    assert other == f"order of a reduction must be canonical, or levels with hierarchy, not {order}"


@pytest.mark.parametrize("order", ["submesh 1x1", "submesh 1x1,submesh 2x2"])
def test_boxes_of_one_node_are_no_level(order: str) -> None:
    made = eyecast.schedule(mesh((4, 4)), "hierarchy", collective="all-reduce", order=order)
    made.check()


def test_networks_without_levels_are_refused() -> None:
    for network in (mesh((4, 4)), slow_ring(mesh((5, 1)), 2), slow_ring(mesh((4, 1)), 4)):
        said = refusal_of(eyecast.schedule, network, "hierarchy", collective="all-gather")
        assert "must be one with equal parts of two nodes or more, joined by slower links" in said


# ---- Scans ---------------------------------------------------------------------------------------


NETWORKS = (mesh((4, 3)), torus((3, 3)), hypercube(3), ring(7), with_faults(mesh((4, 4)), [0, 6]))
SCANS = ("scan", "exscan")


@pytest.mark.parametrize("topology", NETWORKS, ids=str)
@pytest.mark.parametrize("collective", SCANS)
@pytest.mark.parametrize("algorithm", ["hillis-steele", "brent-kung", "chain"])
def test_each_node_gets_what_the_nodes_before_it_contribute(
    collective: str, algorithm: str, topology: Topology
) -> None:
    for all_port in (False, True):
        schedule = generated(collective, algorithm, topology, words=5, all_port=all_port)
        schedule.check()
        case = case_of(schedule, 1)
        assert wrong_nodes(case, case.predicted.memory) == []
        served = case.payload.delivered(case.predicted.memory, topology)
        assert served.sum() == len(topology.working_nodes) - (collective == "exscan")


def of_three(prefix: str, *sends: Send, owed: tuple[int, ...] | None = None) -> Schedule:
    """Return the scan of one word on a line of three nodes by ``sends``."""
    blocks = replace(Blocks.reduced_to((owed,), 1, "add"), prefix=(prefix,))
    return replace(build((3,), list(sends), blocks, "custom"), port_model="full-duplex")


TO_1, TO_2 = Send(1, [0, 1], combine=True), Send(2, [1, 2], combine=True)


@pytest.mark.parametrize(
    ("schedule", "complaint"),
    [
        (of_three("inclusive", TO_1, TO_2), None),
        (
            of_three("inclusive", TO_1),
            "node 2 is left out: its block 0 lacks what node 0 contributes",
        ),
        (
            of_three("inclusive", TO_1, TO_2, Send(3, [2, 1])),
            "node 1 must not get what node 2 contributes to block 0",
        ),
        (
            of_three("exclusive", TO_1, TO_2, owed=(1, 2)),
            "node 1 must not get what node 1 contributes to block 0",
        ),
        (of_three("exclusive"), "node 0 is owed block 0, but no contribution to it"),
        (
            replace(of_three("inclusive", TO_1, TO_2), collective="exscan", root=None),
            "collective must be custom, not exscan: block 0 brings each node the contributions up "
            "to its own, not before its own",
        ),
    ],
)
def test_a_value_of_too_few_or_too_many_is_refused(schedule: Schedule, complaint: str) -> None:
    if complaint is None:
        schedule.check()
    else:
        assert refusal_of(schedule.check, kind=ScheduleError) == complaint


def test_no_scan_takes_fewer_cycles_than_its_bound() -> None:
    """The last node of a line needs all words, and the first one's words go to all others."""
    for collective in SCANS:
        for words in (1, 64):
            schedule = generated(collective, "chain", mesh((6,)), words=words)
            bound = schedule_bound(schedule, case_of(schedule, 0).predicted.cycles)
            assert bound.value == 5 + words
    grown = replace(schedule.blocks, owed=((),))
    assert schedule_bound(replace(schedule, blocks=grown)).value == 0


def test_files_keep_a_scan_and_formats_without_one_refuse_it(tmp_path) -> None:
    text = b"collective,scan\nround,source,target,blocks,combine\n1,0,1,0,1\n2,1,2,0,1\n"
    setting = Setting(topology=mesh((3,)), words=4)
    schedule = read_rounds(InputFile("line.csv", text), setting)
    write_schedule(schedule, tmp_path / "line.json")
    back = read_schedule(tmp_path / "line.json")
    back.check()
    assert back.blocks.prefix == schedule.blocks.prefix == ("inclusive",)
    assert refusal_of(in_chunks, schedule, 1, "MSCCL XML") == (
        "collective must be one that MSCCL XML has, or custom without a scan, not scan"
    )
    with pytest.raises(InvalidInput, match="prefix of block 0 must be none, as it has an owner"):
        Blocks(np.zeros(1), (None,), np.ones(1), prefix=("inclusive",))
