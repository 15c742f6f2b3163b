"""The register map of a network as IP-XACT (IEEE 1685-2014), by PeakRDL."""

import re
from pathlib import Path
from typing import Any

from peakrdl_ipxact import IPXACTExporter
from systemrdl.node import AddressableNode, AddrmapNode, MemNode, RegfileNode


class _Exporter(IPXACTExporter):  # type: ignore[misc]
    """PeakRDL's exporter, with a block of addresses for each memory.

    PeakRDL leaves out memories below the root of a map.
    """

    def add_addressBlock(self, parent: Any, node: AddressableNode) -> None:  # noqa: N802
        """Add a block for all registers, and one for each memory."""
        super().add_addressBlock(parent, node)
        registers = [child for child in node.children() if isinstance(child, RegfileNode)]
        last = max(registers, key=lambda each: each.raw_absolute_address)
        end = last.raw_absolute_address + last.total_size
        _replace(parent.lastChild, "range", self.hex_str(end))
        memories = [each for each in node.descendants(unroll=True) if isinstance(each, MemNode)]
        for memory in memories:
            super().add_addressBlock(parent, memory)
            # Each word of a memory takes a whole word of the bus.
            width = 8 * memory.size // memory.get_property("mementries")
            _replace(parent.lastChild, "width", str(width))

    def add_registerFile(self, parent: Any, node: AddressableNode) -> None:  # noqa: N802
        """Add a group of registers; a group of memories has none."""
        if not isinstance(node, AddrmapNode):
            super().add_registerFile(parent, node)

    def get_name(self, node: AddressableNode) -> str:
        """Return a name; that of a memory begins with the groups that the memory is in."""
        if not isinstance(node, MemNode):
            return str(node.inst_name)
        path = node.parent.get_path().partition(".")[2]
        return re.sub(r"\W+", "_", path).strip("_")


def _replace(block: Any, name: str, text: str) -> None:
    """Replace the text of the first element of a name in a block of addresses."""
    block.getElementsByTagName(f"ipxact:{name}")[0].firstChild.data = text


def write_ipxact(top: AddrmapNode, path: Path) -> None:
    """Write the address map of an engine as a component of IP-XACT."""
    _Exporter(vendor="eyecast", library="ip").export(top, str(path))
