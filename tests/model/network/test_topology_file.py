"""Topology files: every kind is written and read again; a wrong file is refused by one line."""

import json
import re
from pathlib import Path
from typing import Any

import pytest
from helpers.refusals import refusal_of
from helpers.topologies import assert_same

from eyecast.model.base.errors import InvalidInput
from eyecast.model.network.attached_host import with_host
from eyecast.model.network.config import NetworkConfig
from eyecast.model.network.faults import with_faults
from eyecast.model.network.named_graphs import binary_tree, de_bruijn, diagonal_mesh, star_tree
from eyecast.model.network.neighbor_table import graph
from eyecast.model.network.segment import Segment
from eyecast.model.network.topology import Topology, hypercube, line, mesh, ring, torus
from eyecast.model.network.topology_file import read_network, topology_from_json, topology_to_json
from eyecast.model.program.file import program_json, read_program
from eyecast.model.program.program import Program
from eyecast.model.program.row import Row

PAIR = [[-1, 1, 1, -1], [-1, -1, 0, 0]]
NO_FAULTS: dict[str, Any] = {"faulty_nodes": [], "faulty_links": []}
WRITTEN: list[tuple[Topology, dict[str, Any]]] = [
    (mesh((8, 8)), {"kind": "mesh", "dims": [8, 8], **NO_FAULTS}),
    (torus((4, 1, 2)), {"kind": "torus", "dims": [4, 1, 2], **NO_FAULTS}),
    (hypercube(7), {"kind": "hypercube", "dimension": 7, **NO_FAULTS}),
    (line(16), {"kind": "line", "nodes": 16, **NO_FAULTS}),
    (ring(5), {"kind": "ring", "nodes": 5, **NO_FAULTS}),
    (binary_tree(15), {"kind": "binary-tree", "nodes": 15, **NO_FAULTS}),
    (star_tree(3, 12), {"kind": "star-tree", "arms": 3, "length": 12, **NO_FAULTS}),
    (diagonal_mesh(5), {"kind": "diagonal-mesh", "side": 5, **NO_FAULTS}),
    (de_bruijn(2, 5), {"kind": "de-bruijn", "base": 2, "length": 5, **NO_FAULTS}),
    (de_bruijn(3, 1), {"kind": "de-bruijn", "base": 3, "length": 1, **NO_FAULTS}),
    (
        with_host(ring(5), [3, 0]),
        {"kind": "ring", "nodes": 5, "host": True, "host_links": [0, 3], **NO_FAULTS},
    ),
    (graph(PAIR), {"kind": "graph", "neighbor": PAIR, **NO_FAULTS}),
    (
        with_faults(torus((4, 4)), [9, 5], [(1, 0), (0, 1)]),
        {"kind": "torus", "dims": [4, 4], "faulty_nodes": [5, 9], "faulty_links": [[0, 1], [1, 0]]},
    ),
    (
        with_faults(graph(PAIR), [], [(1, 0)]),
        {"kind": "graph", "neighbor": PAIR, "faulty_nodes": [], "faulty_links": [[1, 0]]},
    ),
]


@pytest.mark.parametrize(("topology", "fields"), WRITTEN, ids=lambda value: str(value)[:40])
def test_every_kind_as_the_format_says(topology: Topology, fields: dict[str, Any]) -> None:
    assert topology_to_json(topology) == fields
    assert_same(topology_from_json(json.loads(json.dumps(fields))), topology)


def test_faults_may_be_left_out() -> None:
    assert_same(topology_from_json({"kind": "hypercube", "dimension": 3}), hypercube(3))
    fields = {"kind": "line", "nodes": 3, "faulty_nodes": [2]}
    assert_same(topology_from_json(fields), with_faults(line(3), [2]))


@pytest.mark.parametrize("topology", [topology for topology, _ in WRITTEN], ids=lambda t: t.label)
def test_in_a_program_file(topology: Topology, tmp_path: Path) -> None:
    rows: list[tuple[Row, ...]] = [()] * topology.nodes
    rows[0] = (Row(1, (Segment(1, 1, 0),), 0, 0, 1),)
    program = Program.from_rows(
        NetworkConfig(topology=topology), "all-port", tuple(rows), ((),) * topology.nodes
    )
    (tmp_path / "program.json").write_text(program_json(program))
    back = read_program(tmp_path / "program.json")
    assert_same(back.config.topology, topology)
    assert back.rows == program.rows


KINDS = (
    "mesh, torus, hypercube, line, ring, binary-tree, star-tree, diagonal-mesh, de-bruijn or graph "
    "in this version"
)
WRONG: list[tuple[dict[str, Any], str]] = [
    ({"kind": "Mesh", "dims": [4, 4]}, f"topology.kind must be {KINDS}, not Mesh"),
    ({}, f"topology.kind must be {KINDS}, not None"),
    ({"kind": ["mesh"]}, f"topology.kind must be {KINDS}, not ['mesh']"),
    (
        {"kind": "graph", "neighbor": [[-1]], "host": True},
        "host links must be at least one node, not none",
    ),
    ({"kind": "torus"}, "topology: Object missing required field dims"),
    ({"kind": "ring", "dims": [4]}, "topology: Object contains unknown field dims"),
    ({"kind": "line"}, "topology: Object missing required field nodes"),
    ({"kind": "line", "nodes": "4"}, "topology.nodes: Expected int, got str"),
    ({"kind": "line", "nodes": 4.5}, "topology.nodes: Expected int, got float"),
    ({"kind": "hypercube", "dimension": -1}, "topology.dimension: Expected int >= 0"),
    ({"kind": "torus", "dims": [4, 0]}, "side of torus 4x0 must be at least 1, not 0"),
    ({"kind": "graph", "neighbor": [[-1, "1"]]}, "topology.neighbor[0][1]: Expected int, got str"),
    ({"kind": "graph", "neighbor": [[-1, -2]]}, "topology.neighbor[0][1]: Expected int >= -1"),
    (
        {"kind": "graph", "neighbor": [[-1, 2**31]]},
        "topology.neighbor[0][1]: Expected int <= 2147483647",
    ),
    (
        {"kind": "mesh", "dims": [4], "faulty_links": [[0]]},
        "topology.faulty_links[0]: Expected array of length 2, got 1",
    ),
    (
        {"kind": "mesh", "dims": [4], "faulty_nodes": 3},
        "topology.faulty_nodes: Expected array, got int",
    ),
]


@pytest.mark.parametrize(("fields", "message"), WRONG, ids=lambda value: str(value)[:60])
def test_a_wrong_topology_is_one_line(fields: dict[str, Any], message: str) -> None:
    assert refusal_of(topology_from_json, fields) == message


def test_a_file_is_named(tmp_path: Path) -> None:
    program = Program.from_rows(NetworkConfig(topology=ring(3)), "all-port", ((),) * 3, ((),) * 3)
    file = json.loads(program_json(program))
    file["network"]["topology"]["faulty_links"] = [[0, 0]]
    path = tmp_path / "program.json"
    path.write_text(json.dumps(file))
    assert (
        refusal_of(read_program, path)
        == f"{path}: faulty link must be a link of the ring of 3, not 0:0"
    )


def test_a_file_that_nests_too_deeply_is_one_line(tmp_path: Path) -> None:
    path = tmp_path / "deep.json"
    path.write_text('{"a":' + "[" * 100_000)
    message = f"^{re.escape(f'{path}: must be JSON that nests less deeply')}$"
    with pytest.raises(InvalidInput, match=message):
        read_network(path)
