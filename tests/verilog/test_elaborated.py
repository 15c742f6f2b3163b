"""Undocumented parts of Amaranth are as the Verilog writer expects them.

If an update of Amaranth changes one, a test here fails with a sentence that names the part.
"""

import re
from collections.abc import Callable
from importlib.metadata import version
from pathlib import Path

import pytest
from amaranth.back import rtlil
from amaranth.hdl import Cat, Format, Fragment, Instance, Module, Print, Signal
from amaranth.hdl._xfrm import DomainCollector
from amaranth.lib import data, enum
from amaranth.lib.wiring import Component, In, Out

from eyecast.verilog import elaborated
from eyecast.verilog.netlist import Netlist, read_rtlil

ROOT = Path(elaborated.__file__).parents[1]


class Inner(Component):
    """A component with a register in a clock domain that it does not define."""

    def __init__(self) -> None:
        super().__init__({"data": In(2), "kept": Out(2)})

    def elaborate(self, _platform: object) -> Module:
        m = Module()
        m.d.fast += self.kept.eq(self.data)
        return m


class Color(enum.Enum, shape=2):
    RED = 0
    GREEN = 2


class Outer(Component):
    """A component with a submodule, an instance, a record, an enumeration, states and a print."""

    def __init__(self) -> None:
        super().__init__({"data": In(2), "kept": Out(2), "color": Out(Color)})

    def elaborate(self, _platform: object) -> Module:
        m = Module()
        m.submodules.inner = inner = Inner()
        m.submodules.black_box = Instance("box", i_a=self.data, o_b=Signal(2, name="b"))
        row = Signal(data.StructLayout({"low": 1, "high": 1}))
        m.d.comb += [inner.data.eq(self.data), self.kept.eq(Cat(row.high, inner.kept))]
        m.d.sync += [row.low.eq(row.high), row.high.eq(self.data)]
        m.d.sync += Print(Format("{:d} words", self.data))
        with m.FSM():
            with m.State("READ"):
                m.d.sync += self.color.eq(Color.GREEN)
                m.next = "SEND"
            with m.State("SEND"):
                m.d.sync += self.color.eq(Color.RED)
        return m


def parts() -> dict[str, Fragment]:
    return {name: inner for _, name, inner in elaborated.submodules(elaborated.elaborate(Outer()))}


def converted() -> tuple[Netlist, elaborated.States]:
    outer = Outer()
    fragment = elaborated.elaborate(outer)
    elaborated.replace_submodule(fragment, 0, Instance("inner", i_data=outer.data))
    ports = {"data": (outer.data, False), "color": (outer.color.as_value(), True)}
    text, states = elaborated.convert(fragment, ports)
    return read_rtlil(text), states


def printed() -> list[str]:
    cells = converted()[0].cells
    return [cell.parameters["FORMAT"] for cell in cells if cell.kind == "$print"]


PARTS: dict[str, tuple[Callable[[], object], object]] = {
    "Fragment.subfragments, by place and name": (lambda: [*parts()], ["inner", "black_box"]),
    "Fragment.origins, which has the component": (
        lambda: type(elaborated.component_of(parts()["inner"])),
        Inner,
    ),
    "Instance.ports, with the direction o": (
        lambda: elaborated.instance_outputs(parts()["black_box"]),
        {"b"},
    ),
    "amaranth.hdl._xfrm.DomainCollector": (
        lambda: elaborated.missing_domains(parts()["inner"]),
        ["fast"],
    ),
    "DomainRenamer on a Fragment": (
        lambda: elaborated.missing_domains(elaborated.in_domain_sync(parts()["inner"], "fast")),
        ["sync"],
    ),
    "rtlil.convert_fragment, with the directions of ports": (
        lambda: [
            (wire.name, wire.direction) for wire in converted()[0].wires.values() if wire.direction
        ],
        [("data", "input"), ("clk", "input"), ("rst", "input"), ("color", "output")],
    ),
    "Signal.decoder of a state machine": (
        lambda: converted()[1],
        (("fsm_state", ("READ", "SEND")),),
    ),
    "RTLIL's attribute enum_value": (
        lambda: converted()[0].wires["color"].states,
        {"00": "RED", "10": "GREEN"},
    ),
    "RTLIL's wire of a field": (lambda: converted()[0].wires["row.high"].width, 1),
    "RTLIL's format of a print": (printed, ['"{2:> du} words\\n"']),
}


def difference(part: str) -> str | None:
    """Return a sentence if a part of Amaranth is not as the writer expects it."""
    find, expected = PARTS[part]
    try:
        found = find()
    except Exception as error:
        found = error
    if found == expected:
        return None
    return (
        f"Amaranth {version('amaranth')} has changed {part}: verilog/elaborated.py and"
        f" verilog/netlist.py expect {expected!r}, not {found!r}."
    )


@pytest.mark.parametrize("part", PARTS)
def test_amaranth_is_as_the_writer_expects(part: str) -> None:
    assert difference(part) is None


def fails(*_: object) -> None:
    raise TypeError("other arguments are needed")


@pytest.mark.parametrize(
    ("owner", "name", "part"),
    [
        (DomainCollector, "__call__", "amaranth.hdl._xfrm.DomainCollector"),
        (rtlil, "convert_fragment", "RTLIL's wire of a field"),
        (Signal, "decoder", "Signal.decoder of a state machine"),
    ],
)
def test_a_change_of_amaranth_is_named(
    monkeypatch: pytest.MonkeyPatch, owner: object, name: str, part: str
) -> None:
    monkeypatch.setattr(owner, name, fails)
    sentence = difference(part)
    assert sentence
    assert sentence.startswith(f"Amaranth {version('amaranth')} has changed {part}: verilog/")


def test_a_signal_has_the_name_of_its_variable_on_every_python() -> None:
    """From Python 3.13 on, one instruction stores both variables."""
    three, word = 3, Signal(8)
    assert (word.name, len(word)) == ("word", three + 5)


PRIVATE = re.compile(
    r"^\s*from amaranth([\w.]*\._| .*\b_|\.hdl import (\([^)]*|[^(\n]*)\bFragment\b)", re.MULTILINE
)
FOLDERS = ("bench", "boards", "examples", "ip", "rtl", "sim", "testbench", "verilog")


def test_one_file_alone_uses_them() -> None:
    """No other file imports Amaranth's private modules or its fragments."""
    files = [path for folder in FOLDERS for path in (ROOT / folder).rglob("*.py")]
    users = {path.name for path in files if PRIVATE.search(path.read_text())}
    assert users == {"elaborated.py"}
