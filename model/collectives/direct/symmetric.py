"""All-to-all on a square torus with circuits, in which all nodes send alike.

A node sends a message over each distance (dx, dy), and all nodes send theirs over the same distance
by the same turns in the same cycle. So no two of them want one link, and a plan of one node's
n² - 1 messages is a plan of all. ``bench/symmetric.py`` searches plans of few cycles; the best are
kept in ``symmetric.json``, by side: the paths in the order in which they leave::

    xxY     two links up axis 0, then one down axis 1       x, y: up      X, Y: down

The compiler gives each message the first cycle in which its links are free. (The static slot tables
of S4NOC are of this kind: M. Schoeberl et al., "A Statically Scheduled Time-Division-Multiplexed
Network-on-Chip for Real-Time Systems", NOCS 2012.)
"""

from pathlib import Path

import msgspec
import numpy as np

from ...base.errors import one_of, require_range
from ...base.ragged import offsets_of
from ...network.port_model import PortModel
from ...network.topology import Topology
from ...schedule.blocks import Blocks
from ...schedule.collective import Collective
from ...schedule.resources import resources_of
from ...schedule.schedule import Schedule
from ..declared.algorithm import Declared

SYMMETRIC_FILE = Path(__file__).with_name("symmetric.json")
WAYS = "xXyY"
"""Letters of a hop up and down axis 0, and up and down axis 1."""


def known_paths() -> dict[int, list[str]]:
    """Return the known plans by the side of the torus: paths in the order in which they leave."""
    return msgspec.json.decode(SYMMETRIC_FILE.read_bytes(), type=dict[int, list[str]])


def symmetric_all_to_all(topology: Topology, words: int) -> Schedule:
    """Send ``words`` words from each node of a square torus to every other one, on circuits.

    Raises :class:`.InvalidInput` for messages without words, and for a torus without a known plan.
    """
    require_range("words", words, 1)
    known = known_paths()
    side = topology.dims[0] if topology.dims else 0
    whole = topology.whole_grid and topology.dims == (side, side) and len(topology.wrapped) == 2
    if not whole or side not in known or topology.links_differ:
        allowed = f"a square torus of side {one_of(map(str, known))} without faults"
        raise topology.refusal("symmetric", allowed)
    return plan_of(topology, words, known[side])


def plan_of(topology: Topology, words: int, paths: list[str]) -> Schedule:
    """Return the schedule in which each node of a torus sends along ``paths``, in this order."""
    # Compiled code takes long to import.
    from ...schedule.packing import Packets, steps_of  # noqa: PLC0415

    nodes, side = np.arange(topology.nodes), topology.dims[0]
    listed = []
    for path in paths:
        x, y = nodes % side, nodes // side
        places = [nodes]
        for way in path:
            x = (x + (way == "x") - (way == "X")) % side
            y = (y + (way == "y") - (way == "Y")) % side
            places.append(x + side * y)
        listed.append(np.stack(places, axis=1))
    target = np.concatenate([each[:, -1] for each in listed]).astype(np.int32)
    source = np.tile(nodes, len(paths)).astype(np.int32)
    messages = len(source)
    order = np.lexsort((target, source))
    path_nodes = np.concatenate([each.ravel() for each in listed]).astype(np.int32)
    made = Schedule(
        topology=topology,
        collective=Collective.ALL_TO_ALL,
        algorithm="symmetric",
        port_model=PortModel.FULL_DUPLEX,
        root=None,
        blocks=Blocks(
            source[order],
            tuple((node,) for node in target[order].tolist()),
            np.full(messages, words, np.int32),
        ),
        step=np.ones(messages, np.int32),
        source=source,
        target=target,
        path_offsets=offsets_of([len(path) + 1 for path in paths for _ in nodes]),
        path_nodes=path_nodes,
        vcs=np.zeros(path_nodes.size - messages, np.int32),
        block_offsets=np.arange(messages + 1),
        block_ids=np.argsort(order).astype(np.int32),
        timed=True,
        circuits=True,
    )
    packets = Packets(*resources_of(made), 1, gap=0, hop_cycles=0)
    step = steps_of(packets, np.arange(messages))
    return made.with_sends(np.arange(messages), step, made.block_offsets, made.block_ids)


ALGORITHM = Declared(
    Collective.ALL_TO_ALL,
    "symmetric",
    lambda asked: symmetric_all_to_all(asked.topology, asked.words),
    networks="square tori of circuits, of known sides",
    steps="about the links of all distances, divided by four",
    circuits=True,
)
