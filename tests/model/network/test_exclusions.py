"""Exclusions of parameters: exactly the rules of the page's table refuse networks."""

import random
import re
from dataclasses import replace
from itertools import combinations, product
from typing import Any

import numpy as np
import pytest
from helpers.router_page import cells, section

from eyecast.model.base.errors import InvalidInput
from eyecast.model.network.config import DEFAULTS, NetworkConfig
from eyecast.model.network.exclusions import incompatible
from eyecast.model.network.operators import Operator, as_operators
from eyecast.model.network.topology import line

SLOW = Operator("slow", latency=2)
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
    "operators": ((), as_operators("add"), (SLOW,)),
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
