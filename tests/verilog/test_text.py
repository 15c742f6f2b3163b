"""Verilog as text: names, memories, and operators, which Icarus compares with Python."""

import enum
import random
import re
from collections.abc import Callable
from pathlib import Path

import pytest
from amaranth.hdl import Cat, Const, Module, Mux, Signal
from amaranth.lib import data
from amaranth.lib.memory import Memory
from amaranth.lib.wiring import Component, In, Out
from helpers.processes import needs, run_program

from eyecast.model.network.config import NetworkConfig
from eyecast.model.network.topology import line, mesh
from eyecast.rtl.controller import Controller
from eyecast.rtl.packets.sender import Sender
from eyecast.sim.verilog import network_modules
from eyecast.verilog.hierarchy import Division
from eyecast.verilog.text import module_texts


class Color(enum.Enum):
    """An enumeration whose names appear in the Verilog."""

    RED = 0
    GREEN = 2


class Counter(Component):
    """A component with a record, a state machine, and a register of an enumeration."""

    def __init__(self) -> None:
        ports = {"step": In(4), "go": In(1), "same": Out(1), "sum": Out(4)}
        super().__init__({**ports, "color": Out(Color)})

    def elaborate(self, _platform: object) -> Module:
        m = Module()
        row = Signal(data.StructLayout({"step": 4, "left": 4}))
        m.d.comb += [
            self.same.eq((row.step == self.step) & self.go & (row.left[1:3] == 3)),
            self.sum.eq(row.left),
        ]
        with m.FSM():
            with m.State("READ"):
                m.d.sync += [row.step.eq(self.step), row.left.eq(8), self.color.eq(Color.GREEN)]
                with m.If(self.go):
                    m.next = "SEND"
            with m.State("SEND"):
                m.d.sync += row.left.eq(row.left - (self.step + row.step)[1:])
                with m.If((row.left == 1) | (row.left == 14)):
                    m.d.sync += self.color.eq(Color.RED)
                    m.next = "READ"
        return m


WRITTEN = """\
module counter (
    input wire [3:0] step,
    input wire go,
    input wire clk,
    input wire rst,
    output wire same,
    output wire [3:0] sum,
    output reg [1:0] color
);
  localparam READ = 1'h0;
  localparam SEND = 1'h1;
  localparam [1:0] RED = 2'h0;
  localparam [1:0] GREEN = 2'h2;
  reg [7:0] row;
  initial row = 8'h0;
  wire [3:0] row__step = row[3:0];
  wire [3:0] row__left = row[7:4];
  reg fsm_state;
  initial fsm_state = READ;
  initial color = RED;
  wire [4:0] row__left_sum;
  wire color_either;
  assign color_either = (row__left == 4'h1) | (row__left == 4'he);
  assign sum = row__left;
  assign same = (row__step == step) & go & (row__left[2:1] == 2'h3);
  assign row__left_sum = {1'h0, step} + {1'h0, row__step};
  always @(posedge clk) begin
    if (fsm_state == READ) begin
      row[3:0] <= step;
      row[7:4] <= 4'h8;
    end else if (fsm_state == SEND) begin
      row[7:4] <= row__left - row__left_sum[4:1];
    end
    if (fsm_state == READ) begin
      color <= GREEN;
    end else if (fsm_state == SEND) begin
      if (color_either) begin
        color <= RED;
      end
    end
    if (fsm_state == READ) begin
      if (go) begin
        fsm_state <= SEND;
      end
    end else if (fsm_state == SEND) begin
      if (color_either) begin
        fsm_state <= READ;
      end
    end
    if (rst) begin
      row <= 8'h0;
      color <= RED;
      fsm_state <= READ;
    end
  end
  wire unused = &{1'b0, row__left_sum[0]};
endmodule
"""


def test_fields_states_and_values_have_names() -> None:
    division = Division()
    division.add(Counter(), "counter")
    (text,) = module_texts(division).values()
    assert text.partition("\n")[2] == WRITTEN


STATED = re.compile(r"state (?:==|<=) \w+|assign state =[^;]*|initial \w*state =[^;]*")
"""Comparisons with a state, and assignments to it."""


def test_states_are_compared_and_assigned_by_name() -> None:
    config = NetworkConfig(topology=line(2), programs=1, parity=True)
    division = Division()
    division.add(Controller(config), "controller")
    division.add(Sender(config, ports=range(1, 3)), "sender")
    texts = module_texts(division).values()
    found = STATED.findall("".join(texts))
    assert {
        "state <= RUNNING",
        "state == STARTING",
        "state == EXPECT",
        "state <= READY",
    } <= {*found}
    assert not [each for each in found if re.search(r"\W\d", each)]
    # One module has the encoding of a machine's states.
    machines = [*filter(None, (tuple(re.findall("localparam .*", text)) for text in texts))]
    assert len({*machines}) == len(machines) > 1


def test_modules_of_one_class_say_how_they_differ() -> None:
    config = NetworkConfig(topology=mesh((3,)), vcs=2, all_port=True, streams=True, programs=1)
    said: dict[str, list[str]] = {}
    for name, text in network_modules(config).items():
        kind, _, number = name.rpartition("_")
        if number.isdigit() and not kind.endswith("memory"):
            words = text.partition("\nmodule ")[0].replace("\n// ", " ")
            found = re.search(r"It differs from the other modules of its class by (.*?)\.", words)
            assert found, name
            said.setdefault(kind, []).append(found[1])
    assert all(len({*each}) == len(each) > 1 for each in said.values())
    assert "vc 1" in said["eyecast_input_channel"][0]
    assert {"eyecast_lane", "eyecast_arbiter", "eyecast_arrival"} < {*said}


# ---- Memories as Verilog ------------------------------------------------------------------------


class Reader(Component):
    """A component that reads one word of a memory of four words, or of ``depth`` words."""

    def __init__(self, *initial: int, depth: int = 4) -> None:
        super().__init__({"word": Out(8)})
        self.initial, self.depth = initial, depth

    def elaborate(self, _platform: object) -> Module:
        m = Module()
        m.submodules.memory = memory = Memory(shape=8, depth=self.depth, init=self.initial)
        m.d.comb += self.word.eq(memory.read_port().data)
        return m


def read_by_synthesis(*initial: int) -> str:
    """Return the memory's module without the lines that synthesis does not read."""
    division = Division()
    division.add(Reader(*initial), "reader")
    (text,) = (text for text in module_texts(division).values() if "words [0:3]" in text)
    before, guard, after = text.partition("`ifndef SYNTHESIS\n")
    return before + after.partition("`endif\n")[2] if guard else text


@pytest.mark.parametrize("initial", [(), (0, 0, 0)])
def test_synthesis_does_not_read_a_loop_that_clears_words(initial: tuple[int, ...]) -> None:
    text = read_by_synthesis(*initial)
    assert "endmodule" in text
    assert "initial" not in text
    assert "integer" not in text


def test_synthesis_reads_words_that_are_not_0() -> None:
    text = read_by_synthesis(0, 5)
    assert "  initial begin" in text
    assert "words[1] = 8'h5;" in text


@pytest.mark.parametrize("initial", [(), (5,)])
def test_a_memory_of_one_word_is_a_register(initial: tuple[int, ...]) -> None:
    division = Division()
    division.add(Reader(*initial, depth=1), "reader")
    (text,) = (text for text in module_texts(division).values() if "words;" in text)
    assert f"  initial words = 8'h{sum(initial)};" in text


def test_a_comment_says_whether_a_macro_may_replace_a_memory() -> None:
    modules = network_modules(NetworkConfig(topology=mesh((2, 2)), programs=1))
    heads = {
        name: " ".join(text.partition("\nmodule ")[0].replace("//", "").split())
        for name, text in modules.items()
        if name.endswith("_memory") and name != "eyecast_shared_memory"
    }
    macros = {name for name, head in heads.items() if "A macro with the same ports may" in head}
    assert macros == {"eyecast_message_memory", "eyecast_table_memory"}
    others = {name for name, head in heads.items() if "Its reads are asynchronous" in head}
    assert others == heads.keys() - macros
    assert "1 word of 2 bits" in heads["eyecast_directory_mode_memory"]


# ---- Operators of every kind as Verilog in Icarus, compared with their results in Python --------


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
    for (a, b, c), told in zip(values, ran.stdout.splitlines(), strict=True):
        expected = [int(of(a, b, c)) & (1 << width) - 1 for width, _, of in RESULTS.values()]
        assert [int(word) for word in told.split()] == [*expected, kept], (a, b, c)
        kept = kept_after(kept, a, b, c)
