"""Workloads: what the ranks of a program compute and communicate, and in which order.

Each *row* belongs to one rank. It computes for some cycles, or it takes part in a *call*: a
collective of a group of ranks, or a message. A row begins when the rows that it is ``after`` have
ended::

    rank 0      rank 1                   rows                          calls
    compute     compute                  0: rank 0, 100 cycles         0: all-reduce of ranks 0, 1
       │           │                     1: rank 1, 120 cycles
       └─ all-reduce ─┘                  2: rank 0, call 0, after 0
                                         3: rank 1, call 0, after 1

Every member of a collective has one row for its call. A message has a row only at its source:
whatever must wait for its arrival is after that row. Times are cycles of the network.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property

import numpy as np
import numpy.typing as npt

from ..base.arrays import Numbers
from ..base.errors import InvalidInput
from ..base.graph_cycles import circle_ahead, peeling_rounds
from ..base.ragged import offsets_of
from ..network.operators import require_built_in
from ..network.topology import Topology
from ..schedule.collective import COLLECTIVES, REDUCTIONS, ROOTLESS, Collective

MESSAGE = "message"
"""The kind of a call from one rank to another."""

KINDS = (*(each.value for each in COLLECTIVES if each != Collective.MULTICAST), MESSAGE)
"""All kinds of calls."""

MOST_WORDS = (1 << 31) - 1
"""Most words of a message, or of a block."""

WORD_BYTES = 4
"""Usual bytes of a word."""

_LEAST_WIDTH = 32
"""Bits of a word in a network, also if fewer bytes of each are used."""

MOST_CYCLES = 1 << 50
"""Most cycles of a row."""

NO_CALL = -1
"""Call of a row that computes."""


@dataclass(frozen=True)
class Call:
    """A collective of some ranks, or a message.

    ``ranks`` are its members, of a message its source and its target. ``words`` are the words of
    the message, or of each block. ``root`` is a rank; None without a root. ``operator`` is that of
    a reduction; None for the default.
    """

    kind: str
    ranks: tuple[int, ...]
    words: int
    name: str
    root: int | None = None
    operator: str | None = None

    def require(self, ranks: int) -> None:
        """Raise :class:`.InvalidInput` for a wrong kind, member, root, length or operator."""
        if self.kind not in KINDS:
            raise InvalidInput.unknown(f"{self.name}: kind", KINDS, self.kind)
        if not 1 <= self.words <= MOST_WORDS:
            raise InvalidInput.of(f"{self.name}: words", f"1 to {MOST_WORDS}", self.words)
        for rank in self.ranks:
            if not 0 <= rank < ranks:
                raise InvalidInput.of(f"{self.name}: rank", f"0 to {ranks - 1}", rank)
        if len({*self.ranks}) < max(2, len(self.ranks)):
            listed = " ".join(map(str, self.ranks))
            raise InvalidInput.of(f"{self.name}: ranks", "2 or more, each once", listed)
        rooted = self.kind not in (*ROOTLESS, MESSAGE)
        if rooted != (self.root is not None) or (rooted and self.root not in self.ranks):
            allowed = "a rank of its group" if rooted else "left out"
            raise InvalidInput.of(f"{self.name}: root", allowed, self.root)
        if self.operator is not None:
            if self.kind not in REDUCTIONS:
                allowed = f"left out of {self.kind}, which combines nothing"
                raise InvalidInput.of(f"{self.name}: operator", allowed, self.operator)
            require_built_in(f"{self.name}: operator", self.operator)

    @property
    def callers(self) -> tuple[int, ...]:
        """The ranks that have a row for the call."""
        return self.ranks[:1] if self.kind == MESSAGE else self.ranks


@dataclass(frozen=True, eq=False)
class Workload:
    """Rows of ranks, with their calls, on the nodes of a network.

    Attributes
    ----------
    name
        The name for people, such as a file's.
    topology
        The network.
    nodes
        The node of each rank, shape (ranks,).
    rank, cycles, call
        For each row its rank, its cycles of computation (0 with a call) and its call, or
        :data:`NO_CALL`. Shape (rows,).
    names
        The name of each row.
    after_offsets, after
        The rows that row r is after are ``after[after_offsets[r]:after_offsets[r + 1]]``.
    calls
        All calls.
    word_bytes
        Bytes of a word: 1 to 8, or a multiple of 8 up to 64.

    :meth:`check` proves that ranks, rows and calls fit together.
    """

    name: str
    topology: Topology
    nodes: npt.NDArray[np.int64]
    rank: npt.NDArray[np.int64]
    cycles: npt.NDArray[np.int64]
    call: npt.NDArray[np.int64]
    names: tuple[str, ...]
    after_offsets: Numbers
    after: npt.NDArray[np.int64]
    calls: tuple[Call, ...]
    word_bytes: int = WORD_BYTES

    @property
    def flit_width(self) -> int:
        """Bits of a word in a network."""
        return max(_LEAST_WIDTH, 8 * self.word_bytes)

    @property
    def ranks(self) -> int:
        """Number of ranks."""
        return len(self.nodes)

    @property
    def rows(self) -> int:
        """Number of rows."""
        return len(self.rank)

    def __repr__(self) -> str:
        size = f"{self.ranks} ranks, {self.rows} rows, {len(self.calls)} calls"
        return f"<{type(self).__name__}: {self.name}, {size}, on {self.topology.label}>"

    def on(self, nodes: Sequence[int]) -> Workload:
        """Return the workload with its ranks on other nodes."""
        return replace(self, nodes=np.array(nodes, np.int64))

    @cached_property
    def rows_of_calls(self) -> list[list[int]]:
        """The rows of each call, ascending."""
        found: list[list[int]] = [[] for _ in self.calls]
        for row in np.flatnonzero(self.call != NO_CALL).tolist():
            found[self.call[row]].append(row)
        return found

    def members(self, call: Call) -> tuple[int, ...]:
        """Return the nodes of a call's ranks, in the order of its ranks."""
        return tuple(self.nodes[list(call.ranks)].tolist())

    def check(self) -> None:
        """Raise :class:`.InvalidInput`, which names the row or call, if anything does not fit."""
        self._check_nodes()
        if not self.rows:
            raise InvalidInput(f"{self.name}: must have at least one operation")
        for call, rows in zip(self.calls, self.rows_of_calls, strict=True):
            call.require(self.ranks)
            self._check_callers(call, self.rank[rows].tolist())
        long = np.flatnonzero((self.cycles < 0) | (self.cycles > MOST_CYCLES))
        for row in long[:1].tolist():
            name = f"{self.names[row]}: cycles"
            raise InvalidInput.of(name, f"0 to {MOST_CYCLES}", int(self.cycles[row]))
        self._check_order()

    def _check_nodes(self) -> None:
        """Require a working node of its own for each rank."""
        nodes, working = self.nodes.tolist(), {*self.topology.working_nodes.tolist()}
        if len(nodes) > len(working):
            allowed = f"at most {len(working)}, the working nodes of the {self.topology.label}"
            raise InvalidInput.of(f"{self.name}: ranks", allowed, len(nodes))
        seen: dict[int, int] = {}
        for rank, node in enumerate(nodes):
            if node not in working:
                allowed = f"a working node of the {self.topology.label}"
                raise InvalidInput.of(f"node of rank {rank}", allowed, node)
            if node in seen:
                allowed = f"another than that of rank {seen[node]}"
                raise InvalidInput.of(f"node of rank {rank}", allowed, node)
            seen[node] = rank

    def _check_callers(self, call: Call, found: Sequence[int]) -> None:
        """Require that each caller has one row for its call."""
        for rank in call.callers:
            if found.count(rank) != 1:
                count = "no" if rank not in found else str(found.count(rank))
                allowed = f"named once by each of its ranks: rank {rank} has {count} operations"
                raise InvalidInput(f"{call.name} must be {allowed}")
        for rank in sorted({*found} - {*call.callers}):
            raise InvalidInput(f"{call.name} must be named by its ranks alone, not by rank {rank}")

    def _check_order(self) -> None:
        """Require that no row waits for itself; a call's rows wait for each other's rows."""
        before, after, items = self._edges()
        stuck = peeling_rounds(before, after, items) < 0
        if not stuck.any():
            return
        # Every stuck item is after another stuck item, so a walk back ends in a circle.
        kept = stuck[before] & stuck[after]
        back = dict(zip(after[kept].tolist(), before[kept].tolist(), strict=True))
        circle = circle_ahead(back)
        names = [self.item_name(item) for item in circle]
        more = ["..."] if len(names) > _SHOWN else []
        shown = " after ".join([*names[:_SHOWN], *more, names[0]])
        raise InvalidInput(f"{self.name}: operations must not wait in a circle: {shown}")

    def item_name(self, item: int) -> str:
        """Return the name of an item of :attr:`items`, with its rank if it computes."""
        if item < self.rows:
            return f"{self.names[item]} of rank {self.rank[item]}"
        call = self.calls[item - self.rows]
        return f"{call.name} ({call.kind})"

    @cached_property
    def items(self) -> npt.NDArray[np.int64]:
        """The item of each row, shape (rows,): the row itself, or rows + its call's number."""
        return np.where(self.call == NO_CALL, np.arange(self.rows), self.rows + self.call)

    @property
    def waiting(self) -> Numbers:
        """The row that waits, for each row of ``after``."""
        return np.repeat(np.arange(self.rows), np.diff(self.after_offsets))

    def _edges(self) -> tuple[Numbers, Numbers, int]:
        """Return the items before and after each dependency, and the number of items."""
        return self.items[self.after], self.items[self.waiting], self.rows + len(self.calls)

    def longest_path(self, call_cycles: Sequence[int]) -> npt.NDArray[np.int64]:
        """Return the cycles from the end of each item back to the begin of all: shape (items,).

        Each call takes its number of ``call_cycles``, and nobody waits for a tile or a link.
        """
        before, after, count = self._edges()
        return _path_ends(before, after, np.concatenate((self.cycles, call_cycles)), count)

    def remaining(self, call_cycles: Sequence[int]) -> npt.NDArray[np.int64]:
        """Return the cycles from the begin of each item to the end of all: shape (items,)."""
        before, after, count = self._edges()
        return _path_ends(after, before, np.concatenate((self.cycles, call_cycles)), count)


_SHOWN = 6
"""Most operations of a circle that its message names."""


def _path_ends(
    before: Numbers, after: Numbers, cycles: npt.NDArray[np.int64], count: int
) -> npt.NDArray[np.int64]:
    """Return the largest sum of ``cycles`` on a path that ends in each item, its own included."""
    rounds = peeling_rounds(before, after, count)[after]
    begins, ends = np.zeros(count, np.int64), cycles.astype(np.int64)
    # An item's round is later than that of all items before it.
    order = np.argsort(rounds, kind="stable")
    limits = np.searchsorted(rounds[order], np.arange(rounds.max(initial=0) + 2))
    for begin, end in zip(limits[:-1].tolist(), limits[1:].tolist(), strict=True):
        edges = order[begin:end]
        np.maximum.at(begins, after[edges], ends[before[edges]])
        ends[after[edges]] = begins[after[edges]] + cycles[after[edges]]
    return ends


@dataclass
class Rows:
    """Rows in the making: a reader adds them one by one.

    ``call_of`` gives the number of a call by a key that all its members name.
    """

    rank: list[int] = field(default_factory=list)
    cycles: list[int] = field(default_factory=list)
    call: list[int] = field(default_factory=list)
    names: list[str] = field(default_factory=list)
    after: list[list[int]] = field(default_factory=list)
    calls: list[Call] = field(default_factory=list)
    call_of: dict[object, int] = field(default_factory=dict)

    def compute(self, rank: int, cycles: int, name: str) -> int:
        """Add a row that computes; return its number."""
        return self._add(rank, cycles, NO_CALL, name)

    def take_part(self, rank: int, key: object, call: Call) -> int:
        """Add a row of ``call``, the same for all rows of ``key``; return the row's number.

        A call of one rank needs no network: its row takes no time.
        """
        if len(call.ranks) == 1:
            return self.compute(rank, 0, call.name)
        number = self.call_of.setdefault(key, len(self.calls))
        if number == len(self.calls):
            self.calls.append(call)
        known = self.calls[number]
        same = replace(call, name=known.name)
        if same != known:
            one, other = (f"{each.kind} of {each.words} words" for each in (known, call))
            where = f"rank {rank} calls {call.name}, {other}"
            raise InvalidInput(f"{known.name} must be one call, {one}: {where}")
        return self._add(rank, 0, number, call.name)

    def _add(self, rank: int, cycles: int, call: int, name: str) -> int:
        self.rank.append(rank)
        self.cycles.append(cycles)
        self.call.append(call)
        self.names.append(name)
        self.after.append([])
        return len(self.rank) - 1

    def workload(self, name: str, topology: Topology, nodes: Sequence[int]) -> Workload:
        """Return the checked workload of all rows."""
        made = Workload(
            name,
            topology,
            np.array(nodes, np.int64),
            np.array(self.rank, np.int64),
            np.array(self.cycles, np.int64),
            np.array(self.call, np.int64),
            tuple(self.names),
            offsets_of([len(each) for each in self.after]),
            np.array([row for each in self.after for row in each], np.int64),
            tuple(self.calls),
        )
        made.check()
        return made
