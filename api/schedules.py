"""Making, measuring and drawing schedules from Python."""

from __future__ import annotations

import sys
from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING

from ..model.base.errors import InvalidInput
from ..model.base.notices import LOG
from ..model.collectives.notes import landmarks
from ..model.collectives.registry import algorithms_for
from ..model.collectives.shown_bounds import least_counts, word_measures
from ..model.collectives.task import USUAL_WORDS
from ..model.compare.answer import answer
from ..model.compare.cycles import schedule_cycles
from ..model.network.operators import Operator
from ..model.network.topology import Topology
from ..model.schedule import file as schedule_file
from ..model.schedule.schedule import Schedule
from .annotations import (
    BlockWords,
    CollectiveName,
    Groups,
    Node,
    OperatorName,
    OrderName,
    PortsName,
)
from .arguments import checked
from .notebook import Measures
from .task import room_of, task_of

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from ..model.papers.transmit.plan import Plan
    from ..model.papers.transmit.schemes import Findings


read_schedule = checked(schedule_file.read_schedule)
write_schedule = checked(schedule_file.write_schedule)


def algorithms(collective: CollectiveName = "broadcast") -> list[str]:
    """Return the names of the algorithms for a collective.

    Parameters
    ----------
    collective
        The collective's name.

    Returns
    -------
    list of str
        Names that :func:`schedule` takes.

    Raises
    ------
    InvalidInput
        If the collective is unknown; the line lists all collectives.
    """
    return [algorithm.name for algorithm in algorithms_for(collective)]


@checked
def schedule(
    network: Topology,
    algorithm: str | None = None,
    *,
    source: Node | None = None,
    collective: CollectiveName = "broadcast",
    targets: Iterable[Node] | None = None,
    words: int | None = None,
    ports: PortsName = "one",
    packet: int | None = None,
    partial: bool = False,
    order: OrderName | None = None,
    operator: OperatorName | Operator | None = None,
    block_words: BlockWords | None = None,
    groups: Groups | None = None,
    circuits: bool = False,
) -> Schedule:
    """Make the schedule of an algorithm, and prove it.

    Parameters
    ----------
    network
        The network.
    algorithm
        One of :func:`algorithms`, or "best": the algorithm with the fewest cycles. None for the
        default of the command ``eyecast schedule``.
    source
        The root. None if the collective has no root.
    collective
        The collective's name.
    targets
        The nodes that get a multicast; None for any other collective.
    words
        Words of the message of a broadcast or multicast, otherwise of each block. None for 16 (1 in
        a barrier), or for the lengths in ``block_words``.
    ports
        Sends and receives of a node in one step: "half-duplex" allows one of either, "full-duplex"
        one of each, "all" one of each on every link; "one" leaves it to the algorithm.
    packet
        The most words in a send, for algorithms that cut messages; None for any number.
    partial
        Serve the reachable nodes if some are unreachable.
    order
        "canonical": every sum of a reduction is made in one order, whatever the algorithm, network
        and length. "postorder" and "reverse-breadth-first": the order in which a node sends the
        blocks of an all-to-all by all ports. The levels of "hierarchy", the innermost first:
        boxes such as "rows,columns" or "submesh 2x2,submesh 4x4", or nested lists of nodes such as
        "[[0, 1], [2, 3]]". None for the algorithm's own order.
    operator
        The operator of a reduction: a built-in name, or a custom :class:`.Operator`, which
        :func:`.predict` and :func:`.verify` must also get in ``operators``. None for the default:
        add, or and in a barrier; always None without a reduction.
    block_words
        Words of unequal blocks: a number for each node. For an all-to-all: a row for each source,
        with a number for each target. 0 for a node without a block. None if all blocks have
        ``words`` words.
    groups
        "rows", "columns" or boxes such as "submesh 4x4": each group runs the collective, rooted at
        the node at the same position as ``source`` in its own group. "rows+columns": both at the
        same time, so that each node is in two groups. Or a file, or a list such as
        ``[{"nodes": [0, 1], "collective": "broadcast", "root": 1}, ...]`` (``source`` is then
        None). None for one collective of all nodes.
    circuits
        True for a network with circuits; only the choice of "best" depends on it.

    Returns
    -------
    Schedule
        The schedule, which its check has proved.

    Raises
    ------
    InvalidInput
        If the algorithm does not serve the network, or an argument is out of range.

    References
    ----------
    ``eyecast algorithms`` names the paper of each algorithm.
    """
    task = task_of(
        network,
        source=source,
        collective=collective,
        targets=targets,
        words=words,
        ports=ports,
        packet=packet,
        partial=partial,
        order=order,
        operator=operator,
        block_words=block_words,
        groups=groups,
    )
    return answer(task, algorithm, room_of(operator, {"circuits": circuits})).schedule


@checked
def transmit(network: Topology, *, seconds: float = 30) -> Findings:
    """Find when and where a host should send, so that all nodes have its message soonest.

    In each step the host sends to one node, and every node with the message passes it on to all its
    neighbours. The problem is also known as graph burning.

    Parameters
    ----------
    network
        The network without its host.
    seconds
        Limit of the search for a better plan or a proof that none exists.

    Returns
    -------
    Findings
        ``best`` is the best plan: ``sends`` (pairs of a step and a node), ``time`` in steps,
        ``work`` in sends. ``bound`` is a lower bound on both, and ``proved`` is true if they meet.

    Raises
    ------
    InvalidInput
        If the network is not connected or too large to search.

    References
    ----------
    T.-Y. Ho, L.-H. Hsu & T.-Y. Sung, "Transmitting on Various Network Topologies", Networks, 1996.
    """
    # Loads the compiled searches.
    from ..model.papers.transmit.schemes import transmit as find  # noqa: PLC0415

    if not seconds >= 0:
        raise InvalidInput.of("seconds", "0 or more", seconds)
    return find(network, seconds)


@checked
def transmit_schedule(plan: Plan, /, *, words: int = USUAL_WORDS) -> Schedule:
    """Make the schedule of a host's plan, and prove it.

    Parameters
    ----------
    plan
        A plan of :func:`transmit`, such as its ``best``.
    words
        Words of the message.

    Returns
    -------
    Schedule
        A broadcast on the plan's network with the host added as the last node.

    Raises
    ------
    InvalidInput
        If the plan does not reach every node.

    References
    ----------
    T.-Y. Ho, L.-H. Hsu & T.-Y. Sung, "Transmitting on Various Network Topologies", Networks, 1996.
    """
    from ..model.papers.transmit.schedule import transmit_schedule as make  # noqa: PLC0415 - seldom needed

    made = make(plan, words)
    made.check()
    return made


@checked
def measures(schedule: Schedule, /) -> Measures:
    """Measure a schedule, and compute lower bounds for its collective.

    Parameters
    ----------
    schedule
        The schedule.

    Returns
    -------
    Measures
        A dict. "schedule": steps, TCD, directed links used, most sends on a link in a step, and the
        cycles with barrier timing, as :func:`.predict` gives them; where links differ, with the
        ``depth`` that keeps each link busy. With many blocks it also has the words that cross
        links, those that the busiest node sends or gets, and those on the busiest link. The cycles
        are an estimate above 65,536 nodes and for schedules that are too long to simulate. "least":
        the known lower bounds of these measures.

    Raises
    ------
    InvalidInput
        If ``schedule`` is not a schedule.
    """
    cycles = schedule_cycles(schedule)
    counted = {
        "steps": schedule.steps,
        "tcd": schedule.tcd,
        "links_used": schedule.links_used,
        "largest_link_load": schedule.largest_link_load,
        "cycles": cycles.value,
    }
    least = least_counts(schedule) | {"cycles": cycles.bound.value}
    return Measures({"schedule": counted | word_measures(schedule), "least": least})


@checked
def draw(schedule: Schedule, /, *paths: str | Path) -> Figure:
    """Draw a schedule: who sends to whom, with the step as colour.

    Parameters
    ----------
    schedule
        The schedule.
    *paths
        Files to write, .svg, .pdf or .png. Without a file, and outside a notebook, a warning says
        so.

    Returns
    -------
    matplotlib.figure.Figure
        The figure, which a notebook shows.

    Raises
    ------
    InvalidInput
        For another suffix, and for a network that cannot be drawn.
    """
    # Loading Matplotlib takes half a second.
    from ..picture.file import require_picture_suffix, save_picture  # noqa: PLC0415
    from ..picture.places import require_drawable  # noqa: PLC0415
    from ..picture.schedule import draw_schedule  # noqa: PLC0415

    for path in paths:
        require_picture_suffix(path)
    require_drawable(schedule.topology)
    figure = draw_schedule(schedule, marked=landmarks(schedule))
    for path in paths:
        save_picture(figure, path)
    if not paths and "ipykernel" not in sys.modules:
        LOG.warning('draw() has written no file: give a path, such as draw(schedule, "a.svg")')
    return figure
