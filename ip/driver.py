"""The driver of a package in C, and the image of its program as an array."""

import re
from collections.abc import Mapping, Sequence
from typing import cast

from ..model.base.arrays import Words
from ..model.image.host_port import Space, entry_stride, table_stride
from ..model.image.image import Image
from ..model.image.programs import ProgramsImage
from ..model.network.buses import bus_data_bits
from ..model.network.config import NetworkConfig
from ..model.program.circuits.program import entry_words
from ..registers.register_map import byte_address
from .template import filled


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
        "The image of a program: what is written to load it, in this order.",
        {"PROGRAM": image.number, "CYCLES": image.predicted.cycles},
        ("eyecast_write_t", "", "WRITES", _writes(config, image.writes)),
    )
    return texts


def workload_file(programs: ProgramsImage, runs: Sequence[tuple[int, str]]) -> str:
    """Return the text of a workload: its programs as writes, and the order of their runs.

    Each run has the number of its program and a name.
    """
    writes = _writes(programs.programs[0].config, programs.writes)
    order = [f"  {number} /* {_NO_NAME.sub('_', name)} */" for number, name in runs]
    cycles = [f"  {run.cycles}" for run in programs.predicted]
    return _header(
        "workload",
        "The programs of a workload: what is written to load them, the cycles of each, and the "
        "program\n * of each run, in the order of the runs.",
        {},
        ("eyecast_write_t", "", "WRITES", writes),
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
            "#endif",
            "",
        ]
    )


def _writes(config: NetworkConfig, writes: Words) -> list[str]:
    """Return the initializers of writes."""
    end = "u" if bus_data_bits(config) == 32 else "ull"
    return [
        f"  {{{byte_address(config, node, Space(space), address):#x}u, {word:#x}{end}}}"
        for node, space, address, word in cast(list[list[int]], writes.tolist())
    ]
