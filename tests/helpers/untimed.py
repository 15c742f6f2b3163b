"""Effect of a program on the message memories, without time: an interpreter of docs/router.md.

Within a step it moves one word of one row at a time, in random order. It reads a word, combines it
by NumPy's version of the operator, and writes it at once. A row that streams waits for its word. If
no order matters to a program, every network that follows docs/router.md ends with these memories.
"""

from collections import Counter
from collections.abc import Sequence

import numpy as np
import numpy.typing as npt
from helpers.by_numpy import combined

from eyecast.model.network.segment import Segment
from eyecast.model.network.topology import Topology
from eyecast.model.program.program import Program

Memory = npt.NDArray[np.uint64]


def ending(topology: Topology, node: int, route: Sequence[Segment]) -> tuple[int, int]:
    """Return the last node of a packet's route, and the port by which the packet enters it."""
    entered = 0
    for port, hops, _ in route:
        for _ in range(hops):
            node, entered = (int(table[node, port]) for table in (topology.neighbor, topology.peer))
    return node, entered


def wrapped(address: int, place: int, window: int) -> int:
    """Return the address of word ``place`` of a message that begins at ``address``."""
    if window == 0:
        return address + place
    size = 2**window
    return address - address % size + (address + place) % size


def carried_out(program: Program, memory: Memory, seed: int) -> Memory | None:
    """Return the memories after all steps; None if a row waits for ever."""
    memory = memory.copy()
    config = program.config
    draw = np.random.default_rng(seed)
    half = 2 ** (config.message_words - 1).bit_length() // 2
    for step in range(1, program.steps + 1):
        rows = [(n, row) for n, own in enumerate(program.rows) for row in own if row.step == step]
        ends = [ending(config.topology, node, row.route) for node, row in rows]
        gone = [0] * len(rows)
        come: Counter[tuple[int, int]] = Counter()
        left = [number for number, (_, row) in enumerate(rows) if row.length]
        while left:
            draw.shuffle(left)
            moved = False
            for number in left:
                node, row = rows[number]
                place = gone[number]
                awaited = place - row.lead
                if row.stream and awaited >= 0 and come[node, row.stream] <= awaited:
                    continue
                word = memory[node, wrapped(row.source_address, place, row.window)]
                target, port = ends[number]
                lane = port if config.all_port else 1
                address = wrapped(row.target_address, place, row.window)
                if row.operator:
                    operator = config.operators[(row.operator - 1) // 2]
                    at = address if row.operator % 2 else address ^ half
                    pieces = memory[target, at].reshape(-1), word.reshape(-1)
                    bits, own = config.narrow_width, operator.meaning
                    word = combined(operator.name, *pieces, bits, own).reshape(word.shape)
                memory[target, address] = word
                come[target, lane] += not row.continued
                gone[number] += 1
                moved = True
            if not moved:
                return None
            left = [number for number in left if gone[number] < rows[number][1].length]
    return memory
