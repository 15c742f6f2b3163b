"""Schedules as Chakra execution traces, such as ASTRA-sim's custom collectives.

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
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from ..model.base.errors import InvalidInput
from ..model.base.files import (
    STANDARD_INPUT,
    InputFile,
    input_name,
    require_writable,
    write_bytes_atomically,
)
from ..model.schedule.schedule import Schedule
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
from .format import Format, Setting
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
    reader = _Reader(Protobuf(), len(files), setting.words)
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
class _Reader:
    """The operations of a set of ``npus`` files, and counts of skipped nodes."""

    protobuf: Protobuf
    npus: int
    words: int
    operations: list[Operation] = field(default_factory=list)
    counts: Counter[int] = field(default_factory=Counter)
    rounded: int = 0
    passed_over: set[str] = field(default_factory=set)

    def read(self, file: InputFile, npu: int) -> None:
        """Read the nodes of one file."""
        place_of: dict[int, int] = {}
        awaited: list[list[int]] = []
        for node in self.protobuf.nodes(file):
            place = f"{input_name(file)}, node {node.id}"
            if node.id in place_of:
                raise InvalidInput(f"{place}: id must be another than before")
            if len(self.operations) == LARGEST_OPERATIONS:
                raise InvalidInput(f"{place}: nodes must be at most {LARGEST_OPERATIONS}")
            place_of[node.id] = len(self.operations)
            self.operations.append(self._operation(node, npu, place))
            awaited.append([*node.data_deps, *node.ctrl_deps])
        for own, others in zip(place_of.values(), awaited, strict=True):
            operation = self.operations[own]
            for other in others:
                if other not in place_of:
                    complaint = f"node {other}, on which it depends, is missing"
                    raise InvalidInput(f"{operation.place}: {complaint}")
                operation.after.append(place_of[other])

    def _operation(self, node: Message, npu: int, place: str) -> Operation:
        """Return the operation of a node."""
        if node.type == COLLECTIVE:
            what = "a send or a receive, not a whole collective (COMM_COLL_NODE)"
            raise InvalidInput(f"{place}: must be {what}, of which nothing says who sends what")
        if node.type not in (SEND, RECEIVE):
            if node.type not in (_METADATA, *_COUNTED):
                raise InvalidInput(f"{place}: type must be 1 to {COLLECTIVE}, not {node.type}")
            self.counts.update([node.type] if node.type in _COUNTED else [])
            return Operation(OperationKind.LOCAL, npu, place)
        attributes = {attribute.name: attribute for attribute in node.attr}
        if _GROUP in attributes:
            complaint = "must be left out: NPUs of a group are not numbered as the files are"
            raise InvalidInput(f"{place}: {_GROUP} {complaint}")
        self.passed_over |= attributes.keys() - _USED
        values = _Values(attributes, place)
        own, other = ("comm_src", "comm_dst") if node.type == SEND else ("comm_dst", "comm_src")
        values.integer(own, npu, npu, default=npu)
        peer = values.integer(other, 0, self.npus - 1)
        if peer == npu:
            raise InvalidInput(f"{place}: {other} must be another NPU, not {npu} itself")
        size = self._size(values)
        self.rounded += node.type == SEND and (size == 0 or size % WORD_BYTES != 0)
        tag = values.integer("comm_tag", -(1 << 31), (1 << 32) - 1, default=0)
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
    omits={**OMITTED, "algorithm": "algorithm"},
    write_schedule=write_chakra,
)
