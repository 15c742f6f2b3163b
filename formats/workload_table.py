"""Workloads as a table of our own, for people without traces: CSV, or JSON with the same keys.

::

    id,rank,what,amount,after
    layer,all,compute,2000,
    sum,0-3/4-7/8-11/12-15,all-reduce,256,layer
    send,0>5,message,64,sum
    use,5,operations,1000000,send

Each line is one operation; every rank that it names has a part of it.

======= ============================================================================================
id      a name of its own
rank    ``all``, or ranks such as ``0 2 5-7``; a message goes from a rank to another, ``0>5``;
        ``/`` stands between groups of a collective, and between messages
what    ``compute``, ``operations``, ``message`` or a collective, with an operator if it reduces:
        ``all-reduce max``; a root is the first rank
amount  cycles, operations (divided by the rate), or words of the message or of each block
after   the operations that must end first, apart by blanks; each must name all ranks of this one
======= ============================================================================================

In JSON, ``{"format": "eyecast-workload", "version": 1, "operations": [{"id": "layer", …}, …]}``,
where ``after`` is a list.
"""

from __future__ import annotations

import csv
import re
from collections import defaultdict
from collections.abc import Iterator, Sequence
from io import StringIO
from typing import Annotated

import msgspec

from ..model.base.errors import InvalidInput, printable
from ..model.base.files import InputFile, input_name
from ..model.base.json_file import decode_versioned, read_json
from ..model.network.topology import Topology
from ..model.schedule.collective import ROOTLESS, Collective
from ..model.workload.workload import KINDS, MESSAGE, Call, Rows, Workload
from .format import Format, WorkloadSetting, json_keys
from .lines import quoted, text_of, wrong_line
from .ranks import nodes_of_ranks

COLUMNS = ("id", "rank", "what", "amount", "after")
HEADER = ",".join(COLUMNS)
FORMAT = "eyecast-workload"
COMPUTE, OPERATIONS = "compute", "operations"
MOST_OPERATIONS = 1 << 21
"""Most rows of all ranks together."""

_RANGE = re.compile(r"(\d{1,8})(?:-(\d{1,8}))?")
_MESSAGE = re.compile(r"\s*(\d{1,8})\s*>\s*(\d{1,8})\s*")
_NUMBER = re.compile(r"\d{1,18}")


class _Operation(msgspec.Struct, forbid_unknown_fields=True):
    id: str
    rank: str | Annotated[int, msgspec.Meta(ge=0)]
    what: str
    amount: Annotated[int, msgspec.Meta(ge=0)] = 1
    after: list[str] = []


class _File(msgspec.Struct, forbid_unknown_fields=True):
    format: str
    version: int
    operations: list[_Operation]


def read_table(file: InputFile, topology: Topology, setting: WorkloadSetting) -> Workload:
    """Read a workload; rank r is on the r-th working node.

    Raises :class:`InvalidInput` with the file and the operation.
    """
    if "format" in json_keys(file.content):
        lines = read_json(file, lambda text: decode_versioned(text, FORMAT, (1,), _File).operations)
    else:
        lines = list(_csv_lines(file))
    reader = _Reader(file, topology, setting)
    for line in lines:
        try:
            reader.take(line)
        except InvalidInput as error:
            place = f"{input_name(file)}, operation {quoted(line.id)}: "
            raise error.between(place) from error
    return reader.workload()


def _csv_lines(file: InputFile) -> Iterator[_Operation]:
    """Yield the operations of a CSV file."""
    table = csv.reader(StringIO(text_of(file), newline=""), skipinitialspace=True)
    header = [cell.strip() for cell in next(table, [])]
    if header != list(COLUMNS):
        raise wrong_line(file, 1, f"must be {HEADER}, not {quoted(','.join(header))}")
    for cells in table:
        if not any(map(str.strip, cells)):
            continue
        if len(cells) != len(COLUMNS):
            columns = f"must have {len(COLUMNS)} columns, not {len(cells)}"
            raise wrong_line(file, table.line_num, columns)
        name, rank, what, amount, after = (cell.strip() for cell in cells)
        if not _NUMBER.fullmatch(amount or "1"):
            complaint = f"amount must be a whole number, not {quoted(amount)}"
            raise wrong_line(file, table.line_num, complaint)
        yield _Operation(name, rank, what, int(amount or 1), after.split())


class _Reader:
    """The rows of a table, line by line; ``_rows_of`` has the rows of each id by rank."""

    def __init__(self, file: InputFile, topology: Topology, setting: WorkloadSetting) -> None:
        self._file, self._setting, self._rows = file, setting, Rows()
        self._topology, self._everyone = topology, range(topology.working_nodes.size)
        self._rows_of: dict[str, dict[int, int]] = {}
        self._sources: defaultdict[str, list[int]] = defaultdict(list)
        self._lines: list[_Operation] = []

    def take(self, line: _Operation) -> None:
        """Add the rows of a line; what they are after may come later in the file."""
        if not line.id or len(line.id.split()) != 1 or line.id in self._rows_of:
            allowed = "one word, and another than before"
            raise InvalidInput.of("id", allowed, quoted(line.id))
        kind, _, operator = line.what.partition(" ")
        words = (COMPUTE, OPERATIONS, *KINDS)
        if kind not in words or (operator and kind in (COMPUTE, OPERATIONS, MESSAGE)):
            raise InvalidInput.unknown("what", words, printable(line.what))
        text = str(line.rank)
        if kind == MESSAGE:
            self._rows_of[line.id] = self._messages(line, text.split("/"))
        elif kind in KINDS:
            groups = [self._ranks(part) for part in text.split("/")]
            self._rows_of[line.id] = self._collective(line, kind, operator, groups)
        else:
            cycles = line.amount
            if kind == OPERATIONS:
                cycles = self._setting.cycles_of_operations(line.amount)
            self._rows_of[line.id] = {
                rank: self._rows.compute(rank, cycles, line.id) for rank in self._ranks(text)
            }
        if len(self._rows.rank) > MOST_OPERATIONS:
            count = len(self._rows.rank)
            raise InvalidInput.of("operations of all ranks", f"at most {MOST_OPERATIONS}", count)
        self._lines.append(line)

    def _ranks(self, text: str) -> tuple[int, ...]:
        """Return the ranks that a text lists."""
        if text.strip() == "all":
            return tuple(self._everyone)
        found: list[int] = []
        for word in text.split():
            pair = _RANGE.fullmatch(word)
            low, high = (-1, -1) if pair is None else (int(pair[1]), int(pair[2] or pair[1]))
            if not 0 <= low <= high < len(self._everyone):
                last = len(self._everyone) - 1
                raise InvalidInput.of("rank", f"all, or ranks from 0 to {last}", quoted(word))
            found += range(low, high + 1)
        if not found or len({*found}) < len(found):
            raise InvalidInput.of("rank", "all, or ranks such as 0 2 5-7, once each", quoted(text))
        return tuple(found)

    def _messages(self, line: _Operation, texts: Sequence[str]) -> dict[int, int]:
        """Add messages; return the row of each source, and of the arrival at each target."""
        rows: dict[int, int] = {}
        for number, text in enumerate(texts):
            found = _MESSAGE.fullmatch(text)
            if found is None:
                raise InvalidInput.of("rank", "source>target with message", quoted(text))
            source, target = (self._ranks(each)[0] for each in found.groups())
            for rank in (source, target):
                if rank in rows or source == target:
                    raise InvalidInput.of("rank", "at one end of one message", rank)
            call = Call(MESSAGE, (source, target), line.amount, line.id)
            rows[source] = self._rows.take_part(source, (line.id, number), call)
            rows[target] = self._rows.compute(target, 0, line.id)
            self._rows.after[rows[target]].append(rows[source])
            self._sources[line.id].append(source)
        return rows

    def _collective(
        self, line: _Operation, kind: str, operator: str, groups: Sequence[tuple[int, ...]]
    ) -> dict[int, int]:
        """Add a collective of each group; return the row of each rank."""
        words = 1 if kind == Collective.BARRIER else line.amount
        rows: dict[int, int] = {}
        for number, ranks in enumerate(groups):
            root = None if kind in ROOTLESS else ranks[0]
            call = Call(kind, ranks, words, line.id, root, operator or None)
            for rank in ranks:
                if rank in rows:
                    raise InvalidInput.of("rank", "in one group", rank)
                rows[rank] = self._rows.take_part(rank, (line.id, number), call)
        return rows

    def workload(self) -> Workload:
        """Return the workload, after the order of its operations is known."""
        for line in self._lines:
            for other in line.after:
                before = self._rows_of.get(other)
                place = f"{input_name(self._file)}, operation {quoted(line.id)}: after"
                if before is None:
                    raise InvalidInput.of(place, "ids of operations", quoted(other))
                self._order(line, before, f"{place} {quoted(other)}")
        used = max(self._rows.rank, default=0) + 1
        name = input_name(self._file)
        nodes = nodes_of_ranks(self._topology, used, f"ranks of {name}")
        return self._rows.workload(name, self._topology, nodes)

    def _order(self, line: _Operation, before: dict[int, int], place: str) -> None:
        """Put the rows of a line after those of another one, rank by rank."""
        own = self._rows_of[line.id]
        # A message arrives as soon as it is sent: only its source waits for others.
        waiting = self._sources[line.id] or own
        for rank in waiting:
            if rank not in before:
                allowed = f"an operation of rank {rank}, too"
                raise InvalidInput(f"{place} must be {allowed}")
            self._rows.after[own[rank]].append(before[rank])


WORKLOAD = Format(
    name="workload",
    title="Eyecast workload",
    suffixes=(".csv",),
    looks=lambda content: (
        content.lstrip().startswith(HEADER.encode())
        or ("operations" in json_keys(content) and FORMAT.encode() in content)
    ),
    read_workload=read_table,
    heeds=("rate", "word_bytes"),
)
