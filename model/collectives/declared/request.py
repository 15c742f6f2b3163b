"""Requests to algorithms: a collective on a network, and how its nodes may use ports."""

from dataclasses import dataclass
from enum import StrEnum

from ...network.port_model import PortModel
from ...network.topology import Topology
from ...schedule.collective import REDUCTIONS, Collective
from ...schedule.requested import Requested
from .block_words import BlockWords, selected

_USUAL, _OF_BARRIER = "add", "and"
"""Names of the default operators: of reductions, and of the barrier."""


def combining_operator(collective: str, asked: str | None) -> str:
    """Return the operator name of a reduction; ``asked`` is None for the default."""
    return asked or (_OF_BARRIER if collective == Collective.BARRIER else _USUAL)


def words_of(collective: str, words: int) -> int:
    """Return the words of each block: 1 in a barrier, otherwise ``words``."""
    return 1 if collective == Collective.BARRIER else words


class Ports(StrEnum):
    """The ports that a node may use in a step, as a user asks for them."""

    ONE = "one"
    HALF_DUPLEX = PortModel.HALF_DUPLEX.value
    FULL_DUPLEX = PortModel.FULL_DUPLEX.value
    ALL = "all"

    @property
    def duplex(self) -> PortModel | None:
        """The port model asked for; None if the algorithm chooses it, or for all ports."""
        return None if self in (Ports.ONE, Ports.ALL) else PortModel(self.value)


@dataclass(frozen=True, kw_only=True)
class Request:
    """A collective to schedule.

    topology, words
        The network, and the words of each block: of the message in a broadcast.
    source
        The root; None for the collectives in :data:`~.ROOTLESS`.
    targets
        The nodes that get a multicast; None for any other collective.
    partial
        Whether to serve only the nodes that can be reached, if some cannot.
    all_port
        Whether nodes send and receive on all ports at the same time.
    duplex
        Half-duplex for nodes that send or receive in a step, full-duplex for nodes that do both
        with any partners; None for the algorithm's own port model.
    order
        The order in which blocks leave, or the order of levels, for algorithms with several; in a
        reduction ``canonical`` for sums in the one order of :mod:`...schedule.canonical`.
    packet
        The most words that a send may carry; None for any number.
    operator
        The operator name of a reduction; None for ``add``, in a barrier for ``and``.
    block_words
        Words of each node's block, or of each pair's; None if all blocks have ``words``.
    """

    topology: Topology
    words: int
    source: int | None = None
    targets: tuple[int, ...] | None = None
    partial: bool = False
    all_port: bool = False
    duplex: PortModel | None = None
    order: str | None = None
    packet: int | None = None
    operator: str | None = None
    block_words: BlockWords | None = None

    @property
    def root(self) -> int:
        """The source of a collective that has one."""
        assert self.source is not None
        return self.source

    def of(self, collective: str) -> Requested:
        """Return the promise of every schedule for ``collective`` that answers this request."""
        reduces = collective in REDUCTIONS
        return Requested(
            collective=collective,
            words=self._all_words(collective),
            root=self.source,
            targets=self.targets,
            operator=combining_operator(collective, self.operator) if reduces else None,
            partial=self.partial,
        )

    def _all_words(self, collective: str) -> int | BlockWords:
        """Return the words of each block; a table of the working nodes if they differ."""
        if self.block_words is None:
            return words_of(collective, self.words)
        working = self.topology.working_nodes.tolist()
        return selected(self.block_words, working)

    @property
    def combining(self) -> str:
        """The operator name of a reduction."""
        return self.operator or _USUAL
