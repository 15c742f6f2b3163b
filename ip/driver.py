"""The driver of a package in C, and the image of its program as an array."""

import re
from collections.abc import Sequence
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
    writes = _writes(config, image.writes)
    texts["eyecast_image.h"] = "\n".join(
        [
            "/* The image of a program: what is written to load it, in this order. */",
            "#ifndef EYECAST_IMAGE_H",
            "#define EYECAST_IMAGE_H",
            "",
            '#include "eyecast.h"',
            "",
            f"#define EYECAST_IMAGE_WRITES {len(writes)}",
            f"#define EYECAST_IMAGE_PROGRAM {image.number}",
            f"#define EYECAST_IMAGE_CYCLES {image.predicted.cycles}",
            "",
            "static const eyecast_write_t eyecast_image[EYECAST_IMAGE_WRITES] = {",
            ",\n".join(writes),
            "};",
            "",
            "#endif",
            "",
        ]
    )
    return texts


def _writes(config: NetworkConfig, writes: Words) -> list[str]:
    """Return the initializers of writes."""
    end = "u" if bus_data_bits(config) == 32 else "ull"
    return [
        f"  {{{byte_address(config, node, Space(space), address):#x}u, {word:#x}{end}}}"
        for node, space, address, word in cast(list[list[int]], writes.tolist())
    ]


def workload_file(programs: ProgramsImage, runs: Sequence[tuple[int, str]]) -> str:
    """Return the text of a workload: its programs as writes, and the order of their runs.

    Each run has the number of its program and a name.
    """
    writes = _writes(programs.programs[0].config, programs.writes)
    cycles = [run.cycles for run in programs.predicted]
    order = [f"  {number}, /* {_NO_NAME.sub('_', name)} */" for number, name in runs]
    return "\n".join(
        [
            "/* The programs of a workload, and their numbers in the order of the runs:",
            " *",
            " *   eyecast_load(engine, eyecast_workload, EYECAST_WORKLOAD_WRITES);",
            " *   eyecast_start(engine, eyecast_workload_order[0]);",
            " *   ... */",
            "#ifndef EYECAST_WORKLOAD_H",
            "#define EYECAST_WORKLOAD_H",
            "",
            '#include "eyecast.h"',
            "",
            f"#define EYECAST_WORKLOAD_WRITES {len(writes)}",
            f"#define EYECAST_WORKLOAD_PROGRAMS {len(cycles)}",
            f"#define EYECAST_WORKLOAD_RUNS {len(order)}",
            "",
            "static const eyecast_write_t eyecast_workload[EYECAST_WORKLOAD_WRITES] = {",
            ",\n".join(writes),
            "};",
            "",
            "/* Cycles of each program. */",
            "static const uint32_t eyecast_workload_cycles[EYECAST_WORKLOAD_PROGRAMS] = {",
            f"  {', '.join(map(str, cycles))}",
            "};",
            "",
            "/* The program of each run. */",
            "static const uint8_t eyecast_workload_order[EYECAST_WORKLOAD_RUNS] = {",
            *order,
            "};",
            "",
            "#endif",
            "",
        ]
    )


_NO_NAME = re.compile(r"[^\w.,: -]", re.ASCII)
"""Characters that a comment does not show."""
