"""Clock domains of a network: they share one clock, and each has its own reset."""

from amaranth.hdl import ClockDomain, ClockSignal, Module, ResetSignal, Value


def add_domain(m: Module, name: str, reset: Value) -> None:
    """Add the domain ``name``, with the clock of domain "sync" and this ``reset``."""
    m.domains += ClockDomain(name, local=True)
    m.d.comb += [ClockSignal(name).eq(ClockSignal()), ResetSignal(name).eq(reset)]
