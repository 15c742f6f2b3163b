"""The C program of a chip: compiled, asked for its calls, and linked with the programs of these.

``map.h`` has the addresses of a core. ``programs.c`` and ``programs.h`` are made for the linker:
the image that node 0 loads, and for each call a function that copies a node's words, takes part in
the program, and copies what has come.
"""

import sys
from collections.abc import Iterator, Sequence
from itertools import groupby
from pathlib import Path
from typing import Any, NamedTuple

from ..model.base import processes
from ..model.base.errors import InvalidInput
from .calls import PLACE, SEPARATOR
from .memory_map import MEMORY_WORDS, Place, Register
from .programs import Programs, Run, Served

SOURCES = Path(__file__).with_name("sources")
RUNTIME = "runtime"
"""The folder of ``ey.h`` and of what is linked to every program, where the compiler runs."""
TARGET = ("-target", "riscv32-freestanding", "-mcpu=generic_rv32+m")
OPTIONS = ("-std=gnu11", "-O2", "-g", "-Wall", "-ffreestanding", "-fomit-frame-pointer")
COMPILER = "ziglang"
STACK_BYTES = 4096
"""Fewest bytes of a core's memory that are left for its stack."""


class NoProgram(InvalidInput):
    """The compiler or the linker refuses a program; ``lines`` is what it says."""

    def __init__(self, lines: str) -> None:
        super().__init__("the C program must compile and link")
        self.lines = lines


class Binary(NamedTuple):
    """A linked program: the words of a core's memory, and the names of functions by address."""

    words: list[int]
    functions: list[tuple[int, str]]

    @property
    def hexadecimal(self) -> str:
        """The text of the file from which the cores' memories are read."""
        return "\n".join(f"{word:08x}" for word in self.words)

    def name_of(self, address: int) -> str:
        """Return the function at an address, such as "main+24"."""
        before = [each for each in self.functions if each[0] <= address]
        if not before:
            return f"address {address:#x}"
        begin, name = max(before)
        return f"{name}+{address - begin}"


def compile_source(source: Path, folder: Path) -> list[str]:
    """Compile a C file to ``app.o``; return the names that it wants from elsewhere.

    Raises :class:`.InvalidInput` with the compiler's lines.
    """
    # The compiler cannot read all names of folders in the list of files that it writes.
    for name, there in (("source", source.resolve().parent), (RUNTIME, SOURCES)):
        (folder / name).symlink_to(there, target_is_directory=True)
    (folder / "map.h").write_text(address_map())
    _compile(folder, "-c", f"source/{source.name}", "-o", "app.o")
    from elftools.elf.elffile import ELFFile  # noqa: PLC0415 - an extra

    with (folder / "app.o").open("rb") as file:
        symbols = _symbols(ELFFile(file))
    return [each.name for each in symbols if each["st_shndx"] == "SHN_UNDEF" and each.name]


def _symbols(elf: Any) -> list[Any]:
    """Return the symbols of a file that the compiler wrote."""
    table = elf.get_section_by_name(".symtab")
    return [] if table is None else list(table.iter_symbols())


def link(programs: Programs, folder: Path, *, checked: bool) -> Binary:
    """Link ``app.o`` with the runtime and the programs.

    ``checked``: in the end each core reads all message words of the programs.

    Raises :class:`.InvalidInput` for what the linker refuses, and for a program that is too long.
    """
    (folder / "programs.h").write_text(_header(programs, checked=checked))
    (folder / "programs.c").write_text("\n".join(_program_lines(programs)))
    objects = ("app.o", f"{RUNTIME}/boot.c", "programs.c")
    script = ("-T", f"{RUNTIME}/chip.ld")
    _compile(folder, *script, *objects, "-o", "app.elf")
    return _read(folder / "app.elf")


def _compile(folder: Path, *arguments: str) -> None:
    """Run the compiler in a folder."""
    log = folder / "compiler.log"
    included = (f"-I{RUNTIME}", "-I.")
    command = [sys.executable, "-m", COMPILER, "cc", *TARGET, *OPTIONS, *included, *arguments]
    if processes.run(command, log):
        raise NoProgram(log.read_text(errors="replace").strip())


def _read(path: Path) -> Binary:
    """Read what the linker wrote."""
    from elftools.elf.elffile import ELFFile  # noqa: PLC0415 - an extra

    with path.open("rb") as file:
        elf = ELFFile(file)
        memory, most = bytearray(), 4 * MEMORY_WORDS - STACK_BYTES
        for segment in elf.iter_segments("PT_LOAD"):
            begin, end = segment["p_paddr"], segment["p_paddr"] + segment["p_memsz"]
            if end > most:
                allowed = f"at most {most} bytes, with {STACK_BYTES} for the stack"
                raise InvalidInput.of("the C program", allowed, end)
            memory.extend(bytes(max(0, end - len(memory))))
            memory[begin : begin + segment["p_filesz"]] = segment.data()
        functions = sorted(
            (each["st_value"], each.name)
            for each in _symbols(elf)
            if each["st_info"]["type"] == "STT_FUNC"
        )
    memory.extend(bytes(-len(memory) % 4))
    words = [int.from_bytes(memory[at : at + 4], "little") for at in range(0, len(memory), 4)]
    return Binary(words, functions)


def address_map() -> str:
    """Return ``map.h``: the addresses of a core for ``ey.h``."""
    places = (
        f"#define EY_{each.name} ((volatile unsigned *){each.value << 28:#x})" for each in Place
    )
    registers = (f"#define EY_AT_{each.name} {each.value}" for each in Register)
    return "\n".join((*places, *registers, ""))


def _header(programs: Programs, *, checked: bool) -> str:
    """Return ``programs.h``: the tables of programs for ``boot.c``."""
    nodes = programs.config.topology.nodes
    words = programs.used_words if checked else 0
    return f"""#define EY_CHECKED {words}
struct ey_run {{ unsigned short address, offset, words; }};
struct ey_program {{
    int number, own_at;
    const struct ey_run *sent[{nodes}], *received[{nodes}];
    unsigned own_words, own_from, own_to, in_place;
}};
extern const unsigned ey_image[];
void ey_run_program(const struct ey_program *program, const unsigned *from, unsigned *to);
"""


def _program_lines(programs: Programs) -> Iterator[str]:
    """Yield the lines of ``programs.c``."""
    yield '#include "ey.h"'
    yield '#include "programs.h"'
    yield f"const unsigned ey_image[] = {{{', '.join(map(str, _image(programs)))}}};"
    for number, served in enumerate(programs.served):
        yield from _call_lines(number, served)


def _image(programs: Programs) -> Iterator[int]:
    """Yield the image as ``boot.c`` reads it: runs of words at rising addresses."""
    writes = enumerate(programs.image.writes.tolist())
    for _, run in groupby(writes, key=lambda each: (*each[1][:2], each[1][2] - each[0])):
        rows = [row for _, row in run]
        node, space, address, _ = rows[0]
        yield from (node | space << 16, address, len(rows), *(word for *_, word in rows))
    yield from (0, 0, 0)


def _call_lines(number: int, served: Served) -> Iterator[str]:
    """Yield the tables of a call, its function, and the place of its words."""
    call, place = served.call, served.place
    takes_part = f"EY_REGISTERS[EY_AT_CALL] = {number}; (void)EY_REGISTERS[EY_AT_WAIT];"
    if call.name == "barrier":
        yield f"void {call.symbol}(void) {{ {takes_part} }}"
        return
    nodes = len(served.sent)
    for name, of_nodes in (("sent", served.sent), ("received", served.received)):
        lines = (f"{{ {_runs(runs)} {{0, 0, 0}} }}" for runs in of_nodes)
        most = 1 + max(map(len, of_nodes))
        table = f"static const struct ey_run {name}_{number}[{nodes}][{most}]"
        yield f"{table} = {{ {', '.join(lines)} }};"
    own = {"alltoall": (1, 1), "scatter": (1, 0), "gather": (0, 1)}.get(call.name)
    begin, end = (call.words * each for each in own or (0, 0))
    words = (call.words if own else 0, begin, end, call.words * (call.name == "allgather"))
    tables = (
        ", ".join(f"{name}_{number}[{node}]" for node in range(nodes))
        for name in ("sent", "received")
    )
    lists = ", ".join(f"{{{each}}}" for each in tables)
    yield f"static const struct ey_program program_{number} ="
    root = -1 if call.last is None else call.last
    yield f"    {{{number}, {root}, {lists}, {', '.join(map(str, words))}}};"
    yield f"void {call.symbol}(const unsigned *from, unsigned *to) {{"
    yield f"    if ({_copies_nothing(served)}) {{ {takes_part} return; }}"
    yield f"    ey_run_program(&program_{number}, from, to);"
    yield "}"
    if place is not None:
        symbol = f"{call.symbol}{SEPARATOR}{PLACE}"
        yield f'__asm__(".globl {symbol}; .set {symbol}, {_address(place):#x}");'


def _address(word: int) -> int:
    """Return the address at which a core sees a message word."""
    return (Place.MESSAGES << 28) + 4 * word


def _copies_nothing(served: Served) -> str:
    """Return the condition in C under which a call copies no words.

    Its buffer is the place of its words, and the words that are sent are there, too.
    """
    call, place = served.call, served.place
    part = call.words * (call.name == "allgather")
    stays = place is not None and all(
        run.address - run.offset == place + node * part
        for node, runs in enumerate(served.sent)
        for run in runs
    )
    return f"!from && (unsigned)to == {_address(place):#x}u" if place is not None and stays else "0"


def _runs(runs: Sequence[Run]) -> str:
    """Return runs as C."""
    return "".join(f"{{{', '.join(map(str, run))}}}, " for run in runs)


def core_verilog() -> Path:
    """Return the file of the core."""
    import pythondata_cpu_picorv32  # noqa: PLC0415 - an extra

    return Path(pythondata_cpu_picorv32.data_location) / "picorv32.v"
