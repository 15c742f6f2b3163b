"""Certificates of packet programs: an order of channels, and what the packets carry.

::

    {"format": "eyecast-certificate", "version": 1, "program": "5fb1...",
     "channel_order": [[0, 1, 0], [1, 1, 0], [1, 0, 0], [2, 0, 0]],
     "stream_order": [], "links": [], "timing": "barrier",
     "held": [{"node": 0, "address": 0, "words": 2, "value": 0}],
     "owed": [{"node": 1, "address": 0, "words": 2, "values": [0], "operator": 0}, ...]}

"program" is the SHA-256 of the program's file. "channel_order" has each channel in use as
[node, port, VC], the ejections of a node as port 0; the route of each row rises in it.
"stream_order" has the channels [step, node, port, VC] and the packets [node, row] of all steps in
which rows stream. They are in groups, which rise along all waits of :mod:`..program.stream_waits`.
"links" are empty for networks that the checker knows; otherwise they are all links, faulty ones
too. "held" and "owed" are those of :mod:`.circuit_certificate`, for this timing; both are empty for
timed rows in a network whose links the checker does not know, if some port has no link.
:mod:`.packet_checker` checks a certificate, and shares no code with this project.
"""

from collections.abc import Iterator

import numpy as np

from ..base.arrays import Numbers
from ..base.graph_cycles import peeling_rounds
from ..network.attached_host import HostedTopology
from ..network.config import Timing
from ..program.checks import require_timing
from ..program.compiler import Compiled
from ..program.deadlock import (
    DeadlockError,
    dependencies,
    find_cycle,
    remedy,
    require_no_waiting_streams,
)
from ..program.program import Program
from ..program.route_ends import hops_of
from ..program.row import NO_START
from ..program.stream_waits import Waits, channel_parts, waits
from .contributions import links_of, numbered_values, owed_words, to_json

KNOWN = ("mesh", "torus", "line", "ring", "hypercube", "graph")
"""Kinds of networks whose links the checker knows."""


def packet_certificate(compiled: Compiled, timing: Timing) -> str:
    """Return the certificate of a program of packets as JSON text.

    Raises :class:`.InvalidInput` for a timing that the program does not have, and
    :class:`.DeadlockError` for packets that may wait in a circle.
    """
    program = compiled.program
    assert isinstance(program, Program)
    require_timing(program, timing)
    values = numbered_values(compiled)
    links = _links(program)
    # The checker needs the number of ports to know when a flit of a timed row leaves.
    ports = 1 + max((port for _, port, _, _ in links), default=0)
    timed = (program.start != NO_START).any()
    unknown = timed and links and ports < program.config.topology.ports
    return to_json(
        program,
        {
            "version": 1,
            "channel_order": channel_order(program),
            "stream_order": stream_order(program),
            "links": links,
            "timing": timing,
            "held": [] if unknown else [*_held(compiled, values)],
            "owed": [] if unknown else [*owed_words(compiled, values)],
        },
    )


def channel_order(program: Program) -> list[list[int]]:
    """Return each channel in use, [node, port, VC], so that each route rises; ejections last."""
    topology, vcs = program.config.topology, program.config.vcs
    used = np.unique(_channels(program))
    before, after = np.searchsorted(used, dependencies(program)).T
    rounds = peeling_rounds(before, after, used.size)
    if (rounds < 0).any():
        raise DeadlockError(find_cycle(program), remedy(program))
    ejection = used // vcs % topology.ports == 0
    order = used[np.lexsort((used, rounds, ejection))]
    lines, numbers = np.divmod(order, vcs)
    found: list[list[int]]
    found = np.stack((*np.divmod(lines, topology.ports), numbers), axis=1).tolist()
    return found


def stream_order(program: Program) -> list[list[list[int]]]:
    """Return the channels and packets of steps with streams, in groups that rise along waits."""
    if not program.stream.any():
        return []
    require_no_waiting_streams(program)
    return rising_groups(program, waits(program))


def rising_groups(program: Program, graph: Waits) -> list[list[list[int]]]:
    """Return channels and packets of a graph without circles, in groups that rise along edges."""
    rows, names, channels, edges = graph
    kinds, places = np.unique(np.concatenate((edges.ravel(), names, channels)), return_inverse=True)
    before, after = places[: edges.size].reshape(-1, 2).T
    rounds = peeling_rounds(before, after, kinds.size)
    groups: list[list[list[int]]] = [[] for _ in range(int(rounds.max(initial=-1)) + 1)]
    node = program.row_node[rows]
    packets = np.stack((node, rows - program.first_row[node]), axis=1)
    for numbers, items in ((names, packets), (channels, channel_parts(program, channels))):
        found = rounds[np.searchsorted(kinds, numbers)]
        for number, item in zip(found.tolist(), items.tolist(), strict=True):
            groups[number].append(item)
    return groups


def _channels(program: Program) -> Numbers:
    """Return the numbers of the channels of all rows, ejections included."""
    ports, vcs = program.config.topology.ports, program.config.vcs
    found = [np.zeros(0, np.int64)]
    for hop in hops_of(program, np.arange(len(program.step))):
        found.append(np.unique((hop.node * ports + hop.port) * vcs + hop.vc))
        found.append(np.unique((hop.ahead * ports * vcs + hop.vc)[hop.last]))
    return np.concatenate(found)


def _links(program: Program) -> list[list[int]]:
    """Return the links of a network that the checker does not know; otherwise none."""
    topology = program.config.topology
    known = topology.kind in KNOWN and not isinstance(topology, HostedTopology)
    return [] if known else links_of(topology.without_faults or topology)


def _held(compiled: Compiled, values: dict[tuple[int, int], int]) -> Iterator[dict[str, int]]:
    """Yield where the values are before the run, as :meth:`.Payload.loads` puts them."""
    blocks, layout, halves = compiled.schedule.blocks, compiled.layout, compiled.layout.halves
    pairs = np.array([*values], dtype=np.int64).reshape(-1, 2)
    highest = halves.place(pairs[:, 1], pairs[:, 0], np.zeros(len(pairs), np.int64)).tolist()
    apart = layout.apart(compiled.program.config)
    for ((block, node), value), high in zip(values.items(), highest, strict=True):
        words = int(blocks.words[block])
        for place in range(0 if halves.copied else high, high + 1) if words else ():
            address = layout.address(node, block) + apart * place
            yield {"node": node, "address": address, "words": words, "value": value}
