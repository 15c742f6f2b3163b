"""The hierarchy of components: each becomes a module, and an instance in its parent's module."""

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
    """The RTLIL of one component, with instances of other modules.

    head
        One sentence about the component, and the section of the page about it.
    outputs
        Names of the output ports.
    states
        Names of the states of state machines, by wire and in order of their values.
    """

    head: str
    rtlil: str
    outputs: frozenset[str]
    states: States


@dataclass(frozen=True)
class MemoryModule:
    """A memory as a module of its own, which a macro may replace.

    Parameters
    ----------
    width, depth, address_bits
        Bits of a word; number of words; bits of an address, 0 for a single word.
    writes
        The number of write ports, each with an enable.
    reads
        For each read port: True if it reads at the clock's edge and has an enable.
    initial
        The words at power-up.

    """

    width: int
    depth: int
    address_bits: int
    writes: int
    reads: tuple[bool, ...]
    initial: tuple[int, ...]

    @property
    def outputs(self) -> frozenset[str]:
        """Names of the output ports."""
        return frozenset(numbered("read_data", len(self.reads)))


AnyModule = ComponentModule | MemoryModule

WRITE_PORTS = ("write_enable", "write_address", "write_data")
READ_PORTS = ("read_enable", "read_address", "read_data")


def numbered(name: str, count: int) -> list[str]:
    """Return the names of ``count`` ports of one kind, with numbers if there are several."""
    return [name] if count == 1 else [f"{name}_{number}" for number in range(count)]


@dataclass(frozen=True)
class Use:
    """A use of a module: the name of the instance, and of the module around it."""

    instance: str
    inside: str


class Division:
    """Division of components into modules; equal modules are kept once.

    Parameters
    ----------
    platform
        The platform on which components are elaborated.

    Attributes
    ----------
    modules
        The modules by temporary name; a module comes after those that it has instances of.
    uses
        By temporary name, the uses of each module.
    foreign
        Output ports by kind of instance, for instances that a component itself adds, such as the
        tiles of a network.
    parameters
        By temporary name, the values of each parameter of the components that became the module.

    """

    def __init__(self, platform: object = None) -> None:
        self._platform = platform
        self.modules: dict[str, AnyModule] = {}
        self.uses: dict[str, list[Use]] = {}
        self.foreign: dict[str, frozenset[str]] = {}
        self.parameters: dict[str, dict[str, list[str]]] = {}
        self._known: dict[tuple[str, AnyModule], str] = {}

    def add(self, top: Component, name: str) -> None:
        """Add a component with everything inside, under its final name."""
        module, inner = self._module(top, elaborate(top, self._platform))
        self._keep(name, module, inner)

    def names(self) -> dict[str, str]:
        """Return the final names of modules by temporary name: a class's name, with a number.

        A class with one module needs no number. Otherwise the number is that of the first instance,
        or of the module around it; if these are not unique, the modules are counted.
        """
        labels: dict[str, str] = {}
        for name in reversed(self.modules):
            use = self.uses.get(name, [Use("", "")])[0]
            number = re.search(r"_(\d+)$", use.instance)
            labels[name] = number[1] if number else labels.get(use.inside, "")
        names = {}
        for kind, variants in self._variants().items():
            ends = [labels[name] for name in variants]
            if len(set(ends)) < len(ends) or "" in ends:
                ends = [str(number) for number in range(len(ends))]
            if len(variants) == 1:
                ends = [""]
            for name, end in zip(variants, ends, strict=True):
                names[name] = f"{kind}_{end}" if end else kind
        return names

    def differences(self) -> dict[str, str]:
        """Return for each of several modules of a class, by temporary name, its own parameters.

        These are the parameters whose values are not the same for all modules of the class.
        """
        found = {}
        for variants in self._variants().values():
            every = [pair for name in variants for pair in self.parameters.get(name, {}).items()]
            shared = {key for key, value in every if all(key != k or value == v for k, v in every)}
            for name in variants if len(variants) > 1 else []:
                own = self.parameters.get(name, {})
                found[name] = ", ".join(
                    f"{key} {' or '.join(values)}"
                    for key, values in own.items()
                    if key not in shared
                )
        return found

    def _variants(self) -> dict[str, list[str]]:
        """Return the temporary names of the modules of each class."""
        kinds: dict[str, list[str]] = {}
        for name in self.modules:
            kinds.setdefault(name.partition("$")[0], []).append(name)
        return kinds

    def _module(
        self, part: Component, fragment: Elaborated
    ) -> tuple[ComponentModule, dict[str, str]]:
        """Return the module of a component, and the kinds of its instances by instance name."""
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
        kind = self._named(_snake(type(part).__name__), module, inside)
        for key, value in _parameters(part).items():
            values = self.parameters.setdefault(kind, {}).setdefault(key, [])
            if value not in values:
                values.append(value)
        return Instance(kind, **wires)

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


def _parameters(part: Component) -> dict[str, str]:
    """Return the numbers, and the lists of numbers, that a component keeps from its constructor."""
    found = {}
    for name, value in vars(part).items():
        several = isinstance(value, range | list | tuple)
        numbers = [*value] if several else [value]
        if re.match("_[a-z]", name) and all(isinstance(each, int) for each in numbers):
            text = ", ".join(str(int(each)) for each in numbers)
            found[name[1:].replace("_", " ")] = f"({text})" if several else text
    return found


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
