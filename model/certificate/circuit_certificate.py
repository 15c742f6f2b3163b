"""Certificates of programs on circuits: what each memory holds before the run and owes after it.

::

    {"format": "eyecast-certificate", "version": 2, "program": "5fb1...", "cycles": 9,
     "links": [[0, 1, 1, 2], [1, 1, 2, 2], [1, 2, 0, 1], [2, 2, 1, 1]],
     "held": [{"node": 0, "address": 0, "words": 2, "value": 0}],
     "owed": [{"node": 1, "address": 0, "words": 2, "values": [0], "operator": 0}, ...]}

"program" is the SHA-256 of the program's file. A link is [node, port, node behind it, its port]. A
*value* is what one node contributes to a block. A word that is owed is made of that word of each of
"values", by the operator of this number in the network; 0 for a single value. "cycles" are those of
the run. :mod:`.circuit_checker` checks a certificate, and shares no code with this project.
"""

from __future__ import annotations

from collections.abc import Iterator
from hashlib import sha256
from typing import Any

import msgspec
import numpy as np

from ..base.errors import InvalidInput
from ..network.topology import NO_LINK, Topology
from ..program.circuits import CircuitProgram
from ..program.compiler import Compiled
from ..program.file import program_json
from ..program.puts import operator_numbers

FORMAT, VERSION = "eyecast-certificate", 2


def certificate_json(compiled: Compiled) -> str:
    """Return the certificate of a program on circuits as JSON text.

    Raises :class:`.InvalidInput` for another program.
    """
    parts = {name: msgspec.json.encode(value) for name, value in _certificate(compiled).items()}
    lines = ",\n ".join(f'"{name}": {value.decode()}' for name, value in parts.items())
    return f"{{{lines}}}\n"


def _certificate(compiled: Compiled) -> dict[str, Any]:
    """Return the certificate as JSON values."""
    program = compiled.program
    if not isinstance(program, CircuitProgram):
        raise InvalidInput.of("network of a certificate", "one with circuits", "without")
    if program.config.all_port:
        raise InvalidInput.of("ports of a network with a certificate", "one", "all")
    values = _values(compiled)
    return {
        "format": FORMAT,
        "version": VERSION,
        "program": sha256(program_json(program).encode()).hexdigest(),
        "cycles": program.cycles,
        "links": _links(program.config.topology),
        "held": [*_held(compiled, values)],
        "owed": [*_owed(compiled, program, values)],
    }


def _links(topology: Topology) -> list[list[int]]:
    """Return each link: node, port, and the node and the port at its other end."""
    nodes, ports = np.nonzero(topology.neighbor != NO_LINK)
    ends = topology.neighbor[nodes, ports], topology.peer[nodes, ports]
    links: list[list[int]] = np.stack((nodes, ports, *ends), axis=1).tolist()
    return links


def _values(compiled: Compiled) -> dict[tuple[int, int], int]:
    """Return the number of each value: a block with a node that has a value of it at the start."""
    blocks, topology = compiled.schedule.blocks, compiled.schedule.topology
    pairs = [
        (block, node) for block in range(len(blocks)) for node in blocks.holders(block, topology)
    ]
    return {pair: number for number, pair in enumerate(pairs)}


def _held(compiled: Compiled, values: dict[tuple[int, int], int]) -> Iterator[dict[str, int]]:
    """Yield where the values are before the run."""
    for (block, node), value in values.items():
        if words := int(compiled.schedule.blocks.words[block]):
            address = compiled.layout.address(node, block)
            yield {"node": node, "address": address, "words": words, "value": value}


def _owed(
    compiled: Compiled, program: CircuitProgram, values: dict[tuple[int, int], int]
) -> Iterator[dict[str, object]]:
    """Yield what nodes are owed: the words of each block, and the values that they are made of."""
    blocks, topology = compiled.schedule.blocks, compiled.schedule.topology
    everyone = topology.working_nodes.tolist()
    numbers = operator_numbers(compiled.schedule, program.config).tolist()
    for block, (owed, number) in enumerate(zip(blocks.owed, numbers, strict=True)):
        made_of = [values[block, node] for node in blocks.holders(block, topology)]
        operator = number if len(made_of) > 1 else 0
        words = int(blocks.words[block])
        for node in (everyone if owed is None else owed) if words else ():
            address = compiled.layout.address(node, block)
            yield {
                **{"node": node, "address": address, "words": words},
                **{"values": made_of, "operator": operator},
            }
