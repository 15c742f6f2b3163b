"""Removal of a netlist's dead bits: those that no output, instance, print or check depends on."""

from collections.abc import Collection, Mapping

from .netlist import Assign, Bits, Body, Cell, Netlist, Part, assigned_wires, cut, targets, width_of

NARROWED = ("$add", "$sub", "$mul", "$neg", "$and", "$or", "$xor", "$not", "$mux")
"""Operators whose low result bits depend only on low operand bits."""

Outputs = Mapping[str, Collection[str]]
"""Names of output ports, by kind of instance."""

CELL_OUTPUTS: dict[str, tuple[str, ...]] = {"$dff": ("Q",), "$print": (), "$check": ()}


def outputs_of(cell: Cell, outputs: Outputs) -> Collection[str]:
    """Return the names of the ports that a cell drives."""
    if cell.kind.startswith("$"):
        return CELL_OUTPUTS.get(cell.kind, ("Y",))
    return outputs[cell.kind]


class Liveness:
    """The live bits of a netlist's wires: those that a root depends on.

    Roots are outputs, instances, prints and checks. ``read`` has a mask of the live bits by wire.
    """

    def __init__(self, netlist: Netlist, outputs: Outputs) -> None:
        self._netlist = netlist
        self._outputs = outputs
        self.read: dict[str, int] = {}
        self._drivers: dict[str, list[Assign | Cell | Body]] = {}
        self._waiting: list[str] = []
        for assign in netlist.assigns:
            self._add_driver(assign.target, assign)
        for cell in netlist.cells:
            for port in outputs_of(cell, outputs):
                self._add_driver(cell.ports.get(port, ()), cell)
        for body in netlist.processes:
            for wire in assigned_wires(body):
                self._drivers.setdefault(wire, []).append(body)
        self._run()

    def _add_driver(self, target: Bits, driver: Assign | Cell) -> None:
        for part in target:
            if isinstance(part, Part):
                self._drivers.setdefault(part.wire, []).append(driver)

    def _run(self) -> None:
        for cell in self._netlist.cells:
            if _is_root(cell):
                driven = outputs_of(cell, self._outputs)
                for port, bits in cell.ports.items():
                    if port not in driven:
                        self._see(bits)
        for wire in self._netlist.wires.values():
            if wire.direction == "output":
                self._see((Part(wire.name, 0, wire.width),))
        while self._waiting:
            for driver in self._drivers.get(self._waiting.pop(), ()):
                if isinstance(driver, Assign):
                    self._see(driver.value)
                elif isinstance(driver, Cell):
                    self._see_inputs(driver)
                else:
                    self._see_body(driver)

    def _see(self, bits: Bits, mask: int = -1) -> None:
        """Mark those bits of a value as live for which ``mask`` has a 1."""
        for part in reversed(bits):
            here = mask & (1 << part.width) - 1
            mask >>= part.width
            if isinstance(part, Part) and here:
                before = self.read.get(part.wire, 0)
                after = before | here << part.low
                if after != before or part.wire not in self.read:
                    self.read[part.wire] = after
                    self._waiting.append(part.wire)

    def mask(self, bits: Bits) -> int:
        """Return a mask with a 1 for each live bit of a value."""
        found = 0
        for part in bits:
            assert isinstance(part, Part)
            mask = self.read.get(part.wire, 0) >> part.low & (1 << part.width) - 1
            found = found << part.width | mask
        return found

    def _see_inputs(self, cell: Cell) -> None:
        if cell.kind == "$dff":
            if self.mask(cell.ports["Q"]):
                self._see(cell.ports["D"])
                self._see(cell.ports["CLK"])
            return
        if not cell.kind.startswith("$"):
            return
        mask = self.mask(cell.ports["Y"])
        if not mask:
            return
        for port, bits in cell.ports.items():
            if port == "Y":
                continue
            if port == "S" or cell.kind not in NARROWED:
                self._see(bits)
            else:
                self._see(bits, (1 << mask.bit_length()) - 1)

    def _see_body(self, body: Body) -> bool:
        """Mark the inputs of a process's live assignments; return whether one is live."""
        needed = False
        for statement in body:
            if isinstance(statement, Assign):
                if self.mask(statement.target):
                    self._see(statement.value)
                    needed = True
                continue
            # A list, not a generator: every branch marks its inputs.
            branches = [self._see_body(inner) for _, inner in statement.cases]
            if any(branches):
                self._see(statement.subject)
                needed = True
        return needed


def remove_dead(netlist: Netlist, outputs: Outputs) -> None:
    """Remove cells and processes that drive no live bit, and bits above a value's last live bit."""
    live = Liveness(netlist, outputs)
    netlist.assigns = [each for each in netlist.assigns if live.mask(each.target)]
    netlist.cells = [each for each in netlist.cells if _stays(each, live)]
    netlist.processes = [body for body in netlist.processes if any(map(live.mask, targets(body)))]
    for cell in netlist.cells:
        _narrow(cell, netlist, live)


def _is_root(cell: Cell) -> bool:
    return cell.kind in ("$print", "$check") or not cell.kind.startswith("$")


def _stays(cell: Cell, live: Liveness) -> bool:
    if _is_root(cell):
        return True
    return bool(live.mask(cell.ports["Q" if cell.kind == "$dff" else "Y"]))


def _narrow(cell: Cell, netlist: Netlist, live: Liveness) -> None:
    """Narrow an operator to the last live bit of its result."""
    if cell.kind not in NARROWED:
        return
    (target, *others) = cell.ports["Y"]
    assert isinstance(target, Part)
    wire = netlist.wires[target.wire]
    width = live.read[target.wire].bit_length()
    if others or wire.is_named or width == wire.width:
        return
    wire.width = width
    cell.ports["Y"] = (Part(wire.name, 0, width),)
    for port in "AB":
        if width_of(cell.ports.get(port, ())) > width:
            cell.ports[port] = cut(cell.ports[port], 0, width)
