"""Sends and blocks of custom schedules: one record each, and the columns that a schedule has."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import chain
from typing import Any, NamedTuple, cast

import numpy as np

from ..model.base.errors import InvalidInput, one_of, require_range
from ..model.collectives.task import MOST_BLOCK_WORDS
from ..model.network.operators import BUILT_IN, Operator, is_built_in
from ..model.network.topology import Topology
from ..model.schedule.blocks import NO_OWNER, Blocks
from ..model.schedule.builder import path_columns
from ..model.schedule.requested_blocks import Nodes
from ..model.schedule.rounds import RoundSend
from ..model.schedule.rules import LARGEST_STEP, LARGEST_VC
from .annotations import Node, OperatorName
from .arguments import KINDS
from .task import node_number


@dataclass(frozen=True, kw_only=True)
class Block:
    """A block of a custom collective: where it is before step 1, and which nodes must get it.

    Attributes
    ----------
    words
        Its length in words.
    owner
        The node that has it at the start; None for a block that is reduced.
    owed
        The nodes that must have it at the end; None for every working node.
    operator
        The operator of a block that is reduced; None for a block with an owner.
    contributors
        The nodes that contribute to a block that is reduced; None for every working node.
    group
        The number of its group; needed only if groups share nodes.
    """

    words: int
    owner: Node | None = None
    owed: Sequence[Node] | None = None
    operator: OperatorName | Operator | None = None
    contributors: Sequence[Node] | None = None
    group: int | None = None


@dataclass(frozen=True)
class Send:
    """A send of a custom schedule.

    Attributes
    ----------
    step
        The step, from 1.
    path
        The nodes from the sender to the receiver, both included, each a neighbour of the one
        before.
    blocks
        The numbers of the blocks that it carries, or the number of one block.
    combine
        Whether its words are combined with those at the receiver; they replace them otherwise.
    stream
        Whether it may begin before its words have arrived at the sender.
    vcs
        The virtual channel of each link of the path, or one number for all.
    """

    step: int
    path: Sequence[Node]
    blocks: int | Sequence[int] = 0
    combine: bool = False
    stream: bool = False
    vcs: int | Sequence[int] = 0


SendLike = Send | tuple[int, Sequence[Node]] | tuple[int, Sequence[Node], int | Sequence[int]]
"""A :class:`.Send`, or a tuple of its first fields: step and path, or step, path and blocks."""


RoundSendLike = (
    tuple[Node, Node, int | Sequence[int]] | tuple[Node, Node, int | Sequence[int], bool]
)
"""A send of a round: source, target, blocks, and whether its words are combined at the target."""


def block_table(network: Topology, blocks: Sequence[Block]) -> Blocks:
    """Return the table of custom blocks."""
    if not blocks:
        raise InvalidInput.of("blocks", "one or more", "none")
    read = [_read_block(network, f"blocks[{place}]", each) for place, each in enumerate(blocks)]
    owner, owed, words, contributors, operator = zip(*read, strict=True)
    groups = [
        _integer(f"blocks[{place}].group", each.group, 0, len(blocks) - 1)
        for place, each in enumerate(blocks)
        if each.group is not None
    ]
    if 0 < len(groups) < len(blocks):
        raise InvalidInput.of("group", "given for all blocks or for none", f"for {len(groups)}")
    return Blocks(
        np.array(owner, np.int32),
        owed,
        np.array(words, np.int32),
        contributors,
        operator,
        group=np.array(groups, np.int32),
    )


def _read_block(
    network: Topology, name: str, block: Block
) -> tuple[int, Nodes | None, int, Nodes | None, str | None]:
    """Return the columns of a block; errors call it ``name``."""
    words = _integer(f"{name}.words", block.words, 0, MOST_BLOCK_WORDS)
    owed = None if block.owed is None else _nodes(network, f"{name}.owed", block.owed)
    if (block.owner is None) == (block.operator is None):
        allowed = "a block with an owner, or with an operator and no owner"
        raise InvalidInput(f"{name} must be {allowed}")
    if block.owner is not None:
        if block.contributors is not None:
            raise InvalidInput(f"{name}.contributors must be left out with an owner")
        owner = KINDS["source"].read(f"{name}.owner", block.owner)
        return node_number(network, owner, f"{name}.owner"), owed, words, (), None
    operator, contributors = block.operator, block.contributors
    if not isinstance(operator, Operator) and not is_built_in(operator):
        raise InvalidInput.of(f"{name}.operator", f"{one_of(BUILT_IN)}, or an Operator", operator)
    called = operator.name if isinstance(operator, Operator) else str(operator)
    given = None if contributors is None else _nodes(network, f"{name}.contributors", contributors)
    return NO_OWNER, owed, words, given, called


def _nodes(network: Topology, name: str, nodes: Sequence[Node]) -> Nodes:
    """Return the numbers of ``nodes``."""
    numbers = KINDS["targets"].read(name, nodes)
    return tuple(node_number(network, node, f"node of {name}") for node in numbers)


def _integer(name: str, value: object, low: int, high: int) -> int:
    """Return an integer, NumPy's too, as an int; refuse anything else and a value out of range."""
    number = int(value) if isinstance(value, np.integer) else value
    require_range(name, number, low, high)  # type: ignore[arg-type]
    return cast(int, number)


class ReadSend(NamedTuple):
    """A send whose nodes are numbers and whose lists are tuples."""

    step: int
    path: Nodes
    blocks: tuple[int, ...]
    combine: bool
    stream: bool
    vcs: tuple[int, ...]


def read_sends(network: Topology, sends: Iterable[SendLike]) -> list[ReadSend]:
    """Return custom sends with plain numbers; raise :class:`.InvalidInput` if there are none."""
    read = [_read_send(network, place, send) for place, send in enumerate(sends)]
    if not read:
        raise InvalidInput.of("sends", "one or more", "none")
    return read


def _read_send(network: Topology, place: int, send: SendLike) -> ReadSend:
    """Return a send with node numbers and with lists; errors name it by its ``place``."""
    name = f"sends[{place}]"
    given = send if isinstance(send, Send) else Send(*send)
    path = _nodes(network, f"{name}.path", given.path)
    if len(path) < 2:
        raise InvalidInput.of(f"{name}.path", "two nodes or more", len(path))
    links = len(path) - 1
    vcs = _integers(f"{name}.vcs", given.vcs, LARGEST_VC, links)
    if len(vcs) != links:
        allowed = f"{links} long, a VC for each link of its path"
        raise InvalidInput.of(f"{name}.vcs", allowed, len(vcs))
    blocks = _integers(f"{name}.blocks", given.blocks, MOST_BLOCK_WORDS, 1)
    if not blocks:
        raise InvalidInput.of(f"{name}.blocks", "one or more", "none")
    step = _integer(f"{name}.step", given.step, 1, LARGEST_STEP)
    return ReadSend(step, path, blocks, bool(given.combine), bool(given.stream), vcs)


def read_rounds(
    network: Topology, rounds: Iterable[Iterable[RoundSendLike]]
) -> list[list[RoundSend]]:
    """Return custom rounds with plain numbers; raise :class:`.InvalidInput` without a send."""
    read = [
        [
            _read_round_send(network, f"rounds[{number}][{place}]", send)
            for place, send in enumerate(each)
        ]
        for number, each in enumerate(rounds)
    ]
    if not any(read):
        raise InvalidInput.of("rounds", "one send or more", "none")
    return read


def _read_round_send(network: Topology, name: str, send: RoundSendLike) -> RoundSend:
    """Return a send of a round with plain numbers; errors call it ``name``."""
    if not isinstance(send, Sequence) or len(send) not in (3, 4):
        raise InvalidInput.of(name, "a tuple of source, target, blocks and maybe combine", send)
    ends = _nodes(network, f"{name}: ends", send[:2])
    blocks = _integers(f"{name}: blocks", send[2], MOST_BLOCK_WORDS, 1)
    if not blocks:
        raise InvalidInput.of(f"{name}: blocks", "one or more", "none")
    if ends[0] == ends[1]:
        raise InvalidInput.of(f"{name}: target", "another node than the source", ends[1])
    return RoundSend(ends[0], ends[1], blocks, len(send) > 3 and bool(send[3]))


def _integers(name: str, given: int | Sequence[int], high: int, count: int) -> tuple[int, ...]:
    """Return a list of integers from 0 on; a single one stands for ``count`` of the same value."""
    values = given if isinstance(given, Sequence | np.ndarray) else (given,) * count
    return tuple(_integer(name, value, 0, high) for value in values)


def send_columns(sends: Sequence[ReadSend]) -> dict[str, Any]:
    """Return the columns of the table of ``sends``."""
    columns = path_columns([send.path for send in sends], [send.blocks for send in sends])
    return columns | {
        "step": np.array([send.step for send in sends], np.int32),
        "vcs": np.fromiter(chain.from_iterable(send.vcs for send in sends), np.int32),
        "combine": np.array([send.combine for send in sends], np.bool_),
        "stream": np.array([send.stream for send in sends], np.bool_),
    }
