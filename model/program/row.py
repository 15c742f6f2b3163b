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

    ``operator`` is 0 where the words replace what is there; 2o - 1 where operator o of the network,
    from 1, combines them with it in place, 2o where across (docs/router.md, section 19).
    ``stream`` is 1 where the row sends on what comes in its step, in an all-port network the port
    by which it comes, and ``lead`` the words that it sends before. The addresses of the message
    run round in a window of 2 ** ``window`` words, unless that is 0 (section 20).
    """

    step: int
    route: tuple[Segment, ...]
    source_address: int
    target_address: int
    length: int
    start: int | None = None
    continued: bool = False
    operator: int = 0
    stream: int = 0
    lead: int = 0
    window: int = 0
