"""Values as Verilog: wires, constants, and the operators between them."""

import re
from collections import Counter
from collections.abc import Mapping

from .choices import Choice, Chosen, Test
from .fields import Fields
from .names import Names
from .netlist import Bits, Cell, Constant, Netlist, Part, cut
from .operators import beside, operator_text

LONGEST, LONGEST_TWICE = 90, 26
"""Characters above which an expression gets a name: if it is used once, and if more often."""


class Values:
    """Writer of values, which also records the wires and states that it uses.

    Parameters
    ----------
    netlist, names, fields
        The module's netlist, its names and its records' fields.
    sources
        Wires that the text of their source may replace, with that source.
    once
        How often each of these wires is used.

    Attributes
    ----------
    uses
        How often each wire has been used.
    cut_up
        Wires whose bits have been used in part.
    read
        For each wire, a mask of the bits that have been used.
    mentioned
        Wires that have been used by name, or assigned to.
    named
        Wires of ``sources`` whose text is too long to replace them, with that text.
    states
        For each state machine, the states that have been used, with their names.

    """

    def __init__(
        self,
        netlist: Netlist,
        names: Names,
        fields: Fields,
        sources: Mapping[str, Cell | Chosen],
        once: Mapping[str, int],
    ) -> None:
        self._netlist, self._names, self._fields = netlist, names, fields
        self._of_wire, self._once = sources, once
        self._known: dict[str, str | None] = {}
        self.uses: Counter[str] = Counter()
        self.cut_up: set[str] = set()
        self.read: dict[str, int] = {}
        self.mentioned: set[str] = set()
        self.named: list[tuple[str, str]] = []
        self.states: dict[str, dict[Constant, str]] = {}

    def text(self, bits: Bits, like: Bits = ()) -> str:
        """Write a value that stands alone or between commas.

        ``like`` is the value that it is assigned to or compared with. If ``like`` is a state
        machine, a constant is written as the name of a state.
        """
        if state := self._state(bits, like):
            return state
        if len(bits) == 1:
            return self._part(bits[0])
        return self._braces(bits)

    def _state(self, bits: Bits, like: Bits) -> str | None:
        """Return the name of a constant that is a state of the wire ``like``."""
        match bits, like:
            case (Constant(value) as state,), (Part(name, 0, width),):
                wire = self._netlist.wires[name]
                if width == wire.width and value in wire.states:
                    return self.states.setdefault(name, {}).setdefault(
                        state, self._names.state(wire.states[value], value)
                    )
        return None

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
            return constant(part)
        wire = self._netlist.wires[part.wire]
        whole = part.width == wire.width
        self.uses[part.wire] += 1
        if not whole:
            self.cut_up.add(part.wire)
        if part.wire in self._of_wire:
            if part.wire not in self._known:
                self._known[part.wire] = self._short_text(part.wire)
            text = self._known[part.wire]
            if text is not None:
                return text
        self._read(part)
        field = self._fields.within(part)
        if field is None:
            return self.target_part(part)
        self._read(field)
        # The declaration of a field's wire reads all the field's bits of the record.
        self.mentioned.add(part.wire)
        self._read(self._fields.bits[field.wire])
        return self.target_part(field)

    def _read(self, part: Part) -> None:
        """Record that bits of a wire are read."""
        mask = (1 << part.width) - 1 << part.low
        self.read[part.wire] = self.read.get(part.wire, 0) | mask

    def _short_text(self, wire: str) -> str | None:
        """Return the text that replaces a wire; None if it is too long to repeat."""
        text = self.source(self._of_wire[wire])
        if len(text) <= (LONGEST if self._once[wire] == 1 else LONGEST_TWICE):
            return text
        self.named.append((wire, text))
        return None

    def target(self, bits: Bits) -> str:
        """Write the target of an assignment."""
        texts = [self.target_part(part) for part in bits if isinstance(part, Part)]
        return texts[0] if len(texts) == 1 else f"{{{', '.join(texts)}}}"

    def target_part(self, part: Part) -> str:
        """Write bits of a wire, by the wire's name."""
        self.mentioned.add(part.wire)
        name = self._names[part.wire]
        if part.width == self._netlist.wires[part.wire].width:
            return name
        if part.width == 1:
            return f"{name}[{part.low}]"
        return f"{name}[{part.low + part.width - 1}:{part.low}]"

    def source(self, source: Cell | Chosen) -> str:
        """Write a value by its source."""
        if isinstance(source, Cell):
            return operator_text(source, self.text)
        return self.chosen(source)

    def chosen(self, chosen: Chosen, like: Bits = ()) -> str:
        """Write a chosen value that is assigned to ``like``."""
        if not isinstance(chosen, Choice):
            return self.text(chosen, like)
        match (chosen.then, chosen.otherwise):
            case ((Constant("1"),), (Constant("0"),)):
                return self.test(chosen.test)
            case ((Constant("0"),), (Constant("1"),)):
                return f"!{beside(self.test(chosen.test), '!')}"
        then = self.chosen(chosen.then, like)
        if isinstance(chosen.then, Choice):
            then = beside(then)
        test = beside(self.test(chosen.test))
        return f"{test} ? {then} : {self.chosen(chosen.otherwise, like)}"

    def test(self, test: Test) -> str:
        """Write the test that a value matches one of several patterns."""
        texts = [self._fits(test.subject, pattern) for pattern in test.patterns]
        if len(texts) == 1:
            return texts[0]
        return " | ".join(map(beside, texts))

    def _fits(self, subject: Bits, pattern: str) -> str:
        """Write the test that a value matches a pattern, in which - stands for any bit."""
        texts = []
        for found in re.finditer(r"[01]+", pattern):
            bits = cut(subject, len(pattern) - found.end(), len(found[0]))
            if state := self._state((Constant(found[0]),), bits):
                texts.append(f"{self.text(bits)} == {state}")
            elif found[0] == "1":
                texts.append(self.text(bits))
            elif found[0] == "0":
                texts.append(f"!{beside(self.text(bits), '!')}")
            else:
                texts.append(f"{beside(self.text(bits))} == {constant(Constant(found[0]))}")
        return " & ".join(map(beside, texts)) if len(texts) > 1 else texts[0]


def constant(bits: Constant) -> str:
    """Write a constant with its width."""
    if "x" in bits.bits:
        return f"{bits.width}'b{bits.bits}"
    return f"{bits.width}'h{int(bits.bits, 2):x}"
