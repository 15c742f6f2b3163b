"""Elaborated components: every use of Amaranth's undocumented interfaces.

``tests/verilog/test_elaborated.py`` fails if a release of Amaranth changes one of them.
"""

import sys
from collections.abc import Iterator
from contextlib import suppress
from dis import get_instructions
from functools import cache
from types import CodeType
from typing import Any

from amaranth import tracer
from amaranth.back import rtlil
from amaranth.hdl import DomainRenamer, Fragment, Instance, Signal, Value
from amaranth.hdl._ir import PortDirection
from amaranth.hdl._xfrm import DomainCollector
from amaranth.lib.wiring import Component

Elaborated = Any
"""A Fragment of Amaranth: an elaborated component with everything inside."""

Ports = dict[str, tuple[Value, bool]]
"""The values of ports by name, each with True for an output."""

States = tuple[tuple[str, tuple[str, ...]], ...]
"""Names of state machines' signals, each with the names of its states by value from 0 on."""


_name_by_amaranth = tracer.get_var_name


def _name_of_variable(depth: int = 2, **settings: Any) -> Any:
    """Return the name of the variable in which a signal, made in a frame so deep, is stored."""
    frame = sys._getframe(depth)
    stored = _stored_with_another(frame.f_code).get(frame.f_lasti)
    return stored or _name_by_amaranth(depth + 1, **settings)


@cache
def _stored_with_another(code: CodeType) -> dict[int, str]:
    """Return by instruction the variable that one right behind it stores, and no other alone.

    From Python 3.13 on, such an instruction stores or loads a second variable, too.
    """
    found, before = {}, 0
    for each in get_instructions(code):
        if each.opname in ("STORE_FAST_LOAD_FAST", "STORE_FAST_STORE_FAST"):
            found[before] = each.argval[0]
        before = each.offset
    return found


if sys.version_info >= (3, 13):
    # Amaranth 0.5 finds no name behind such an instruction, so that a signal would have another
    # name than on Python 3.11, and a network another text.
    tracer.get_var_name = _name_of_variable


def elaborate(component: Component, platform: object = None) -> Elaborated:
    """Elaborate a component with everything inside, on a platform."""
    return Fragment.get(component, platform)


def submodules(fragment: Elaborated) -> Iterator[tuple[int, str, Elaborated]]:
    """Yield the index, the name and the fragment of each submodule."""
    for place, (inner, name, _) in enumerate(fragment.subfragments):
        yield place, name, inner


def replace_submodule(fragment: Elaborated, place: int, instance: Instance) -> None:
    """Replace the submodule at index ``place`` by an instance."""
    _, name, source = fragment.subfragments[place]
    fragment.subfragments[place] = (instance, name, source)


def component_of(fragment: Elaborated) -> Component | None:
    """Return the component that a fragment was elaborated from; None without one."""
    return next((each for each in fragment.origins if isinstance(each, Component)), None)


def instance_outputs(instance: Instance) -> frozenset[str]:
    """Return the names of the ports that an instance drives."""
    return frozenset(port for port, (_, flow) in instance.ports.items() if flow == "o")


def missing_domains(fragment: Elaborated) -> list[str]:
    """Return the clock domains that a fragment needs but does not define."""
    collector = DomainCollector()
    collector(fragment)
    return sorted(collector.used_domains - collector.defined_domains - {"comb"})


def in_domain_sync(fragment: Elaborated, domain: str) -> Elaborated:
    """Return a fragment whose clock domain is renamed to ``sync``."""
    return fragment if domain == "sync" else DomainRenamer({domain: "sync"})(fragment)


def convert(fragment: Elaborated, ports: Ports) -> tuple[str, States]:
    """Return the RTLIL of a fragment as one module, and the names of its machines' states."""
    directed = {
        name: (value, PortDirection.Output if is_output else PortDirection.Input)
        for name, (value, is_output) in ports.items()
    }
    text, paths = rtlil.convert_fragment(fragment, directed, name="module", emit_src=False)
    states = tuple(
        (path[-1], _state_names(signal)) for signal, path in paths.items() if signal.decoder
    )
    return text, states


def _state_names(machine: Signal) -> tuple[str, ...]:
    """Return the names of a machine's states; Amaranth decodes state 2 as ``HEADER/2``."""
    decode: Any = machine.decoder
    names = []
    with suppress(KeyError):
        for value in range(1 << len(machine)):
            name, _, _ = decode(value).rpartition("/")
            names.append(name)
    return tuple(names)
