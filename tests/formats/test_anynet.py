"""BookSim2's anynet files: read, written, read again, and accepted by BookSim2 itself."""

import re
from pathlib import Path

import pytest
from helpers.command import Command
from helpers.foreign import file, owners_tool, said
from helpers.processes import run_program
from helpers.refusals import refusal_of
from helpers.topologies import assert_same, links

from eyecast.formats.anynet import read_anynet, write_anynet
from eyecast.model.base.files import InputFile
from eyecast.model.network.chiplets import chiplets
from eyecast.model.network.faults import with_faults
from eyecast.model.network.named_graphs import binary_tree, star_tree
from eyecast.model.network.neighbor_table import graph
from eyecast.model.network.topology import Topology, hypercube, mesh, torus

WITH_SWITCHES = graph(
    [
        *([-1, 4, -1, -1], [-1, 4, -1, -1], [-1, 5, -1, -1], [-1, 5, -1, -1]),
        *([-1, 0, 1, 5], [-1, 2, 3, 4]),
    ],
    switches=[4, 5],
)
CHIPLETS = chiplets((2, 1), (2, 2), latency=8)
NETWORKS = (mesh((3, 2)), torus((3, 4)), hypercube(3), binary_tree(7), star_tree(3, 2), CHIPLETS)


def ways(topology: Topology) -> set[tuple[int, int]]:
    return {(node, end) for node, _, end, _ in links(topology)}


def latencies(topology: Topology) -> dict[tuple[int, int], int]:
    """Return the cycles of each link's channel."""
    registers = topology.registers_of(0)
    return {(node, end): int(registers[node, port]) + 1 for node, port, end, _ in links(topology)}


def test_a_small_network_line_by_line(caplog: pytest.LogCaptureFixture) -> None:
    """Both links between 3 and 7 have a latency; the later line of a router holds."""
    text = "router 7 node 1 router 3 4\n\nrouter 3 node 0 router 7 2\nnode 2 router 5 2 router 5\n"
    topology = read_anynet(file(text + "router 9 router 3 router 5\n"))
    assert topology.nodes == 4 and topology.switches == (3,)
    assert ways(topology) == {(0, 1), (1, 0), (0, 3), (3, 0), (2, 3), (3, 2)}
    assert latencies(topology) == dict.fromkeys(ways(topology), 1) | {(1, 0): 4, (0, 1): 2}
    assert said(caplog) == [
        "x: passed over, as a node and its router are one: latencies of channels to nodes",
        "x: switches 3 to 3 are the routers 9",
    ]


@pytest.mark.parametrize("topology", [*NETWORKS, WITH_SWITCHES], ids=lambda each: each.label)
def test_there_and_back(topology: Topology, tmp_path: Path) -> None:
    path = tmp_path / "network.anynet"
    write_anynet(topology, path)
    back = read_anynet(InputFile.read(path))
    assert ways(back) == ways(topology)
    assert (back.nodes, back.switches) == (topology.nodes, topology.switches)
    assert latencies(back) == latencies(topology)
    write_anynet(back, path)
    assert_same(read_anynet(InputFile.read(path)), back)


REFUSED = {
    "": "x: nodes must be 1 to 16777216, not 0",
    "router 0 node 0\nchannel 3": "x, line 2: must be router or node, not 'channel'",
    "router 0 5": "x, line 1: must be router or node, not '5'",
    "router 0 node": "x, line 1: node must have a number, not 'nothing'",
    "router 0 node -1": "x, line 1: node must have a number, not '-1'",
    "router 0 node 99999999999": "x, line 1: node must have a number, not '99999999999'",
    "router 0 node 0 node 1": "x, line 1: router 0 must have one node, not 0 and 1",
    "router 0 node 0\nrouter 1 node 0": "x, line 2: node 0 must have one router, not 0 and 1",
    "node 0 node 1": "x, line 1: node 0 must be linked to a router, not to node 1",
    "router 0 node 0 router 1 65": "x, line 1: latency must be 1 to 64 cycles, not 65",
    "router 0 node 0 router 1 0": "x, line 1: latency must be 1 to 64 cycles, not 0",
    "router 0 node 1": "x: nodes must be numbered from 0 on, and node 0 is missing",
}


@pytest.mark.parametrize("text", REFUSED)
def test_what_cannot_be_read_is_one_line(text: str) -> None:
    assert refusal_of(read_anynet, file(text)) == REFUSED[text]


def test_what_anynet_cannot_say_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "network.anynet"
    assert refusal_of(write_anynet, with_faults(mesh((2, 2)), [1]), path) == (
        "faulty nodes of a network for BookSim2 must be none, not 1"
    )
    assert refusal_of(write_anynet, with_faults(mesh((2, 2)), [], [(0, 1)]), path) == (
        "faulty links of a network for BookSim2 must be none, not 1"
    )
    assert refusal_of(write_anynet, torus((2, 3)), path) == (
        "links between nodes 0 and 1 for BookSim2 must be one, not 2"
    )
    assert refusal_of(write_anynet, chiplets((2, 1), (1, 1), rate=4), path) == (
        "links with a rate of a network for BookSim2 must be none, not 2"
    )
    assert not path.exists()


def test_nodes_behind_a_switch_are_numbered_without_it(here: Path) -> None:
    """A reader numbers the switch, node 0 here, after all other nodes."""
    path = here / "star.anynet"
    star = graph([[-1, 1, 2], [-1, 0, -1], [-1, 0, -1]], switches=[0])
    write_anynet(star, path)
    assert path.read_text() == (
        "router 0 router 1 router 2\nrouter 1 node 0 router 0\nrouter 2 node 1 router 0\n"
    )
    back = read_anynet(InputFile.read(str(path)))
    assert back.switches == (2,)
    assert back.neighbor.tolist() == [[-1, 2, -1], [-1, 2, -1], [-1, 0, 1]]


def test_commands_take_it(eyecast: Command, here: Path) -> None:
    (here / "ring").write_text("router 0 node 0 router 1 router 2\nrouter 1 node 1 router 2\n"
                               "router 2 node 2\n")  # fmt: skip
    answer = eyecast("convert", "ring", "ring.json")
    assert answer.output.startswith("a network of ring, BookSim2 anynet, as Eyecast network")
    assert eyecast("convert", "ring.json", "again.anynet").status == 0
    assert (here / "again.anynet").read_text().splitlines()[
        1
    ] == "router 1 node 1 router 0 router 2"


@pytest.mark.slow
@pytest.mark.parametrize("topology", [*NETWORKS, WITH_SWITCHES], ids=lambda each: each.label)
def test_booksim_builds_the_same_network(topology: Topology, tmp_path: Path) -> None:
    booksim = owners_tool("booksim", "EYECAST_BOOKSIM")
    write_anynet(topology, tmp_path / "network.anynet")
    (tmp_path / "config").write_text(
        "topology = anynet; network_file = network.anynet; routing_function = min;\n"
        "traffic = uniform; injection_rate = 0.02; num_vcs = 8; sample_period = 200;\n"
        "sim_count = 1; max_samples = 3; warmup_periods = 1;\n"
    )
    # BookSim2 exits with a status other than 0 on success.
    command = [booksim, "config"]
    run = run_program(command, cwd=tmp_path, timeout=60)
    listing = run.stdout.split("router to router listing")[1].split("=====")[0]
    told, router = {}, -1
    for line in listing.splitlines():
        if found := re.fullmatch(r"Router (\d+)", line):
            router = int(found[1])
        elif found := re.fullmatch(r"\s+Router (\d+) lat (\d+)", line):
            told[router, int(found[1])] = int(found[2])
    assert told == latencies(topology)
    assert "Overall Traffic Statistics" in run.stdout
