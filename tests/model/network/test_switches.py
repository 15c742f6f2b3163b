"""Switches of a topology: their nodes, the transformations that keep them, and refusals."""

import json
from pathlib import Path

import pytest
from helpers.refusals import refusal_of
from helpers.switch_networks import fat_tree, switch_mesh, switch_star, switch_tree
from helpers.topologies import assert_same

from eyecast.model.network.attached_host import with_host
from eyecast.model.network.config import NetworkConfig
from eyecast.model.network.config_file import network_from_json, network_to_json
from eyecast.model.network.faults import with_faults
from eyecast.model.network.neighbor_table import graph
from eyecast.model.network.node_link import decode_node_link
from eyecast.model.network.topology import Topology
from eyecast.model.network.topology_file import read_network, topology_from_json, topology_to_json

PATH = [[-1, 1, -1], [-1, 0, 2], [-1, 1, -1]]
NETWORKS = [switch_star(4), switch_tree(), switch_mesh(3, 2, 2), fat_tree(4)]


def test_switches_do_not_take_part() -> None:
    path = graph(PATH, [1, 1])
    assert path.switches == (1,)
    assert path.working_nodes.tolist() == [0, 2]
    assert (path.nodes, path.interfaces) == (3, 2)
    assert graph(PATH).switches == ()
    assert [len(network.working_nodes) for network in NETWORKS] == [4, 4, 12, 16]


def test_labels() -> None:
    assert graph(PATH, [1]).label == "graph of 3 with 1 switch"
    assert switch_tree().label == "graph of 7 with 3 switches"
    faulty = with_faults(switch_tree(), [3], [(0, 1), (1, 0)])
    assert faulty.label == "graph of 7 with 3 switches, 1 faulty node and 2 faulty links"
    assert with_faults(switch_tree(), [2]).label == "graph of 7 with 3 switches and 1 faulty node"
    assert with_host(switch_tree(), [3]).label == "graph of 7 and host with 3 switches"


def test_faults_and_hosts_keep_them() -> None:
    """A switch can be faulty, and a host can be linked to one."""
    faulty = with_faults(switch_tree(), [1, 3])
    assert faulty.switches == (0, 1, 2)
    assert faulty.working_nodes.tolist() == [4, 5, 6]
    assert with_faults(faulty, [5]).working_nodes.tolist() == [4, 6]
    hosted = with_host(faulty, [0, 6])
    assert hosted.switches == (0, 1, 2)
    assert hosted.working_nodes.tolist() == [4, 5, 6, 7]


@pytest.mark.parametrize(
    "topology",
    [*NETWORKS, with_faults(switch_tree(), [1], [(0, 2)]), with_host(switch_tree(), [0, 6])],
    ids=lambda topology: topology.label,
)
def test_in_files_there_and_back(topology: Topology) -> None:
    fields = json.loads(json.dumps(topology_to_json(topology)))
    assert fields["switches"] == list(topology.switches)
    assert_same(topology_from_json(fields), topology)
    config = json.loads(json.dumps(network_to_json(NetworkConfig(topology=topology))))
    assert_same(network_from_json(config).topology, topology)


def test_files_without_switches_do_not_name_them() -> None:
    assert "switches" not in topology_to_json(graph(PATH))


def test_node_link_files() -> None:
    nodes = [{"id": "leaf", "switch": False}, {"id": "hub", "switch": True}, {"id": 7}]
    edges = [{"source": "hub", "target": "leaf"}, {"source": 7, "target": "hub"}]
    found, one_way = (
        decode_node_link(json.dumps({"nodes": nodes, "edges": edges, "directed": each}).encode())
        for each in (False, True)
    )
    assert_same(found, graph(PATH, [1]))
    assert one_way.switches == (1,)
    assert one_way.faulty_links == ((0, 1), (1, 2))


@pytest.mark.parametrize(
    ("switches", "message"),
    [
        ([3], "switch must be 0 to 2, not 3"),
        ([-1], "switch must be 0 to 2, not -1"),
        ([0, 1, 2], "switches must be fewer than all nodes, not all 3"),
    ],
)
def test_what_is_no_switch(switches: list[int], message: str) -> None:
    assert refusal_of(graph, PATH, switches) == message


@pytest.mark.parametrize(
    ("fields", "message"),
    [
        ({"kind": "graph", "neighbor": PATH, "switches": [1, 5]}, "switch must be 0 to 2, not 5"),
        (
            {"kind": "graph", "neighbor": PATH, "switches": 1},
            "topology.switches: Expected array, got int",
        ),
        (
            {"kind": "line", "nodes": 3, "switches": [1]},
            "topology: Object contains unknown field switches",
        ),
        (
            {"nodes": [{"id": 0, "switch": 1}], "edges": []},
            "nodes[0].switch: Expected bool, got int",
        ),
        (
            {"nodes": [{"id": 0, "switch": True}], "edges": []},
            "switches must be fewer than all nodes, not all 1",
        ),
    ],
)
def test_wrong_files_are_one_line(fields: dict[str, object], message: str, tmp_path: Path) -> None:
    path = tmp_path / "network.json"
    path.write_text(json.dumps(fields))
    assert refusal_of(read_network, path) == f"{path}: {message}"


def test_what_a_switch_is_asked_for() -> None:
    graph(PATH, [1]).require_interface("source", 0)
    wanted = "source must be a node with a network interface, not switch 1"
    assert refusal_of(graph(PATH, [1]).require_interface, "source", 1) == wanted
