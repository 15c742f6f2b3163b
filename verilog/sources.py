"""Sources of a netlist's values: the cells and processes that drive its wires."""

from collections import Counter

from .choices import Chosen, choices
from .netlist import (
    Assign,
    Bits,
    Body,
    Cell,
    Netlist,
    Part,
    Wire,
    assigned_wires,
    width_of,
)
from .operators import operand_to_index


class Sources:
    """The cells and processes that drive the wires of a netlist.

    Attributes
    ----------
    of_wire
        For each wire without a name that one operator or choice drives as a whole, that source.
    chosen
        All other choices, each with its target.
    clocked
        Processes that drive nothing but one register, by the wire between them.

    """

    def __init__(self, netlist: Netlist) -> None:
        self._netlist = netlist
        self.of_wire: dict[str, Cell | Chosen] = {}
        self.chosen: list[tuple[Bits, Chosen]] = []
        self.clocked = _clocked(netlist)
        for cell in netlist.cells:
            if "Y" in cell.ports and cell.kind.startswith("$"):
                self._add(cell.ports["Y"], cell)
        for body in netlist.processes:
            if not assigned_wires(body) <= self.clocked.keys():
                for target, chosen in choices(body):
                    if not self._add(target, chosen):
                        self.chosen.append((target, chosen))

    def _add(self, target: Bits, source: Cell | Chosen) -> bool:
        match target:
            case (Part(name, 0, width),) if (
                not (wire := self._netlist.wires[name]).is_named and wire.width == width
            ):
                self.of_wire[name] = source
                return True
        return False


def _clocked(netlist: Netlist) -> dict[str, Body]:
    """Return the processes that drive nothing but one register, by the wire between them."""
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
        wires = assigned_wires(body)
        if len(wires) == 1:
            by_wire[wires.pop()] = body
    for cell in netlist.cells:
        for port, bits in cell.ports.items():
            if not (cell.kind == "$dff" and port == "Q"):
                count(bits)
    clocked: dict[str, Body] = {}
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
                clocked[name] = by_wire[name]
    return clocked


def name_indexed(netlist: Netlist) -> None:
    """Make a wire of each value that has a variable index, as wide as the index can reach."""
    for number, cell in enumerate(netlist.cells):
        if cell.kind != "$shift":
            continue
        value = operand_to_index(cell)
        match value:
            case (Part(name, 0, width),) if (
                netlist.wires[name].is_named and netlist.wires[name].width == width
            ):
                continue
        name = f"$indexed{number}"
        netlist.wires[name] = Wire(name, width_of(value))
        whole = (Part(name, 0, width_of(value)),)
        netlist.assigns.append(Assign(whole, value))
        cell.ports["A"] = whole
