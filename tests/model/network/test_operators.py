"""Operators: their results by NumPy, and their permitted names and latencies."""

import json
from typing import Any

import numpy as np
import pytest
from numba import njit

from eyecast.model.base.errors import InvalidInput
from eyecast.model.network.config import NetworkConfig
from eyecast.model.network.config_file import network_from_json, network_to_json
from eyecast.model.network.operators import BUILT_IN, Operator, as_operators, operator_names
from eyecast.model.network.topology import mesh


@pytest.mark.parametrize("bits", [8, 33, 64])
@pytest.mark.parametrize("name", BUILT_IN)
def test_a_built_in_operator_agrees_with_the_integers_of_python(name: str, bits: int) -> None:
    draw = np.random.default_rng(bits)
    there, coming = draw.integers(0, (1 << bits) - 1, (2, 200), dtype=np.uint64, endpoint=True)

    def signed(word: int) -> int:
        return word - (word >> (bits - 1) << bits)

    def meant(x: int, y: int) -> int:
        return {
            "add": (x + y) % (1 << bits),
            "min": min(x, y),
            "max": max(x, y),
            "min-signed": min(x, y, key=signed),
            "max-signed": max(x, y, key=signed),
            "and": x & y,
            "or": x | y,
            "xor": x ^ y,
        }[name]

    made = BUILT_IN[name].combine(there, coming, bits)
    assert made.dtype == np.uint64
    assert made.tolist() == [*map(meant, there.tolist(), coming.tolist())]


def test_an_operator_of_ones_own_is_asked_word_by_word() -> None:
    def later(_there: Any, coming: Any, bits: Any) -> Any:
        return coming + bits

    words = np.arange(4, dtype=np.uint64)
    operator = Operator("later", latency=2, meaning=later)
    assert operator.combine(words, words + np.uint64(1), 8).tolist() == [9, 10, 11, 12]
    with pytest.raises(InvalidInput, match="operator must be given with its meaning"):
        Operator("later").combine(words, words, 8)


@pytest.mark.parametrize(
    ("wrong", "refusal"),
    [
        ({"name": "Add!"}, "name of an operator must be lower-case letters"),
        ({"name": "mac", "latency": -1}, "latency of operator mac must be 0 to 63, not -1"),
        ({"name": "mac", "latency": "1"}, "latency of operator mac must be an integer"),
        ({"name": "add", "latency": 1}, "name of an operator of your own must be other than"),
        ({"name": 3}, "name of an operator must be lower-case letters, digits and dashes.* not 3$"),
        ({"name": "mac", "meaning": 3}, "meaning of operator mac must be a function, not 3"),
        ({"name": "mac", "component": ""}, "component of operator mac must be a function, not ''"),
        (
            {"name": "mac", "meaning": njit(lambda there, coming: there + coming)},
            r"meaning of operator mac must be a function of three.* not one of \(there, coming\)",
        ),
    ],
)
def test_an_operator_that_cannot_be_is_refused(wrong: dict[str, Any], refusal: str) -> None:
    with pytest.raises(InvalidInput, match=refusal):
        Operator(**wrong)


def test_what_a_meaning_raises_says_whose_it_is() -> None:
    words = np.arange(4, dtype=np.uint64)
    with pytest.raises(TypeError) as raised:
        Operator("sum", meaning=np.add).combine(words, words, 8)
    assert raised.value.__notes__ == ["raised by the meaning of operator sum"]


def test_a_network_file_has_the_names_of_operators_and_ones_own_with_its_latency() -> None:
    given = as_operators(["max", Operator("mac", 3), "add"])
    config = NetworkConfig(topology=mesh((2, 1)), operators=given)
    described = json.loads(json.dumps(network_to_json(config)))
    assert described["operators"] == ["max", {"name": "mac", "latency": 3}, "add"]
    assert network_from_json(described).operators == given
    assert (operator_names(given), config.operator_latency) == ("max,mac,add", 3)
    with pytest.raises(InvalidInput, match=r"operators must be add, .* not mac"):
        network_from_json({**described, "operators": ["mac"]})
