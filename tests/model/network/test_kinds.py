"""Kinds of network and parameters of a network: what is made from their one entry agrees."""

from __future__ import annotations

from dataclasses import replace

import pytest

from eyecast.cli.options.hardware import HARDWARE_NAMES
from eyecast.cli.options.network import NETWORK_NAMES
from eyecast.model.base.errors import InvalidInput
from eyecast.model.network.config import DEFAULTS, PARAMETERS, NetworkConfig
from eyecast.model.network.config_file import network_from_json, network_to_json
from eyecast.model.network.kinds import KINDS
from eyecast.model.network.topology import mesh
from eyecast.model.network.topology_file import topology_from_json, topology_to_json

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
    for size in (SIZES[name], *kind.samples):
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
    named = [f"--{name.replace('_', '-')}" for name, known in PARAMETERS.items() if known.help]
    assert [*HARDWARE_NAMES] == named


@pytest.mark.parametrize("name", PARAMETERS)
def test_every_parameter_is_read_from_a_file_as_it_was_written(name: str) -> None:
    limits = PARAMETERS[name].limits
    usual = NetworkConfig(topology=mesh((2, 2)))
    changed = replace(usual, **{name: True if limits is None else DEFAULTS[name] + 1})
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
        with pytest.raises(InvalidInput) as refused:
            NetworkConfig(topology=mesh((2, 2)), **{name: value})
        words = name.replace("_", " ")
        assert str(refused.value) == f"{words} must be {limits[0]} to {limits[1]}, not {value}"
