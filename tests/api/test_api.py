"""The Python interface: the names that ``import eyecast`` gives, their calls and their errors."""

import json
import sys
from pathlib import Path

import networkx as nx
import pytest
from helpers.command import result
from helpers.processes import run_program

import eyecast
from eyecast.model.collectives.registry import algorithms_for

NETWORK = eyecast.mesh((4, 4))

EYE = eyecast.schedule(eyecast.mesh((4, 4)), "eye", source=(1, 1))


def test_each_documented_name_is_there_and_says_what_it_is():
    for name in eyecast.api.__all__:
        assert getattr(eyecast, name) is not None
        assert name in dir(eyecast)


def test_an_unknown_name_is_an_attribute_error():
    with pytest.raises(AttributeError, match="module 'eyecast' has no attribute 'shedule'"):
        _ = eyecast.shedule


def test_import_loads_nothing_until_a_name_is_asked_for():
    script = "import sys, eyecast; print(sorted({'numpy', 'numba'} & {*sys.modules}))"
    done = run_program([sys.executable, "-c", script], check=True)
    assert done.stdout == "[]\n"


def test_it_says_what_the_command_says(request, here):
    command = request.getfixturevalue("eyecast")
    options = ("--mesh", "4x4", "--source", "1,1", "--json")
    said = result(command("schedule", *options))
    found = eyecast.measures(EYE)
    assert found["schedule"].items() >= {"steps": said["steps"], "tcd": said["tcd"]}.items()
    assert eyecast.predict(EYE).cycles == result(command("predict", *options))["cycles"]
    eyecast.write_schedule(EYE, here / "face.json")
    command("schedule", *options[:-1], "-o", here / "command.json")
    assert (here / "face.json").read_bytes() == (here / "command.json").read_bytes()


def test_nodes_are_numbers_or_coordinates():
    assert eyecast.schedule(eyecast.mesh((4, 4)), "eye", source=5).root == EYE.root
    with pytest.raises(eyecast.InvalidInput, match="source must be a node of the 4x4 mesh"):
        eyecast.schedule(eyecast.mesh((4, 4)), "eye", source=(4, 0))
    with pytest.raises(eyecast.InvalidInput, match="source must be 0 to 15, not 16"):
        eyecast.schedule(eyecast.mesh((4, 4)), "eye", source=16)


@pytest.mark.parametrize(
    ("collective", "source", "complaint"),
    [
        ("broadcast", None, "source must be given with broadcast"),
        ("all-gather", 0, "source must be left out with all-gather: each node is one"),
    ],
)
def test_a_source_is_given_where_there_is_one(collective, source, complaint):
    with pytest.raises(eyecast.InvalidInput, match=f"^{complaint}$"):
        eyecast.schedule(eyecast.ring(4), "ring", source=source, collective=collective)


def test_a_program_has_room_and_cannot_deadlock():
    assert eyecast.compile(EYE, flit_width=16).config.flit_width == 16
    ring = eyecast.schedule(eyecast.ring(8), "ring", collective="all-gather")
    with pytest.raises(eyecast.InvalidInput, match="vcs"):
        eyecast.compile(EYE, vcs=0)
    assert eyecast.compile(ring).config.topology.label == "ring of 8"


def test_all_algorithms_are_compared_or_those_named():
    network = eyecast.mesh((4, 4))
    entries = eyecast.compare(network, source=0, words=4)
    served = {entry.name for entry in entries}
    assert {"eye", "minimum", "u-mesh"} <= served < {a.name for a in algorithms_for("broadcast")}
    (eye,) = eyecast.compare(network, source=0, words=4, algorithms=["eye"])
    assert eye.cycles == next(entry.cycles for entry in entries if entry.name == "eye")
    assert eyecast.algorithms("gather")[:1] == ["ring"]


def test_the_hardware_agrees_and_the_picture_is_drawn(here):
    small = eyecast.schedule(eyecast.mesh((2, 2)), "eye", source=0, words=4)
    compared = eyecast.verify(small)
    assert compared.agrees
    assert compared.measured.cycles == eyecast.predict(small).cycles
    eyecast.draw(small, here / "eye.svg", here / "eye.png")
    assert {path.name for path in Path(here).iterdir()} == {"eye.svg", "eye.png"}
    with pytest.raises(eyecast.InvalidInput, match="suffix"):
        eyecast.draw(small, here / "eye.gif")


def test_traffic_is_what_the_command_says(request, here):
    command = request.getfixturevalue("eyecast")
    ran = eyecast.traffic(eyecast.torus((3, 3)), rate=0.3, cycles=200, vcs=2, depth=4, seed=5)
    options = "--torus 3x3 --rate 0.3 --cycles 200 --vcs 2 --depth 4 --seed 5 --on model --json"
    assert result(command("traffic", *options.split()))["measures"] == ran.measures
    assert ran.compared is None
    assert ran.run is ran.case.predicted
    assert len(ran.latency) == ran.measures["packets_delivered"] == len(ran.case.traffic)
    assert ran.latency.mean() == ran.measures["mean_latency"]


@pytest.mark.parametrize(
    ("options", "complaint"),
    [
        ({"rate": 2}, "rate must be 0 to 1 flits per node and cycle, not 2"),
        ({"seed": -1}, "seed must be at least 0, not -1"),
        ({"vcs": 1, "rate": 0.3}, "these routes can deadlock: .*"),
    ],
)
def test_traffic_that_cannot_be_is_refused(options, complaint):
    with pytest.raises(eyecast.InvalidInput, match=complaint):
        eyecast.traffic(eyecast.torus((5, 5)), **options)


@pytest.mark.slow
def test_traffic_runs_on_the_hardware():
    ran = eyecast.traffic(eyecast.mesh((2, 2)), rate=0.5, cycles=300, on_hardware=True)
    assert ran.compared is not None
    assert ran.compared.agrees
    assert ran.run is ran.compared.measured


def test_random_faults_are_those_of_the_command(request, here):
    command = request.getfixturevalue("eyecast")
    network = eyecast.with_random_faults(eyecast.mesh((6, 6)), 0.2, seed=4, keep=[(0, 0), 7])
    options = "--mesh 6x6 --source 0,0 --algorithm tree --partial --random-faults 0.2 --seed 4"
    kept = ("--keep", "0,0", "--keep", "1,1")
    command("schedule", *options.split(), *kept, "-o", "s.json")
    assert eyecast.read_schedule(here / "s.json").topology.faulty_nodes == network.faulty_nodes
    assert len(network.faulty_nodes) == 7
    assert not {0, 7} & set(network.faulty_nodes)
    with pytest.raises(eyecast.InvalidInput, match="random faults must be 0 to less than 1, not 1"):
        eyecast.with_random_faults(eyecast.mesh((6, 6)), 1)


def starred() -> nx.Graph:
    """Return a star of four nodes whose centre is a switch."""
    star = nx.star_graph(3)
    star.nodes[0]["switch"] = True
    return star


@pytest.mark.parametrize(
    "graph",
    [
        nx.grid_2d_graph(3, 2),
        nx.DiGraph([("a", "b"), ("b", "c"), ("c", "a"), ("a", "c"), ("c", "c")]),
        nx.MultiGraph([(4, 2), (4, 2), (2, 7)]),
        starred(),
    ],
    ids=["grid", "directed", "parallel", "switch"],
)
def test_a_graph_of_networkx_is_the_network_of_its_file(graph, here):
    written = nx.node_link_data(graph, edges="edges")
    (here / "graph.json").write_text(json.dumps(written))
    given, read = eyecast.graph(graph), eyecast.read_network(here / "graph.json")
    assert given.neighbor.tolist() == read.neighbor.tolist()
    assert given.peer.tolist() == read.peer.tolist()
    assert (given.switches, given.faulty_links) == (read.switches, read.faulty_links)


def test_a_graph_of_networkx_may_have_further_switches():
    assert eyecast.graph(starred(), switches=[2]).switches == (0, 2)
    with pytest.raises(eyecast.InvalidInput, match="switch must be 0 to 3, not 4"):
        eyecast.graph(starred(), switches=[4])
    with pytest.raises(eyecast.InvalidInput, match="nodes of the graph must be 1 to 16777216, not"):
        eyecast.graph(nx.Graph())


def test_a_host_transmits_to_all():
    found = eyecast.transmit(eyecast.line(9), seconds=0)
    assert (found.best.cost, found.bound, found.proved) == ((3, 3), (3, 3), True)
    made = eyecast.transmit_schedule(found.best, words=4)
    assert (made.steps, made.root) == (3, 9)
    assert eyecast.predict(made).finished
    with pytest.raises(eyecast.InvalidInput, match="seconds must be 0 or more, not -1"):
        eyecast.transmit(eyecast.line(9), seconds=-1)


def test_sides_may_be_a_text():
    assert eyecast.mesh("3x2").neighbor.tolist() == eyecast.mesh((3, 2)).neighbor.tolist()
    assert eyecast.torus("4").label == eyecast.torus((4,)).label == "4 torus"


@pytest.mark.parametrize(
    ("ask", "similar"),
    [
        (lambda: eyecast.schedule(NETWORK, "recursive_doubling", source=0), "recursive-doubling"),
        (lambda: eyecast.compare(NETWORK, source=0, algorithms=["treee"]), "tree"),
        (lambda: eyecast.traffic(NETWORK, pattern="tranpose"), "transpose"),
    ],
)
def test_a_misspelled_name_is_answered_with_the_similar_one(ask, similar):
    with pytest.raises(eyecast.InvalidInput, match=rf"\(did you mean {similar}\?\)$"):
        ask()


def test_a_drawing_without_a_file_says_so(caplog, here, monkeypatch):
    made = eyecast.schedule(NETWORK, "eye", source=0)
    eyecast.draw(made)
    assert ["draw() has written no file" in each for each in caplog.messages] == [True]
    eyecast.draw(made, here / "a.svg")
    monkeypatch.setitem(sys.modules, "ipykernel", sys)
    eyecast.draw(made)
    assert len(caplog.messages) == 1
