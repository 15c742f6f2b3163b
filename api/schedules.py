"""Schedules for users of Python: made by name or from own sends, measured, drawn."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from ..model.base.errors import InvalidInput, require_range
from ..model.base.pieces import offsets_of
from ..model.collectives.least import least_measures, word_measures
from ..model.collectives.notes import landmarks
from ..model.collectives.registry import algorithms_for
from ..model.collectives.request import Ports
from ..model.collectives.task import USUAL_FLITS
from ..model.compare.answer import answer
from ..model.compare.cycles import schedule_cycles
from ..model.network import faults
from ..model.network.operators import Operator
from ..model.network.topology import Topology
from ..model.schedule.builder import one_block_schedule
from ..model.schedule.collective import Collective
from ..model.schedule.requested import Requested
from ..model.schedule.schedule import Schedule
from ..model.schedule.table import Blocks
from .arguments import checked
from .task import BlockWords, Groups, Node, node_number, room_of, task_of

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from ..model.collectives.transmit.plan import Plan
    from ..model.collectives.transmit.schemes import Findings


def algorithms(collective: str = Collective.BROADCAST) -> list[str]:
    """List the names of the algorithms for ``collective``.

    Raises :class:`.InvalidInput` with all collectives for one that is not known.
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
        One of :func:`algorithms`, or "best": the one that takes the fewest cycles.
    source
        The root of a collective that has one; None where every node is one.
    targets
        The nodes that get a multicast; None for any other collective.
    flits
        Length of the message of a broadcast or multicast, or of each block, in words; None for
        16, in a barrier 1, or what ``block_words`` say.
    ports
        The sends and receives of a node in a step: with "half-duplex" one of either, with
        "full-duplex" one of each, with "all" one of each on every link, with "one" as the algorithm
        has it.
    packet
        The most words in a send, where the algorithm cuts messages; None for any number.
    partial
        Serve the nodes that can be reached, where some cannot.
    operator
        What a reduction combines by: a built-in operator's name, or an :class:`.Operator` of your
        own, which :func:`.predict` and :func:`.verify` then have in ``operators``. None for add,
        for and in a barrier, and for what only copies.
    block_words
        Words of unequal blocks: a number for each node, in an all-to-all a row for each source with
        a number for each target, and 0 for who takes no part. None where all blocks have ``flits``.
    groups
        "rows", "columns" or boxes such as "submesh 4x4", each with a collective of its own from the
        node at the place that ``source`` has in its own; or groups that say more, in a file or as
        what a file says of each: ``[{"nodes": [0, 1], "collective": "broadcast", "root": 1}, ...]``
        (``source`` is then None). None for one collective of all nodes.

    Raises :class:`.InvalidInput` for a network that the algorithm does not serve.
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
    """Take the links of ``faulty_nodes``, and ``faulty_links``, away from a network.

    A faulty link is a directed pair (from, to) of nodes, and means all parallel links from the one
    to the other. Faults that the network has already stay.
    Raises :class:`.InvalidInput` for a node that does not exist and for a pair without a link.
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
    """Take drawn nodes away from a network: ``part`` of its nodes, rounded, from 0 to below 1.

    The same nodes fail for the same seed and number of nodes; those to ``keep`` never do.
    Raises :class:`.InvalidInput` for a part or a node that is out of range.
    """
    kept = [node_number(network, node, "node to keep") for node in keep]
    return faults.with_faults(network, faults.draw_faults(network, part, seed=seed, keep=kept))


@checked
def transmit(network: Topology, *, seconds: float = 30) -> Findings:
    """Find when and where a host should send, so that all nodes have its message soonest.

    The host sends to one node in a step, and every node that has the message passes it on to all
    its neighbours in each step (Ho, Hsu & Sung 1996; graph burning). A better plan, and a proof
    that there is none, are searched for so many seconds at most. ``best`` of the result is the best
    plan: its ``sends``, pairs of a step and a node, its ``time`` in steps and its ``work`` in
    sends; ``bound`` is a lower bound on the two, and ``proved`` tells whether they meet.
    :func:`transmit_schedule` makes a schedule of a plan.

    Raises :class:`.InvalidInput` for a network that is not connected, or too large to be searched.
    """
    # Loads the compiled searches.
    from ..model.collectives.transmit.schemes import transmit as find  # noqa: PLC0415

    if not seconds >= 0:
        raise InvalidInput.of("seconds", "0 or more", seconds)
    return find(network, seconds)


@checked
def transmit_schedule(plan: Plan, /, *, flits: int = USUAL_FLITS) -> Schedule:
    """Make the schedule of a host's plan for a message of so many words, and prove it.

    Its network is the plan's with the host as one more node, the last.
    Raises :class:`.InvalidInput` for a plan that leaves a node out.
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
    """Make a schedule of one message from own sends, and prove it.

    ``sends`` are pairs of a step, from 1, and a path: the nodes from the sender to the receiver,
    both included, each a neighbour of the one before. The message begins at the sender of the
    earliest step. With ``targets`` it is a multicast to those nodes, without them a broadcast to
    all nodes that are not faulty.

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
    """Count what a schedule takes, beside the least that any schedule for its collective takes.

    "schedule": steps, TCD, directed links used, the most sends on a link in a step, for
    collectives of many blocks the words that cross links, the busiest node and the busiest link,
    and the cycles with barrier timing, those of :func:`.predict`. They are an estimate for
    schedules that are too long to be simulated, and above 65,536 nodes.
    "least": lower bounds of those for which one is known.
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
    """Draw a schedule: who sends to whom, steps by colour; to each of ``paths``, .svg or .png.

    The result is Matplotlib's figure, which a notebook shows.
    Raises :class:`.InvalidInput` for another suffix and for a network that cannot be drawn.
    """
    # Matplotlib takes half a second to load.
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
