"""The driver of a package in C, and the image of its program as an array."""

from typing import cast

from ..model.image.host_port import Space, entry_stride, table_stride
from ..model.image.image import Image
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
    end = "u" if bits == 32 else "ull"
    writes = [
        f"  {{{byte_address(config, node, Space(space), address):#x}u, {word:#x}{end}}}"
        for node, space, address, word in cast(list[list[int]], image.writes.tolist())
    ]
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
