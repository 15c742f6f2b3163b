"""The bench of a package in plain Verilog, and its expected vectors."""

from collections.abc import Iterator
from typing import Any

from ..model.image.host_port import (
    CONTROLLER,
    Space,
    entry_stride,
    latencies,
    space_words,
    table_stride,
    widths,
)
from ..model.image.image import Image
from ..model.network.buses import REVISION, HostBus, TileBus, bus_data_bits, stream_bits
from ..model.network.config import NetworkConfig
from ..model.network.config_file import identity
from ..model.program.circuits.program import entry_fields, entry_words
from ..registers.register_map import bus_address_bits
from ..sim.verilog import describe_ports
from .guarantees import most_cycles_of_an_access
from .runs import Runs, first_node
from .template import filled
from .vectors import Vectors, data_bits

WORD_DAMAGED = "engine.network.tile_{node}.{memory}.words[address]"
MEMORIES = {
    2: "network_interface.message.memory.message_memory",
    3: "network_interface.lane_0.sender_table.table_memory",
}
"""Paths to the memories of a node, by their regions on the bus."""

MEMORIES_OF_CIRCUITS = MEMORIES | {3: "run_table.run_memory"}
"""The same with circuits."""


def bench_files(image: Image, host: HostBus, tile: TileBus | None) -> dict[str, str]:
    """Return the texts of the bench and of its vectors, by file name."""
    config = image.program.config
    vectors = Vectors(config)
    runs = [*Runs(image, vectors).lines()]
    ports = describe_ports(config, host, tile)
    outputs = list(_outputs(config))
    probes = (_probe(config, number, *each) for number, each in enumerate(outputs))
    parameters = _parameters(image, vectors, ports) | {"OUTPUTS": len(outputs)}
    parts = {
        "PARAMETERS": [
            *(f"  localparam integer {name} = {value};" for name, value in parameters.items()),
            f"  localparam [63:0] IDENTITY = {identity(config)};",
            f"  localparam [NODES-1:0] TILES = {_tiles(config)};",
        ],
        "BUS": [filled(f"bench_{host}.v", {})],
        "TILES": [_tile_text(config, tile)],
        "PORTS": [",\n".join(f"      .{port['name']}({_at(port)})" for port in ports)],
        "PROBES": [line for each in probes for line in each],
        "PARITY": [_parity_text(config)],
        "RUNS": [f"    {line}" for line in runs],
    }
    values = {name: "\n".join(lines).rstrip("\n") for name, lines in parts.items()}
    return {"bench.v": filled("bench.v", values), **vectors.files()}


def _parameters(image: Image, vectors: Vectors, ports: list[dict[str, Any]]) -> dict[str, int]:
    """Return the numeric parameters of the bench."""
    config, run = image.program.config, image.predicted
    late, width, space = latencies(config), widths(config), space_words(config)
    stride = entry_stride(config) if config.circuits else 1
    user: list[int] = [port["width"] for port in ports if port["name"].endswith("_tuser")]
    return {
        "REVISION": REVISION,
        "WIDTH": config.flit_width,
        "PIECES": config.pieces,
        "PIECE_BITS": config.piece_bits,
        "DATA_BITS": data_bits(config),
        "STREAM_BITS": stream_bits(config),
        "BITS": bus_data_bits(config),
        "PLACE_BITS": (bus_data_bits(config) // 8 - 1).bit_length(),
        "BUS_ADDRESS_BITS": bus_address_bits(config),
        "VCS": config.vcs,
        "NODES": config.topology.nodes,
        "NODE_BITS": width["node_bits"],
        "ADDRESS_BITS": width["host_address_bits"],
        "MESSAGE_BITS": config.address_bits,
        "MESSAGE_WORDS": config.message_words,
        "TABLE_WORDS": config.table_words,
        "CIRCUITS": int(config.circuits),
        "STEP_BITS": config.step_bits,
        "BELL_BITS": config.address_bits if config.circuits else config.step_bits,
        "USER_BITS": user[0] if user else 1,
        "STREAMS": int(bool(user)),
        "FIRST_NODE": first_node(config),
        "PROGRAMS": config.programs,
        "PROGRAM": image.number,
        "BASE": image.base,
        "TABLE_BASE": image.base * stride,
        "TABLE_STRIDE": stride,
        "TABLE_GAP": _gap_in_tables(config),
        "ENTRY_GAP": stride - (entry_words(config) if config.circuits else 1),
        "CONTROLLER_SPACE": space[CONTROLLER],
        "STATUS_SPACE": space[Space.STATUS],
        "MESSAGE_SPACE": space[Space.MESSAGE],
        "TABLE_SPACE": space[Space.TABLE],
        "CYCLES": run.cycles,
        "ANSWER_TO_CYCLE_0": late["answer_to_cycle_0"],
        "DONE_AFTER": late["finished_to_done"],
        "AFTERWARDS": late["answer_at_most"],
        "MOST_WAIT": most_cycles_of_an_access(config),
        "BELL_AFTER": 1 + config.operator_latency if config.operators else 0,
        **vectors.counts(),
    }


def _gap_in_tables(config: NetworkConfig) -> int:
    """Return the first address between a node's table words that has no word; 0 if none has not."""
    if config.circuits:
        words, stride, parts = entry_words(config), entry_stride(config), config.table_words
    else:
        words, stride, parts = config.table_words, table_stride(config), config.lanes
    return words if words < stride and parts > 1 else 0


def _tiles(config: NetworkConfig) -> str:
    """Return a bit vector of the nodes that have a tile port."""
    nodes = config.topology.nodes
    bits = "".join("01"[node not in config.topology.switches] for node in reversed(range(nodes)))
    return f"{nodes}'b{bits}"


def _tile_text(config: NetworkConfig, tile: TileBus | None) -> str:
    """Return the part of the bench that plays the tiles."""
    if not config.tile_ports:
        return filled("bench_no_tiles.v", {})
    streams = filled(f"bench_{tile}.v" if tile else "bench_ports.v", {})
    return filled("bench_tiles.v", {"STREAMS": streams.rstrip("\n")})


def _parity_text(config: NetworkConfig) -> str:
    """Return the part of the bench that damages words."""
    if not config.parity:
        return ""
    lines = []
    memories, bits = MEMORIES, {2: config.flit_width, 3: config.narrow_width}
    if config.circuits:
        memories, bits[3] = MEMORIES_OF_CIRCUITS, sum(width for _, width in entry_fields(config))
    for node in range(config.topology.nodes):
        for region, memory in memories.items() if node not in config.topology.switches else ():
            word = WORD_DAMAGED.format(node=node, memory=memory)
            lines += [f"      {{2'd{region}, 32'd{node}}}:", f"        {word} ="]
            lines += [f"            {word} ^ (1 << ({bits[region]} + bit_at));"]
    return filled("bench_parity.v", {"DAMAGES": "\n".join(lines)})


_OF_TILE = {
    **{"running": "core_runs", "step": "node_step", "program": "program_number"},
    **{"arrived_step": "bell_value", "arrived_address": "bell_value"},
}
_VECTORS_OF_TILES = {
    "arrived_step": "BELL_BITS",
    "arrived_address": "BELL_BITS",
    "step": "STEP_BITS",
    "program": "4",
    "read_data": "WIDTH",
}
_OF_ALL_TILES = ("write_address", "write_data", "read_address")


def _at(port: dict[str, Any]) -> str:
    """Return the bench's expression for a port of the engine."""
    name: str = port["name"]
    if name.startswith("tile_"):
        node, signal = name.removeprefix("tile_").split("__")
        known = signal in _KNOWN_OF_TILE
        if not known:
            return f"{port['width']}'b0" if port["direction"] == "input" else ""
        if signal in _OF_ALL_TILES:
            return _of_one(signal, f"{signal.split('_')[0]}_valid", node)
        return _slice(_OF_TILE.get(signal, signal), node, _VECTORS_OF_TILES.get(signal))
    if "_axis_" in name:
        _, _, kind, node, signal = name.split("_")
        kind = "words" if name.startswith("m_") else kind
        if signal in ("tdata", "tlast") and kind != "words":
            return _of_one(f"{kind}_{signal}", f"{kind}_tvalid", node)
        width = {"tdata": "STREAM_BITS", "tuser": "USER_BITS"}.get(signal)
        return _slice(f"{kind}_{signal}", node, width)
    return name


def _of_one(value: str, valid: str, node: str) -> str:
    """Return a value that the bench has once; a tile for which it is not valid gets another one."""
    return f"{valid}[{node}] ? {value} : ~{value}"


_KNOWN_OF_TILE = (
    *("write_valid", "write_ready", "write_address", "write_data", "write_refused"),
    *("read_valid", "read_ready", "read_address", "read_answered", "read_data"),
    *("hold", "arrived", "arrived_step", "arrived_address"),
    *("step", "finished", "running", "program"),
)


def _slice(vector: str, node: str, width: str | None) -> str:
    """Return the bits of a node in a vector of all nodes."""
    return f"{vector}[{node}*{width}+:{width}]" if width else f"{vector}[{node}]"


def _outputs(config: NetworkConfig) -> Iterator[tuple[int, int, int]]:
    """Yield node, port and number at its router of every router output, in the order of a trace."""
    for node in range(config.topology.nodes):
        own = 0 if node in config.topology.switches else config.lanes
        for number in range(own + config.topology.ports - 1):
            yield node, max(0, number - own + 1), number


def _probe(
    config: NetworkConfig, number: int, node: int, port: int, at_router: int
) -> Iterator[str]:
    """Yield the wires to an output of a router; words of circuits have no marks."""
    router = f"engine.network.tile_{node}.router.outputs__{at_router}"
    yield f"  assign valid[{number}*VCS+:VCS] = {router}__valid;"
    flit = f"{{2'b0, {router}__word}}" if config.circuits else f"{router}__flit"
    yield f"  assign flit[{number}*(WIDTH+2)+:WIDTH+2] = {flit};"
    yield f"  assign place[{number}*32+:32] = {{16'd{node}, 16'd{port}}};"
