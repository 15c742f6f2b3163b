"""Proofs of the router of circuits, against section 23 of docs/router.md."""

from typing import Any

from amaranth.hdl import C, Cat, Mux, Value

from ..rtl.circuit_router import CircuitRouter
from .harness import Bench
from .networks import network, said
from .proof import Proof


def circuit_router(ports: int, *, operators: tuple[str, ...] = ()) -> Proof:
    """Return the proof that each output follows its setting, and that joined words are of a cycle.

    Input 0 gives its word in the cycle in which it leaves, the others one cycle before.
    """

    def build(bench: Bench) -> None:
        config = network(ports, circuits=True, operators=operators)
        router = bench.drive(CircuitRouter(config), "router")
        codes = bench.before(router.setting.codes.as_value())
        bits = len(router.setting.codes[0])
        first, *others = router.inputs
        valid = Cat(first.valid, *(bench.before(each.valid) for each in others))
        words = [first.word, *(bench.before(each.word) for each in others)]
        made, total = joined(bench, router, valid, words) if operators else (C(0), C(0))
        for number, output in enumerate(router.outputs):
            code = codes.word_select(number, bits)
            takes = [code == 1 + port if port != number else C(0) for port in range(ports)]
            # Only the sum of the words of the last cycle leaves; nothing else leaves with it.
            sums = made & (bench.before(code) == 1 + number) if operators else C(0)
            sent = Cat(each & valid[port] for port, each in enumerate(takes)).any() & ~sums
            word: Value = C(0, config.flit_width)
            for each, arrived in zip(takes, words, strict=True):
                word |= Mux(each, arrived, 0)
            bench.ensures(f"word_if_taken_{number}", output.valid == (sent | sums))
            bench.ensures(f"word_of_its_input_{number}", ~sent | (output.word == word))
            if operators:
                bench.ensures(f"sum_of_one_cycle_{number}", ~sums | (output.word == total))
                bench.covers(f"sum_{number}", sums)
        forks = Cat(
            out.valid & (codes.word_select(n, bits) == 2)
            for n, out in enumerate(router.outputs)
            if n != 1
        )
        bench.covers("fork_to_all", forks.all())

    how = f", {', '.join(operators)}" if operators else ""
    return Proof(
        "router of circuits",
        said(ports=ports) + how,
        "each output takes one input; a fork to all; a join of two words of one cycle",
        build,
    )


def joined(bench: Bench, router: Any, valid: Value, words: list[Value]) -> tuple[Value, Value]:
    """Return whether two words were joined in the last cycle, and their sum."""
    setting = router.setting
    operator = bench.before(setting.operator)
    operands = []
    for code in (bench.before(setting.first), bench.before(setting.second)):
        named = Cat((code == 1 + port) & valid[port] for port in range(len(words)))
        word: Value = C(0, len(words[0]))
        for port, each in enumerate(words):
            word |= Mux(code == 1 + port, each, 0)
        operands.append((named.any(), word))
    made = (operator == 1) & operands[0][0] & operands[1][0]
    total = (operands[0][1] + operands[1][1])[: len(words[0])]
    return bench.before(made), bench.before(total)
