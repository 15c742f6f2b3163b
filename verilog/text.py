"""The Verilog texts of components, one for each module."""

from collections.abc import Iterator

from .hierarchy import READ_PORTS, WRITE_PORTS, ComponentModule, Division, MemoryModule, numbered
from .lines import comment
from .netlist import read_rtlil
from .writer import ModuleText


def module_texts(division: Division) -> dict[str, str]:
    """Return the text of every module by name; a submodule precedes its parent."""
    names, differences = division.names(), division.differences()
    outputs = {name: module.outputs for name, module in division.modules.items()}
    outputs = division.foreign | outputs
    dropped: dict[str, frozenset[str]] = {}
    texts = {}
    for name, module in division.modules.items():
        head = [*_head(names[name], module), *_own(differences.get(name))]
        head += _uses(division, names, name)
        if isinstance(module, MemoryModule):
            lines = [*head, *_memory_lines(names[name], module), ""]
            texts[names[name]] = "\n".join(lines)
            continue
        netlist = read_rtlil(module.rtlil)
        for wire, states in module.states:
            netlist.wires[wire].name_states(states)
        written = ModuleText(names[name], netlist, outputs, dropped, names)
        dropped[name] = written.missing
        texts[names[name]] = "\n".join([*head, written.text])
    return texts


def _head(name: str, module: ComponentModule | MemoryModule) -> Iterator[str]:
    if isinstance(module, ComponentModule):
        yield from comment(f"{name}: {module.head}")
        return
    words = "1 word" if module.depth == 1 else f"{module.depth} words"
    if all(module.reads):
        use = (
            "A macro with the same ports may replace this module. A port that reads a word at the"
            " clock edge at which the word is written must get the old word."
        )
    else:
        use = (
            "Its reads are asynchronous, so only registers or a memory with asynchronous reads may"
            " replace this module."
        )
    yield from comment(f"{name}: {words} of {module.width} bits. {use}")


def _own(difference: str | None) -> Iterator[str]:
    """Write a comment on the parameters by which a module differs from others of its class."""
    if difference:
        yield from comment(f"It differs from the other modules of its class by {difference}.")


def _uses(division: Division, names: dict[str, str], name: str) -> Iterator[str]:
    """Write comments that list the instances of a module."""
    by_module: dict[str, list[str]] = {}
    for use in division.uses.get(name, ()):
        by_module.setdefault(names[use.inside], []).append(use.instance)
    for inside, instances in by_module.items():
        some = instances if len(instances) < 5 else [instances[0], "...", instances[-1]]
        yield from comment(f"In {inside}: {', '.join(some)}.")


def _memory_lines(name: str, memory: MemoryModule) -> Iterator[str]:
    """Write a memory as a module."""
    word, address = _range(memory.width), _range(memory.address_bits)
    writes = [*zip(*(numbered(each, memory.writes) for each in WRITE_PORTS), strict=True)]
    read_names = (numbered(each, len(memory.reads)) for each in READ_PORTS)
    reads = [*zip(memory.reads, *read_names, strict=True)]

    def place_in(port: str) -> list[str]:
        """Return a port for an address; none for a memory of one word."""
        return [f"input wire {address}{port}"] if memory.address_bits else []

    ports = ["input wire clk"]
    for enable, place, data in writes:
        ports += [f"input wire {enable}", *place_in(place), f"input wire {word}{data}"]
    for clocked, enable, place, data in reads:
        ports += [f"input wire {enable}"] if clocked else []
        ports += [*place_in(place), f"output {'reg' if clocked else 'wire'} {word}{data}"]

    def word_at(place: str) -> str:
        """Return the word at an address."""
        return f"words[{place}]" if memory.address_bits else "words"

    yield f"module {name} ("
    yield ",\n".join(f"    {port}" for port in ports)
    yield ");"
    yield from _words_of(memory)
    yield "  always @(posedge clk) begin"
    for enable, place, data in writes:
        yield f"    if ({enable}) {word_at(place)} <= {data};"
    for clocked, enable, place, data in reads:
        if clocked:
            yield f"    if ({enable}) {data} <= {word_at(place)};"
    yield "  end"
    for clocked, _, place, data in reads:
        if not clocked:
            yield f"  assign {data} = {word_at(place)};"
    yield "endmodule"


def _words_of(memory: MemoryModule) -> Iterator[str]:
    """Declare a memory's words and their initial values."""
    word = _range(memory.width)
    if not memory.address_bits:
        # Tools warn that they replace a memory of one word by a register, so it is a register.
        (initial,) = memory.initial or (0,)
        yield f"  reg {word}words;"
        yield f"  initial words = {memory.width}'h{initial:x};"
        return
    yield f"  reg {word}words [0:{memory.depth - 1}];"
    # Yosys needs time for such a loop that grows with the square of the number of words.
    for_simulation = not any(memory.initial)
    if for_simulation:
        yield "`ifndef SYNTHESIS"
    yield "  integer place;"
    yield "  initial begin"
    yield f"    for (place = 0; place < {memory.depth}; place = place + 1)"
    yield f"      words[place] = {memory.width}'h0;"
    for place, initial in enumerate(memory.initial):
        if initial:
            yield f"    words[{place}] = {memory.width}'h{initial:x};"
    yield "  end"
    if for_simulation:
        yield "`endif"


def _range(width: int) -> str:
    return f"[{width - 1}:0] " if width > 1 else ""
