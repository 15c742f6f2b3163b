"""Processes: as statements at a clock's edge, or as values that are chosen."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import pairwise

from .netlist import Assign, Bits, Body, Part, Switch, cut, targets


@dataclass(frozen=True)
class Test:
    """A test that a value fits one of some patterns."""

    subject: Bits
    patterns: tuple[str, ...]


@dataclass(frozen=True)
class Choice:
    """One value where a test holds, and another where it does not."""

    test: Test
    then: Chosen
    otherwise: Chosen


Chosen = Bits | Choice


def choices(body: Body) -> Iterator[tuple[Bits, Chosen]]:
    """Values that a process assigns: each stretch of bits that is assigned as one."""
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
    """The value of ``stretch`` behind a body, if it had ``before`` in front of it."""
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
    """True if no value fits the patterns of two branches."""
    patterns = [pattern for each, _ in statement.cases for pattern in each]
    return len(set(patterns)) == len(patterns) and not any("-" in each for each in patterns)


def _assigned(statement: Assign, stretch: Part) -> Bits | None:
    """The value that a statement gives a stretch of bits, if it does."""
    low = 0
    for part in reversed(statement.target):
        assert isinstance(part, Part)
        if part.wire == stretch.wire and part.low <= stretch.low < part.low + part.width:
            return cut(statement.value, low + stretch.low - part.low, stretch.width)
        low += part.width
    return None
