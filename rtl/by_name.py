"""Instances of modules by name, so that the Verilog has each module once."""

from typing import Any

from amaranth.hdl import ClockSignal, Instance, Module, Value
from amaranth.lib.wiring import Out, Signature


def add_by_name(m: Module, module: str, signature: Signature, name: str, reset: Value) -> Any:
    """Add an instance of ``module``, as the submodule ``name``; return its ports."""
    made = signature.create(path=(name,))
    ports = {"i_clk": ClockSignal(), "i_rst": reset}
    for path, member, value in signature.flatten(made):
        direction = "o" if member.flow == Out else "i"
        ports[f"{direction}_{'__'.join(str(part) for part in path)}"] = value
    m.submodules[name] = Instance(module, **ports)
    return made
