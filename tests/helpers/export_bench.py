"""The plain Verilog bench of an exported network, and the macros that it needs."""

import json
from pathlib import Path

from eyecast.model.network.config import NetworkConfig

BENCH = Path(__file__).parents[1] / "sim" / "export_bench.v"


def network_macros(config: NetworkConfig) -> dict[str, int]:
    """Return the macros of a network; ``network.json`` beside the export lists its widths."""
    ports = json.loads(Path("network.json").read_text())["ports"]
    width = {port["name"]: port["width"] for port in ports}
    return {
        "NODE_BITS": width["host__node"],
        "ADDRESS_BITS": width["host__address"],
        "FLIT_WIDTH": width["host__read_data"],
        "NODES": config.topology.nodes,
        "MESSAGE_WORDS": config.message_words,
    }


def write_line(node: int, space: int, address: int, word: int) -> str:
    """Return the line of ``writes.hex`` that writes one word."""
    return f"{node:04x}{space:04x}{address:04x}{word:016x}"
