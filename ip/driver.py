"""The driver of a package in C, and the image of its program as an array."""

import re
from collections.abc import Iterator, Mapping, Sequence
from typing import NamedTuple, cast

from ..model.base.arrays import Words
from ..model.image.host_port import Space, entry_stride, table_stride
from ..model.image.image import Image
from ..model.image.programs import ProgramsImage
from ..model.network.buses import bus_data_bits
from ..model.network.config import NetworkConfig
from ..model.program.circuits.program import entry_words
from ..registers.register_map import byte_address
from .template import filled

MOST = (1 << 16) - 1
"""Most words of a group of a run, and most groups: each is a number of 16 bits."""


def _memories(config: NetworkConfig) -> dict[str, object]:
    """Return the parameters of the memories that the driver clears."""
    switches = config.topology.switches
    nodes = range(config.topology.nodes)
    # A run table is one memory, which switches have too.
    tables, words, stride = config.lanes, config.table_words, table_stride(config)
    if config.circuits:
        # Switches have a run table, too. Its entries take the place of tables.
        tables, words, stride = config.table_words, entry_words(config), entry_stride(config)
    return {
        "NODES": len(nodes),
        "MESSAGE_WORDS": config.message_words,
        "PIECES": config.pieces,
        "PIECE_STRIDE": 1 << config.piece_bits,
        "TABLES": tables,
        "TABLE_WORDS": words,
        "TABLE_STRIDE": stride,
        "SWITCH_TABLES": tables if config.circuits else 0,
        "IS_SWITCH": ", ".join(str(int(node in switches)) for node in nodes),
    }


def driver_files(image: Image) -> dict[str, str]:
    """Return the texts of the driver and of the image as an array of writes, by file name."""
    config = image.program.config
    bits = bus_data_bits(config)
    values = {"WORD": f"uint{bits}_t", "MOST_WORD": f"UINT{bits}_MAX", **_memories(config)}
    texts = {name: filled(name, values) for name in ("eyecast.h", "eyecast.c")}
    texts["eyecast_image.h"] = _header(
        "image",
        "The image of a program: all words that load it, and runs of addresses that they go to.",
        {"PROGRAM": image.number, "CYCLES": image.predicted.cycles},
        *_image(config, image.writes),
    )
    return texts


def workload_file(programs: ProgramsImage, runs: Sequence[tuple[int, str]]) -> str:
    """Return the text of a workload: its programs as writes, and the order of their runs.

    Each run has the number of its program and a name.
    """
    image = _image(programs.programs[0].config, programs.writes)
    order = [f"  {number} /* {_NO_NAME.sub('_', name)} */" for number, name in runs]
    cycles = [f"  {run.cycles}" for run in programs.predicted]
    return _header(
        "workload",
        "The programs of a workload: all words that load them, the runs of addresses that they go\n"
        " * to, the cycles of each program, and the program of each run, in the order of the runs.",
        {},
        *image,
        ("uint32_t", "_cycles", "PROGRAMS", cycles),
        ("uint8_t", "_order", "RUNS", order),
    )


_NO_NAME = re.compile(r"[^\w.,: -]", re.ASCII)
"""Characters that a comment does not show."""


def _header(
    name: str, about: str, values: Mapping[str, int], *arrays: tuple[str, str, str, Sequence[str]]
) -> str:
    """Return the text of a header of arrays: type, end of the name, name of the size, elements."""
    macro = f"EYECAST_{name.upper()}"
    sizes = {size: len(elements) for _, _, size, elements in arrays}
    return "\n".join(
        [
            f"/* {about} */",
            f"#ifndef {macro}_H",
            f"#define {macro}_H",
            "",
            '#include "eyecast.h"',
            "",
            *(f"#define {macro}_{each} {value}" for each, value in {**sizes, **values}.items()),
            "",
            *(
                f"static const {kind} eyecast_{name}{end}[{macro}_{size}] = {{\n"
                + ",\n".join(elements)
                + "\n};\n"
                for kind, end, size, elements in arrays
            ),
            f"static const eyecast_image_t eyecast_{name} = {{",
            f"  eyecast_{name}_parts, {macro}_PARTS, eyecast_{name}_words",
            "};",
            "",
            "#endif",
            "",
        ]
    )


class Run(NamedTuple):
    """Writes to byte addresses that go up: ``groups`` times ``words`` words, ``stride`` apart."""

    address: int
    words: int
    groups: int
    stride: int


def runs_of(addresses: Sequence[int], word_bytes: int) -> Iterator[Run]:
    """Yield the runs of writes to these byte addresses, in order."""
    parts: list[list[int]] = []
    for address in addresses:
        first, words = parts[-1] if parts else (0, MOST)
        if words < MOST and address == first + words * word_bytes:
            parts[-1][1] += 1
        else:
            parts.append([address, 1])
    while parts:
        address, words = parts[0]
        stride = parts[1][0] - address if len(parts) > 1 else 0
        groups = 1
        while (
            stride > 0
            and groups < MOST
            and parts[groups : groups + 1] == [[address + groups * stride, words]]
        ):
            groups += 1
        yield Run(address, words, groups, stride if groups > 1 else 0)
        del parts[:groups]


def _image(config: NetworkConfig, writes: Words) -> list[tuple[str, str, str, Sequence[str]]]:
    """Return the arrays of an image for :func:`_header`: words, and runs of their addresses."""
    bits = bus_data_bits(config)
    end = "u" if bits == 32 else "ull"
    rows = cast("list[list[int]]", writes.tolist())
    addresses = [byte_address(config, node, Space(space), at) for node, space, at, _ in rows]
    runs = [
        f"  {{{run.address:#x}u, {run.stride:#x}u, {run.words}, {run.groups}}}"
        for run in runs_of(addresses, bits // 8)
    ]
    words = [f"  {word:#x}{end}" for *_, word in rows]
    return [
        ("eyecast_word_t", "_words", "WRITES", words),
        ("eyecast_run_t", "_parts", "PARTS", runs),
    ]
