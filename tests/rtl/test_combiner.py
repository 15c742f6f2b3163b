"""Arriving words and stored words: each result is written in its cycle, and none is lost.

``proofs/combiner.py`` proves it of "or", of lanes that meet, and of slow operators.
"""

import pytest
from amaranth.hdl import C
from helpers.combiner_bench import MEANINGS, Bench, run, run_beside_host
from helpers.own_operator import TWICE, Twice

from eyecast.model.network.operators import Operator
from eyecast.rtl.parts import operators
from eyecast.rtl.parts.combiner import Combiner


@pytest.mark.parametrize("operator", sorted(set(MEANINGS) - {"twice"}))
def test_each_operator_of_words_that_come_one_after_the_other(operator: str) -> None:
    run(Bench(operator, vcs=2))


def test_several_operators_chosen_word_by_word() -> None:
    run(Bench("min-signed", "add", "xor", vcs=2))


@pytest.mark.parametrize("seed", [1, 2])
def test_words_of_several_lanes_for_one_place_are_all_in_it(seed: int) -> None:
    """The lower lane's word is combined first; of words that replace, the highest lane's stays."""
    run(Bench("add", "min", all_port=True, seed=seed))


@pytest.mark.parametrize("tile_ports", [False, True])
def test_no_two_ports_of_a_shared_memory_write_one_word(tile_ports: bool) -> None:
    """A simulated memory keeps the last of two words; block RAM may keep a mix of both."""
    run(Bench("add", all_port=True, programs=1, tile_ports=tile_ports))


def test_a_write_of_a_host_is_lost_behind_a_word_of_a_slow_operator() -> None:
    assert run_beside_host(Bench(TWICE, "add", vcs=2, programs=1)) > 5


def test_an_update_is_lost_where_two_words_meet(monkeypatch: pytest.MonkeyPatch) -> None:
    """The fault: a stored word is read although it is written in the same cycle."""
    monkeypatch.setattr(Combiner, "_hits", lambda *_: C(0))
    with pytest.raises(AssertionError):
        run(Bench("add", vcs=2))


@pytest.mark.parametrize(("name", "wrong"), [("add", "xor"), ("min-signed", "min"), ("and", "or")])
def test_a_wrong_operator(monkeypatch: pytest.MonkeyPatch, name: str, wrong: str) -> None:
    monkeypatch.setitem(operators.BUILT_IN, name, operators.BUILT_IN[wrong])
    with pytest.raises(AssertionError):
        run(Bench(name, vcs=2))


def test_an_operator_without_a_component_of_its_ports_cannot_be_built() -> None:
    with pytest.raises(TypeError, match="operator nothing has no component"):
        run(Bench(Operator("nothing")))
    narrow = Operator("narrow", component=lambda width: Twice(width - 1))
    with pytest.raises(TypeError, match="operator narrow has other ports"):
        run(Bench(narrow))
