"""Images of programs, executed by a host and a network written only from the contract."""

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from helpers.command import Command, refusal, result
from helpers.programs import program, put
from helpers.toy_engine import CARRIED_OUT, NOT_NOW, ToyEngine, read_image, wrong_words

import eyecast as api
from eyecast.model.base.errors import InvalidInput
from eyecast.model.compare.case import Case
from eyecast.model.image.host_port import widths
from eyecast.model.network.config import NetworkConfig, Timing
from eyecast.model.network.topology import mesh
from eyecast.model.program.checks import check_program
from eyecast.model.program.compiler import Compiled
from eyecast.model.program.slots import Slot, slot_of, slots_of
from eyecast.rtl.parts.host_port import host_address_bits, node_bits
from eyecast.sim.loading import job_of

NETWORKS = {
    "mesh": "--mesh 4x2 --algorithm tree --source 1,1 --vcs 2",
    "long masks": "--mesh 4x4 --source 0,0 --steps 100 --words 9",
    "every port": "--hypercube 3 --source 0,0,0 --ports all --algorithm nesbt --words 6",
    "all-to-all": "--mesh 3x3 --collective all-to-all --algorithm ring --words 2",
}


@pytest.mark.parametrize("options", NETWORKS.values(), ids=[*NETWORKS])
@pytest.mark.parametrize("controlled", [True, False], ids=["controlled", "in reset"])
def test_a_host_that_knows_the_contract_alone_runs_an_image(
    eyecast: Command, here: Path, options: str, controlled: bool
) -> None:
    more = "--programs 3 --number 2 --base 7 --table-words 300" if controlled else ""
    answer = eyecast("program", *options.split(), *more.split(), "--image", "image.csv")
    assert (answer.status, answer.errors) == (0, "")
    assert answer.output.endswith("wrote image.csv\nwrote image.json\n")
    writes, described = read_image(here / "image.csv")
    engine = ToyEngine(described)
    if controlled:
        assert engine.start(2) == NOT_NOW
    assert {engine.write(*write) for write in writes} == {CARRIED_OUT}
    assert wrong_words(engine) > 0
    if controlled:
        # The image register comes first; the last word completes the program.
        assert writes[0] == (0, 2, 1, described["identity"])
        assert writes[-1] == (0, 2, 8 + 4 * 2 + 1, described["program"]["words"])
        assert engine.write(0, 2, 2, 1 | 2 << 8) == CARRIED_OUT
    else:
        engine.run(0, None)
    assert wrong_words(engine) == 0
    assert described["run"]["state"] == "done"


def test_an_image_of_another_network_is_not_started(eyecast: Command, here: Path) -> None:
    for name, depth in (("a", "2"), ("b", "3")):
        options = ("--mesh", "2x2", "--source", "0,0", "--programs", "1", "--depth", depth)
        assert eyecast("program", *options, "--image", f"{name}.csv").status == 0
    writes, _ = read_image(here / "a.csv")
    _, other = read_image(here / "b.csv")
    engine = ToyEngine(other)
    assert {engine.write(*write) for write in writes} == {CARRIED_OUT}
    assert engine.write(0, 2, 2, 1) == NOT_NOW


def test_an_image_in_reset_writes_what_the_simulator_is_loaded_with(
    eyecast: Command, here: Path
) -> None:
    topology = mesh((4, 4))
    schedule = api.schedule(topology, "eye", source=(1, 2), words=5)
    case = Case.of(
        Compiled.of(schedule, NetworkConfig(topology=topology, vcs=2)),
        timing=Timing.BARRIER,
        seed=0,
    )
    options = ("--mesh", "4x4", "--source", "1,2", "--words", "5", "--vcs", "2")
    assert eyecast("program", *options, "--image", "image.csv").status == 0
    writes, described = read_image(here / "image.csv")
    assert sorted(writes) == sorted(tuple(row) for row in job_of(case).writes.tolist())
    assert described["run"]["cycles"] == case.predicted.cycles


@pytest.mark.parametrize("operators", ["", "add,max"])
@pytest.mark.parametrize("width", [20, 32])
def test_an_image_of_circuits_writes_what_the_simulator_is_loaded_with(
    eyecast: Command, here: Path, operators: str, width: int
) -> None:
    topology = mesh((3, 2))
    schedule = api.schedule(topology, "chain", source=(1, 1), words=5)
    config = NetworkConfig(topology=topology, circuits=True, operators=operators, flit_width=width)
    case = Case.of(Compiled.of(schedule, config), timing=Timing.BARRIER, seed=0)
    options = f"--mesh 3x2 --circuits --source 1,1 --words 5 --algorithm chain --flit-width {width}"
    more = ("--operators", operators) if operators else ()
    answer = eyecast("program", *options.split(), *more, "--image", "image.csv", "-o", "p.json")
    assert answer.status == 0
    writes, described = read_image(here / "image.csv")
    # Entries in the order of their words, which the contract demands.
    assert writes == [tuple(row) for row in job_of(case).writes.tolist()]
    assert described["run"]["cycles"] == case.predicted.cycles
    fields = described["entry_fields"]
    assert sum(each["width"] for each in fields) == fields[-1]["low"] + fields[-1]["width"]
    assert described["widths"]["entry_words"] == -(-sum(f["width"] for f in fields) // width)
    assert "expected" not in described["address_map"]
    answer = eyecast("image", "p.json", "-o", "several.csv")
    assert answer == refusal("p.json must be made with --programs, to be kept")


@pytest.mark.parametrize(
    "limits",
    [
        {},
        {"signature": True},
        {"all_port": True, "table_words": 200},
        {"steps": 4000},
        {"circuits": True, "signature": True, "table_words": 500},
        {"circuits": True, "operators": "add", "message_words": 8, "table_words": 2},
    ],
)
def test_the_widths_of_the_host_port_are_those_of_the_hardware(limits: dict[str, Any]) -> None:
    config = NetworkConfig(topology=mesh((3, 2)), **limits)
    found = widths(config)
    assert found["host_address_bits"] == host_address_bits(config)
    assert found["node_bits"] == node_bits(config)


def test_the_registers_of_the_barrier_are_in_the_latencies(eyecast: Command, here: Path) -> None:
    for more, found in (
        (
            "--barrier-registers 3",
            {
                "reset_after_last_write": 1,
                "release_to_cycle_0": 2,
                "address_to_read_data": 5,
                "outputs_late": 2,
            },
        ),
        (
            "--barrier-registers 3 --programs 1",
            {"answer_to_cycle_0": 6, "finished_to_done": 3, "answer_at_most": 14},
        ),
    ):
        options = ("--mesh", "2x2", "--source", "0,0", *more.split(), "--image", "i.csv")
        assert eyecast("program", *options).status == 0
        assert json.loads((here / "i.json").read_text())["latencies"] == found


# ---- Addresses of programs ------------------------------------------------------------------


def test_programs_lie_one_behind_the_other() -> None:
    topology = mesh((2, 2))
    config = NetworkConfig(topology=topology, programs=3, steps=100, table_words=64)
    programs = [
        Compiled.of(api.schedule(topology, "eye", source=source, words=4), config).program
        for source in ((0, 0), (1, 0), (1, 1))
    ]
    sizes = [int(each.table_sizes.max()) for each in programs]
    slots = slots_of(programs)
    assert slots == [
        Slot(0, sizes[0]),
        Slot(sizes[0], sizes[1]),
        Slot(sizes[0] + sizes[1], sizes[2]),
    ]
    with pytest.raises(InvalidInput, match="number of programs must be at most 3"):
        slots_of([*programs, programs[0]])
    end = slot_of(programs[0], 64 - sizes[0])
    assert sum(end) == 64
    with pytest.raises(
        InvalidInput, match="words of all programs must be at most 64, the table memo"
    ):
        slot_of(programs[0], 65 - sizes[0])
    with pytest.raises(InvalidInput, match="must be for one network"):
        slots_of([programs[0], program({}, {}, mesh((2, 2)), programs=3)])
    with pytest.raises(InvalidInput, match="programs must be at least 1"):
        slot_of(program({}, {}))


def test_the_words_in_front_of_a_table_count_for_its_room() -> None:
    rows, receives = {0: [put(1, (1, 1))]}, {1: [1]}
    tight: dict[str, Any] = {"steps": 100, "table_words": 3}
    check_program(program(rows, receives, **tight))
    with pytest.raises(
        InvalidInput, match=r"table of node 0 must be at most 3 words long \(.*\), not 7"
    ):
        check_program(program(rows, receives, programs=1, **tight))
    made = program(rows, receives, programs=1, **{**tight, "table_words": 7})
    check_program(made)
    assert np.array_equal(made.table_sizes, [7, 5, 5, 5])


# ---- Images of several programs ---------------------------------------------------------------

ENGINE = ("--mesh", "2x2", "--programs", "3", "--message-words", "16", "--words", "3")


def write_programs(eyecast: Command, *more: str) -> None:
    """Write the programs a.json and b.json for one network."""
    for name, source in (("a", "0,0"), ("b", "1,1")):
        answer = eyecast("program", *ENGINE, *more, "--source", source, "-o", f"{name}.json")
        assert answer.errors == ""


def test_an_image_has_several_programs(eyecast: Command, here: Path) -> None:
    write_programs(eyecast)
    found = result(eyecast("image", "b.json", "a.json", "b.json", "-o", "chip.csv", "--json"))
    writes, described = read_image(here / "chip.csv")
    programs = described["programs"]
    assert found["programs"] == programs
    ends = [each["base"] + each["words"] for each in programs]
    assert [each["base"] for each in programs] == [0, *ends[:-1]]
    assert [each["number"] for each in programs] == [0, 1, 2]
    for each, name in zip(programs, "bab", strict=True):
        predicted = result(eyecast("predict", "--program", f"{name}.json", "--json"))
        assert each["run"] == {"state": "done", "cycles": predicted["cycles"]}
        assert each["limit"] == 2 * predicted["cycles"] + 100
    engine = ToyEngine(described)
    assert {engine.write(*write) for write in writes} == {CARRIED_OUT}
    for node in range(4):
        for address in range(3):
            assert engine.write(node, 0, address, 10 * node + address) == CARRIED_OUT
    # All other nodes get node 3's message; then node 0 sends it on.
    for number in (2, 1):
        assert engine.write(0, 2, 2, 1 | number << 8) == CARRIED_OUT
        for node in range(4):
            assert [engine.memories[node, 0][address] for address in range(3)] == [30, 31, 32]


def test_images_that_cannot_be(eyecast: Command) -> None:
    write_programs(eyecast)
    many = ("a.json",) * 4
    assert eyecast("image", *many, "-o", "i.csv") == refusal(
        "number of programs must be at most 3, which the network keeps, not 4"
    )
    assert eyecast("image", "a.json", "-o", "i.json") == refusal(
        "-o must be a file that does not end in .json, not i.json"
    )
    assert eyecast("image", "a.json").status == 2
    options = ("--mesh", "2x2", "--source", "0,0", "--programs", "3", "--depth", "3")
    assert eyecast("program", *options, "-o", "other.json").status == 0
    assert eyecast("image", "a.json", "other.json", "-o", "i.csv") == refusal(
        "the programs must be for one network: their depth and message_words differ"
    )
    assert not Path("i.csv").exists()


@pytest.mark.parametrize(
    ("collective", "nodes"),
    [("reduce --source 3", [3]), ("all-reduce", [0, 1, 2, 3]), ("broadcast --source 0", [])],
)
def test_an_image_says_where_the_results_of_a_reduction_are(
    eyecast: Command, here: Path, collective: str, nodes: list[int]
) -> None:
    """The results are the sums of the words that the image writes to the memories."""
    network = "--line 4 --algorithm tree --words 5 --programs 1"
    options = f"{network} --collective {collective} --image image.csv".split()
    assert eyecast("program", *options).status == 0
    writes, described = read_image(here / "image.csv")
    held = {(node, address): word for node, space, address, word in writes if space == 0}
    memory = {
        (part["node"], address): int(word, 16)
        for part in described["run"]["memory"]
        for address, word in enumerate(part["words"], part["address"])
    }
    sums = [0] * 5
    for node in range(4) if nodes else ():
        own = sorted(address for at, address in held if at == node)[:5]
        sums = [sum + held[node, address] for sum, address in zip(sums, own, strict=True)]
    found = described["run"]["results"]
    assert sorted({each["node"] for each in found}) == nodes
    for node in nodes:
        parts = [each for each in found if each["node"] == node]
        words = [
            memory[node, address]
            for each in parts
            for address in range(each["address"], each["address"] + each["words"])
        ]
        assert words == [sum % 2**32 for sum in sums]
        assert {each["operator"] for each in parts} == {"add"}
