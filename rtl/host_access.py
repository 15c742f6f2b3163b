"""Requests of a controller at a tile: each is carried out once, as soon as it may be.

Used by :class:`.NetworkInterface` and :class:`.SwitchStatus` in networks with programs
(docs/router.md, section 16).
"""

from typing import Any

from amaranth.hdl import C, Module, Signal, Value


def carried_out(m: Module, host: Any, node: Value, may: Value | None = None) -> Signal:
    """Answer the requests to ``node``; return a bit, high in the cycle that carries one out.

    That is the request's first cycle in which ``may`` is 1. Core reset has no effect here.
    """
    asked, now = Signal(name="asked"), Signal(name="now")
    served = Signal(reset_less=True)
    answered = Signal(reset_less=True)
    m.d.comb += [
        asked.eq(host.valid & (host.node == node)),
        now.eq(asked & ~served & (C(1) if may is None else may)),
        host.answered.eq(answered),
    ]
    m.d.sync += [served.eq(asked & (served | now)), answered.eq(now)]
    return now
