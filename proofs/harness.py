"""Harnesses: a component with free inputs, and what is assumed and claimed about it."""

from collections.abc import Callable
from typing import Any

from amaranth.hdl import Assume, Cover, Module, Mux, ResetSignal, ShapeLike, Signal, Value
from amaranth.lib.wiring import Component, In

from ..rtl.parts.assertions import Assertions

Build = Callable[["Bench"], None]


class Bench(Assertions):
    """The inside of a harness.

    The user adds components as ``m.submodules``. A component whose name begins with ``dut`` has
    users outside: its ``requires`` are assumed. Those of all other components are proved.

    Attributes
    ----------
    m
        The module.
    inputs
        Free inputs by name.

    """

    def __init__(self) -> None:
        self.m = Module()
        super().__init__(self.m)
        self.inputs: dict[str, Signal] = {}

    def free(self, shape: ShapeLike, name: str) -> Any:
        """Return a signal that takes any value in any cycle."""
        signal = Signal(shape, name=name)
        self.inputs[name] = signal
        return signal

    def constant(self, shape: ShapeLike, name: str) -> Any:
        """Return a signal with any value, which never changes."""
        chosen = self.free(shape, f"chosen_{name}")
        kept, value = Signal(shape, name=f"kept_{name}", reset_less=True), Signal(shape, name=name)
        first = Signal(init=1, reset_less=True, name=f"first_{name}")
        self.m.d.sync += [kept.eq(value), first.eq(0)]
        self.m.d.comb += value.eq(Mux(first, chosen, kept))
        return value

    def drive(self, component: Component, name: str = "dut", **driven: Value) -> Any:
        """Add a component; its inputs are free, except those that are ``driven``."""
        self.m.submodules[name] = component
        for path, member, port in component.signature.flatten(component):
            label = "__".join(map(str, path))
            if member.flow == In:
                value = driven.pop(label, None)
                if value is None:
                    value = self.free(len(Value.cast(port)), f"{name}_{label}")
                self.m.d.comb += Value.cast(port).eq(value)
        assert not driven, f"{name} has no input {', '.join(driven)}"
        return component

    def assumes(self, name: str, always: Value) -> None:
        """Leave out of account all runs in which a condition does not hold."""
        self.m.d.sync += Assume(always.bool() | ResetSignal(), f"assumes_{name}")

    def never_resets(self) -> None:
        """Leave out of account all runs with a reset, which memories do not see."""
        self.m.d.sync += Assume(~ResetSignal(), "assumes_no_reset")

    def covers(self, name: str, sometimes: Value) -> None:
        """Demand a run, with all assumptions, in which a condition holds once."""
        self.m.d.sync += Cover(sometimes.bool() & ~ResetSignal(), f"covers_{name}")


class Harness(Component):
    """A component with everything around it that a proof needs."""

    def __init__(self, build: Build) -> None:
        self._bench = Bench()
        build(self._bench)
        inputs = self._bench.inputs
        super().__init__({name: In(len(Value.cast(each))) for name, each in inputs.items()})

    def elaborate(self, _platform: object) -> Module:
        """Connect the free inputs."""
        m = self._bench.m
        for name, each in self._bench.inputs.items():
            m.d.comb += Value.cast(each).eq(getattr(self, name))
        return m
