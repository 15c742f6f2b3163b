"""Kinds and parameters of a network: all tables made from one entry agree."""

from dataclasses import replace
from typing import Any
from zlib import crc32

import pytest
from helpers.refusals import refusal_of
from helpers.soak.traffic import NETWORKS

from eyecast.cli.options.hardware import HARDWARE_NAMES, exported_hardware_options
from eyecast.cli.options.network import NETWORK_NAMES
from eyecast.cli.options.values import option_names
from eyecast.model.base.errors import InvalidInput
from eyecast.model.network.config import DEFAULTS, PARAMETERS, NetworkConfig
from eyecast.model.network.config_file import identity, network_from_json, network_to_json
from eyecast.model.network.kinds import KINDS
from eyecast.model.network.operators import Operator
from eyecast.model.network.topology import mesh
from eyecast.model.network.topology_file import topology_from_json, topology_to_json

SLOW = Operator("multiply-add", latency=3)
SIZES = {
    "mesh": (3, 2),
    "torus": (3, 2),
    "hypercube": (3,),
    "line": (5,),
    "ring": (5,),
    "binary-tree": (6,),
    "star-tree": (3, 4),
    "diagonal-mesh": (4,),
    "de-bruijn": (2, 3),
}


@pytest.mark.parametrize("name", KINDS)
def test_a_network_has_the_nodes_and_the_size_that_its_kind_tells(name: str) -> None:
    kind = KINDS[name]
    for size in (SIZES[name], *(kind.size(each) for each in NETWORKS if each.kind == name)):
        network = kind.network(size)
        assert (network.kind, network.nodes, kind.size(network)) == (name, kind.nodes(size), size)
        described = topology_to_json(network)
        assert described["kind"] == name
        assert {*kind.fields} <= {*described}
        again = topology_from_json(described)
        assert (again.neighbor == network.neighbor).all()
        assert again.label == network.label


def test_every_kind_is_an_option() -> None:
    assert {f"--{name}" for name in KINDS} <= {*NETWORK_NAMES}


def test_every_parameter_with_a_help_is_an_option() -> None:
    helped = {name: known for name, known in PARAMETERS.items() if known.help}
    named = {f"--{name.replace('_', '-')}": known.for_runs for name, known in helped.items()}
    assert [*option_names(exported_hardware_options)] == [*named]
    assert [*HARDWARE_NAMES] == [name for name, for_runs in named.items() if for_runs]
    # The option --ports sets ``all_port``.
    assert {*PARAMETERS} - {*helped} == {"all_port"}


@pytest.mark.parametrize("name", PARAMETERS)
def test_every_parameter_is_read_from_a_file_as_it_was_written(name: str) -> None:
    known = PARAMETERS[name]
    # A network without programs has no tile ports and no parity.
    usual = NetworkConfig(topology=mesh((2, 2)), programs=int(name in ("tile_ports", "parity")))
    others = {bool: True, str: "add,max", int: DEFAULTS[name] + 1 if known.limits else None}
    changed = replace(usual, **{name: others[known.kind]})
    for config in (usual, changed):
        described = network_to_json(config)
        in_file = PARAMETERS[name].in_every_file or config is changed
        assert (name in described) == in_file
        read = network_from_json(described)
        assert {each: getattr(read, each) for each in PARAMETERS} == {
            each: getattr(config, each) for each in PARAMETERS
        }


@pytest.mark.parametrize("name", [name for name, known in PARAMETERS.items() if known.limits])
def test_a_number_outside_its_limits_is_refused(name: str) -> None:
    limits = PARAMETERS[name].limits
    assert limits is not None
    for value in (limits[0] - 1, limits[1] + 1):
        told = refusal_of(NetworkConfig, topology=mesh((2, 2)), **{name: value})
        words = name.replace("_", " ")
        assert told == f"{words} must be {limits[0]} to {limits[1]}, not {value}"


@pytest.mark.parametrize(
    ("wrong", "refusal"),
    [
        ({"tile_ports": True}, "programs must be at least 1 in a network with tile ports, not 0"),
        ({"programs": 1, "timed_rows": True}, "timed rows must be left out of a network with"),
        ({"operators": "add,mul"}, "operators must be add, min, .* or xor, not mul"),
        ({"operators": "add,max,add"}, "operators must be different from each other, not twice"),
        ({"operators": [SLOW], "all_port": True}, "latency of operators must be 0 in an all-p"),
        ({"operators": [SLOW], "contention_free": True}, "latency of operators must be 0 in a con"),
        ({"operators": "add", "flit_width": 16}, r"the delivery \(port, step, address, operator\)"),
    ],
)
def test_variants_are_refused_where_they_do_not_go_together(
    wrong: dict[str, Any], refusal: str
) -> None:
    with pytest.raises(InvalidInput, match=refusal):
        NetworkConfig(topology=mesh((2, 2)), **wrong)


def test_networks_that_differ_have_identities_that_differ() -> None:
    usual = NetworkConfig(topology=mesh((2, 1)), programs=2)
    text = (
        '{"depth":2,"flit_width":32,"message_words":256,"programs":2,"steps":15,"table_words":64,'
        '"topology":{"dims":[2,1],"faulty_links":[],"faulty_nodes":[],"kind":"mesh"},"vcs":1}'
    )
    assert identity(usual) == crc32(text.encode())
    others = [replace(usual, **{name: 3}) for name in ("programs", "vcs", "depth")]
    assert len({identity(each) for each in (usual, *others)}) == 4
