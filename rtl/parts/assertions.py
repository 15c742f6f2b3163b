"""Assertions of components, in the words of docs/router.md.

A component states them beside its circuit, by its ports alone, in a method ``assertions``. They are
proved (``make prove``), checked in simulation, and exported (``eyecast verilog --assertions``). A
design without them has no trace of them.
"""

from collections.abc import Callable
from typing import Any

from amaranth.hdl import Assert, C, Module, Mux, ResetSignal, Signal, Value

ASSERTING = object()
"""The platform that elaborates components with their assertions."""


class Assertions:
    """The assertions of one component; each holds in every cycle outside of reset.

    Parameters
    ----------
    m
        The component's module.

    """

    def __init__(self, m: Module) -> None:
        self._m = m

    def requires(self, name: str, always: Value) -> None:
        """Add a condition that the surroundings of the component keep."""
        self._add(f"requires_{name}", always)

    def ensures(self, name: str, always: Value) -> None:
        """Add a condition that the component keeps while its surroundings keep theirs."""
        self._add(f"ensures_{name}", always)

    def _add(self, label: str, always: Value) -> None:
        self._m.d.sync += Assert(always.bool() | ResetSignal(), label)

    def before(self, value: Value, *, init: int = 0) -> Signal:
        """Return the value of the cycle before; in the first cycle, ``init``."""
        register = Signal(len(value), init=init)
        self._m.d.sync += register.eq(value)
        return register

    def stays(self, valid: Value, taken: Value, value: Value) -> Value:
        """Return whether an offer that was not taken in the cycle before is there, unchanged."""
        waits = self.before(valid & ~taken)
        return ~waits | (valid & (value == self.before(value)))

    def one_request(self, host: Any) -> None:
        """Require that the network answers each request once; ensure one request at a time.

        In the first cycle after a reset, an answer to a request from before it may come.
        """
        under_way = self.count(host.valid & host.ready, host.answered, limit=1) != 0
        awake = self.before(C(1))
        self.requires("answer_of_a_request", under_way | ~host.answered | ~awake)
        self.ensures("one_request_at_a_time", ~under_way | ~host.valid)

    def latest(self, value: Value, when: Value) -> Signal:
        """Return the value of the last cycle in which ``when`` was 1, from the next on; first 0."""
        register = Signal(len(value))
        self._m.d.sync += register.eq(Mux(when, value, register))
        return register

    def count(self, up: Value, down: Value, *, limit: int, init: int = 0) -> Signal:
        """Return a number that two events change, kept within 0 and ``limit`` + 1."""
        number = Signal(range(limit + 2), init=init)
        after = number + up - down
        self._m.d.sync += number.eq(Mux(after < 0, 0, Mux(after > limit + 1, limit + 1, after)))
        return number


def asserted(component: Any) -> Any:
    """Add a component's assertions when the platform is :data:`ASSERTING`."""
    elaborate: Callable[[Any, object], Module] = component.elaborate

    def elaborate_asserted(self: Any, platform: object) -> Module:
        m = elaborate(self, platform)
        if platform is ASSERTING:
            self.assertions(Assertions(m))
        return m

    elaborate_asserted.__doc__ = elaborate.__doc__
    component.elaborate = elaborate_asserted
    return component


def one_hot_or_zero(bits: Value) -> Value:
    """Tell whether at most one bit is set."""
    return (bits & (bits - 1)[: len(bits)]) == 0
