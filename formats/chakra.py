"""Schedules and workloads as Chakra execution traces, such as ASTRA-sim's and STAGE's.

A trace is a set of files, ``NAME.0.et`` to ``NAME.63.et``, one for each NPU; any of them names the
whole set. An NPU is a rank of :mod:`.operations`. The nodes of a file are

==================  ==============================================================================
COMM_SEND_NODE      a send of ``comm_size`` bytes to ``comm_dst``, with the tag ``comm_tag``
COMM_RECV_NODE      a receive from ``comm_src``
COMM_COLL_NODE      a whole collective: refused, because its sends are unknown
others              computations and memory accesses: skipped with a notice
==================  ==============================================================================

A node begins when the nodes in its ``data_deps`` and ``ctrl_deps`` have ended. Without
``comm_size`` a message has ``msg_chunk_cnt`` blocks of the length in the setting. Sources of the
format: ``schema/protobuf/et_def.proto`` and ``src/feeder`` of mlcommons/chakra,
``CustomAlgorithm.cc`` of astra-sim/astra-sim.

In a workload every node takes its time:

==================  ==============================================================================
COMP_NODE           ``duration_micros``; without it ``num_ops`` operations
MEM_LOAD_NODE       ``duration_micros``; without it a cycle for each word of ``tensor_size`` bytes;
MEM_STORE_NODE      the same
COMM_COLL_NODE      the collective ``comm_type`` of the group ``pg_name``, or of all NPUs
COMM_SEND_NODE      a message; the receive ends when it has begun and the message has arrived
==================  ==============================================================================

Groups are in a JSON file: ``{"1": [0, 1, 2, 3], "2": [0, 4]}``. The k-th node of a group, in the
order of each file, is the k-th collective of that group. ``comm_size`` are the bytes of the message
of a broadcast, reduce or all-reduce, and of each NPU's own block in a gather or all-gather. In the
others they are the bytes of all blocks of one NPU, as ASTRA-sim counts them.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path

import msgspec

from ..model.base.errors import InvalidInput
from ..model.base.files import (
    STANDARD_INPUT,
    InputFile,
    input_name,
    require_writable,
    write_bytes_atomically,
)
from ..model.base.json_file import read_json
from ..model.network.topology import Topology
from ..model.schedule.collective import Collective
from ..model.schedule.schedule import Schedule
from ..model.workload.workload import Call, Rows, Workload
from .chakra_schema import (
    COLLECTIVE,
    COMPUTATION,
    INTEGER_FIELDS,
    MEMORY_LOAD,
    MEMORY_STORE,
    RECEIVE,
    SEND,
    VERSION,
    Message,
    Protobuf,
)
from .format import Format, Setting, WorkloadSetting
from .lines import quoted
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

_NAME = re.compile(r"(.*)\.(\d{1,8})\.et")
_METADATA = 1
_COUNTED = {
    COMPUTATION: "computations (COMP_NODE), so that nothing is combined",
    MEMORY_LOAD: "loads from memory",
    MEMORY_STORE: "stores to memory",
}
_USED = {"comm_size", "comm_src", "comm_dst", "comm_tag", "comm_type", "msg_chunk_cnt"}
_GROUP = "pg_name"


def read_chakra(file: InputFile, setting: Setting) -> Schedule:
    """Read the trace that ``file`` belongs to; NPU n is the n-th working node.

    Raises :class:`InvalidInput` with the file and its node, as :func:`.schedule_of` does, and for a
    missing file of the set.
    """
    files = _files(file)
    reader = _Reader(Protobuf(), len(files), words=setting.words)
    for npu, each in enumerate(files):
        reader.read(each, npu)
    for kind, count in sorted(reader.counts.items()):
        say(file, f"passed over, as they take no time on a network: {count} {_COUNTED[kind]}")
    if reader.rounded:
        whole = f"whole words of {WORD_BYTES} bytes, at least one"
        say(file, f"{reader.rounded} messages are rounded up to {whole}")
    if reader.passed_over:
        names = ", ".join(sorted(reader.passed_over))
        say(file, f"passed over, as a schedule has no place for them: attributes {names}")
    return schedule_of(reader.operations, len(files), file, setting, "chakra")


def _files(file: InputFile) -> list[InputFile]:
    """Return all files of the set of ``file``, in the order of NPUs."""
    found = _NAME.fullmatch(str(file.path))
    if found is None or str(file.path) == STANDARD_INPUT:
        allowed = "NAME.N.et, one of a file for each NPU"
        raise InvalidInput.of("file of a Chakra trace", allowed, input_name(file))
    numbers = _numbers(found[1])
    for place, npu in enumerate(sorted(numbers)):
        if npu != place:
            raise InvalidInput(f"{found[1]}.{place}.et: is missing, of NPUs 0 to {max(numbers)}")
    paths = (f"{found[1]}.{npu}.et" for npu in sorted(numbers))
    return [file if path == str(file.path) else InputFile.read(path) for path in paths]


def _numbers(name: str) -> set[int]:
    """Return the NPUs that have a file in the set ``name``."""
    matches = (_NAME.fullmatch(str(path)) for path in Path(name).parent.iterdir())
    same = (each for each in matches if each is not None and Path(each[1]) == Path(name))
    return {int(each[2]) for each in same if each[2] == str(int(each[2]))}


@dataclass
class _Nodes:
    """The nodes of a set of ``npus`` files; a subclass adds each, and puts it after others."""

    protobuf: Protobuf
    npus: int
    count: int = 0

    def read(self, file: InputFile, npu: int) -> None:
        """Read the nodes of one file."""
        place_of: dict[int, int] = {}
        awaited: list[tuple[str, list[int]]] = []
        for node in self.protobuf.nodes(file):
            place = f"{input_name(file)}, node {node.id}"
            if node.id in place_of:
                raise InvalidInput(f"{place}: id must be another than before")
            if self.count == LARGEST_OPERATIONS:
                raise InvalidInput(f"{place}: nodes must be at most {LARGEST_OPERATIONS}")
            if not _METADATA <= node.type <= COLLECTIVE:
                raise InvalidInput(f"{place}: type must be 1 to {COLLECTIVE}, not {node.type}")
            self.count += 1
            place_of[node.id] = self.add(node, npu, place)
            awaited.append((place, [*node.data_deps, *node.ctrl_deps]))
        for own, (place, others) in zip(place_of.values(), awaited, strict=True):
            for other in others:
                if other not in place_of:
                    complaint = f"node {other}, on which it depends, is missing"
                    raise InvalidInput(f"{place}: {complaint}")
                self.order(own, place_of[other])

    def add(self, node: Message, npu: int, place: str) -> int:
        """Add a node; return its number."""
        raise NotImplementedError

    def order(self, number: int, other: int) -> None:
        """Put a node after another one."""
        raise NotImplementedError

    def ends(self, values: _Values, npu: int, *, sends: bool) -> tuple[int, int]:
        """Return the other NPU of a send or receive, and the tag."""
        own, other = ("comm_src", "comm_dst") if sends else ("comm_dst", "comm_src")
        values.integer(own, npu, npu, default=npu)
        peer = values.integer(other, 0, self.npus - 1)
        if peer == npu:
            raise InvalidInput(f"{values.place}: {other} must be another NPU, not {npu} itself")
        return peer, values.integer("comm_tag", -(1 << 31), (1 << 32) - 1, default=0)


@dataclass
class _Reader(_Nodes):
    """The sends and receives of a set of files, and counts of skipped nodes."""

    words: int = 1
    operations: list[Operation] = field(default_factory=list)
    counts: Counter[int] = field(default_factory=Counter)
    rounded: int = 0
    passed_over: set[str] = field(default_factory=set)

    def add(self, node: Message, npu: int, place: str) -> int:
        """Add the operation of a node; return its number."""
        self.operations.append(self._operation(node, npu, place))
        return len(self.operations) - 1

    def order(self, number: int, other: int) -> None:
        """Put an operation after another one."""
        self.operations[number].after.append(other)

    def _operation(self, node: Message, npu: int, place: str) -> Operation:
        """Return the operation of a node."""
        if node.type == COLLECTIVE:
            what = "a send or a receive, not a whole collective (COMM_COLL_NODE)"
            helps = "of which nothing says who sends what (eyecast run runs it)"
            raise InvalidInput(f"{place}: must be {what}, {helps}")
        if node.type not in (SEND, RECEIVE):
            self.counts.update([node.type] if node.type in _COUNTED else [])
            return Operation(OperationKind.LOCAL, npu, place)
        attributes = {attribute.name: attribute for attribute in node.attr}
        if _GROUP in attributes:
            complaint = "must be left out: NPUs of a group are not numbered as the files are"
            raise InvalidInput(f"{place}: {_GROUP} {complaint}")
        self.passed_over |= attributes.keys() - _USED
        values = _Values(attributes, place)
        peer, tag = self.ends(values, npu, sends=node.type == SEND)
        size = self._size(values)
        self.rounded += node.type == SEND and (size == 0 or size % WORD_BYTES != 0)
        kind = OperationKind.SEND if node.type == SEND else OperationKind.RECEIVE
        return Operation(kind, npu, place, peer, size, tag)

    def _size(self, values: _Values) -> int:
        """Return the bytes of a message: its own size, or the set words for each chunk."""
        if "comm_size" in values.attributes:
            return values.integer("comm_size", 0, LARGEST_SIZE)
        chunk = self.words * WORD_BYTES
        return chunk * values.integer("msg_chunk_cnt", 1, LARGEST_SIZE // chunk, default=1)


@dataclass(frozen=True)
class _Values:
    """Attributes of the node at ``place``."""

    attributes: dict[str, Message]
    place: str

    def integer(self, name: str, low: int, high: int, default: int | None = None) -> int:
        """Return an integer attribute; refuse one outside ``low`` to ``high``."""
        if name not in self.attributes:
            if default is None:
                raise InvalidInput(f"{self.place}: must have an attribute {name}")
            return default
        kind = self.attributes[name].WhichOneof("value")
        if kind not in INTEGER_FIELDS:
            raise InvalidInput(f"{self.place}: {name} must be an integer")
        value = int(getattr(self.attributes[name], kind))
        if not low <= value <= high:
            allowed = f"{low} to {high}" if low < high else str(low)
            raise InvalidInput.of(f"{self.place}: {name}", allowed, value)
        return value

    def text(self, name: str) -> str:
        """Return the text of an attribute; "" without it. A number is its digits."""
        if name not in self.attributes:
            return ""
        kind = self.attributes[name].WhichOneof("value")
        return "" if kind is None else str(getattr(self.attributes[name], kind))


_KINDS = (
    *(Collective.ALL_REDUCE, Collective.REDUCE, Collective.ALL_GATHER, Collective.GATHER),
    *(Collective.SCATTER, Collective.BROADCAST, Collective.ALL_TO_ALL),
    *(Collective.REDUCE_SCATTER, Collective.REDUCE_SCATTER, Collective.BARRIER),
)
"""Collectives by ``comm_type``."""

_SHARED = (Collective.SCATTER, Collective.REDUCE_SCATTER, Collective.ALL_TO_ALL)
"""Collectives whose ``comm_size`` is that of the blocks of all NPUs."""


@dataclass
class _WorkloadReader(_Nodes):
    """The rows of a set of files; ``calls`` counts the collectives of each NPU in each group."""

    setting: WorkloadSetting = field(kw_only=True)
    groups: dict[str, tuple[int, ...]] = field(kw_only=True)
    rows: Rows = field(default_factory=Rows)
    messages: WorkloadMessages = field(default_factory=WorkloadMessages)
    calls: Counter[tuple[str, int]] = field(default_factory=Counter)

    def order(self, number: int, other: int) -> None:
        """Put a row after another one."""
        self.rows.after[number].append(other)

    def add(self, node: Message, npu: int, place: str) -> int:
        """Add the row of a node; return its number."""
        values = _Values({attribute.name: attribute for attribute in node.attr}, place)
        name = node.name or f"node {node.id}"
        if node.type == COLLECTIVE:
            return self._collective(values, npu, name)
        if node.type in (SEND, RECEIVE):
            peer, tag = self.ends(values, npu, sends=node.type == SEND)
            words = self.setting.words_of(values.integer("comm_size", 0, _LARGEST))
            if node.type == RECEIVE:
                return self.messages.receive(self.rows, (peer, npu, tag), words, name, place)
            return self.messages.send(self.rows, (npu, peer, tag), words, name, place)
        return self.rows.compute(npu, self._cycles(node, values), name)

    def _cycles(self, node: Message, values: _Values) -> int:
        """Return the cycles of a node that needs no network."""
        if node.duration_micros:
            return self.setting.cycles_of_nanoseconds(1000 * node.duration_micros)
        if node.type == COMPUTATION:
            operations = values.integer("num_ops", 0, _LARGEST, default=0)
            return self.setting.cycles_of_operations(operations)
        if node.type in (MEMORY_LOAD, MEMORY_STORE):
            return self.setting.words_of(values.integer("tensor_size", 0, _LARGEST, default=0))
        return 0

    def _collective(self, values: _Values, npu: int, name: str) -> int:
        """Add a row of a collective."""
        kind = _KINDS[values.integer("comm_type", 0, len(_KINDS) - 1)]
        group = values.text(_GROUP)
        ranks = self._ranks(group, npu, values.place)
        size = values.integer("comm_size", 0, _LARGEST, default=0)
        words = self.setting.words_of(-(-size // len(ranks)) if kind in _SHARED else size)
        root = None
        if kind.rooted:
            root = ranks[values.integer("root", 0, len(ranks) - 1, default=0)]
        call = Call(kind, ranks, 1 if kind is Collective.BARRIER else words, name, root)
        self.calls[group, npu] += 1
        try:
            return self.rows.take_part(npu, (group, self.calls[group, npu]), call)
        except InvalidInput as error:
            raise error.between(f"{values.place}: ") from error

    def _ranks(self, group: str, npu: int, place: str) -> tuple[int, ...]:
        """Return the NPUs of a group, of which one is ``npu``; all without a name."""
        if not group:
            return tuple(range(self.npus))
        if npu not in self.groups.get(group, ()):
            allowed = f"a group of NPU {npu} in the file of groups"
            raise InvalidInput.of(f"{place}: {_GROUP}", allowed, quoted(group))
        return self.groups[group]


_LARGEST = 1 << 60
"""Most bytes, or operations, of a node of a workload."""


def read_chakra_workload(file: InputFile, topology: Topology, setting: WorkloadSetting) -> Workload:
    """Read the workload that ``file`` belongs to; NPU n is rank n, on the n-th working node.

    Groups are in the setting's file, or in ``NAME.json`` beside the trace. Raises
    :class:`InvalidInput` with the file and its node.
    """
    files = _files(file)
    nodes = nodes_of_ranks(topology, len(files), f"NPUs of {_set_name(file)}")
    groups = setting.comm_group or _groups_beside(file)
    listed = {} if groups is None else _groups(InputFile.read(groups), len(files))
    reader = _WorkloadReader(Protobuf(), len(files), setting=setting, groups=listed)
    for npu, each in enumerate(files):
        reader.read(each, npu)
    reader.messages.order(reader.rows)
    return reader.rows.workload(_set_name(file), topology, nodes)


def _set_name(file: InputFile) -> str:
    """Return the name that all files of a set begin with."""
    return str(file.path).rsplit(".", 2)[0]


def _groups_beside(file: InputFile) -> Path | None:
    """Return the file of groups beside a set; None if there is none."""
    path = Path(f"{_set_name(file)}.json")
    return path if path.is_file() else None


def _workload_files(file: InputFile) -> list[InputFile]:
    """Return all files of a set, with the groups beside it."""
    groups = _groups_beside(file)
    return [*_files(file), *([] if groups is None else [InputFile.read(groups)])]


def _groups(file: InputFile, npus: int) -> dict[str, tuple[int, ...]]:
    """Read the NPUs of each group."""

    def build(text: bytes) -> dict[str, tuple[int, ...]]:
        groups = msgspec.json.decode(text, type=dict[str, tuple[int, ...]])
        for name, ranks in groups.items():
            if len({*ranks}) < max(1, len(ranks)) or not all(0 <= rank < npus for rank in ranks):
                allowed = f"NPUs from 0 to {npus - 1}, each once"
                listed = " ".join(map(str, ranks)) or "none"
                raise InvalidInput.of(f"group {quoted(name)}", allowed, listed)
        return groups

    return read_json(file, build)


def write_chakra(schedule: Schedule, path: Path) -> None:
    """Write a trace: a file for each working node, ``NAME.0.et`` and so on.

    ``path`` is the first file. Raises :class:`InvalidInput` if it has another form, if a file
    cannot be written, or if the set has further files, which would seem part of the trace.
    """
    found = _NAME.fullmatch(str(path))
    if found is None or found[2] != "0":
        allowed = "called NAME.0.et, as there is a file for each NPU"
        raise InvalidInput.of(f"output file {path}", allowed, "otherwise")
    protobuf, ranks = Protobuf(), operations_of(schedule)
    paths = [Path(f"{found[1]}.{npu}.et") for npu in range(len(ranks))]
    for npu in sorted(_numbers(found[1])):
        if npu >= len(ranks):
            name = f"{found[1]}.{npu}.et"
            raise InvalidInput(f"output file {name} must be removed: it would be part of the trace")
    for each in paths:
        require_writable(each)
    for npu, (each, operations) in enumerate(zip(paths, ranks, strict=True)):
        messages = _trace(protobuf, npu, operations, schedule.collective)
        write_bytes_atomically(each, protobuf.content(messages))
    say(path, f"is one of {len(paths)} files, {paths[0].name} to {paths[-1].name}")


def _trace(
    protobuf: Protobuf, npu: int, operations: Sequence[Operation], collective: str
) -> Iterator[Message]:
    """Yield the messages of one NPU: its metadata, then its nodes."""
    attribute = protobuf.attribute
    facts = {"schema": VERSION, "collective": collective}
    yield protobuf.metadata(
        attr=[attribute(name=name, string_val=value) for name, value in facts.items()]
    )
    for number, each in enumerate(operations):
        kind, verb = (SEND, "SEND") if each.kind is OperationKind.SEND else (RECEIVE, "RECV")
        source, target = (npu, each.peer) if kind == SEND else (each.peer, npu)
        yield protobuf.node(
            id=number,
            name=f"COMM_{verb}_NODE_{each.tag}",
            type=kind,
            data_deps=each.after,
            attr=[
                attribute(name="comm_size", int64_val=each.size),
                attribute(name="comm_src", int32_val=source),
                attribute(name="comm_dst", int32_val=target),
                attribute(name="comm_tag", int32_val=each.tag),
            ],
        )


_LOOKED_AT = 4096
"""Most bytes that are searched for binary ones."""


def _looks(content: bytes) -> bool:
    """Return whether the bytes are binary and begin with an empty message, metadata or a node."""
    empty = content[:1] == b"\0"
    head = content[empty:_LOOKED_AT]
    length = next((place for place, byte in enumerate(head[:5]) if byte < 0x80), None)
    if length is None or not any(byte < 9 for byte in head):
        return False
    begins = (b"\x08", b"\x12") if empty else (b"\x0a", b"\x12")
    return head[length + 1 : length + 2] in begins


CHAKRA = Format(
    name="chakra",
    title="Chakra execution trace",
    suffixes=(".et",),
    looks=_looks,
    read_schedule_on=read_chakra,
    read_workload=read_chakra_workload,
    files=_workload_files,
    heeds=("clock", "rate", "word_bytes", "comm_group"),
    omits={**OMITTED, "algorithm": "algorithm"},
    write_schedule=write_chakra,
)
