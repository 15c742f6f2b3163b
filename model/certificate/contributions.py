"""The parts that certificates of circuits and of packets share: links, values, and owed words."""

from collections.abc import Iterator, Mapping
from hashlib import sha256

import msgspec
import numpy as np

from ..network.topology import NO_LINK, Topology
from ..program.any_program import AnyProgram
from ..program.compiler import Compiled
from ..program.file import program_json
from ..program.memory.puts import operator_numbers

FORMAT = "eyecast-certificate"


def to_json(program: AnyProgram, fields: Mapping[str, object]) -> str:
    """Return the certificate of a program with these ``fields`` as JSON text, a line for each."""
    digest = sha256(program_json(program).encode()).hexdigest()
    every = {"format": FORMAT, **fields, "program": digest}
    parts = {name: msgspec.json.encode(value) for name, value in every.items()}
    lines = ",\n ".join(f'"{name}": {value.decode()}' for name, value in parts.items())
    return f"{{{lines}}}\n"


def links_of(topology: Topology) -> list[list[int]]:
    """Return each link: node, port, and the node and the port at its other end."""
    nodes, ports = np.nonzero(topology.neighbor != NO_LINK)
    ends = topology.neighbor[nodes, ports], topology.peer[nodes, ports]
    links: list[list[int]] = np.stack((nodes, ports, *ends), axis=1).tolist()
    return links


def numbered_values(compiled: Compiled) -> dict[tuple[int, int], int]:
    """Return the number of each value: a block with a node that has a value of it at the start."""
    blocks, topology = compiled.schedule.blocks, compiled.schedule.topology
    pairs = [
        (block, node) for block in range(len(blocks)) for node in blocks.holders(block, topology)
    ]
    return {pair: number for number, pair in enumerate(pairs)}


def owed_words(
    compiled: Compiled, values: Mapping[tuple[int, int], int]
) -> Iterator[dict[str, object]]:
    """Yield what nodes are owed: the words of each block, and the values that they are made of."""
    blocks, topology = compiled.schedule.blocks, compiled.schedule.topology
    everyone = topology.working_nodes.tolist()
    numbers = operator_numbers(compiled.schedule, compiled.program.config).tolist()
    for block, (owed, number) in enumerate(zip(blocks.owed, numbers, strict=True)):
        words = int(blocks.words[block])
        for node in (everyone if owed is None else owed) if words else ():
            address = compiled.layout.address(node, block)
            made_of = [values[block, part] for part in blocks.parts(block, node, topology)]
            operator = number if len(made_of) > 1 else 0
            yield {
                **{"node": node, "address": address, "words": words},
                **{"values": made_of, "operator": operator},
            }
