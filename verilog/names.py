"""Names that Verilog allows, each used once in a module."""

import re
from collections.abc import Mapping

from .fields import Fields
from .netlist import Netlist, Part
from .reserved import RESERVED

VALUES = {
    "$add": "sum", "$sub": "difference", "$mul": "product", "$and": "both", "$or": "either",
    "$xor": "odd", "$not": "inverted", "$neg": "negative", "$eq": "equal", "$ne": "unequal",
    "$lt": "less", "$le": "at_most", "$gt": "more", "$ge": "at_least", "$mux": "chosen",
    "$reduce_or": "any", "$reduce_bool": "any", "$reduce_and": "all", "$reduce_xor": "parity",
    "$shift": "indexed", "$shl": "shifted", "$shr": "shifted", "$dff": "register",
}  # fmt: skip
"""Words for values without a name, by the operator whose result they are."""


class Names:
    """The names of a module's wires, instances and states in Verilog.

    ``leads_to`` has the destination of each wire without a name.
    """

    def __init__(self, netlist: Netlist, fields: Fields, leads_to: Mapping[str, str]) -> None:
        self._taken: dict[str, int] = {}
        self._fields, self._leads_to = fields, leads_to
        self._states: dict[tuple[str, str], str] = {}
        self._made_by = {
            part.wire: VALUES[cell.kind]
            for cell in netlist.cells
            if cell.kind in VALUES
            for part in (*cell.ports.get("Y", ()), *cell.ports.get("Q", ()))
            if isinstance(part, Part)
        }
        self._made_by |= {
            part.wire: "indexed"
            for cell in netlist.cells
            if cell.kind == "$shift"
            for part in cell.ports["A"]
            if isinstance(part, Part) and part.wire not in self._made_by
        }
        wires = netlist.wires.values()
        self._wires = {each.name: self._new(each.name) for each in wires if each.direction}
        self._instances = {
            cell.name: self._new(cell.name)
            for cell in netlist.cells
            if not cell.kind.startswith("$")
        }
        at_instances = self._at_instances(netlist)
        for wire in wires:
            words = at_instances.get(wire.name, wire.name if wire.is_named else None)
            if words and not wire.direction and wire.name not in fields.bits:
                self._wires[wire.name] = self._new(words)

    def __getitem__(self, wire: str) -> str:
        if wire not in self._wires:
            self._wires[wire] = self._new(self._words(wire))
        return self._wires[wire]

    def _words(self, wire: str) -> str:
        """Return a field's name, or an unnamed wire's destination and operator as a name."""
        if wire in self._fields.bits:
            return self._fields.name(wire)
        words = self._leads_to.get(wire, ""), self._made_by.get(wire, "value")
        return "_".join(filter(None, words))

    def state(self, name: str, value: str) -> str:
        """Return the Verilog name of a state; equal names with equal values share it."""
        if (name, value) not in self._states:
            self._states[name, value] = self._new(name)
        return self._states[name, value]

    def instance(self, name: str) -> str:
        """Return the Verilog name of an instance."""
        return self._instances[name]

    def _new(self, name: str) -> str:
        return self.free(self.legal(name))

    def _at_instances(self, netlist: Netlist) -> dict[str, str]:
        """Return names for wires at an instance's port that have the port's name or none."""
        found: dict[str, str] = {}
        for cell in netlist.cells:
            if cell.kind.startswith("$"):
                continue
            for port, bits in cell.ports.items():
                match bits:
                    case (Part(name, 0, width),) if netlist.wires[name].width == width:
                        if name.partition("$")[0] in (port, ""):
                            found.setdefault(name, f"{self.instance(cell.name)}__{port}")
        return found

    @staticmethod
    def legal(name: str) -> str:
        """Return a name without the characters that Verilog would have to escape."""
        name = re.sub(r"\W", "_", name.partition("$")[0])
        return f"{name}_" if name in RESERVED else name

    def free(self, name: str) -> str:
        """Return an unused name, and reserve it."""
        found = name
        while found in self._taken:
            self._taken[name] += 1
            found = f"{name}_{self._taken[name]}"
        self._taken[found] = 1
        return found
