"""Passes of the writer, each broken on purpose: the proof refutes the text that is written then."""

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from amaranth.back import rtlil
from amaranth.hdl import C, Module, Mux, Signal
from amaranth.lib import data
from amaranth.lib.memory import Memory
from amaranth.lib.wiring import Component, In, Out
from helpers.equivalence import Circuit, first_difference
from helpers.prover import needs_pyosys

from eyecast.verilog import choices, live, operators, simplify, sources, text, writer
from eyecast.verilog.fields import Fields
from eyecast.verilog.hierarchy import Division
from eyecast.verilog.names import Names
from eyecast.verilog.netlist import Assign, Constant, cut, joined, width_of, zeros
from eyecast.verilog.values import Values

pytestmark = needs_pyosys


class Adder(Component):
    """A register that adds a constant in every cycle."""

    def __init__(self, constant: int) -> None:
        super().__init__({"sum": Out(3)})
        self.constant = constant

    def elaborate(self, _platform: object) -> Module:
        m = Module()
        m.d.sync += self.sum.eq(self.sum + self.constant)
        return m


class Patchwork(Component):
    """Something for each pass of the writer."""

    def __init__(self) -> None:
        outputs = {"wide": 4, "narrow": 2, "masked": 4, "one_bit": 1, "below_0": 6, "pieces": 4}
        super().__init__(
            {
                **{name: In(4) for name in "abc"},
                **{name: Out(width) for name, width in outputs.items()},
                **{"selected": Out(4), "constant": Out(4), "kept": Out(4), "state": Out(4)},
                **{"word": Out(4), "sums": Out(3).array(2), "middle": Out(2), "less": Out(1)},
            }
        )

    def elaborate(self, _platform: object) -> Module:
        m = Module()
        a, b, c = self.a, self.b, self.c
        m.d.comb += [
            self.wide.eq((a | b) & c),
            self.narrow.eq((a >> c) + b),
            self.masked.eq(a & 0b0110),
            self.one_bit.eq(a.bit_select(b, 1)),
            self.below_0.eq(a.as_signed() + b.as_signed()),
            self.pieces[:2].eq(a[2:]),
            self.pieces[2:].eq(b[:2]),
            self.less.eq(Mux(C(2, 4) < C(3, 4), a[0], b[0])),
        ]
        with m.Switch(b):
            with m.Case("1---"):
                m.d.comb += self.selected.eq(0)
            with m.Case("--11", "01-0"):
                m.d.comb += self.selected.eq(c)
        with m.Switch(C(2, 2)):
            with m.Case(1):
                m.d.comb += self.constant.eq(a)
            with m.Case(2):
                m.d.comb += self.constant.eq(b)
        self._add_registers(m)
        m.submodules.words = words = Memory(shape=4, depth=4, init=[3, 5])
        write, read = words.write_port(), words.read_port()
        m.d.comb += [write.en.eq(a[3]), write.addr.eq(a), write.data.eq(c)]
        m.d.comb += [read.addr.eq(b), self.word.eq(read.data)]
        for number, port in enumerate(self.sums):
            m.submodules[f"adder_{number}"] = adder = Adder(number + 1)
            m.d.comb += port.eq(adder.sum)
        return m

    def _add_registers(self, m: Module) -> None:
        """A register with a value at reset, a record and a state machine."""
        kept = Signal(4, init=5)
        record = Signal(data.StructLayout({"low": 1, "middle": 2, "high": 1}))
        m.d.comb += [self.kept.eq(kept), self.middle.eq(record.middle)]
        m.d.sync += [kept.eq(self.a), record.eq(self.b)]
        with m.If(self.b[0]):
            m.d.sync += kept.eq(kept + 1)
        with m.FSM():
            with m.State("FIRST"):
                m.d.comb += self.state.eq(self.a)
                m.next = "SECOND"
            with m.State("SECOND"):
                m.d.comb += self.state.eq(self.b)
                with m.If(self.c[0]):
                    m.next = "THIRD"
            with m.State("THIRD"):
                m.d.comb += self.state.eq(self.c)


def difference(folder: Path) -> int | None:
    """Return the first cycle in which the text of a patchwork and its RTLIL can differ."""
    division = Division()
    division.add(Patchwork(), "patchwork")
    written = Circuit("\n".join(text.module_texts(division).values()), "patchwork")
    elaborated = Circuit(rtlil.convert(Patchwork(), emit_src=False), "top", "read_rtlil")
    return first_difference(elaborated, written, folder)


def test_sound_passes_write_the_same_circuit(tmp_path: Path) -> None:
    assert difference(tmp_path) is None


def other_start(rtlil_text: str) -> Any:
    """Read a netlist whose registers start with other values."""
    netlist = READ(rtlil_text)
    for wire in netlist.wires.values():
        if wire.initial == "0101":
            wire.initial = "0100"
    return netlist


def in_another_order(parts: Any) -> Assign:
    return Assign(
        joined(part for part, _ in parts), joined(p for _, bits in parts[::-1] for p in bits)
    )


def first_needed(self: Any, body: Any) -> bool:
    """Look no further than the first statement that is needed."""
    return any(
        SEE_BODY(self, [statement])
        if isinstance(statement, Assign)
        else any(first_needed(self, inner) for _, inner in statement.cases)
        for statement in body
    )


READ = text.read_rtlil
SEE_BODY = live.Liveness._see_body
CLOCKED, RESET, WITHIN, NAMED = sources._clocked, writer._reset, Fields.within, Division._named
TO_INDEX, RESIZED, EXCLUDING = sources.operand_to_index, operators.resized, choices._excluding
STATE, FREE, WORDS = Names.state, Names.free, text._words_of


def cleared(last: Any, value: Any) -> Any:
    """Find a reset to 0."""
    found = RESET(last, value)
    return found and replace(found, value=(Constant("0" * 4),)) if found else None


SABOTAGES: dict[str, tuple[object, str, object]] = {
    "netlist: another initial value": (text, "read_rtlil", other_start),
    "simplify: the first branch of a constant": (simplify, "_fits", lambda bits, patterns: True),
    "simplify: a mask keeps all": (
        simplify,
        "_masked",
        lambda cell, width: cell.ports["A"] if cell.kind == "$and" else None,
    ),
    "simplify: pieces in another order": (simplify, "_one_of", in_another_order),
    "choices: patterns that exclude each other": (choices, "_excluding", lambda switch: True),
    "live: branches behind a needed one": (live.Liveness, "_see_body", first_needed),
    "live: shifted bits": (live, "NARROWED", (*live.NARROWED, "$shr")),
    "sources: too few bits to index": (
        sources,
        "operand_to_index",
        lambda cell: (zeros(width_of(TO_INDEX(cell)) - 2), *cut(TO_INDEX(cell), 0, 2)),
    ),
    "sources: the first assignment counts": (
        sources,
        "_clocked",
        lambda netlist: {wire: body[::-1] for wire, body in CLOCKED(netlist).items()},
    ),
    "operators: no signs": (
        operators,
        "resized",
        lambda bits, width, signed=False: RESIZED(bits, width),
    ),
    "operators: no brackets": (operators, "beside", lambda written, sign="": written),
    "values: braces from the other end": (
        Values,
        "_braces",
        lambda self, bits: f"{{{', '.join(self._part(part) for part in bits[::-1])}}}",
    ),
    "values: a pattern of all bits": (
        Values,
        "_fits",
        lambda self, subject, pattern: f"&{{1'b1, {self.text(subject)}}}",
    ),
    "writer: a reset to 0": (writer, "_reset", cleared),
    "fields: a bit too low": (
        Fields,
        "within",
        lambda self, bits: (found := WITHIN(self, bits)) and replace(found, width=1),
    ),
    "names: two states of one name": (
        Names,
        "state",
        lambda self, name, value: STATE(self, "STATE", ""),
    ),
    "text: words without initial values": (
        text,
        "_words_of",
        lambda memory: WORDS(replace(memory, initial=())),
    ),
    "hierarchy: modules of one kind are equal": (
        Division,
        "_named",
        lambda self, kind, module, inside: (
            next((name for (known, _), name in self._known.items() if known == kind), None)
            or NAMED(self, kind, module, inside)
        ),
    ),
}
"""For each pass the function in whose place another one stands."""


@pytest.mark.slow
@pytest.mark.parametrize("sabotage", SABOTAGES)
def test_a_broken_pass_is_refuted(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, sabotage: str
) -> None:
    monkeypatch.setattr(*SABOTAGES[sabotage])
    assert difference(tmp_path) is not None
