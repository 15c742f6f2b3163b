"""The register map of a network behind a bus: SystemRDL, C header, IP-XACT and pages.

Written to docs/router.md, sections 16 and 21. ``engine.rdl`` is the only description; this module
fills in the numbers of a network.
"""

from __future__ import annotations

import shutil
import tempfile
from pathlib import Path
from string import Template
from typing import TYPE_CHECKING

from ..model.base.errors import InvalidInput
from ..model.image.host_port import ARRIVED, Space, space_words, table_stride, widths
from ..model.network.buses import REVISION, bus_data_bits, require_address_bits
from ..model.network.config import NetworkConfig, bits_for
from ..model.network.config_file import identity

if TYPE_CHECKING:
    from systemrdl.node import AddrmapNode

REGIONS = ("controller", "status", "message", "table")
"""Regions by the two highest bits of a byte address."""

REGION_OF = {
    Space.MESSAGE: "message",
    Space.TABLE: "table",
    Space.EXPECTED: "controller",
    Space.STATUS: "status",
}
"""Region of each space of the host port; space 2 is the controller's."""

PAGES_FOLDER = "registers"
"""Folder that :func:`register_map_files` makes for the page."""

LARGE_FONTS = ("Lato", "RobotoSlab")
"""Fonts that are left out of the page (7 of its 8 MB); browsers use their own."""


def bus_address_bits(config: NetworkConfig) -> int:
    """Return the width of a byte address on the bus."""
    width, places = widths(config), (bus_data_bits(config) // 8 - 1).bit_length()
    return 2 + width["node_bits"] + width["host_address_bits"] + places


def require_bus(config: NetworkConfig) -> None:
    """Raise :class:`InvalidInput` for a network that cannot stand behind a bus."""
    if not config.programs:
        raise InvalidInput.of("programs", "at least 1 for a register map", config.programs)
    require_address_bits(bus_address_bits(config))


def region_base(config: NetworkConfig, region: str) -> int:
    """Return the first byte address of a region, one of :data:`REGIONS`."""
    return REGIONS.index(region) << bus_address_bits(config) - 2


def node_bytes(config: NetworkConfig) -> int:
    """Return the byte addresses from one node of a region to the next."""
    return bus_data_bits(config) // 8 << widths(config)["host_address_bits"]


def byte_address(config: NetworkConfig, node: int, space: Space, address: int) -> int:
    """Return the bus byte address of a word at an address of the host port."""
    word = address * (bus_data_bits(config) // 8)
    return region_base(config, REGION_OF[space]) + node * node_bytes(config) + word


def register_map(config: NetworkConfig, *, prefix: str = "eyecast") -> str:
    """Return the SystemRDL of everything that a bus reaches.

    Names visible outside the map begin with ``prefix``. Raises :class:`InvalidInput` as
    :func:`require_bus`.
    """
    require_bus(config)
    template = Path(__file__).with_name("engine.rdl").read_text()
    return Template(template).substitute(_numbers(config), prefix=prefix)


def register_map_files(
    config: NetworkConfig, folder: Path, *, prefix: str = "eyecast"
) -> list[Path]:
    """Write the register map into an existing ``folder``; return the files' paths.

    ``eyecast_engine.rdl`` is SystemRDL, ``eyecast_engine.h`` a C header, ``eyecast_engine.xml``
    IP-XACT and ``registers/index.html`` a page; PeakRDL makes the last three. Names begin with
    ``prefix``. Raises :class:`InvalidInput` as :func:`require_bus`, and if PeakRDL is not
    installed.
    """
    text = register_map(config, prefix=prefix)
    rdl, header, component = (f"{prefix}_engine.{ending}" for ending in ("rdl", "h", "xml"))
    try:
        from peakrdl_cheader.c_standards import CStandard  # noqa: PLC0415 - optional
        from peakrdl_cheader.exporter import CHeaderExporter  # noqa: PLC0415 - optional
        from peakrdl_html import HTMLExporter  # noqa: PLC0415 - optional

        from .ipxact import write_ipxact  # noqa: PLC0415 - optional
    except ImportError as error:
        installed = "installed (pip install 'eyecast[ip]')"
        raise InvalidInput.of("PeakRDL, for register maps,", installed, "missing") from error
    # Work in a folder beside the target, so that complete files can be moved there.
    with tempfile.TemporaryDirectory(dir=folder, prefix=".registers-") as name:
        work = Path(name)
        source = work / rdl
        source.write_text(text)
        top = compiled(source)
        CHeaderExporter().export(top, str(work / header), std=CStandard.gnu99)
        write_ipxact(top, work / component)
        # A page with the time of day would make two packages of the same network differ.
        HTMLExporter(user_context={"build_ts": 0}).export(top, str(work / PAGES_FOLDER))
        _leave_out(work / PAGES_FOLDER)
        shutil.rmtree(folder / PAGES_FOLDER, ignore_errors=True)
        for part in (rdl, header, component, PAGES_FOLDER):
            (work / part).replace(folder / part)
    files = (rdl, header, component, f"{PAGES_FOLDER}/index.html")
    return [folder / file for file in files]


def _leave_out(pages: Path) -> None:
    """Remove unneeded parts of the page: large fonts and browser launchers for Windows."""
    for folder in (*(pages / "fonts" / fonts for fonts in LARGE_FONTS), pages / ".launcher_data"):
        shutil.rmtree(folder)
    for launcher in pages.glob("launcher-*"):
        launcher.unlink()


def compiled(source: Path) -> AddrmapNode:
    """Return the address map of a SystemRDL file, for tools that work on it."""
    from systemrdl import RDLCompiler  # noqa: PLC0415 - optional

    compiler = RDLCompiler()
    compiler.compile_file(str(source))
    return compiler.elaborate().top


def _numbers(config: NetworkConfig) -> dict[str, object]:
    """Return the values for the names in ``engine.rdl``."""
    size = bus_data_bits(config) // 8
    bases = {f"{region}_at": f"{region_base(config, region):#x}" for region in REGIONS[1:]}
    return {
        **bases,
        "network": _described(config),
        "identity": f"{identity(config):#010x}",
        "revision": REVISION,
        "data_bits": bus_data_bits(config),
        "bytes": size,
        "width": config.narrow_width,
        "word_bits": f"{config.narrow_width - 1}:0",
        "mode": _mode(config),
        **_of_circuits(config),
        "flags": _flags(config),
        "last_address_bit": bus_address_bits(config) - 1,
        "programs": config.programs,
        "nodes": config.topology.nodes,
        "node_bytes": f"{node_bytes(config):#x}",
        "message_words": space_words(config)[Space.MESSAGE],
        "pieces": _pieces(config),
        **_tables(config),
        "more_status": _more_status(config),
        "without_memory": _without_memory(config),
    }


_FLAGS = {
    0: ("overflow", "A flit came to a full buffer."),
    1: ("parity", "A word that was read is damaged."),
    2: ("credit_overflow", "A credit came to a full counter."),
    3: ("bad_route", "A flit asked for an output that it may not take."),
    4: ("unexpected_receive", "A packet ended that was not expected."),
    5: ("send_and_receive", "A row began in a step with a receive, half-duplex."),
    6: ("bad_row", "The sender refused a row."),
    7: ("bad_write", "A word came for beyond the message memory."),
}
"""Name and description of each flag of a node (docs/router.md, section 6)."""

_CIRCUIT_FLAGS = {
    0: ("lost_word", "A word came that no entry takes."),
    1: _FLAGS[1],
    2: ("missing_word", "No word came where an entry takes one."),
    3: ("bad_route", "An entry names an input, an operator or a sum that is not there."),
    5: ("send_and_receive", "A word was sent in a cycle in which one arrived, half-duplex."),
    6: ("bad_row", "A word to send lies beyond the message memory, or the table has no end."),
    7: ("bad_write", "A word came that cannot be written."),
}
"""The flags of a node of a network with circuits (section 23)."""


def _flags(config: NetworkConfig) -> str:
    """Return the fields of the register of flags."""
    flags = _CIRCUIT_FLAGS if config.circuits else _FLAGS
    fields = (
        f'            field {{ desc = "{text}"; }} {name}[{bit}:{bit}];\n'
        for bit, (name, text) in flags.items()
    )
    return "".join(fields)


def _mode(config: NetworkConfig) -> str:
    """Return the field of a program's mode that circuits, which have no steps, do not have."""
    text = "A step starts when the last one has ended everywhere."
    field = f'            field {{ desc = "{text}"; }} barrier[0:0];\n'
    return "" if config.circuits else field


def _of_circuits(config: NetworkConfig) -> dict[str, object]:
    """Return the values for the register of the step: with circuits, of the current entry."""
    if config.circuits:
        step, bits = "The number of the entry that is current.", bits_for(config.table_words)
    else:
        step, bits = "The step that the node is in.", config.step_bits
    return {"step": step, "step_bits": f"{bits - 1}:0"}


def _tables(config: NetworkConfig) -> dict[str, object]:
    """Return the values for the table memories; with circuits each node has one run table."""
    size = bus_data_bits(config) // 8
    words, stride = config.table_words, table_stride(config)
    if config.circuits:
        words = stride = space_words(config)[Space.TABLE]
    return {
        "table": "Run table" if config.circuits else "Table of sender",
        "table_entries": words,
        "senders": 1 if config.circuits else config.lanes,
        "sender_bytes": f"{size * stride:#x}",
        "without_table": "Every node has one." if config.circuits else _without_memory(config),
    }


def _described(config: NetworkConfig) -> str:
    """Return a description of the network in one line."""
    label, parity = config.topology.label, ", parity" if config.parity else ""
    return f"{label}, {config.vcs} VCs, words of {config.flit_width} bits{parity}."


def _more_status(config: NetworkConfig) -> str:
    """Return the status words that only some networks have."""
    lines, at = [], ""
    if config.circuits:
        # Circuits have no stalled flits: that address reads as 0.
        at = f" @ {ARRIVED * bus_data_bits(config) // 8:#x}"
    else:
        width, words = config.narrow_width, config.lanes * config.mask_words
        text, field = "Counted in simulation alone.", f"field {{}} stalled_flits[{width - 1}:0];"
        lines.append(f'        reg {{ desc = "{text}"; {field} }} stalled_flits;')
        text = f"Bit b of word w: a packet of step w * {width} + b has come."
        field = f"field {{}} steps[{width - 1}:0];"
        lines.append(f'        reg {{ desc = "{text}"; {field} }} arrived[{words}];')
    if config.lanes > 1 and not config.circuits:
        lines.append(f"        sender_state_r further_sender_state[{config.lanes - 1}];")
    if config.signature:
        field = 'field { desc = "CRC-32 of all that left the router."; } signature[31:0];'
        lines.append(f"        reg {{ {field} }} signature{at};")
    return "".join(f"{line}\n" for line in lines)


def _pieces(config: NetworkConfig) -> str:
    """Return a sentence on the pieces of a wide word, after the one on nodes without memories."""
    if not config.further_pieces:
        return ""
    begin = f"{1 << config.piece_bits} * a"
    return (
        f" Word a is the entries {begin} to {begin} + {config.further_pieces}, the lowest 64 bits"
        " first; the write of the last one writes the word."
    )


def _without_memory(config: NetworkConfig) -> str:
    """Return a sentence on the nodes without memories."""
    switches = sorted(config.topology.switches)
    numbers = ", ".join(map(str, switches))
    return f"Switches, which have none: {numbers}." if switches else "Every node has one."
