"""Faults put into the combiner on purpose; the tests of operators detect each."""

from dataclasses import replace
from types import SimpleNamespace
from typing import Any

import pytest
from amaranth.hdl import C, ClockDomain, Module
from helpers.combiner_bench import Bench, run
from helpers.network_in_python import run_by_hand
from helpers.programs import DOWN, UP, program, put

from eyecast.model.network.topology import mesh
from eyecast.rtl.parts import operators
from eyecast.rtl.parts.combiner import Combiner


def test_an_update_is_lost_where_two_words_meet(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Combiner, "_hits", lambda *_: C(0))
    with pytest.raises(AssertionError):
        run(Bench("add", vcs=2))


@pytest.mark.parametrize(("name", "wrong"), [("add", "xor"), ("min-signed", "min"), ("and", "or")])
def test_a_wrong_operator(monkeypatch: pytest.MonkeyPatch, name: str, wrong: str) -> None:
    monkeypatch.setitem(operators.BUILT_IN, name, operators.BUILT_IN[wrong])
    with pytest.raises(AssertionError):
        run(Bench(name, vcs=2))


def exchange(clock: ClockDomain) -> None:
    """Run an exchange: node 1 sends its last words after it has combined node 0's."""
    to_0 = replace(put(1, (DOWN, 1), length=4, target=8), operator=2)
    rows = {
        0: [replace(put(1, (UP, 1), length=6, target=8), operator=2)],
        1: [
            replace(to_0, continued=True),
            replace(to_0, length=2, source_address=4, target_address=12),
        ],
    }
    made = program(
        rows, {0: [1], 1: [1]}, mesh((2,)), "exchange", operators="add", message_words=16
    )
    words = {0: {i: 1 + i for i in range(6)}, 1: {i: 100 + i for i in range(6)}}
    sums = {8 + i: 101 + 2 * i for i in range(6)}
    # Node 1 reads one more control word and sends one more header flit.
    cycles = 1 + (1 + 6 + 5) + 2 - 2
    run_by_hand(clock, made, words, {0: sums, 1: sums}, cycles=cycles)


@pytest.mark.slow
def test_an_exchange_sends_what_was_there(clock: ClockDomain) -> None:
    exchange(clock)


@pytest.mark.slow
def test_an_exchange_sends_what_it_has_just_combined(
    clock: ClockDomain, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The fault: results are written to the address of the stored words."""
    registered = Combiner._registered

    def in_place(self: Combiner, m: Module, word: Any) -> Any:
        names = ("leaves", "enable", "word", "operator")
        there = SimpleNamespace(**{name: getattr(word, name) for name in names})
        there.address = word.source
        return registered(self, m, there)

    monkeypatch.setattr(Combiner, "_registered", in_place)
    with pytest.raises(AssertionError):
        exchange(clock)
