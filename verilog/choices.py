"""The values that a process assigns, as nested choices between values by tests."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import pairwise

from .netlist import Assign, Bits, Body, Part, Switch, cut, targets


@dataclass(frozen=True)
class Test:
    """A test that ``subject`` matches one of ``patterns``."""

    subject: Bits
    patterns: tuple[str, ...]


@dataclass(frozen=True)
class Choice:
    """The value ``then`` if a test holds, and the value ``otherwise`` if it does not."""

    test: Test
    then: Chosen
    otherwise: Chosen


Chosen = Bits | Choice


def choices(body: Body) -> Iterator[tuple[Bits, Chosen]]:
    """Yield stretches of wires, each with the value that a process assigns to all its bits."""
    edges: dict[str, set[int]] = {}
    for target in targets(body):
        for part in target:
            assert isinstance(part, Part)
            edges.setdefault(part.wire, set()).update((part.low, part.low + part.width))
    for wire, ends in edges.items():
        places = sorted(ends)
        for low, end in pairwise(places):
            stretch = Part(wire, low, end - low)
            chosen = _value(body, stretch, None)
            if chosen is not None:
                yield (stretch,), chosen


def _value(body: Body, stretch: Part, before: Chosen | None) -> Chosen | None:
    """Return the value of ``stretch`` after a body, from its value ``before`` the body."""
    for statement in body:
        if isinstance(statement, Assign):
            assigned = _assigned(statement, stretch)
            before = before if assigned is None else assigned
            continue
        branches = [
            (patterns, _value(inner, stretch, before)) for patterns, inner in statement.cases
        ]
        if all(value == before for _, value in branches):
            continue
        chosen = before
        if branches and not branches[-1][0]:
            chosen = branches.pop()[1]
        if _excluding(statement):
            branches = [each for each in branches if each[1] != chosen]
        while branches and branches[-1][1] == chosen:
            branches.pop()
        for patterns, value in reversed(branches):
            assert value is not None
            assert chosen is not None
            chosen = Choice(Test(statement.subject, tuple(patterns)), value, chosen)
        before = chosen
    return before


def _excluding(statement: Switch) -> bool:
    """Tell whether no value matches the patterns of two branches."""
    patterns = [pattern for each, _ in statement.cases for pattern in each]
    return len(set(patterns)) == len(patterns) and not any("-" in each for each in patterns)


def _assigned(statement: Assign, stretch: Part) -> Bits | None:
    """Return the value that a statement gives a stretch of bits; None if it gives none."""
    low = 0
    for part in reversed(statement.target):
        assert isinstance(part, Part)
        if part.wire == stretch.wire and part.low <= stretch.low < part.low + part.width:
            return cut(statement.value, low + stretch.low - part.low, stretch.width)
        low += part.width
    return None
