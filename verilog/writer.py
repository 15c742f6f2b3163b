"""The writer of one module's Verilog."""

import re
from collections.abc import Iterator, Mapping

from .choices import Test
from .destinations import destinations
from .fields import Fields
from .lines import wrapped
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
    Switch,
    Wire,
    cut,
    targets,
    width_of,
)
from .operators import operator_text
from .simplify import simplify
from .sources import Sources, name_indexed
from .values import Values, constant

_FORMAT = re.compile(r"\{\d+:[^}]*\}")


class ModuleText:
    """The Verilog of one module.

    Parameters
    ----------
    name
        The module's name.
    netlist
        The module's netlist, which the writer simplifies in place.
    outputs
        Names of the output ports by kind of instance.
    dropped
        By kind of instance, the ports that its written module does not have.
    kinds
        Names of modules by kind of instance.

    Attributes
    ----------
    text
        The module's Verilog.
    missing
        ``clk`` or ``rst``, if the module does not use it: the written module has no such port.

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
        self._fields = Fields(netlist)
        simplify(netlist)
        name_indexed(netlist)
        remove_dead(netlist, outputs)
        self._netlist, self._outputs, self._kinds = netlist, outputs, kinds
        self._sources = Sources(netlist)
        leads_to = destinations(netlist, self._fields)
        self._inline: frozenset[str] = frozenset()
        # The first pass only counts uses; the second writes the text.
        self._begin(Names(netlist, self._fields, leads_to))
        self._body()
        counted = self._values
        self._inline = frozenset(self._sources.of_wire.keys() - counted.cut_up)
        self._begin(Names(netlist, self._fields, leads_to), counted)
        body = self._body()
        self.missing = frozenset(
            wire.name
            for wire in netlist.wires.values()
            if wire.name in ("clk", "rst") and wire.direction and wire.name not in self._values.read
        )
        declarations = [*self._declarations()]
        head = [*self._ports(name), *self._states(), *declarations]
        self.text = "\n".join([*head, *body, ""])

    def _begin(self, names: Names, counted: Values | None = None) -> None:
        """Begin a pass; its values replace wires by the text of their sources."""
        self._names = names
        sources = {wire: self._sources.of_wire[wire] for wire in self._inline}
        uses = counted.uses if counted else {}
        self._values = Values(self._netlist, names, self._fields, sources, uses)

    def _body(self) -> list[str]:
        """Return the lines after the declarations, with ``endmodule``."""
        instances = [line for cell in self._netlist.cells for line in self._instance(cell)]
        assigns = [*self._assigns()]
        clocked = [*self._clocked()]
        named = [(self._whole(wire), text) for wire, text in self._values.named]
        lines = [
            line
            for target, text in (*named, *assigns)
            for line in wrapped(f"assign {self._values.target(target)} = {text};", 2)
        ]
        return [*instances, *lines, *clocked, *self._unused(), "endmodule"]

    def _whole(self, wire: str) -> Bits:
        return (Part(wire, 0, self._netlist.wires[wire].width),)

    def _assigns(self) -> Iterator[tuple[Bits, str]]:
        """Yield the target and the written value of each assignment outside processes."""
        for assign in self._netlist.assigns:
            yield assign.target, self._values.text(assign.value, assign.target)
        for target, chosen in self._sources.chosen:
            yield target, self._values.chosen(chosen, target)
        for cell in self._netlist.cells:
            if "Y" not in cell.ports or not cell.kind.startswith("$"):
                continue
            (first, *_) = cell.ports["Y"]
            if isinstance(first, Part) and first.wire not in self._sources.of_wire:
                yield cell.ports["Y"], operator_text(cell, self._values.text)
        for wire, source in self._sources.of_wire.items():
            if wire not in self._inline:
                yield self._whole(wire), self._values.source(source)

    def _instance(self, cell: Cell) -> Iterator[str]:
        if cell.kind.startswith("$"):
            return
        yield f"  {self._kinds.get(cell.kind, cell.kind)} {self._names.instance(cell.name)} ("
        driven = outputs_of(cell, self._outputs)
        lines = []
        for port, bits in cell.ports.items():
            write = self._values.target if port in driven else self._values.text
            lines += wrapped(f".{self._names.legal(port)}({write(bits)}),", 6)
        lines[-1] = lines[-1].removesuffix(",")
        yield from lines
        yield "  );"

    # Registers, prints and checks

    def _clocked(self) -> Iterator[str]:
        """Write what happens at a clock edge, one ``always`` block for each edge."""
        edges: dict[str, tuple[list[str], dict[str, list[str]]]] = {}
        for cell in self._netlist.cells:
            if cell.kind not in ("$dff", "$print", "$check"):
                continue
            rises = cell.parameters.get("CLK_POLARITY", "1") == "1"
            clock = self._values.text(cell.ports["CLK" if cell.kind == "$dff" else "TRG"])
            edge = f"{'posedge' if rises else 'negedge'} {clock}"
            lines, resets = edges.setdefault(edge, ([], {}))
            if cell.kind == "$dff":
                lines += self._register(cell, resets)
            else:
                lines += self._print(cell) if cell.kind == "$print" else self._check(cell)
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
            arguments.append(self._values.text(cut(cell.ports["ARGS"], low, width)))
            low += width
        words = ", ".join((_FORMAT.sub("%0d", text), *arguments))
        yield from wrapped(f"if ({self._values.text(cell.ports['EN'])}) $write({words});", 4)

    def _check(self, cell: Cell) -> Iterator[str]:
        """Write an assertion in every cycle, whose message is its label."""
        label, kind = (cell.parameters[name].strip('"') for name in ("FORMAT", "FLAVOR"))
        yield from wrapped(f"{label}: {kind} ({self._values.text(cell.ports['A'])});", 4)

    def _register(self, cell: Cell, resets: dict[str, list[str]]) -> Iterator[str]:
        """Write a register's next value; add its reset value to the lines of its reset."""
        target, value = cell.ports["Q"], cell.ports["D"]
        wire = value[0].wire if isinstance(value[0], Part) else ""
        body = self._sources.clocked.get(wire)
        if body is None:
            yield from wrapped(self._takes(target, value), 4)
            return
        *before, last = body
        if isinstance(last, Switch) and (reset := _reset(last, value)) is not None:
            body = before
            lines = resets.setdefault(self._values.text(last.subject), [])
            lines += wrapped(self._takes(target, reset.value), 6)
        yield from self._statements(body, target, 4)

    def _takes(self, target: Bits, value: Bits) -> str:
        """Write the statement by which a register takes a value."""
        return f"{self._values.target(target)} <= {self._values.text(value, target)};"

    def _statements(
        self, body: Body, target: Bits, indent: int, *, assigned: bool = False
    ) -> Iterator[str]:
        """Write a process whose target is a register.

        ``assigned`` is true if a statement before the process may have assigned the register.
        """
        for statement in body:
            if isinstance(statement, Switch):
                yield from self._branches(statement, target, indent, assigned=assigned)
                assigned = assigned or any(True for _ in targets([statement]))
                continue
            if not statement.target:
                # A field without bits, such as the window of a network without streams.
                continue
            (part,) = statement.target
            assert isinstance(part, Part)
            here = cut(target, part.low, part.width)
            # A register keeps its value without a statement, if none before has assigned it.
            if here != statement.value or assigned:
                yield from wrapped(self._takes(here, statement.value), indent)
                assigned = True

    def _branches(
        self, switch: Switch, target: Bits, indent: int, *, assigned: bool
    ) -> Iterator[str]:
        cases = [*switch.cases]
        while cases and next(targets(cases[-1][1]), None) is None:
            cases.pop()
        begin = "if"
        for patterns, inner in cases:
            if patterns:
                test = self._values.test(Test(switch.subject, tuple(patterns)))
                yield from wrapped(f"{begin} ({test}) begin", indent)
            else:
                yield f"{' ' * indent}end else begin"
            yield from self._statements(inner, target, indent + 2, assigned=assigned)
            begin = "end else if"
        if cases:
            yield f"{' ' * indent}end"

    def _unused(self) -> Iterator[str]:
        """Declare unread values as unused, so that linters accept them."""
        parts = [part for wire in self._netlist.wires.values() for part in self._unread(wire)]
        if parts:
            # Linters accept an unused wire whose name contains "unused".
            words = ", ".join(self._values.target_part(part) for part in parts)
            yield from wrapped(f"wire {self._names.free('unused')} = &{{1'b0, {words}}};", 2)

    def _unread(self, wire: Wire) -> Iterator[Part]:
        """Yield the parts of a wire that nothing reads."""
        read = self._values.read.get(wire.name, 0)
        declared = wire.direction == "input" or wire.name in self._values.mentioned
        if not declared or wire.direction == "output":
            return
        if wire.name in ("clk", "rst") and not read:
            return
        bits = "".join(reversed(f"{read:0{wire.width}b}"))
        for found in re.finditer("0+", bits):
            yield Part(wire.name, found.start(), len(found[0]))

    # Declarations

    def _ports(self, name: str) -> Iterator[str]:
        registers = self._registers()
        yield f"module {name} ("
        wires = [
            wire
            for wire in self._netlist.wires.values()
            if wire.direction and wire.name not in self.missing
        ]
        yield ",\n".join(
            f"    {wire.direction} {'reg' if wire.name in registers else 'wire'} {_range(wire)}"
            f"{self._names[wire.name]}"
            for wire in wires
        )
        yield ");"

    def _states(self) -> Iterator[str]:
        """Declare the states of state machines by name."""
        declared: dict[str, str] = {}
        for wire in self._netlist.wires.values():
            states = self._values.states.get(wire.name, {})
            for value, name in sorted(states.items(), key=lambda each: each[0].bits):
                declared[name] = f"  localparam {_range(wire)}{name} = {constant(value)};"
        yield from declared.values()

    def _declarations(self) -> Iterator[str]:
        registers = self._registers()
        for wire in self._netlist.wires.values():
            if wire.name not in self._values.mentioned or wire.name in self._fields.bits:
                continue
            if not wire.direction:
                kind = "reg" if wire.name in registers else "wire"
                yield f"  {kind} {_range(wire)}{self._names[wire.name]};"
            if wire.name in registers:
                yield from self._initial(wire)
            yield from self._field_wires(wire)

    def _field_wires(self, record: Wire) -> Iterator[str]:
        """Declare the wires of a record's fields that are read."""
        for name in self._fields.of_record(record.name):
            if name in self._values.mentioned:
                bits = self._values.target_part(self._fields.bits[name])
                yield f"  wire {_range(self._netlist.wires[name])}{self._names[name]} = {bits};"

    def _initial(self, wire: Wire) -> Iterator[str]:
        if wire.initial is not None:
            whole = self._whole(wire.name)
            value = self._values.text((Constant(wire.initial),), whole)
            yield f"  initial {self._names[wire.name]} = {value};"

    def _registers(self) -> set[str]:
        return {
            part.wire
            for cell in self._netlist.cells
            if cell.kind == "$dff"
            for part in cell.ports["Q"]
            if isinstance(part, Part)
        }


def _reset(last: Switch, value: Bits) -> Assign | None:
    """Return the assignment in a process's last statement if it resets all bits, otherwise None."""
    match last:
        case Switch((Part(wire, _, 1),), [(["1"], [Assign(target, _) as assign])]) if (
            target == value and wire.endswith("rst") and width_of(last.subject) == 1
        ):
            return assign
    return None


def _range(wire: Wire) -> str:
    return f"[{wire.width - 1}:0] " if wire.width > 1 else ""
