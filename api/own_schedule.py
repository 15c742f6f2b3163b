"""Schedules of custom sends or rounds, proved to carry out a collective."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any, Literal

from ..model.base.errors import InvalidInput
from ..model.collectives.promise import promise_of
from ..model.network.operators import Operator
from ..model.network.port_model import PORT_MODELS, PortModel
from ..model.network.topology import Topology
from ..model.schedule.blocks import CUSTOM
from ..model.schedule.collective import Collective
from ..model.schedule.rounds import schedule_of_rounds as of_rounds
from ..model.schedule.schedule import Schedule
from .annotations import BlockWords, CollectiveName, Groups, Node, OperatorName, PortModelName
from .arguments import checked
from .sends import (
    Block,
    RoundSendLike,
    SendLike,
    block_table,
    read_rounds,
    read_sends,
    send_columns,
)
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
    words: int | None = None,
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

    A broadcast, multicast, reduce, all-reduce, barrier or scan has one message, block 0. A scatter,
    gather, all-gather or reduce-scatter has a message for each node: block n for node n. An
    all-to-all of N nodes has block ``i*N + j`` from node i to node j. A neighbor or halo exchange
    has a message for each pair of nodes, ordered by the node that has it and then by its target.

    Parameters
    ----------
    network
        The network.
    sends
        Sends, each a :class:`.Send` or a tuple of its first fields: step, path and blocks.
    collective
        The collective that the sends must carry out; "custom" if ``blocks`` says what they must do.
        None for a broadcast, or for a multicast if there are ``targets``.
    source
        The root. In a broadcast or multicast, None for the sender of the earliest step.
    targets
        The nodes that get a multicast; None for any other collective.
    words
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
    asked = _Asked(
        collective, source, targets, words, pieces, operator, block_words, groups, blocks
    )
    first = min(listed, key=lambda send: send.step).path[0]
    made = Schedule(
        topology=network,
        algorithm=name,
        port_model=_port_model(ports),
        timed=timed,
        **asked.promise(network, first),
        **send_columns(listed),
    )
    made.check()
    return made


@checked
def schedule_of_rounds(
    network: Topology,
    rounds: Iterable[Iterable[RoundSendLike]],
    *,
    collective: CollectiveName | Literal["custom"] | None = None,
    source: Node | None = None,
    targets: Iterable[Node] | None = None,
    words: int | None = None,
    pieces: int = 1,
    operator: OperatorName | Operator | None = None,
    block_words: BlockWords | None = None,
    groups: Groups | None = None,
    blocks: Sequence[Block] | None = None,
    ports: PortModelName = "full-duplex",
    name: str = "own",
) -> Schedule:
    """Make a schedule of custom rounds, and prove that it carries out a collective.

    All sends of a round carry what their sources hold before the round. Eyecast finds routes, VCs
    and steps: no two sends of a step share a link, and a later round may begin before an earlier
    one has ended. Blocks lie in memory in an order in which sends carry adjacent words, if any
    order does. A network with circuits gives each send a cycle of its own.

    Parameters
    ----------
    network
        The network.
    rounds
        Lists of sends. A send is a tuple of source, target and blocks: a number, or several. A
        fourth field, True, combines its words with those at the target.
    collective, source, targets, words, pieces, operator, block_words, groups, blocks, ports, name
        As in :func:`schedule_of_sends`, which says how blocks are numbered.

    Returns
    -------
    Schedule
        The schedule, which its check has proved.

    Raises
    ------
    ScheduleError
        For the first rule that the rounds break. Sends are numbered by step.
    InvalidInput
        For an argument out of range, and for a target that no path leads to.
    """
    listed = read_rounds(network, rounds)
    asked = _Asked(
        collective, source, targets, words, pieces, operator, block_words, groups, blocks
    )
    promise = asked.promise(network, next(send for each in listed for send in each).source)
    made = of_rounds(
        network, rounds=listed, algorithm=name, port_model=_port_model(ports), **promise
    )
    made.check()
    return made


@dataclass(frozen=True)
class _Asked:
    """The promise of custom sends, as parameters of :func:`schedule_of_sends`."""

    collective: str | None
    source: Node | None
    targets: Iterable[Node] | None
    words: int | None
    pieces: int
    operator: str | Operator | None
    block_words: BlockWords | None
    groups: Groups | None
    blocks: Sequence[Block] | None

    def promise(self, network: Topology, first: int) -> dict[str, Any]:
        """Return the columns of the promise; ``first`` is the sender that comes first."""
        collective, source = self.collective, self.source
        if collective is None:
            collective = "broadcast" if self.targets is None else "multicast"
        if collective == CUSTOM:
            return self._custom(network)
        if source is None and self.groups is None and collective in _BEGUN_BY_A_SENDER:
            source = first
        task = task_of(
            network,
            source=source,
            collective=collective,
            targets=self.targets,
            words=self.words,
            operator=self.operator,
            block_words=self.block_words,
            groups=self.groups,
        )
        if self.blocks is not None and self.pieces != 1:
            raise InvalidInput.must_be("pieces", "left out", "with blocks")
        table = None if self.blocks is None else block_table(network, self.blocks)
        return promise_of(task, self.pieces, table)

    def _custom(self, network: Topology) -> dict[str, Any]:
        """Return the columns of a promise that only its blocks describe."""
        pieces = None if self.pieces == 1 else self.pieces
        for name, given in (vars(self) | {"pieces": pieces}).items():
            if given is not None and name not in ("collective", "source", "blocks"):
                raise InvalidInput.must_be(name, "left out", "with custom: blocks say it")
        if self.blocks is None:
            raise InvalidInput.must_be("blocks", "given", "with custom")
        root = None if self.source is None else node_number(network, self.source, "source")
        return {"collective": CUSTOM, "root": root, "blocks": block_table(network, self.blocks)}


def _port_model(ports: str) -> PortModel:
    """Return the port model that ``ports`` names; "all" stands for all-port."""
    names = {("all" if each == PortModel.ALL_PORT else each.value): each for each in PORT_MODELS}
    if ports not in names:
        raise InvalidInput.unknown("ports", names, ports)
    return names[ports]
