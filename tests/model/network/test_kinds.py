"""Kinds and parameters of a network: tables made from one entry, and which exclude each other."""

import random
import re
from dataclasses import replace
from itertools import combinations, product
from typing import Any
from zlib import crc32

import numpy as np
import pytest
from helpers.refusals import refusal_of
from helpers.router_page import cells, section
from helpers.soak.traffic import NETWORKS

from eyecast.cli.options.hardware import HARDWARE_NAMES, exported_hardware_options
from eyecast.cli.options.network import NETWORK_NAMES
from eyecast.cli.options.values import option_names
from eyecast.model.base.errors import InvalidInput
from eyecast.model.network.config import DEFAULTS, PARAMETERS, NetworkConfig
from eyecast.model.network.config_file import identity, network_from_json, network_to_json
from eyecast.model.network.exclusions import incompatible
from eyecast.model.network.kinds import KINDS
from eyecast.model.network.operators import Operator, as_operators
from eyecast.model.network.topology import line, mesh
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


# ---- Parameters that exclude each other ----------------------------------------------------------


SLOW_OPERATOR = Operator("slow", latency=2)
SMALL = {"message_words": 4, "table_words": 4, "steps": 1}
"""Memories and steps whose header fields fit in the narrowest flit."""
VALUES: dict[str, tuple[Any, ...]] = {
    "vcs": (1, 8),
    "depth": (1, 2, 3, 4, 7, 8),
    "flit_width": (15, 16, 31, 32, 64),
    "message_words": (2, 4),
    "table_words": (2, 64),
    "steps": (1, 3),
    "link_registers": (0, 1, 3),
    "barrier_registers": (0, 7),
    "programs": (0, 1, 15),
    "operators": ((), as_operators("add"), (SLOW_OPERATOR,)),
    **{name: (False, True) for name, value in DEFAULTS.items() if value is False},
}
"""Values of each parameter, on both sides of each limit."""
PROPERTIES = {
    "operators` with D > 0": "operator_latency",
    "vcs` > 1": "further_vcs",
    "links that differ": "differing_links",
}
"""Properties of a network that rules limit beside parameters, by their names on the page."""


def rules_of_the_page() -> list[tuple[str, str, str]]:
    """Return limited parameter, limiting parameter and limit of each filled cell of the page."""
    heading, *rows = cells(section("### What excludes what"))
    columns = [name.strip("`") for name in heading[1:]]
    return [
        (PROPERTIES.get(row[0], row[0]), column, cell)
        for row in rows
        for column, cell in zip(columns, row[1:], strict=True)
        if cell
    ]


RULES = rules_of_the_page()


def allowed_by_the_page(given: dict[str, Any]) -> bool:
    """Tell whether no cell of the matrix refuses these parameters."""
    values = DEFAULTS | given
    latency = max((operator.latency for operator in values["operators"]), default=0)
    properties = {"operator_latency": latency, "further_vcs": values["vcs"] - 1}
    properties["differing_links"] = values.get("topology", line(2)).links_differ
    amounts = values | properties
    for limited, column, limit in RULES:
        if not values[column]:
            continue
        amount = amounts[limited]
        least = limit.removeprefix("≥ ").replace("2R+2", str(2 * values["link_registers"] + 2))
        if amount if limit == "no" else amount < int(least):
            return False
    return True


def accepted(given: dict[str, Any]) -> bool:
    try:
        NetworkConfig(topology=line(2), **given)
    except InvalidInput:
        return False
    return True


def test_values_are_there_for_every_parameter() -> None:
    assert set(VALUES) == set(DEFAULTS)


def test_two_parameters_are_accepted_exactly_where_the_page_says_so() -> None:
    wrong = []
    for one, other in combinations(VALUES, 2):
        for first, second in product(VALUES[one], VALUES[other]):
            given = SMALL | {one: first, other: second}
            if accepted(given) != allowed_by_the_page(given):
                wrong.append((one, first, other, second))
    assert wrong == []


def test_drawn_networks_are_accepted_exactly_where_the_page_says_so() -> None:
    draw = random.Random(29)
    seen = {True: 0, False: 0}
    for _ in range(400):
        names = draw.sample(list(VALUES), draw.randrange(2, 8))
        given = SMALL | {name: draw.choice(VALUES[name]) for name in names}
        allowed = allowed_by_the_page(given)
        assert accepted(given) == allowed, given
        seen[allowed] += 1
    assert min(seen.values()) > 80, seen


def test_links_that_differ_are_accepted_exactly_where_the_page_says_so() -> None:
    slow = replace(line(2), link_rate_of=np.full((2, 3), 2))
    for one, values in VALUES.items():
        for value in values:
            given = {"topology": slow, "link_registers": 0, "depth": 16, "programs": 1} | {
                one: value
            }
            try:
                NetworkConfig(**SMALL | given)
                accepts = True
            except InvalidInput:
                accepts = False
            assert accepts == allowed_by_the_page(SMALL | given), (one, value)


def test_wide_words_are_accepted_exactly_where_the_page_says_so() -> None:
    lanes = ((), as_operators("add:64"), (Operator("slow:8", latency=2),))
    for one, values in VALUES.items():
        for value in lanes if one == "operators" else values:
            given = SMALL | {"flit_width": 192, one: value}
            assert accepted(given) == allowed_by_the_page(given), (one, value)


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"flit_width": 72}, "flit width must be up to 64, or a multiple of 64, not 72"),
        (
            {"flit_width": 128, "operators": "max"},
            "operator must be one with lanes, such as max:32, for words of 128 bits, not max",
        ),
        (
            {"flit_width": 40, "operators": "add:16"},
            "flit width must be a multiple of 16, the lanes of add:16, not 40",
        ),
        (
            {"operators": "add:12"},
            "operators must be add, or with lanes add:8, add:16, add:32 or add:64, not add:12",
        ),
    ],
)
def test_words_are_rows_of_pieces_and_of_lanes(given: dict[str, Any], message: str) -> None:
    with pytest.raises(InvalidInput, match=f"^{re.escape(message)}$"):
        NetworkConfig(topology=line(2), **given)


def test_incompatible_parameters_are_those_of_the_page() -> None:
    pairs = [{limited, column} for limited, column, limit in RULES if limit == "no"]
    for name in VALUES:
        others = {other for pair in pairs if name in pair for other in pair - {name}}
        assert set(incompatible(name)) == others
