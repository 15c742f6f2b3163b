"""A module as Verilog."""

from __future__ import annotations

import re
import textwrap
from collections import Counter
from collections.abc import Iterator, Mapping

from .choices import Choice, Chosen, Test, choices
from .live import Outputs, outputs_of, remove_dead
from .names import Names
from .netlist import (
    Assign,
    Bits,
    Body,
    Cell,
    Constant,
    Netlist,
    Part,
    Wire,
    Switch,
    cut,
    targets,
    width_of,
)
from .operators import beside, operand_to_index, operator_text
from .simplify import simplify

LINE = 100
LONGEST, LONGEST_TWICE = 90, 26
"""An expression of more characters, that is used once or more often, has a name of its own."""

_FORMAT = re.compile(r"\{\d+:[^}]*\}")


class ModuleText:
    """The Verilog of one module.

    Parameters
    ----------
    name
        Of the module.
    netlist
        What is in it.
    outputs
        For each kind of instance the ports that go out.
    dropped
        For each kind of instance ports that it does not have after all.
    kinds
        Names of the modules by kind of instance.

    Attributes
    ----------
    text
        The module.
    missing
        Inputs that have been left out because nothing looks at them: a reset.
    """

    def __init__(
        self,
        name: str,
        netlist: Netlist,
        outputs: Outputs,
        dropped: Mapping[str, frozenset[str]],
        kinds: Mapping[str, str],
    ) -> None:
        for cell in netlist.cells:
            for port in dropped.get(cell.kind, ()):
                cell.ports.pop(port, None)
        simplify(netlist)
        _index_names(netlist)
        remove_dead(netlist, outputs)
        self._name, self._netlist, self._outputs = name, netlist, outputs
        self._kinds = kinds
        self._names = Names(netlist)
        self._fused = _fused(netlist)
        self._sources = self._find_sources()
        self._inline: frozenset[str] = frozenset()
        body = self._body()
        self._once = self._uses
        self._names = Names(netlist)
        self._inline = frozenset(
            wire for wire, source in self._sources.items() if wire not in self._cut_up
        )
        body = self._body()
        self.missing = frozenset(
            wire.name
            for wire in netlist.wires.values()
            if wire.name in ("clk", "rst") and wire.direction and wire.name not in self._read
        )
        self.text = "\n".join([*self._ports(), *self._declarations(), *body, ""])

    def _find_sources(self) -> dict[str, Cell | Chosen]:
        """Wires without a name that have one value, as a whole."""
        sources: dict[str, Cell | Chosen] = {}
        self._choices: list[tuple[Bits, Chosen]] = []
        for cell in self._netlist.cells:
            if "Y" in cell.ports and cell.kind.startswith("$"):
                self._add_source(sources, cell.ports["Y"], cell)
        for body in self._netlist.processes:
            if id(body) in self._fused:
                continue
            for target, chosen in choices(body):
                if not self._add_source(sources, target, chosen):
                    self._choices.append((target, chosen))
        return sources

    def _add_source(
        self, sources: dict[str, Cell | Chosen], target: Bits, source: Cell | Chosen
    ) -> bool:
        match target:
            case (Part(name, 0, width),) if (
                not (wire := self._netlist.wires[name]).is_named and wire.width == width
            ):
                sources[name] = source
                return True
        return False

    # Text of values

    def _value(self, bits: Bits) -> str:
        """A value that may stand by itself, or between commas."""
        if len(bits) == 1:
            return self._part(bits[0])
        return self._braces(bits)

    def _operand(self, bits: Bits) -> str:
        """A value that may stand beside an operator."""
        return beside(self._value(bits))

    def _braces(self, bits: Bits) -> str:
        texts: list[tuple[str, int]] = []
        for part in bits:
            text = self._part(part)
            if texts and texts[-1][0] == text and isinstance(part, Part) and part.width == 1:
                texts[-1] = text, texts[-1][1] + 1
            else:
                texts.append((text, 1))
        parts = [text if times == 1 else f"{{{times}{{{text}}}}}" for text, times in texts]
        return f"{{{', '.join(parts)}}}" if len(parts) > 1 else parts[0]

    def _part(self, part: Part | Constant) -> str:
        if isinstance(part, Constant):
            return _constant(part)
        wire = self._netlist.wires[part.wire]
        whole = part.width == wire.width
        self._uses[part.wire] += 1
        if not whole:
            self._cut_up.add(part.wire)
        if part.wire in self._inline:
            if part.wire not in self._known:
                self._known[part.wire] = self._short_text(part.wire)
            text = self._known[part.wire]
            if text is not None:
                return text
        mask = (1 << part.width) - 1 << part.low
        self._read[part.wire] = self._read.get(part.wire, 0) | mask
        return self._target_part(part)

    def _short_text(self, wire: str) -> str | None:
        """What is written in place of a wire; None if that is too much to be written there."""
        text = self._source_text(self._sources[wire])
        if len(text) <= (LONGEST if self._once[wire] == 1 else LONGEST_TWICE):
            return text
        self._assigned.append((wire, text))
        return None

    def _target(self, bits: Bits) -> str:
        """A value that is assigned to."""
        texts = [self._target_part(part) for part in bits if isinstance(part, Part)]
        return texts[0] if len(texts) == 1 else f"{{{', '.join(texts)}}}"

    def _target_part(self, part: Part) -> str:
        self._mentioned.add(part.wire)
        name = self._names[part.wire]
        if part.width == self._netlist.wires[part.wire].width:
            return name
        if part.width == 1:
            return f"{name}[{part.low}]"
        return f"{name}[{part.low + part.width - 1}:{part.low}]"

    def _source_text(self, source: Cell | Chosen) -> str:
        if isinstance(source, Cell):
            return operator_text(source, self._value)
        return self._chosen(source)

    def _chosen(self, chosen: Chosen) -> str:
        if not isinstance(chosen, Choice):
            return self._value(chosen)
        match (chosen.then, chosen.otherwise):
            case ((Constant("1"),), (Constant("0"),)):
                return self._test(chosen.test)
            case ((Constant("0"),), (Constant("1"),)):
                return f"!{beside(self._test(chosen.test), '!')}"
        then = self._chosen(chosen.then)
        if isinstance(chosen.then, Choice):
            then = f"({then})"
        test = beside(self._test(chosen.test))
        return f"{test} ? {then} : {self._chosen(chosen.otherwise)}"

    def _test(self, test: Test) -> str:
        texts = [self._fits(test.subject, pattern) for pattern in test.patterns]
        if len(texts) == 1:
            return texts[0]
        return " | ".join(map(beside, texts))

    def _fits(self, subject: Bits, pattern: str) -> str:
        """Whether a value fits a pattern, in which - stands for any bit."""
        texts = []
        for found in re.finditer(r"[01]+", pattern):
            bits = cut(subject, len(pattern) - found.end(), len(found[0]))
            if found[0] in ("0", "1"):
                text = self._operand(bits)
                texts.append(
                    text if found[0] == "1" else f"!{text}" if text[0] != "!" else f"!({text})"
                )
            else:
                texts.append(f"{self._operand(bits)} == {_constant(Constant(found[0]))}")
        return " & ".join(map(beside, texts)) if len(texts) > 1 else texts[0]

    # Text of statements

    def _body(self) -> list[str]:
        """All between the declarations and the end."""
        self._uses: Counter[str] = Counter()
        self._cut_up: set[str] = set()
        self._read: dict[str, int] = {}
        self._mentioned: set[str] = set()
        self._assigned: list[tuple[str, str]] = []
        self._known: dict[str, str | None] = {}
        instances = [line for cell in self._netlist.cells for line in self._instance(cell)]
        assigns = [
            *((assign.target, self._value(assign.value)) for assign in self._netlist.assigns),
            *((target, self._chosen(chosen)) for target, chosen in self._choices),
        ]
        for cell in self._netlist.cells:
            if "Y" in cell.ports and cell.kind.startswith("$"):
                if not isinstance(cell.ports["Y"][0], Part):
                    raise ValueError(f"{self._name}: an operator's value goes nowhere")
                if cell.ports["Y"][0].wire not in self._sources:
                    text = operator_text(cell, self._value)
                    assigns.append((cell.ports["Y"], text))
        for wire, source in self._sources.items():
            if wire not in self._inline:
                width = self._netlist.wires[wire].width
                assigns.append(((Part(wire, 0, width),), self._source_text(source)))
        clocked = list(self._clocked())
        named = [
            ((Part(wire, 0, self._netlist.wires[wire].width),), text)
            for wire, text in self._assigned
        ]
        lines = [
            line
            for target, text in (*named, *assigns)
            for line in _wrapped(f"assign {self._target(target)} = {text};", 2)
        ]
        unused = list(self._unused())
        return [*instances, *lines, *clocked, *unused, "endmodule"]

    def _instance(self, cell: Cell) -> Iterator[str]:
        if cell.kind.startswith("$"):
            return
        yield f"  {self._kinds.get(cell.kind, cell.kind)} {self._names.instance(cell.name)} ("
        driven = outputs_of(cell, self._outputs)
        lines = []
        for port, bits in cell.ports.items():
            write = self._target if port in driven else self._value
            lines += _wrapped(f".{self._names.legal(port)}({write(bits)}),", 6)
        lines[-1] = lines[-1].removesuffix(",")
        yield from lines
        yield "  );"

    def _clocked(self) -> Iterator[str]:
        """Registers, and what is printed, by the edge of the clock."""
        edges: dict[str, tuple[list[str], dict[str, list[str]]]] = {}
        for cell in self._netlist.cells:
            if cell.kind not in ("$dff", "$print"):
                continue
            positive = cell.parameters.get("CLK_POLARITY", "1") == "1"
            clock = self._value(cell.ports["CLK" if cell.kind == "$dff" else "TRG"])
            edge = f"{'posedge' if positive else 'negedge'} {clock}"
            lines, resets = edges.setdefault(edge, ([], {}))
            if cell.kind == "$print":
                lines += self._print(cell)
            else:
                lines += self._register(cell, resets)
        for edge, (lines, resets) in edges.items():
            yield f"  always @({edge}) begin"
            yield from lines
            for reset, cleared in resets.items():
                yield f"    if ({reset}) begin"
                yield from cleared
                yield "    end"
            yield "  end"

    def _print(self, cell: Cell) -> Iterator[str]:
        text = cell.parameters["FORMAT"]
        low, arguments = 0, []
        for found in _FORMAT.finditer(text):
            width = int(found[0][1:].partition(":")[0])
            arguments.append(self._value(cut(cell.ports["ARGS"], low, width)))
            low += width
        words = ", ".join((_FORMAT.sub("%0d", text), *arguments))
        yield from _wrapped(f"if ({self._value(cell.ports['EN'])}) $write({words});", 4)

    def _register(self, cell: Cell, resets: dict[str, list[str]]) -> Iterator[str]:
        target, value = cell.ports["Q"], cell.ports["D"]
        body = self._fused.get(next((p.wire for p in value if isinstance(p, Part)), ""))
        if body is None:
            yield from _wrapped(f"{self._target(target)} <= {self._value(value)};", 4)
            return
        *before, last = body
        reset = _reset(last, value)
        if reset is not None:
            body = before
            text = f"{self._target(target)} <= {self._value(reset.value)};"
            assert not isinstance(last, Assign)
            resets.setdefault(self._value(last.subject), []).extend(_wrapped(text, 6))
        yield from self._statements(body, target, 4)

    def _statements(self, body: Body, target: Bits, indent: int) -> Iterator[str]:
        """A process whose value goes to a register."""
        for statement in body:
            if isinstance(statement, Assign):
                (part,) = statement.target
                assert isinstance(part, Part)
                here = cut(target, part.low, part.width)
                # What stays need not be said.
                if here != statement.value:
                    text = f"{self._target(here)} <= {self._value(statement.value)};"
                    yield from _wrapped(text, indent)
                continue
            words = "if"
            cases = list(statement.cases)
            while cases and not any(True for _ in targets(cases[-1][1])):
                cases.pop()
            for patterns, inner in cases:
                test = self._test(Test(statement.subject, tuple(patterns))) if patterns else ""
                head = f"{words} ({test}) begin" if patterns else "end else begin"
                yield from _wrapped(head, indent)
                yield from self._statements(inner, target, indent + 2)
                words = "end else if"
            if cases:
                yield " " * indent + "end"

    def _unused(self) -> Iterator[str]:
        """Name what nothing looks at, so that it is known to be meant."""
        parts: list[Part | Constant] = []
        for wire in self._netlist.wires.values():
            declared = wire.direction == "input" or wire.name in self._mentioned
            if not declared or wire.direction == "output" or wire.name in self._inline:
                continue
            if wire.name in ("clk", "rst") and wire.name not in self._read:
                continue
            mask = ~self._read.get(wire.name, 0)
            low = 0
            while low < wire.width:
                end = low
                while end < wire.width and mask >> end & 1:
                    end += 1
                if end > low:
                    parts.append(Part(wire.name, low, end - low))
                low = end + 1
        if parts:
            # A name with this word in it tells linters that it is meant.
            words = ", ".join(self._target_part(part) for part in parts if isinstance(part, Part))
            name = self._names.free("unused")
            yield from _wrapped(f"wire {name} = &{{1'b0, {words}}};", 2)

    # Declarations

    def _ports(self) -> Iterator[str]:
        registers = self._registers()
        yield f"module {self._name} ("
        wires = [
            wire
            for wire in self._netlist.wires.values()
            if wire.direction and wire.name not in self.missing
        ]
        for number, wire in enumerate(wires):
            kind = "reg" if wire.name in registers else "wire"
            comma = "," if number < len(wires) - 1 else ""
            yield f"    {wire.direction} {kind} {_range(wire)}{self._names[wire.name]}{comma}"
        yield ");"
        for wire in wires:
            if wire.name in registers and wire.initial is not None:
                yield f"  initial {self._names[wire.name]} = {_constant(Constant(wire.initial))};"

    def _declarations(self) -> Iterator[str]:
        registers = self._registers()
        for wire in self._netlist.wires.values():
            if wire.direction or wire.name not in self._mentioned:
                continue
            name = self._names[wire.name]
            if wire.name not in registers:
                yield f"  wire {_range(wire)}{name};"
                continue
            yield f"  reg {_range(wire)}{name};"
            if wire.initial is not None:
                yield f"  initial {name} = {_constant(Constant(wire.initial))};"

    def _registers(self) -> set[str]:
        return {
            part.wire
            for cell in self._netlist.cells
            if cell.kind == "$dff"
            for part in cell.ports["Q"]
            if isinstance(part, Part)
        }


def _fused(netlist: Netlist) -> dict[str | int, Body]:
    """Processes whose value goes to one register alone, by the wire between; and their identity."""
    uses: Counter[str] = Counter()

    def count(bits: Bits) -> None:
        uses.update(part.wire for part in bits if isinstance(part, Part))

    def count_in(body: Body) -> None:
        for statement in body:
            if isinstance(statement, Assign):
                count(statement.value)
            else:
                count(statement.subject)
                for _, inner in statement.cases:
                    count_in(inner)

    for body in netlist.processes:
        count_in(body)
    for assign in netlist.assigns:
        count(assign.value)
    by_wire: dict[str, Body] = {}
    for body in netlist.processes:
        wires = {part.wire for bits in targets(body) for part in bits if isinstance(part, Part)}
        if len(wires) == 1:
            by_wire[wires.pop()] = body
    for cell in netlist.cells:
        for port, bits in cell.ports.items():
            if not (cell.kind == "$dff" and port == "Q"):
                count(bits)
    fused: dict[str | int, Body] = {}
    for cell in netlist.cells:
        if cell.kind != "$dff":
            continue
        match cell.ports["D"]:
            case (Part(name, 0, width),) if (
                name in by_wire
                and uses[name] == 1
                and netlist.wires[name].width == width
                and not netlist.wires[name].is_named
            ):
                fused[name] = by_wire[name]
                fused[id(by_wire[name])] = by_wire[name]
    return fused


def _reset(last: object, value: Bits) -> Assign | None:
    """The assignment of a process's last statement, if it is a reset of all bits."""
    match last:
        case Switch(subject, [(["1"], [Assign(target, _) as assign])]) if (
            target == value
            and isinstance(subject[0], Part)
            and subject[0].wire.endswith("rst")
            and width_of(subject) == 1
        ):
            return assign
    return None


def _index_names(netlist: Netlist) -> None:
    """Let what is indexed by a variable be a wire, of as many bits as the index can tell."""
    for number, cell in enumerate(netlist.cells):
        if cell.kind != "$shift":
            continue
        value = operand_to_index(cell)
        match value:
            case (Part(name, 0, width),) if (
                netlist.wires[name].is_named and netlist.wires[name].width == width
            ):
                continue
        name = f"indexed${number}"
        netlist.wires[name] = Wire(name, width_of(value))
        whole = (Part(name, 0, width_of(value)),)
        netlist.assigns.append(Assign(whole, value))
        cell.ports["A"] = whole


def _constant(constant: Constant) -> str:
    if "x" in constant.bits:
        return f"{constant.width}'b{constant.bits}"
    return f"{constant.width}'h{int(constant.bits, 2):x}"


def _range(wire: Wire) -> str:
    return f"[{wire.width - 1}:0] " if wire.width > 1 else ""


def _wrapped(text: str, indent: int) -> list[str]:
    """A statement in lines."""
    return textwrap.wrap(
        text,
        LINE,
        initial_indent=" " * indent,
        subsequent_indent=" " * (indent + 4),
        break_long_words=False,
        break_on_hyphens=False,
    )


def comment(words: str) -> list[str]:
    """A comment in lines."""
    return textwrap.wrap(words, LINE, initial_indent="// ", subsequent_indent="// ")
