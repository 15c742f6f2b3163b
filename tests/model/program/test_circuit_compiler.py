"""Schedules compiled to circuits: the cycle model runs them, and every node gets what is owed."""

from collections.abc import Iterator
from dataclasses import replace
from random import Random
from typing import Any

import numpy as np
import pytest
from helpers.generated import generated
from helpers.schedules import Send, build
from helpers.tree_networks import graph_of

from eyecast.model.base.errors import InvalidInput
from eyecast.model.collectives.circuits import light_trees
from eyecast.model.collectives.circuits.joining_trees import joining_all_reduce, joining_reduce
from eyecast.model.collectives.circuits.light_trees import light_broadcast
from eyecast.model.collectives.declared.request import Request
from eyecast.model.collectives.registry import algorithms_for
from eyecast.model.compare.case import Case
from eyecast.model.network.config import Timing
from eyecast.model.network.faults import with_faults
from eyecast.model.network.port_model import PortModel
from eyecast.model.network.topology import Topology, hypercube, line, mesh, torus
from eyecast.model.program.certified import Room
from eyecast.model.program.circuits.program import CircuitProgram
from eyecast.model.schedule.blocks import Blocks
from eyecast.model.schedule.collective import ROOTLESS, Collective
from eyecast.model.schedule.schedule import Schedule

NETWORKS = (mesh((4, 3)), torus((3, 3)), hypercube(3), line(5), with_faults(mesh((4, 4)), [5, 10]))


def case(schedule: Schedule, **parameters: Any) -> Case:
    """The prediction of a schedule as circuits."""
    compiled = Room({"circuits": True, **parameters}).compile_one(schedule)
    return Case.of(compiled, timing=Timing.BARRIER, seed=1)


def delivers(one: Case) -> bool:
    """Whether the run ends without flags, and all owed nodes have the words that NumPy reckons."""
    topology = one.schedule.topology
    delivered = one.payload.delivered(one.predicted.memory, topology).sum()
    return one.predicted.finished and delivered == len(one.schedule.blocks.served(topology))


def schedules(topology: Topology, words: int, *, all_port: bool) -> Iterator[Schedule]:
    """What all algorithms make for a network."""
    for collective in Collective:
        for algorithm in algorithms_for(collective):
            request = Request(
                topology=topology,
                source=None if collective in ROOTLESS else 0,
                words=1 if collective == Collective.BARRIER else words,
                all_port=all_port,
                targets=(1, 4) if collective == Collective.MULTICAST else None,
            )
            try:
                yield algorithm.generate(request)
            except InvalidInput:
                continue


def require_all(topology: Topology, words: int, *, all_port: bool, seed: int) -> None:
    """Require that every algorithm's schedule is carried out, or refused for its order."""
    draw, refused = Random(seed), set()
    for schedule in schedules(topology, words, all_port=all_port):
        try:
            one = case(schedule, link_registers=draw.randrange(3))
        except InvalidInput as error:
            assert "send each word before another one changes it, which" in str(error)
            refused.add(schedule.algorithm)
            continue
        assert delivers(one), (schedule, one.program.config.link_registers)
    # Nodes get a block from two sides while they send it; or all of them, in a circle.
    assert refused <= {"trivance-whole", "dissemination", "gossip"}


def test_every_algorithm_is_carried_out() -> None:
    require_all(NETWORKS[0], 3, all_port=False, seed=1)


@pytest.mark.slow
@pytest.mark.parametrize("all_port", [False, True])
@pytest.mark.parametrize("words", [1, 2, 7])
@pytest.mark.parametrize("topology", NETWORKS, ids=lambda topology: topology.label)
def test_every_algorithm_on_every_network(topology: Topology, words: int, all_port: bool) -> None:
    require_all(topology, words, all_port=all_port, seed=words)


# ---- By hand: docs/router.md, section 23 ---------------------------------------------------------


@pytest.mark.parametrize("registers", [0, 1, 3])
@pytest.mark.parametrize("words", [1, 16, 2000])
def test_a_broadcast_in_one_tree_takes_the_hops_and_the_words(registers: int, words: int) -> None:
    one = case(light_broadcast(mesh((8, 8)), 0, words), link_registers=registers)
    assert delivers(one)
    assert one.predicted.cycles == 14 * (registers + 1) + words + 5
    # Idle, the words in runs of at most 1,023 cycles, and the end.
    assert one.program.table_sizes.max() == 2 + -(-words // 1023)


def test_a_relay_sends_on_four_cycles_after_a_word_has_left() -> None:
    relay = build((3, 1), [Send(1, [0, 1]), Send(2, [1, 2])])
    one = case(replace(relay, port_model="full-duplex"))
    assert delivers(one)
    trace = one.predicted.trace
    first = {}
    for cycle, node, port in zip(trace.cycle, trace.node, trace.port, strict=True):
        first.setdefault((int(node), int(port)), int(cycle))
    assert first == {(0, 1): 4, (1, 0): 5, (1, 1): 9, (2, 0): 10}
    # Of four words the last one leaves three cycles later, and is written two after that.
    assert one.predicted.cycles == 10 + 3 + 2


@pytest.mark.parametrize("ports", ["full-duplex", "all-port"])
def test_a_stream_forks_in_the_router_and_passes_no_memory(ports: str) -> None:
    """Node 1 gets the words as they pass; node 2 sends them back, and so reads its memory."""
    blocks = Blocks(np.array([0]), ((1, 2, 4),), np.array([4]))
    sends = [Send(1, [0, 1]), Send(1, [1, 2]), Send(1, [1, 4])]
    streaming = {"circuits": True, "stream": np.array([False, True, True])}
    made = replace(build((3, 2), sends, blocks, "custom", ports), **streaming)
    made.check()
    one = case(made)
    assert delivers(one)
    assert one.predicted.cycles == 2 + 4 + 5
    sends.append(Send(1, [2, 1, 0, 3]))
    streaming["stream"] = np.array([False, True, True, True])
    blocks = Blocks(np.array([0]), ((1, 2, 3, 4),), np.array([4]))
    back = replace(build((3, 2), sends, blocks, "custom", ports), **streaming)
    assert delivers(case(back))
    assert case(back).predicted.cycles == 2 + 4 + 3 + 4 + 5


def test_a_large_broadcast_streams_over_single_links(monkeypatch: pytest.MonkeyPatch) -> None:
    made = light_broadcast(mesh((4, 4)), 0, 16)
    monkeypatch.setattr(light_trees, "MOST_NODES", 15)
    streamed = light_broadcast(mesh((4, 4)), 0, 16)
    streamed.check()
    assert (streamed.hops, streamed.tcd) == (15, 15) == (streamed.links_used, made.tcd)
    assert delivers(case(streamed))
    assert case(streamed).predicted.cycles == case(made).predicted.cycles == 6 + 16 + 5


def test_joins_meet_in_one_cycle_and_take_one_more() -> None:
    blocks = joining_reduce(line(4), 3, 2, "add").blocks
    sends = [Send(1, [*range(node, 4)], combine=True) for node in range(3)]
    made = replace(build(line(4), sends, blocks, "reduce"), root=3, circuits=True)
    made.check()
    one = case(made)
    assert delivers(one)
    # Read in cycle 2, the first word leaves node 0 in 4, and after 3 hops and 2 joins node 3 in 9.
    # The second one leaves in 10, by the entry of cycle 8, and the node is finished 5 after that.
    trace = one.predicted.trace
    assert trace.cycle[trace.port == 0].tolist() == [9, 10]
    assert one.predicted.cycles == 8 + 1 + 5
    assert isinstance(one.program, CircuitProgram)
    assert (one.program.operator > 0).sum() == 2


def test_an_all_reduce_is_as_deep_as_the_network_is_wide() -> None:
    """Of 64 nodes the first sum comes after 37 cycles; a chain of 32 nodes alone takes 62."""
    for words in (16, 64):
        made = joining_all_reduce(mesh((8, 8)), words, "add")
        made.check()
        assert case(made).predicted.cycles == words + 37


@pytest.mark.parametrize("ports", ["full-duplex", "all-port"])
def test_own_words_leave_by_another_link_than_the_sum_of_two_children(ports: str) -> None:
    """Node 1 joins the words of 2 and 4; its own words go to 4, and come back in a sum."""
    blocks = joining_reduce(mesh((3, 2)), 0, 2, "add").blocks
    paths = [[1, 4, 1, 0], [2, 1, 0], [3, 0], [4, 1, 0], [5, 2, 1, 0]]
    sends = [Send(1, path, combine=True) for path in paths]
    made = build((3, 2), sends, blocks, "reduce", ports)
    made = replace(made, root=0, circuits=True)
    made.check()
    one = case(made)
    assert delivers(one)
    # Of the first word, node 1's part passes 3 hops, and joins at 4, 1 and 0. It leaves port 0 in
    # cycle 4 + 3 + 3, by the entry of cycle 7; the second one comes a cycle later.
    assert one.predicted.cycles == 7 + 1 + 1 + 5


@pytest.mark.parametrize("words", [1, 2, 3, 9])
@pytest.mark.parametrize("topology", [mesh((4, 4)), NETWORKS[4]], ids=lambda each: each.label)
def test_trees_that_join_are_carried_out(topology: Topology, words: int) -> None:
    for made in (
        joining_reduce(topology, 0, words, "max"),
        joining_all_reduce(topology, words, "add"),
    ):
        made.check()
        assert delivers(case(made, link_registers=words % 3))


def test_exchanges_begin_in_one_cycle() -> None:
    blocks = joining_all_reduce(line(2), 5, "add").blocks
    sends = [Send(1, [0, 1], combine=True), Send(1, [1, 0], combine=True)]
    one = case(build((2, 1), sends, blocks, "all-reduce", "exchange"))
    assert delivers(one)
    assert one.predicted.cycles == 2 + 2 + 1 + 5 - 1 + 3 + 1


def test_half_duplex_nodes_never_send_while_they_receive() -> None:
    blocks = Blocks(np.array([0, 1]), ((1,), (2,)), np.array([8, 8]))
    sends = [Send(1, [0, 1]), Send(2, [1, 2], [1])]
    cycles = {
        model: case(build((3, 1), sends, blocks, "custom", model)).predicted.cycles
        for model in ("full-duplex", "half-duplex")
    }
    # The second send begins with the first one, or when the words of that have come by.
    assert cycles == {"full-duplex": 1 + 8 + 5, "half-duplex": 1 + 8 + 5 + 9}


@pytest.mark.parametrize("registers", [0, 2])
def test_sends_that_wait_for_none_are_packed(registers: int) -> None:
    one = case(algorithm("direct", "all-to-all"), link_registers=registers)
    assert delivers(one)
    # Links of the middle have 4 * 4 * 4 / 4 messages of two words, and pauses of a few cycles.
    assert one.predicted.cycles <= 64 + 3 * (registers + 1) + 12


def test_packed_sends_give_way_to_a_quicker_order() -> None:
    """On a 3x3 torus the packed sends of five words take a cycle more."""
    made = generated("all-to-all", "direct", torus((3, 3)), words=5)
    assert case(made).predicted.cycles == 49


def test_a_table_has_room_for_its_end_entry_too() -> None:
    made = algorithm("direct", "all-to-all")
    entries = int(case(made).program.table_sizes.max())
    for words, refused in ((entries, False), (entries - 1, True)):
        room = Room({"circuits": True, "table_words": words}, ("table_words",))
        if refused:
            why = rf"must be at most {words} \(raise table_words\), not {entries}"
            with pytest.raises(InvalidInput, match=why):
                room.compile_one(made)
        else:
            assert delivers(Case.of(room.compile_one(made), timing=Timing.BARRIER, seed=1))


def test_tables_of_narrow_words_have_entries_whose_number_fits_a_word() -> None:
    made = algorithm("direct", "all-to-all")
    one = case(made, flit_width=8)
    assert delivers(one)
    assert one.program.config.table_words == 64 >= int(one.program.table_sizes.max())
    # 255 is the largest number of a word: a power of two below it is the largest table.
    long = generated("all-to-all", "direct", mesh((8, 8)), words=1)
    with pytest.raises(InvalidInput, match=r"must be at most 128 \(raise table_words"):
        case(long, flit_width=8)


def algorithm(name: str, collective: str) -> Schedule:
    return generated(collective, name, mesh((4, 4)), words=2)


def test_a_send_of_no_words_is_a_token() -> None:
    blocks = Blocks(np.array([0]), ((1, 2),), np.array([0]))
    one = case(build((3, 1), [Send(1, [0, 1]), Send(2, [1, 2])], blocks, "custom"))
    assert delivers(one)
    assert (one.predicted.trace.port == 0).sum() == 2
    assert not one.predicted.memory.any()


def test_sends_that_change_each_others_words_too_early_are_refused() -> None:
    # Both send and get the block in one step; but node 1 gets words from two sides one by one.
    blocks = joining_all_reduce(line(3), 2, "add").blocks
    sends = [
        Send(1, [0, 1], combine=True),
        Send(1, [1, 0], combine=True),
        Send(1, [2, 1], combine=True),
        Send(1, [1, 2], combine=True),
    ]
    made = build(line(3), sends, blocks, "custom", "full-duplex")
    # With a port for every link both sides come at once, and one of two combined words is lost.
    for each in (made, replace(made, port_model=PortModel.ALL_PORT)):
        with pytest.raises(InvalidInput, match="send each word before another one changes it"):
            case(each)


@pytest.mark.parametrize("words", [1, 6, 40])
def test_a_broadcast_by_all_ports_has_a_tree_for_each_link(words: int) -> None:
    """The farthest node is 4 hops away; more words take more trees, and all share no link."""
    one = case(light_broadcast(torus((4, 4)), 5, words, all_port=True))
    assert delivers(one)
    assert one.schedule.port_model == PortModel.ALL_PORT
    assert len(one.schedule.blocks) == {1: 1, 6: 4, 40: 4}[words]
    depth = max(
        int(one.schedule.distances[send]) + int(one.schedule.send_words[send])
        for send in range(one.schedule.sends)
    )
    assert one.predicted.cycles == depth + 5


def test_trees_that_share_no_link_are_as_shallow_as_they_can_be() -> None:
    """Four trees of an 8x8 torus, 9 hops deep, each for 4 words, and 5 cycles more."""
    made = light_broadcast(torus((8, 8)), 0, 16, all_port=True)
    made.check()
    assert [int(made.distances.max()), made.blocks.words.tolist()] == [9, [4, 4, 4, 4]]
    assert case(made).predicted.cycles == 9 + 4 + 5


def test_all_ports_take_further_children_by_lanes_of_their_own() -> None:
    cycles = [
        case(joining_all_reduce(torus((4, 4)), 16, "add", all_port=ports)).predicted.cycles
        for ports in (False, True)
    ]
    one = case(joining_all_reduce(torus((4, 4)), 16, "add", all_port=True))
    assert delivers(one)
    assert cycles[1] < cycles[0]


def test_a_tree_crosses_switches() -> None:
    hub = graph_of(5, [(0, 1), (0, 2), (1, 3), (1, 4)], switches=(0, 1))
    assert delivers(case(light_broadcast(hub, 3, 4)))
    assert delivers(case(light_broadcast(hub, 3, 4, all_port=True)))
