"""Meshes of chiplets, their form in files, and lower bounds that know latencies and rates."""

import json
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from helpers.generated import generated

from eyecast.model.base.errors import InvalidInput
from eyecast.model.bounds.cycles import least_cycles
from eyecast.model.collectives.direct.all_to_all import direct_all_to_all
from eyecast.model.collectives.reductions.backwards import against
from eyecast.model.collectives.reductions.bounds import reduction_cycles
from eyecast.model.collectives.shown_bounds import schedule_bound
from eyecast.model.collectives.streaming.greedy import greedy_all_gather
from eyecast.model.cycle.model import run
from eyecast.model.network.attached_host import with_host
from eyecast.model.network.boxes import part_of
from eyecast.model.network.chiplets import between_of, chiplets
from eyecast.model.network.config import Timing
from eyecast.model.network.faults import with_faults
from eyecast.model.network.port_model import PortModel
from eyecast.model.network.topology import line, mesh
from eyecast.model.network.topology_file import read_network, topology_from_json, topology_to_json
from eyecast.model.program.certified import compile_certified
from eyecast.model.program.payload import empty_memory
from eyecast.model.schedule.blocks import Blocks
from eyecast.model.schedule.collective import Collective
from eyecast.model.schedule.duration import expected_cycles

SLOW = chiplets((2, 1), (2, 2), latency=8, rate=4)


def test_only_links_between_chiplets_differ() -> None:
    assert SLOW.dims == (4, 2)
    said = [tuple(each) for each in np.argwhere(SLOW.differing_links).tolist()]
    # East of nodes 1 and 5, west of nodes 2 and 6.
    assert said == [(1, 1), (2, 2), (5, 1), (6, 2)]
    assert SLOW.label == "4x2 mesh with 4 links that differ"
    assert SLOW.registers_of(2)[1].tolist() == [0, 7, 2, 2, 0]
    assert SLOW.rates[1].tolist() == [1, 4, 1, 1, 1]


def test_a_file_keeps_the_links_and_faults_remove_them(tmp_path: Path) -> None:
    broken = with_faults(SLOW, (), [(1, 2)])
    assert broken.differing_links.sum() == 3
    described = topology_to_json(broken)
    assert described["links"] == [[1, 1, 7, 4], [2, 2, 7, 4], [5, 1, 7, 4], [6, 2, 7, 4]]
    path = tmp_path / "slow.json"
    path.write_text(json.dumps(described))
    again = read_network(path)
    assert topology_to_json(again) == described
    assert (again.rates == broken.rates).all()
    assert "links" not in topology_to_json(mesh((4, 2)))


def test_a_host_and_a_group_keep_links_that_differ() -> None:
    hosted = with_host(with_faults(SLOW, [3]), [0, 7])
    assert topology_to_json(hosted)["links"] == topology_to_json(SLOW)["links"]
    again = topology_from_json(topology_to_json(hosted))
    for topology in (hosted, again):
        assert topology.registers_of(0)[5].tolist() == [0, 7, 0, 0, 0, 0]
        assert topology.rates[[1, 2, 8], [1, 2, 1]].tolist() == [4, 4, 1]
    rows = part_of(SLOW, (4, 5, 6, 7)).topology
    assert rows.label == "4x1 mesh with 2 links that differ"
    assert rows.rates.tolist() == SLOW.rates[4:].tolist()
    assert rows.registers_of(1)[1].tolist() == [0, 7, 1, 0, 0]


@pytest.mark.parametrize(
    ("row", "what"),
    [
        (
            [0, 2, 1, 1],
            "topology.links must be links of the line of 3, by node and port, not node 0",
        ),
        ([9, 1, 1, 1], "not node 9, port 1"),
        ([0, 1, 64, 1], "link registers of must be 0 to 63, or -1, not 64"),
        ([0, 1, 1, 0], "link rate of must be 1 to 63, or -1, not 0"),
    ],
)
def test_wrong_links_of_a_file_are_refused(row: list[int], what: str) -> None:
    with pytest.raises(InvalidInput, match=what):
        topology_from_json({"kind": "line", "nodes": 3, "links": [row]})


@pytest.mark.parametrize("text", ["latency", "latency=8;rate=4", "latency=8,latency=9", "rate=-1"])
def test_other_texts_between_chiplets_are_refused(text: str) -> None:
    with pytest.raises(InvalidInput, match="--between must be numbers such as latency=8,rate=4"):
        between_of(text, "--between")
    assert between_of("rate=4", "--between") == {"rate": 4}


def test_a_bound_counts_words_by_rates_and_paths_by_latencies() -> None:
    broadcast = Blocks.of_broadcast(0, 100)
    # Node 7 is 4 hops away, one of them of 8 cycles.
    assert least_cycles(SLOW, Blocks.of_broadcast(0, 1), PortModel.FULL_DUPLEX).value == 1 + 8 + 3
    # Two links of rate 4 carry half a word in a cycle.
    assert least_cycles(SLOW, broadcast, PortModel.FULL_DUPLEX).value == 200 + 1
    assert least_cycles(SLOW, broadcast, PortModel.ALL_PORT).value == 200 + 8 + 3
    everyone = np.arange(8)
    pairs = [(one, other) for one in everyone for other in everyone if one != other]
    exchange = Blocks(
        np.array([one for one, _ in pairs], np.int32),
        tuple((int(other),) for _, other in pairs),
        np.full(len(pairs), 10, np.int32),
    )
    bound = least_cycles(SLOW, exchange, PortModel.FULL_DUPLEX)
    assert bound.value == 4 * 4 * 10 * 2 + 1
    assert bound.reason == (
        "160 words must leave 4 nodes by 2 links, which carry 1 word in 2 cycles"
    )


def test_a_bound_of_one_slow_link_is_in_the_singular() -> None:
    two = chiplets((2,), (1,), rate=4)
    bound = least_cycles(two, Blocks.of_broadcast(0, 10), PortModel.FULL_DUPLEX)
    assert bound.reason == (
        "10 words must leave node 0 by 1 link, which carries 1 word in 4 cycles"
    )


def test_links_turned_round_keep_what_is_said_of_them() -> None:
    registers = np.full((3, 3), -1)
    registers[0, 1] = 5
    turned = against(replace(line(3), link_registers_of=registers))
    assert turned.registers_of(0).tolist() == [[0, 0, 0], [0, 0, 5], [0, 0, 0]]


def test_an_all_reduce_crosses_the_links_between_chiplets() -> None:
    blocks = Blocks.reduced_to((None,), np.array([100], np.int32), "add")
    four = chiplets((2, 2), (2, 2), latency=8, rate=4)
    bound = reduction_cycles(four, blocks, PortModel.ALL_PORT, hop_cycles=1)
    # Four chiplets need six crossings, and 16 links of rate 4 carry four words in a cycle.
    assert bound.value == 150
    assert bound.reason == ("all words together go 600 times between 4 parts, through 16 links")


def test_an_all_to_all_keeps_slow_links_busy() -> None:
    made = direct_all_to_all(chiplets((2, 2), (3, 3), latency=8, rate=4), 16)
    made.check()
    bound = least_cycles(made.topology, made.blocks, made.port_model).value
    assert (bound, expected_cycles(made)) == (3457, 4094)


def test_a_greedy_all_gather_enters_each_chiplet_once() -> None:
    made = greedy_all_gather(chiplets((2, 2), (4, 4), latency=8, rate=4), 16)
    made.check()
    slow = made.topology.rates.ravel()[made.links] == 4
    words = made.send_words[made.hop_sends][slow]
    # Each chiplet has 16 blocks of 16 words for three others; 32 links share them.
    assert words.sum() == 4 * 3 * 16 * 16
    steps = np.bincount(made.step[made.hop_sends][slow])
    assert steps[1:].tolist() == [32] * 12
    assert expected_cycles(made) == 747


@pytest.mark.slow
@pytest.mark.parametrize(
    ("collective", "algorithm", "words", "cycles", "bound"),
    [
        (Collective.BROADCAST, "paced", 65_536, 39_022, 32_796),
        (Collective.ALL_GATHER, "greedy", 1_024, 32_712, 32_257),
        (Collective.ALL_REDUCE, "overlapped", 65_536, 57_120, 49_152),
        (Collective.ALL_TO_ALL, "direct", 256, 139_704, 131_073),
    ],
)
def test_long_messages_take_at_most_6_fifths_of_the_bound(
    collective: Collective, algorithm: str, words: int, cycles: int, bound: int
) -> None:
    """On 2x2 chiplets of 4x4, in the cycle model. The guide gives the same numbers."""
    topology = chiplets((2, 2), (4, 4), latency=8, rate=4)
    source = 0 if collective == Collective.BROADCAST else None
    all_port = algorithm != "direct"
    made = generated(collective, algorithm, topology, words=words, source=source, all_port=all_port)
    program = compile_certified(made, {"depth": 4}).program
    memory = empty_memory(program.config)
    ran = run(program, memory, timing=Timing.BARRIER, record_trace=False)
    assert (ran.cycles, schedule_bound(made).value) == (cycles, bound)
    assert 5 * cycles <= 6 * bound
