"""The network of the chip, its two programs, and the layout of a node's memory."""

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import NamedTuple

import eyecast
from eyecast.model.compare.case import watchdog
from eyecast.model.cycle.model import run
from eyecast.model.image.programs import ProgramsImage
from eyecast.model.network.config import NetworkConfig, Timing
from eyecast.model.program.compiler import fit
from eyecast.model.program.payload import empty_memory
from eyecast.model.program.program import Program

from .numbers import Factors

SPREAD, GATHER = 0, 1
"""The two programs: x to all nodes, then every node's part of y to all nodes."""


class Plan(NamedTuple):
    """Places in the message memory of every node.

    The vector x lies from ``vector`` on, y from ``result`` on, the node's rows of the matrix, one
    behind the other, from ``matrix`` on. ``size`` is the length of x and y, ``rows_of_node`` the
    number of rows of each node.
    """

    size: int
    rows_of_node: int
    vector: int
    result: int
    matrix: int

    @property
    def words(self) -> int:
        """Return the memory words that a node needs."""
        return self.matrix + self.size * self.rows_of_node


@dataclass(frozen=True)
class Software:
    """The network, the layout of its memories, and the programs' image."""

    config: NetworkConfig
    plan: Plan
    image: ProgramsImage

    def writes(self, matrix: Factors, vector: Factors) -> Iterator[tuple[int, int, int, int]]:
        """Return the host's writes: (node, space, address, word); only node 0 gets x."""
        yield from map(tuple, self.image.writes.tolist())
        plan, mask = self.plan, 0xFFFF
        for address, word in enumerate(vector.tolist(), plan.vector):
            yield 0, 0, address, word & mask
        parts = matrix.reshape(-1, plan.rows_of_node * plan.size)
        for node, part in enumerate(parts.tolist()):
            for address, word in enumerate(part, plan.matrix):
                yield node, 0, address, word & mask


def software(width: int, height: int, rows_of_node: int) -> Software:
    """Compile both programs for a mesh with ``rows_of_node`` matrix rows at each node."""
    topology = eyecast.mesh((width, height))
    size = topology.nodes * rows_of_node
    plan = Plan(size, rows_of_node, vector=0, result=size, matrix=2 * size)
    schedules = [
        eyecast.schedule(topology, "tree", source=0, words=size),
        eyecast.schedule(topology, "ring", collective="all-gather", words=rows_of_node),
    ]
    wanted = NetworkConfig(
        topology=topology, programs=2, tile_ports=True, message_words=plan.words, table_words=32
    )
    _, compiled = fit(wanted, schedules)
    programs = [each.program for each in compiled]
    # Tables are as long as the longer program wants them, and both must lie in them.
    words = sum(int(each.table_sizes.max()) for each in programs)
    config = replace(programs[0].config, table_words=words)
    spread, gather = (_moved(each, config, 0) for each in programs)
    programs = [spread, _moved(gather, config, plan.result)]
    predicted = [run(each, empty_memory(config), timing=Timing.BARRIER) for each in programs]
    image = ProgramsImage(
        programs=programs,
        timing=Timing.BARRIER,
        predicted=predicted,
        # Tiles may hold the second one back for as long as they compute.
        limits=[watchdog(each) + 4 * plan.words for each in predicted],
    )
    return Software(config, plan, image)


def _moved(program: Program, config: NetworkConfig, offset: int) -> Program:
    """Return the program with addresses higher by ``offset``, in the network ``config``."""
    rows = [
        [
            replace(
                row,
                source_address=row.source_address + offset,
                target_address=row.target_address + offset,
            )
            for row in rows
        ]
        for rows in program.rows
    ]
    return Program.from_rows(config, program.port_model, rows, program.receives)
