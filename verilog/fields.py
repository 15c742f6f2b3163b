"""Fields of records: Amaranth makes a wire of each, by which a module reads a record's bits."""

import re

from .netlist import Assign, Netlist, Part

_PATH = re.compile(r"([^.\[]+)([.\[].*)")


class Fields:
    """The fields of a module's records: the wire ``row.left`` is a field of the record ``row``.

    Attributes
    ----------
    bits
        For each field's wire, the bits of its record.

    """

    def __init__(self, netlist: Netlist) -> None:
        self.bits: dict[str, Part] = {}
        self._of_record: dict[str, list[str]] = {}
        for assign in netlist.assigns:
            match assign:
                case Assign((Part(wire, 0, _),), (Part(record, _, width) as bits,)) if (
                    (path := _PATH.fullmatch(wire))
                    and path[1] == record
                    and width < netlist.wires[record].width
                ):
                    self.bits[wire] = bits
                    self._of_record.setdefault(record, []).append(wire)

    def of_record(self, record: str) -> list[str]:
        """Return the wires of a record's fields."""
        return self._of_record.get(record, [])

    @staticmethod
    def name(wire: str) -> str:
        """Return the name of a field's wire in Verilog: ``row__left`` for ``row.left``."""
        path = _PATH.fullmatch(wire)
        assert path
        record, _, _ = path[1].partition("$")
        return "__".join([record, *re.findall(r"\w+", path[2])])

    def within(self, bits: Part) -> Part | None:
        """Return bits of a record as bits of its smallest field that contains them, or None."""
        found = [
            (field.width, wire)
            for wire in self.of_record(bits.wire)
            if (field := self.bits[wire]).low <= bits.low
            and bits.low + bits.width <= field.low + field.width
        ]
        if not found:
            return None
        _, wire = min(found, key=lambda each: each[0])
        return Part(wire, bits.low - self.bits[wire].low, bits.width)
