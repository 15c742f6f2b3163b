"""Types of the Python interface, for annotations: nodes, names, groups, network parameters."""

from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any, Literal, TypedDict

import numpy as np
import numpy.typing as npt

from ..model.network.operators import Operator

Node = int | np.integer[Any] | Sequence[int] | npt.NDArray[np.integer[Any]]
"""A node's number, or its coordinates."""
BlockWords = Sequence[int] | Sequence[Sequence[int]] | npt.NDArray[np.integer[Any]]
"""Words of each node's block, or of each pair's block in an all-to-all."""
CollectiveName = Literal[
    "broadcast",
    "multicast",
    "scatter",
    "gather",
    "all-gather",
    "all-to-all",
    "neighbor",
    "halo",
    "reduce",
    "reduce-scatter",
    "all-reduce",
    "barrier",
    "scan",
    "exscan",
]
"""The name of a collective (:class:`.Collective`)."""
PortsName = Literal["one", "half-duplex", "full-duplex", "all"]
"""The ports that a node may use in a step (:class:`.Ports`)."""
PortModelName = Literal["half-duplex", "exchange", "full-duplex", "all"]
"""Sends and receives allowed to a node in a step of a custom schedule (:class:`.PortModel`)."""
TimingName = Literal["barrier", "self-timed"]
"""The way in which steps follow each other (:class:`.Timing`)."""
PolicyName = Literal["first-come", "urgent"]
"""Which of several ready collectives of a workload starts first (:class:`.Policy`)."""
PatternName = Literal[
    "uniform",
    "transpose",
    "complement",
    "hotspot",
    "neighbor",
    "tornado",
    "shuffle",
    "bit-complement",
    "bit-reverse",
    "bit-transpose",
]
"""The pattern of random traffic: who sends to whom."""
OrderName = Literal["canonical", "postorder", "reverse-breadth-first"] | str
"""The order of sums, of the sends of an all-to-all by all ports, or of levels: "rows,columns"."""
OperatorName = Literal["add", "min", "max", "min-signed", "max-signed", "and", "or", "xor"]
"""The name of a built-in operator."""


class _GroupNodes(TypedDict):
    nodes: Sequence[Node]


class Group(_GroupNodes, total=False):
    """A group of nodes with its own settings; all except ``nodes`` may be left out.

    Attributes
    ----------
    nodes
        The nodes of the group.
    collective
        The collective's name; as for all groups if left out.
    root
        The group's source; needed if the collective has a root.
    words
        Length of the message, or of each block, in words.
    algorithm
        Name of the algorithm; as for all groups if left out.
    block_words
        Words of unequal blocks, in the order of ``nodes``.
    """

    collective: CollectiveName
    root: Node | None
    words: int
    algorithm: str
    block_words: BlockWords


Groups = str | Path | Sequence[Group]
""""rows", "columns", boxes ("submesh 4x4"), names joined by "+", a file, or its content."""


Hold = (
    Mapping[int, int]
    | Mapping[tuple[int, int], int]
    | Mapping[tuple[int, int, int], int]
    | Mapping[tuple[int, ...], int]
)
"""Cycles by node, with numbers or coordinates as keys."""


class NetworkParameters(TypedDict, total=False):
    """Parameters of a network as keyword arguments: the fields of :class:`.NetworkConfig`."""

    vcs: int
    depth: int
    flit_width: int
    message_words: int
    table_words: int
    link_registers: int
    barrier_registers: int
    steps: int
    timed_rows: bool
    signature: bool
    contention_free: bool
    all_port: bool
    programs: int
    tile_ports: bool
    parity: bool
    operators: str | Iterable[OperatorName | Operator]
    streams: bool
    circuits: bool
