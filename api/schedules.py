"""Making, measuring and drawing schedules from Python."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from ..model.base.errors import InvalidInput, require_range
from ..model.base.ragged import offsets_of
from ..model.collectives.declared.request import Ports
from ..model.collectives.notes import landmarks
from ..model.collectives.registry import algorithms_for
from ..model.collectives.shown_bounds import least_measures, word_measures
from ..model.collectives.task import USUAL_FLITS
from ..model.compare.answer import answer
from ..model.compare.cycles import schedule_cycles
from ..model.network import faults
from ..model.network.operators import Operator
from ..model.network.topology import Topology
from ..model.schedule.blocks import Blocks
from ..model.schedule.builder import one_block_schedule
from ..model.schedule.collective import Collective
from ..model.schedule.requested import Requested
from ..model.schedule.schedule import Schedule
from .arguments import checked
from .task import BlockWords, Groups, Node, node_number, room_of, task_of

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from ..model.collectives.transmit.plan import Plan
    from ..model.collectives.transmit.schemes import Findings


def algorithms(collective: str = Collective.BROADCAST) -> list[str]:
    """Return the names of the algorithms for ``collective``.

    Raises :class:`.InvalidInput`, which lists all collectives, if ``collective`` is unknown.
    """
    return [algorithm.name for algorithm in algorithms_for(collective)]


@checked
def schedule(
    network: Topology,
    algorithm: str,
    *,
    source: Node | None = None,
    collective: str = Collective.BROADCAST,
    targets: Iterable[Node] | None = None,
    flits: int | None = None,
    ports: str = Ports.ONE,
    packet: int | None = None,
    partial: bool = False,
    operator: str | Operator | None = None,
    block_words: BlockWords | None = None,
    groups: Groups | None = None,
) -> Schedule:
    """Make the schedule of an algorithm, and prove it.

    algorithm
        One of :func:`algorithms`, or "best": the algorithm with the fewest cycles.
    source
        The root. None if the collective has no root.
    targets
        The nodes that get a multicast; None for any other collective.
    flits
        Words of the message of a broadcast or multicast, otherwise of each block. None for 16 (1 in
        a barrier), or for the lengths in ``block_words``.
    ports
        Sends and receives of a node in one step: "half-duplex" allows one of either, "full-duplex"
        one of each, "all" one of each on every link; "one" leaves it to the algorithm.
    packet
        The most words in a send, for algorithms that cut messages; None for any number.
    partial
        Serve the reachable nodes if some are unreachable.
    operator
        The operator of a reduction: a built-in name, or a custom :class:`.Operator`, which
        :func:`.predict` and :func:`.verify` must also get in ``operators``. None for the default:
        add, or and in a barrier; always None without a reduction.
    block_words
        Words of unequal blocks: a number for each node. For an all-to-all: a row for each source,
        with a number for each target. 0 for a node without a block. None if all blocks have
        ``flits`` words.
    groups
        "rows", "columns" or boxes such as "submesh 4x4": each group runs the collective, rooted at
        the node at the same position as ``source`` in its own group. Or a file, or a list such as
        ``[{"nodes": [0, 1], "collective": "broadcast", "root": 1}, ...]`` (``source`` is then
        None). None for one collective of all nodes.

    Raises :class:`.InvalidInput` if the algorithm does not serve the network.
    """
    task = task_of(
        network,
        source=source,
        collective=collective,
        targets=targets,
        flits=flits,
        ports=ports,
        packet=packet,
        partial=partial,
        operator=operator,
        block_words=block_words,
        groups=groups,
    )
    return answer(task, algorithm, room_of(operator, {})).schedule


@checked
def with_faults(
    topology: Topology,
    faulty_nodes: Iterable[Node] = (),
    faulty_links: Iterable[tuple[Node, Node]] = (),
) -> Topology:
    """Return a network without the links of ``faulty_nodes`` and without ``faulty_links``.

    faulty_links
        Directed pairs (from, to) of nodes; a pair removes all parallel links between the two.

    Earlier faults of the network stay.
    Raises :class:`.InvalidInput` if a node does not exist or a pair has no link.
    """
    name = "node of a faulty link"
    return faults.with_faults(
        topology,
        [node_number(topology, node, "faulty node") for node in faulty_nodes],
        [
            (node_number(topology, begin, name), node_number(topology, end, name))
            for begin, end in faulty_links
        ],
    )


@checked
def with_random_faults(
    network: Topology, part: float, *, seed: int = 1, keep: Iterable[Node] = ()
) -> Topology:
    """Return a network in which randomly drawn nodes are faulty.

    part
        Share of faulty nodes, from 0 to below 1; their number is rounded.
    seed
        The same seed and number of nodes give the same faults.
    keep
        Nodes that never fail.

    Raises :class:`.InvalidInput` if the part or a node is out of range.
    """
    kept = [node_number(network, node, "node to keep") for node in keep]
    return faults.with_faults(network, faults.draw_faults(network, part, seed=seed, keep=kept))


@checked
def transmit(network: Topology, *, seconds: float = 30) -> Findings:
    """Find when and where a host should send, so that all nodes have its message soonest.

    In each step the host sends to one node, and every node with the message passes it on to all its
    neighbours (Ho, Hsu & Sung 1996; graph burning).

    seconds
        Limit of the search for a better plan or a proof that none exists.

    Returns findings. ``best`` is the best plan: ``sends`` (pairs of a step and a node), ``time`` in
    steps, ``work`` in sends. ``bound`` is a lower bound on both, and ``proved`` is true if they
    meet. :func:`transmit_schedule` makes a schedule of a plan.
    Raises :class:`.InvalidInput` if the network is not connected or too large to search.
    """
    # Loads the compiled searches.
    from ..model.collectives.transmit.schemes import transmit as find  # noqa: PLC0415

    if not seconds >= 0:
        raise InvalidInput.of("seconds", "0 or more", seconds)
    return find(network, seconds)


@checked
def transmit_schedule(plan: Plan, /, *, flits: int = USUAL_FLITS) -> Schedule:
    """Make the schedule of a host's plan for a message of ``flits`` words, and prove it.

    Its network is the plan's network with the host added as the last node.
    Raises :class:`.InvalidInput` if the plan does not reach every node.
    """
    from ..model.collectives.transmit.schedule import (  # noqa: PLC0415 - seldom needed
        transmit_schedule as make,
    )

    made = make(plan, flits)
    made.check()
    return made


@checked
def schedule_of_sends(
    network: Topology,
    sends: Iterable[tuple[int, Sequence[Node]]],
    *,
    flits: int = USUAL_FLITS,
    targets: Iterable[Node] | None = None,
    name: str = "own",
) -> Schedule:
    """Make a schedule of one message from custom sends, and prove it.

    sends
        Pairs of a step, from 1, and a path: the nodes from sender to receiver, both included, each
        a neighbour of the one before. The message begins at the sender of the earliest step.
    targets
        Nodes that get a multicast; None for a broadcast to all working nodes.

    Raises :class:`.ScheduleError` for the first rule that the sends break, and
    :class:`.InvalidInput` for a path of fewer than two nodes.
    """
    listed = [
        (step, [node_number(network, node, "node of a path") for node in path])
        for step, path in sends
    ]
    if not listed:
        raise InvalidInput.of("sends", "one or more", "none")
    for step, path in listed:
        if len(path) < 2:
            raise InvalidInput.of(f"path of a send in step {step}", "two nodes or more", len(path))
    listed.sort(key=lambda send: send[0])
    root = listed[0][1][0]
    owed = (
        None if targets is None else tuple(node_number(network, node, "target") for node in targets)
    )
    require_range("flits", flits, 1)
    collective = Collective.BROADCAST if targets is None else Collective.MULTICAST
    made = one_block_schedule(
        name,
        network,
        Blocks(np.array([root], np.int32), (owed,), np.array([flits], np.int32)),
        np.array([step for step, _ in listed], np.int32),
        offsets_of([len(path) for _, path in listed]),
        np.array([node for _, path in listed for node in path], np.int32),
        collective=collective,
    )
    asked = Requested(collective=collective, words=flits, root=root, targets=owed)
    made = replace(made, requests=(asked,))
    made.check()
    return made


@checked
def measures(made: Schedule, /) -> dict[str, dict[str, int]]:
    """Measure a schedule, and compute lower bounds for its collective.

    Returns two mappings. "schedule": steps, TCD, directed links used, most sends on a link in a
    step, and the cycles with barrier timing, as :func:`.predict` gives them. With many blocks also
    the words that cross links, at the busiest node and on the busiest link. The cycles are an
    estimate above 65,536 nodes and for schedules that are too long to simulate. "least": the known
    lower bounds of these measures.
    """
    counted = {
        "steps": made.steps,
        "tcd": made.tcd,
        "links_used": made.links_used,
        "largest_link_load": made.largest_link_load,
        "cycles": schedule_cycles(made).value,
    }
    return {"schedule": counted | word_measures(made), "least": least_measures(made)}


@checked
def draw(made: Schedule, /, *paths: str | Path) -> Figure:
    """Draw a schedule: who sends to whom, with the step as colour.

    paths
        Files to write, .svg or .png.

    Returns Matplotlib's figure, which a notebook shows.
    Raises :class:`.InvalidInput` for another suffix and for a network that cannot be drawn.
    """
    # Loading Matplotlib takes half a second.
    from ..picture.file import require_picture_suffix, save_picture  # noqa: PLC0415
    from ..picture.places import require_drawable  # noqa: PLC0415
    from ..picture.schedule import draw_schedule  # noqa: PLC0415

    for path in paths:
        require_picture_suffix(path)
    require_drawable(made.topology)
    figure = draw_schedule(made, marked=landmarks(made))
    for path in paths:
        save_picture(figure, path)
    return figure
