"""Schedules of a user's own sends, proved to carry out a collective."""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Literal

import numpy as np

from ..model.base.errors import InvalidInput, require_range
from ..model.collectives.task import Task
from ..model.network.operators import Operator
from ..model.network.port_model import PORT_MODELS, PortModel
from ..model.network.topology import Topology
from ..model.schedule.blocks import CUSTOM
from ..model.schedule.collective import Collective
from ..model.schedule.requested_blocks import blocks_of
from ..model.schedule.schedule import Schedule
from .annotations import BlockWords, CollectiveName, Groups, Node, OperatorName, PortModelName
from .arguments import checked
from .sends import Block, SendLike, block_table, read_sends, send_columns
from .task import node_number, task_of

_BEGUN_BY_A_SENDER = (Collective.BROADCAST, Collective.MULTICAST)
"""Collectives whose root is the sender of the earliest step, unless given."""


@checked
def schedule_of_sends(
    network: Topology,
    sends: Iterable[SendLike],
    *,
    collective: CollectiveName | Literal["custom"] | None = None,
    source: Node | None = None,
    targets: Iterable[Node] | None = None,
    flits: int | None = None,
    pieces: int = 1,
    operator: OperatorName | Operator | None = None,
    block_words: BlockWords | None = None,
    groups: Groups | None = None,
    blocks: Sequence[Block] | None = None,
    ports: PortModelName = "half-duplex",
    timed: bool = False,
    name: str = "own",
) -> Schedule:
    """Make a schedule of custom sends, and prove that they carry out a collective.

    A broadcast, multicast, reduce, all-reduce or barrier has one message, block 0. A scatter,
    gather, all-gather or reduce-scatter has a message for each node: block n for node n. An
    all-to-all of N nodes has block ``i*N + j`` from node i to node j.

    Parameters
    ----------
    network
        The network.
    sends
        Sends, each a :class:`.Send` or a tuple of its first fields: step, path and blocks.
    collective
        The collective that the sends must carry out; "custom" for the promise that ``blocks`` make.
        None for a broadcast, or for a multicast if there are ``targets``.
    source
        The root. In a broadcast or multicast, None for the sender of the earliest step.
    targets
        The nodes that get a multicast; None for any other collective.
    flits
        Words of each message; None for 16 (1 in a barrier), or for ``block_words``.
    pieces
        Blocks into which each message is cut, as equal as possible. Message m has the blocks
        ``m*pieces`` to ``m*pieces + pieces - 1``.
    operator
        The operator of a reduction, as in :func:`.schedule`.
    block_words
        Words of unequal messages, as in :func:`.schedule`.
    groups
        Groups that carry out collectives side by side, as in :func:`.schedule`. The messages of
        the first group come first.
    blocks
        All blocks, if they differ from the above; needed for "custom".
    ports
        Sends and receives of a node in one step: "half-duplex" allows one of either, "exchange"
        one of each with the same node, "full-duplex" one of each, "all" one of each on every link.
    timed
        Whether sends follow each other without steps: each begins as soon as its words are there
        and its links are free.
    name
        The name of the algorithm, for tables and files.

    Returns
    -------
    Schedule
        The schedule, which its check has proved. It keeps the order of the sends.

    Raises
    ------
    ScheduleError
        For the first rule that the sends break; it names the send by its index.
    InvalidInput
        For an argument out of range, and for a path of fewer than two nodes.
    """
    listed = read_sends(network, sends)
    if collective is None:
        collective = "broadcast" if targets is None else "multicast"
    if collective == CUSTOM:
        others = {
            "targets": targets,
            "flits": flits,
            "pieces": None if pieces == 1 else pieces,
            "operator": operator,
            "block_words": block_words,
            "groups": groups,
        }
        promise = _custom_promise(network, source, blocks, others)
    else:
        if source is None and groups is None and collective in _BEGUN_BY_A_SENDER:
            source = min(listed, key=lambda send: send.step).path[0]
        task = task_of(
            network,
            source=source,
            collective=collective,
            targets=targets,
            flits=flits,
            operator=operator,
            block_words=block_words,
            groups=groups,
        )
        promise = _promise(task, pieces, blocks)
    made = Schedule(
        topology=network,
        algorithm=name,
        port_model=_port_model(ports),
        timed=timed,
        **promise,
        **send_columns(listed),
    )
    made.check()
    return made


def _port_model(ports: str) -> PortModel:
    """Return the port model that ``ports`` names; "all" stands for all-port."""
    names = {("all" if each == PortModel.ALL_PORT else each.value): each for each in PORT_MODELS}
    if ports not in names:
        raise InvalidInput.unknown("ports", names, ports)
    return names[ports]


def _custom_promise(
    network: Topology,
    source: Node | None,
    blocks: Sequence[Block] | None,
    others: Mapping[str, object],
) -> dict[str, Any]:
    """Return the columns of a schedule that only its ``blocks`` describe."""
    for name, given in others.items():
        if given is not None:
            raise InvalidInput.must_be(name, "left out", "with custom: blocks say it")
    if blocks is None:
        raise InvalidInput.must_be("blocks", "given", "with custom")
    root = None if source is None else node_number(network, source, "source")
    return {"collective": CUSTOM, "root": root, "blocks": block_table(network, blocks)}


def _promise(task: Task, pieces: int, blocks: Sequence[Block] | None) -> dict[str, Any]:
    """Return the columns of a schedule for ``task``: its requests, its groups and its blocks."""
    if blocks is not None and pieces != 1:
        raise InvalidInput.must_be("pieces", "left out", "with blocks")
    requests, groups = task.requests, task.members
    if blocks is None:
        longest = max(int(np.max(request.words)) for request in requests)
        require_range("pieces", pieces, 1, max(1, longest))
        table = blocks_of(task.topology, requests, groups, pieces)
    else:
        table = block_table(task.topology, blocks)
    return {
        "collective": CUSTOM if groups else task.collective,
        "root": None if groups else task.source,
        "blocks": table,
        "groups": groups,
        "requests": requests,
    }
