"""A row of an injection table, as a person writes it and a file has it."""

from __future__ import annotations

from dataclasses import dataclass

from ..network.segment import Segment


@dataclass(frozen=True)
class Row:
    """One put: in a step, copy ``length`` words from an address here to one of another node.

    That node is at the end of ``route``. ``start`` is the first cycle in which the row may begin,
    None for as soon as its step has come. ``continued``: the row after it, of the same step and
    route, has more of the same message.
    """

    step: int
    route: tuple[Segment, ...]
    source_address: int
    target_address: int
    length: int
    start: int | None = None
    continued: bool = False
