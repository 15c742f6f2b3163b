"""The bench of a package, in plain Verilog, and the vectors that it compares with."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from ..model.image.host_port import latencies, widths
from ..model.image.image import Image
from ..model.network.config import NetworkConfig
from ..model.network.config_file import identity
from ..model.run.trace import Trace
from ..sim.verilog import describe_ports
from .template import filled

CYCLES_OF_A_REQUEST = 80
"""More than any request takes."""


def bench_files(image: Image) -> dict[str, str]:
    """Texts of the bench and of its vectors, by file name."""
    config, run = image.program.config, image.predicted
    flits = list(_flits(config, run.trace))
    words = [
        f"{node:08x}{address:08x}{int(run.memory[node, address]):016x}"
        for node, address in np.argwhere(image.known).tolist()
    ]
    writes = [
        f"{node:08x}{space:02x}{address:08x}{word:016x}"
        for node, space, address, word in image.writes.tolist()
    ]
    outputs = list(_outputs(config))
    late = latencies(config)
    requests = len(writes) + len(words) + config.topology.nodes + 10
    parameters = {
        "WIDTH": config.flit_width,
        "VCS": config.vcs,
        "NODES": config.topology.nodes,
        "NODE_BITS": widths(config)["node_bits"],
        "ADDRESS_BITS": widths(config)["host_address_bits"],
        "OUTPUTS": len(outputs),
        "WRITES": len(writes),
        "FLITS": len(flits),
        "WORDS": len(words),
        "PROGRAM": image.number,
        "CYCLES": run.cycles,
        "ANSWER_TO_CYCLE_0": late["answer_to_cycle_0"],
        "DONE_AFTER": late["finished_to_done"],
        "MOST_CYCLES": run.cycles + CYCLES_OF_A_REQUEST * requests,
    }
    lines = {
        "PARAMETERS": [
            *(f"  localparam integer {name} = {value};" for name, value in parameters.items()),
            f"  localparam [63:0] IDENTITY = {identity(config)};",
        ],
        "PORTS": [",\n".join(f"      .{name}({value})" for name, value in _ports(config))],
        "PROBES": [line for number, each in enumerate(outputs) for line in _probe(number, *each)],
    }
    text = filled("bench.v", {name: "\n".join(each) for name, each in lines.items()})
    vectors = {"writes.hex": writes, "flits.hex": flits, "words.hex": words}
    # One line more than there are, so that none of the memories is empty.
    ends = {"writes.hex": [], "flits.hex": ["0" * 38], "words.hex": ["0" * 32]}
    texts = {name: "\n".join([*each, *ends[name], ""]) for name, each in vectors.items()}
    return {"bench.v": text, **texts}


def _ports(config: NetworkConfig) -> Iterator[tuple[str, str]]:
    """Every port of the network, and what the bench has at it; no tile asks for anything."""
    for port in describe_ports(config):
        name = port["name"]
        if not name.startswith("tile_"):
            yield name, name
        else:
            yield name, f"{port['width']}'b0" if port["direction"] == "input" else ""


def _outputs(config: NetworkConfig) -> Iterator[tuple[int, int, int]]:
    """The outputs of all routers in the order of a trace: node, port, and number at its router."""
    for node in range(config.topology.nodes):
        own = 0 if node in config.topology.switches else config.lanes
        for number in range(own + config.topology.ports - 1):
            yield node, max(0, number - own + 1), number


def _probe(number: int, node: int, port: int, at_router: int) -> Iterator[str]:
    """Wires to what an output of a router sends."""
    router = f"network.tile_{node}.router.outputs__{at_router}"
    yield f"  assign valid[{number}*VCS+:VCS] = {router}__valid;"
    yield f"  assign flit[{number}*(WIDTH+2)+:WIDTH+2] = {router}__flit;"
    yield f"  assign place[{number}*32+:32] = {{16'd{node}, 16'd{port}}};"


def _flits(config: NetworkConfig, trace: Trace) -> Iterator[str]:
    """A line for each flit: cycle, node, port, VC, marks (tail, head) and data."""
    for cycle, node, port, vc, kind, data in trace:
        yield f"{cycle:08x}{node:04x}{port:04x}{vc:02x}{kind:02x}{data:018x}"
