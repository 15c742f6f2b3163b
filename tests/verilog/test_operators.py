"""Operators of every kind as Verilog in Icarus, compared with their results in Python."""

import random
from collections.abc import Callable
from pathlib import Path

from amaranth.hdl import Cat, Const, Module, Mux, Signal
from amaranth.lib.wiring import Component, In, Out
from helpers.processes import needs, run_program

from eyecast.verilog.hierarchy import Division
from eyecast.verilog.text import module_texts

A, B, C = 7, 4, 3
"""Widths of the operands in bits."""


def signed(value: int, bits: int) -> int:
    return value - (value >> bits - 1 << bits)


RESULTS: dict[str, tuple[int, Callable[..., object], Callable[[int, int, int], int]]] = {
    "sum": (8, lambda a, b, c: a + b, lambda a, b, c: a + b),
    "low_sum": (3, lambda a, b, c: a + b + c, lambda a, b, c: a + b + c),
    "difference": (9, lambda a, b, c: a - b, lambda a, b, c: a - b),
    "signed_sum": (
        9,
        lambda a, b, c: a.as_signed() + b.as_signed(),
        lambda a, b, c: signed(a, A) + signed(b, B),
    ),
    "product": (11, lambda a, b, c: a * b, lambda a, b, c: a * b),
    "negative": (8, lambda a, b, c: -a, lambda a, b, c: -a),
    "mixed": (7, lambda a, b, c: (a & ~b) | (c ^ a), lambda a, b, c: (a & ~b) | (c ^ a)),
    "less": (1, lambda a, b, c: a < b, lambda a, b, c: a < b),
    "signed_less": (
        1,
        lambda a, b, c: a.as_signed() < b.as_signed(),
        lambda a, b, c: signed(a, A) < signed(b, B),
    ),
    "at_least": (1, lambda a, b, c: a + b >= c, lambda a, b, c: a + b >= c),
    "shifted": (7, lambda a, b, c: a >> c, lambda a, b, c: a >> c),
    "shifted_up": (14, lambda a, b, c: a << c, lambda a, b, c: a << c),
    "one_bit": (1, lambda a, b, c: a.bit_select(c, 1), lambda a, b, c: a >> c & 1),
    "two_bits": (2, lambda a, b, c: a.bit_select(b, 2), lambda a, b, c: a >> b & 3),
    "chosen": (7, lambda a, b, c: Mux(b > c, a, b), lambda a, b, c: a if b > c else b),
    "odd": (1, lambda a, b, c: a.xor(), lambda a, b, c: a.bit_count() & 1),
    "all": (1, lambda a, b, c: Cat(b, c).all(), lambda a, b, c: b == 15 and c == 7),
    "none": (1, lambda a, b, c: ~(a[1:3].any() | (b == 2)), lambda a, b, c: not a & 6 and b != 2),
    "wide": (5, lambda a, b, c: a.bit_select(c[:1], 5), lambda a, b, c: a >> (c & 1) & 31),
    "constant": (2, lambda a, b, c: Mux(a < 0, b, 2), lambda a, b, c: 2),
    "differ": (
        2,
        lambda a, b, c: Cat(Const(5) != Const(3), Const(5) != Const(5)),
        lambda a, b, c: 1,
    ),
    "not_zero": (2, lambda a, b, c: Cat(Const(5).bool(), Const(0, 3).bool()), lambda a, b, c: 1),
}
"""The width of a result, its Amaranth expression, and its expected value."""


class Operators(Component):
    """Results of every kind, and a register of some of them."""

    def __init__(self) -> None:
        widths = {name: Out(width) for name, (width, _, _) in RESULTS.items()}
        super().__init__(
            {"a": In(A), "b": In(B), "c": In(C), **widths, "kept": Out(A), "late": Out(A)}
        )

    def elaborate(self, _platform: object) -> Module:
        m = Module()
        for name, (_, make, _) in RESULTS.items():
            m.d.comb += getattr(self, name).eq(make(self.a, self.b, self.c))
        late = Signal(A, reset_less=True)
        m.d.sync += late.eq(self.a)
        m.d.comb += self.late.eq(late)
        with m.Switch(self.b):
            with m.Case("1--0"):
                m.d.sync += self.kept.eq(self.a)
            with m.Case(1, 3):
                m.d.sync += self.kept[2:5].eq(self.c)
            with m.Default(), m.If(self.c == 0):
                m.d.sync += self.kept.eq(self.kept + 1)
        return m


def kept_after(kept: int, a: int, b: int, c: int) -> int:
    if b & 9 == 8:
        return a
    if b in (1, 3):
        return kept & ~0b11100 | c << 2
    return kept + 1 & 127 if c == 0 else kept


@needs("iverilog")
def test_operators_are_what_they_are(tmp_path: Path) -> None:
    division = Division()
    division.add(Operators(), "operators")
    draw = random.Random(1)
    values = [
        (draw.randrange(1 << A), draw.randrange(1 << B), draw.randrange(1 << C)) for _ in range(400)
    ]
    ports = ["a", "b", "c", *RESULTS, "kept"]
    wires = [f"wire [{width - 1}:0] {name};" for name, (width, _, _) in RESULTS.items()]
    steps = [
        f'a = {a}; b = {b}; c = {c}; #1 $display("{" %0d" * (len(RESULTS) + 1)}", '
        f"{', '.join([*RESULTS, 'kept'])}); clk = 1; #1 clk = 0;"
        for a, b, c in values
    ]
    bench = "\n".join(
        [
            "module bench;",
            f"reg clk = 0; reg rst = 0; reg [{A - 1}:0] a; reg [{B - 1}:0] b; reg [{C - 1}:0] c;",
            f"wire [{A - 1}:0] kept;",
            *wires,
            f"operators it ({', '.join(f'.{port}({port})' for port in ['clk', 'rst', *ports])});",
            "initial begin",
            *steps,
            "end",
            "endmodule",
        ]
    )
    text = module_texts(division)["operators"]
    # The operands of the signed sum have their sign bits once and four times more.
    assert "signed_sum_sum = {a[6], a} + {{4{b[3]}}, b};" in text
    assert all((len(line) - len(line.lstrip())) % 2 == 0 for line in text.splitlines())
    (tmp_path / "all.v").write_text(f"{text}\n{bench}\n")
    compiler = ["iverilog", "-g2012", "-Wall", "-o", "bench", "all.v"]
    compiled = run_program(compiler, cwd=tmp_path, check=True)
    assert not compiled.stderr
    ran = run_program(["vvp", "bench"], cwd=tmp_path, check=True)
    kept = 0
    for (a, b, c), line in zip(values, ran.stdout.splitlines(), strict=True):
        expected = [int(of(a, b, c)) & (1 << width) - 1 for width, _, of in RESULTS.values()]
        assert [int(word) for word in line.split()] == [*expected, kept], (a, b, c)
        kept = kept_after(kept, a, b, c)
