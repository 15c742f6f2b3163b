"""Arriving words and stored words, where ``proofs/combiner.py`` does not prove it.

``test_whole_interface.py`` compares each built-in operator with the page.
"""

import pytest
from helpers.combiner_bench import Bench, lost_writes
from helpers.own_operator import TWICE, Twice

from eyecast.model.network.operators import Operator


def test_a_write_of_a_host_is_lost_behind_a_word_of_a_slow_operator() -> None:
    assert lost_writes(Bench(TWICE, "add")) > 5


def test_an_operator_without_a_component_of_its_ports_cannot_be_built() -> None:
    with pytest.raises(TypeError, match="operator nothing has no component"):
        lost_writes(Bench(Operator("nothing")))
    narrow = Operator("narrow", component=lambda width: Twice(width - 1))
    with pytest.raises(TypeError, match="operator narrow has other ports"):
        lost_writes(Bench(narrow))
