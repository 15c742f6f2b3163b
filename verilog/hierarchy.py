"""Components taken apart: each becomes a module, and an instance in its parent's module."""

from __future__ import annotations

import inspect
import re
from dataclasses import dataclass
from typing import Any

from amaranth.hdl import ClockSignal, Instance, ResetSignal, Value
from amaranth.lib.memory import Memory
from amaranth.lib.wiring import Component, Out

from .elaborated import (
    Elaborated,
    Ports,
    States,
    component_of,
    convert,
    elaborate,
    in_domain_sync,
    instance_outputs,
    missing_domains,
    replace_submodule,
    submodules,
)

PREFIX = "eyecast_"
PAGE = "docs/router.md"

_SECTION = re.compile(re.escape(PAGE) + r',\s+(sections? \d+(?: (?:to|and) \d+)?(?:, "[^"]+")?)')


@dataclass(frozen=True)
class ComponentModule:
    """A component by itself, in RTLIL, in which other modules are instances.

    head
        What it is, and which section says more.
    outputs
        Names of ports that go out.
    states
        Names of the states of state machines, by wire and in order of their values.
    """

    head: str
    rtlil: str
    outputs: frozenset[str]
    states: States


@dataclass(frozen=True)
class MemoryModule:
    """A memory by itself: a wrapper that a macro may take the place of.

    Parameters
    ----------
    width, depth, address_bits
        Of its words, how many they are, and of their addresses; one word has no address.
    writes
        The number of ports to write, each with an enable.
    reads
        For each port to read whether it reads at the clock's edge, where it is enabled.
    initial
        The words when power comes on.

    """

    width: int
    depth: int
    address_bits: int
    writes: int
    reads: tuple[bool, ...]
    initial: tuple[int, ...]

    @property
    def outputs(self) -> frozenset[str]:
        """Names of ports that go out."""
        return frozenset(numbered("read_data", len(self.reads)))


AnyModule = ComponentModule | MemoryModule

WRITE_PORTS = ("write_enable", "write_address", "write_data")
READ_PORTS = ("read_enable", "read_address", "read_data")


def numbered(name: str, count: int) -> list[str]:
    """Name several ports of one kind: numbered, if there is more than one."""
    return [name] if count == 1 else [f"{name}_{number}" for number in range(count)]


@dataclass(frozen=True)
class Use:
    """An instance of a module: its name, and the module that it is in."""

    instance: str
    inside: str


class Division:
    """Components taken apart into modules. Two modules that are the same are one.

    Attributes
    ----------
    modules
        By a name for the meantime, those that have instances behind those of them.
    uses
        For each of these names, where it is an instance.
    foreign
        For each kind of instance that a component itself has, such as the tiles of a network: the
        ports that go out of it.

    """

    def __init__(self) -> None:
        self.modules: dict[str, AnyModule] = {}
        self.uses: dict[str, list[Use]] = {}
        self.foreign: dict[str, frozenset[str]] = {}
        self._known: dict[tuple[str, AnyModule], str] = {}

    def add(self, top: Component, name: str) -> None:
        """Add a component and everything inside it, under a name that stays."""
        module, inner = self._module(top, elaborate(top))
        self._keep(name, module, inner)

    def names(self) -> dict[str, str]:
        """Return the names of modules: of their classes, numbered where a class has several.

        The number is that of the instance if it has one, or of its parent module.
        """
        kinds: dict[str, list[str]] = {}
        for name in self.modules:
            kinds.setdefault(name.partition("$")[0], []).append(name)
        labels: dict[str, str] = {}
        for name in reversed(self.modules):
            use = self.uses.get(name, [Use("", "")])[0]
            number = re.search(r"_(\d+)$", use.instance)
            labels[name] = number[1] if number else labels.get(use.inside, "")
        names = {}
        for kind, variants in kinds.items():
            ends = [labels[name] for name in variants]
            if len(set(ends)) < len(ends) or "" in ends:
                ends = [str(number) for number in range(len(ends))]
            if len(variants) == 1:
                ends = [""]
            for name, end in zip(variants, ends, strict=True):
                names[name] = f"{kind}_{end}" if end else kind
        return names

    def _module(
        self, part: Component, fragment: Elaborated
    ) -> tuple[ComponentModule, dict[str, str]]:
        """Return the module of a component, and the kinds of its instances by name."""
        inside: dict[str, str] = {}
        for place, name, inner in submodules(fragment):
            if isinstance(inner, Instance):
                self.foreign[inner.type] = instance_outputs(inner)
                inside[name] = inner.type
                continue
            instance = self._instance(part, inner, name)
            inside[name] = instance.type
            replace_submodule(fragment, place, instance)
        ports = _ports(part)
        outputs = frozenset(port for port, (_, is_output) in ports.items() if is_output)
        text, states = convert(fragment, ports)
        return ComponentModule(_head(type(part)), text, outputs, states), inside

    def _instance(self, outer: Component, inner: Any, name: str) -> Any:
        """Return an instance of a fragment's submodule."""
        part = component_of(inner)
        if part is None:
            raise TypeError(f"{name} of {type(outer).__name__} must be a component")
        if isinstance(part, Memory):
            return self._memory_instance(part, name)
        used = missing_domains(inner)
        if len(used) == 1:
            inner = in_domain_sync(inner, used[0])
        module, inside = self._module(part, inner)
        wires: dict[str, Value] = {}
        for domain in used:
            prefix = "" if len(used) == 1 or domain == "sync" else f"{domain}_"
            wires[f"i_{prefix}clk"] = ClockSignal(domain)
            wires[f"i_{prefix}rst"] = ResetSignal(domain, allow_reset_less=True)
        for port, (value, is_output) in _ports(part).items():
            wires[f"{'o' if is_output else 'i'}_{port}"] = value
        return Instance(self._named(_snake(type(part).__name__), module, inside), **wires)

    def _memory_instance(self, memory: Memory, name: str) -> Any:
        reads, writes = memory.read_ports, memory.write_ports
        (domain,) = {port.domain for port in (*reads, *writes)} - {"comb"}
        module = MemoryModule(
            width=len(Value.cast(reads[0].data)),
            depth=memory.depth,
            address_bits=len(reads[0].addr),
            writes=len(writes),
            reads=tuple(port.domain != "comb" for port in reads),
            initial=tuple(map(int, memory.init)),
        )
        wires: dict[str, Value] = {"i_clk": ClockSignal(domain)}
        for kinds, ports in ((WRITE_PORTS, writes), (READ_PORTS, reads)):
            names = zip(*(numbered(kind, len(ports)) for kind in kinds), strict=True)
            for port, (enable, address, data) in zip(ports, names, strict=True):
                out = "o" if kinds is READ_PORTS else "i"
                if port.domain != "comb":
                    wires[f"i_{enable}"] = port.en
                if module.address_bits:
                    wires[f"i_{address}"] = port.addr
                wires[f"{out}_{data}"] = Value.cast(port.data)
        kind = name if name.endswith("memory") else f"{name}_memory"
        return Instance(self._named(kind, module, {}), **wires)

    def _named(self, kind: str, module: AnyModule, inside: dict[str, str]) -> str:
        """Return the temporary name of a module."""
        key = kind, module
        if key not in self._known:
            self._known[key] = f"{PREFIX}{kind}${len(self._known)}"
            self._keep(self._known[key], module, inside)
        return self._known[key]

    def _keep(self, name: str, module: AnyModule, inside: dict[str, str]) -> None:
        self.modules[name] = module
        for instance, kind in inside.items():
            self.uses.setdefault(kind, []).append(Use(instance, name))


def _ports(part: Component) -> Ports:
    """Return the ports of a component that have at least one bit."""
    return {
        "__".join(map(str, path)): (bits, member.flow == Out)
        for path, member, value in part.signature.flatten(part)
        if len(bits := Value.cast(value))
    }


def _snake(name: str) -> str:
    """Return the name of a class in Verilog's style: with underscores."""
    return re.sub(r"(?<=[a-z0-9])(?=[A-Z])", "_", name).lower()


def _head(component: type) -> str:
    """Return a component's one-sentence description, and the section of the page about it."""
    own = inspect.getdoc(component) or ""
    sentence = re.split(r"(?<=\.)\s", own.partition("\n\n")[0])[0]
    words = re.sub(r":\w+:`\.?(\w+)`", r"\1", sentence).replace("``", "")
    module = inspect.getmodule(component)
    section = _SECTION.search(f"{own}\n{inspect.getdoc(module) if module else ''}")
    more = f" See {PAGE}, {' '.join(section[1].split())}." if section else ""
    return " ".join(words.split()) + more
