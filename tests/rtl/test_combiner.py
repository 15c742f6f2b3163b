"""Arriving words and stored words: each result is written in its cycle, and none is lost."""

import itertools
from pathlib import Path

import pytest
from amaranth.hdl import Cat, Signal
from helpers.combiner_bench import CYCLES, MEANINGS, Bench, run, run_beside_host, run_slow
from helpers.own_operator import TWICE, Twice
from helpers.prover import first_violation, needs_pyosys

from eyecast.model.network.operators import Operator
from eyecast.rtl.shared_memory import SharedMemory


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


def test_a_write_of_a_host_is_in_what_comes_then_or_later() -> None:
    assert run_beside_host(Bench("add", vcs=2, programs=1)) == 0


def test_a_write_of_a_host_is_lost_behind_a_word_of_a_slow_operator() -> None:
    assert run_beside_host(Bench(TWICE, "add", vcs=2, programs=1)) > 5


@needs_pyosys
@pytest.mark.slow
@pytest.mark.parametrize("tile_ports", [False, True])
def test_that_is_proved_of_all_words(tile_ports: bool, tmp_path: Path) -> None:
    bench = Bench("add", all_port=True, programs=1, tile_ports=tile_ports)
    ports, words = bench.shared.stored, bench.combiner.words
    clashes = [
        one.enable & other.enable & (one.address == other.address)
        for one, other in itertools.combinations(ports, 2)
    ]
    never = Signal()
    bench.module.d.comb += never.eq(Cat(clashes).any())
    inputs = [port for word in words for port in (word.enable, word.address, word.operator)]
    assert first_violation(bench.module, never, inputs, tmp_path) is None


@needs_pyosys
@pytest.mark.slow
def test_a_clash_is_found_where_writes_are_not_compared(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(SharedMemory, "_network_writes", lambda _self, taken: taken)
    with pytest.raises(AssertionError):
        test_that_is_proved_of_all_words(False, tmp_path)


@pytest.mark.parametrize("operators", [(TWICE,), ("max", TWICE), (TWICE, "add")])
def test_a_slow_operator_waits_for_what_it_needs(operators: tuple[Operator | str, ...]) -> None:
    """By the page, it waits if the needed word left port 0 in one of the D cycles before."""
    assert CYCLES // 10 < run_slow(Bench(*operators, vcs=2)) < CYCLES


def test_an_operator_without_a_component_of_its_ports_cannot_be_built() -> None:
    with pytest.raises(TypeError, match="operator nothing has no component"):
        run(Bench(Operator("nothing")))
    narrow = Operator("narrow", component=lambda width: Twice(width - 1))
    with pytest.raises(TypeError, match="operator narrow has other ports"):
        run(Bench(narrow))
