"""Schedules and workloads in GOAL, the language of LogGOPSim and ATLAHS.

::

    num_ranks 2
    rank 0 {
    l1: send 64b to 1 tag 0
    }
    rank 1 {
    l1: recv 64b from 0 tag 0
    l2: calc 100                  nanoseconds of a workload; a schedule skips them with a notice
    l2 requires l1                l2 begins when l1 has ended; irequires: when it has begun
    }

:mod:`.operations` turns operations into messages. A receive from any rank or with any tag is
refused, because its message is ambiguous. Numbers after ``cpu`` and ``nic`` are skipped. Source of
the language: ``src/LogGOPSim/txt2bin.re`` of spcl/LogGOPSim.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

from ..model.base.errors import InvalidInput, printable, require_range
from ..model.base.files import InputFile, input_name, write_pieces_atomically
from ..model.network.topology import LARGEST_NODE_COUNT, Topology
from ..model.schedule.schedule import Schedule
from ..model.workload.workload import Rows, Workload
from .format import Format, Setting, WorkloadSetting
from .lines import numbered_lines, quoted, wrong_line
from .messages import WorkloadMessages
from .notes import say
from .operations import (
    LARGEST_OPERATIONS,
    LARGEST_SIZE,
    OMITTED,
    WORD_BYTES,
    Operation,
    OperationKind,
    operations_of,
    schedule_of,
)
from .ranks import nodes_of_ranks

_LABEL = "[a-zA-Z][a-zA-Z0-9_]*"
_PROCESSORS = r"(?:\s*cpu\s*(?P<cpu>\d+))?(?:\s*nic\s*(?P<nic>\d+))?"
_RANKS = re.compile(r"num_ranks\s+(\d{1,17})\s*")
_BEGIN = re.compile(r"rank\s+(\d{1,17})\s*\{\s*")
_DEPENDENCY = re.compile(rf"({_LABEL})\s+(i?requires)\s+({_LABEL})")
_OPERATION = re.compile(
    rf"(?:(?P<label>{_LABEL})\s*:\s*)?"
    r"(?:(?P<kind>send|recv)\s+(?P<size>\d{1,17})\s*b\s*(?P<way>to|from)\s+(?P<peer>-1|\d{1,17})"
    r"(?:\s*tag\s*(?P<tag>-1|\d{1,17}))?|calc\s+(?P<time>\d{1,17}))" + _PROCESSORS
)
_HEAD = re.compile(rb"(?:\s|//[^\n]*+\n|/\*(?:[^*]|\*(?!/))*+\*/)*+num_ranks\s")
_ANY = "-1"


def read_goal(file: InputFile, setting: Setting) -> Schedule:
    """Read a schedule; rank r is the r-th working node.

    Raises :class:`InvalidInput` with the line, as :func:`.schedule_of` does.
    """
    reader = _Reader.of(file)
    if reader.computations:
        what = f"{reader.computations} local computations (calc), {reader.time} in all"
        say(file, f"passed over, as they take no time on a network: {what}")
    reader.say_processors()
    if reader.rounded:
        whole = f"whole words of {WORD_BYTES} bytes, at least one"
        say(file, f"{reader.rounded} messages are rounded up to {whole}")
    return schedule_of(reader.operations, reader.ranks, file, setting, "goal")


def read_goal_workload(file: InputFile, topology: Topology, setting: WorkloadSetting) -> Workload:
    """Read a workload; rank r is on the r-th working node.

    An operation that irequires another one is after the operations that the other one requires.
    Raises :class:`InvalidInput` with the line.
    """
    reader = _Reader.of(file)
    reader.say_processors()
    name = input_name(file)
    nodes = nodes_of_ranks(topology, reader.ranks, f"ranks of {name}")
    rows, messages = Rows(), WorkloadMessages()
    for each in reader.operations:
        label = f"line {each.place.rsplit(' ', 1)[1]}"
        words = setting.words_of(each.size)
        if each.kind is OperationKind.LOCAL:
            rows.compute(each.rank, setting.cycles_of_nanoseconds(each.size), f"calc, {label}")
        elif each.kind is OperationKind.SEND:
            ends = (each.rank, each.peer, each.tag)
            messages.send(rows, ends, words, f"send, {label}", each.place)
        else:
            ends = (each.peer, each.rank, each.tag)
            messages.receive(rows, ends, words, f"recv, {label}", each.place)
    for after, each in zip(rows.after, reader.operations, strict=True):
        begun = (other for beside in each.beside for other in reader.operations[beside].after)
        after += [*each.after, *begun]
    messages.order(rows)
    return rows.workload(name, topology, nodes)


def _statements(file: InputFile) -> Iterator[tuple[int, str]]:
    """Yield the lines of a file without comments; refuse an unterminated comment."""
    inside = 0
    for number, line in numbered_lines(file):
        kept = []
        rest = line
        while rest:
            if inside:
                _, closed, rest = rest.partition("*/")
                inside = 0 if closed else inside
                continue
            found = re.search(r"//|/\*", rest)
            if found is None:
                kept.append(rest)
                break
            kept.append(rest[: found.start()])
            inside = number if found[0] == "/*" else 0
            rest = rest[found.end() :] if inside else ""
        if statement := " ".join(kept).strip():
            yield number, statement
    if inside:
        raise wrong_line(file, inside, "comment must end with */")


@dataclass
class _Reader:
    """The operations of a file, read line by line; ``_rank`` is the open rank."""

    file: InputFile
    ranks: int = 0
    operations: list[Operation] = field(default_factory=list)
    computations: int = 0
    time: int = 0
    processors: bool = False
    rounded: int = 0
    _rank: int | None = None
    _line: int = 0
    _seen: set[int] = field(default_factory=set)
    _labels: dict[str, int] = field(default_factory=dict)
    _dependencies: list[tuple[int, str, str, str]] = field(default_factory=list)

    @classmethod
    def of(cls, file: InputFile) -> _Reader:
        """Read a whole file."""
        reader = cls(file)
        for number, statement in _statements(file):
            reader.take(number, statement)
        reader.finish()
        return reader

    def say_processors(self) -> None:
        """Say that numbers of processors are passed over."""
        if self.processors:
            say(self.file, "passed over, as a node has one interface: numbers of cpu and nic")

    def take(self, number: int, statement: str) -> None:
        """Read a line: the number of ranks, a rank's begin or end, or an operation."""
        self._line = number
        if not self.ranks:
            statement = self._begin_file(statement)
        while statement:
            if self._rank is None:
                statement = self._begin_rank(statement)
            elif statement.startswith("}"):
                self._end_rank()
                statement = statement[1:].lstrip()
            else:
                inner, brace, after = statement.partition("}")
                self._take_inner(inner.strip())
                statement = brace + after

    def finish(self) -> None:
        """Refuse an incomplete file."""
        if not self.ranks:
            raise InvalidInput(f"{input_name(self.file)}: must have num_ranks")
        if self._rank is not None:
            raise self._wrong(f"rank {self._rank} must end with }}")

    def _wrong(self, complaint: str) -> InvalidInput:
        return wrong_line(self.file, self._line, complaint)

    def _below(self, name: str, given: str, limit: int) -> int:
        value = int(given)
        if value >= limit:
            raise self._wrong(f"{name} must be 0 to {limit - 1}, not {value}")
        return value

    def _begin_file(self, statement: str) -> str:
        """Read the number of ranks; return the rest of the line."""
        found = _RANKS.match(statement)
        if found is None:
            raise self._wrong(f"must be num_ranks and a number, not {quoted(statement)}")
        self.ranks = int(found[1])
        try:
            require_range("num_ranks", self.ranks, 1, LARGEST_NODE_COUNT)
        except InvalidInput as error:
            raise self._wrong(str(error)) from error
        return statement[found.end() :]

    def _begin_rank(self, statement: str) -> str:
        """Read the begin of a rank; return the rest of the line."""
        found = _BEGIN.match(statement)
        if found is None:
            raise self._wrong(f"must be rank, a number and {{, not {quoted(statement)}")
        self._rank = self._below("rank", found[1], self.ranks)
        if self._rank in self._seen:
            raise self._wrong(f"rank must be another than before, not {self._rank}")
        self._seen.add(self._rank)
        return statement[found.end() :]

    def _take_inner(self, statement: str) -> None:
        """Read an operation, or a dependency between two."""
        if found := _DEPENDENCY.fullmatch(statement):
            self._dependencies.append((self._line, found[1], found[2], found[3]))
        elif found := _OPERATION.fullmatch(statement):
            self._take_operation(found)
        else:
            raise self._wrong(f"must be send, recv, calc or requires, not {quoted(statement)}")

    def _take_operation(self, found: re.Match[str]) -> None:
        assert self._rank is not None
        if len(self.operations) == LARGEST_OPERATIONS:
            raise self._wrong(f"operations must be at most {LARGEST_OPERATIONS}")
        if (label := found["label"]) is not None:
            if label in self._labels:
                raise self._wrong(f"label must be another than before, not {quoted(label)}")
            self._labels[label] = len(self.operations)
        self.processors |= (found["cpu"] or found["nic"]) is not None
        place = f"{input_name(self.file)}, line {self._line}"
        if found["time"] is not None:
            self.computations += 1
            self.time += int(found["time"])
            local = Operation(OperationKind.LOCAL, self._rank, place, size=int(found["time"]))
            self.operations.append(local)
            return
        kind = OperationKind.SEND if found["kind"] == "send" else OperationKind.RECEIVE
        if (found["way"] == "to") != (kind is OperationKind.SEND):
            raise self._wrong(f"must be send to or recv from, not {quoted(found[0])}")
        self.operations.append(
            Operation(kind, self._rank, place, self._peer(found), self._size(found, kind))
        )
        tag = found["tag"] or "0"
        if tag == _ANY:
            raise self._wrong("tag must be a number: -1 names no message")
        self.operations[-1].tag = self._below("tag", tag, 1 << 32)

    def _peer(self, found: re.Match[str]) -> int:
        if found["peer"] == _ANY:
            raise self._wrong(f"{found['way']} must name a rank: -1 names no message")
        peer = self._below(found["way"], found["peer"], self.ranks)
        if peer == self._rank:
            raise self._wrong(f"{found['way']} must be another rank, not {peer} itself")
        return peer

    def _size(self, found: re.Match[str], kind: OperationKind) -> int:
        size = int(found["size"])
        if size > LARGEST_SIZE:
            raise self._wrong(f"bytes must be at most {LARGEST_SIZE}, not {size}")
        self.rounded += kind is OperationKind.SEND and (size == 0 or size % WORD_BYTES != 0)
        return size

    def _end_rank(self) -> None:
        """Look up the labels in the rank's dependencies."""
        for number, label, word, other in self._dependencies:
            for name in (label, other):
                if name not in self._labels:
                    complaint = f"label must be one of rank {self._rank}, not {quoted(name)}"
                    raise wrong_line(self.file, number, complaint)
            operation = self.operations[self._labels[label]]
            others = operation.after if word == "requires" else operation.beside
            others.append(self._labels[other])
        self._rank = None
        self._labels.clear()
        self._dependencies.clear()


def write_goal(schedule: Schedule, path: Path) -> None:
    """Write the messages of ``schedule``, and the order of each rank's sends and receives."""
    write_pieces_atomically(path, (piece.encode() for piece in _pieces(schedule)))


def _pieces(schedule: Schedule) -> Iterator[str]:
    ranks = operations_of(schedule)
    title = printable(f"{schedule.collective} ({schedule.algorithm})")
    yield f"// {title}, words of {WORD_BYTES} bytes\n"
    yield f"num_ranks {len(ranks)}\n"
    for rank, operations in enumerate(ranks):
        lines = [f"\nrank {rank} {{\n"]
        for number, each in enumerate(operations, 1):
            verb, way = ("send", "to") if each.kind is OperationKind.SEND else ("recv", "from")
            lines.append(f"l{number}: {verb} {each.size}b {way} {each.peer} tag {each.tag}\n")
            lines += [f"l{number} requires l{other + 1}\n" for other in each.after]
        yield "".join((*lines, "}\n"))


GOAL = Format(
    name="goal",
    title="GOAL",
    suffixes=(".goal",),
    looks=lambda content: _HEAD.match(content) is not None,
    read_schedule_on=read_goal,
    read_workload=read_goal_workload,
    heeds=("clock", "word_bytes"),
    omits=OMITTED,
    write_schedule=write_goal,
)
