"""Schedules as JSON files, which other tools can write and read.

One object: the schedule's properties, its blocks, and the sends, one per line::

    {"format": "eyecast-schedule", "version": 1,
     "topology": {"kind": "mesh", "dims": [2, 1], "faulty_nodes": [], "faulty_links": []},
     "collective": "broadcast", "algorithm": "eye", "port_model": "half-duplex", "root": 0,
     "steps": 1, "tcd": 1, "blocks": [{"owner": 0, "owed": null, "words": 16}],
     "sends": [{"step": 1, "source": 0, "target": 1, "path": [0, 1], "vcs": [0], "blocks": [0]}]}

A file is of version 2 if the schedule combines, streams, is timed or for circuits, or has groups or
blocks of no words; any other file is of version 1. A reduced block has contributors and an operator
instead of an owner, and in a scan its prefix: inclusive or exclusive. ``combine`` and ``stream``
mark sends, ``timed`` and ``circuits`` mark the schedule, and groups are lists of nodes::

    "blocks": [{"owner": null, "owed": [0], "words": 16, "contributors": null, "operator": "add"}]
    "blocks": [{"owner": null, "owed": null, "words": 16, "contributors": null, "operator": "add",
                "prefix": "inclusive"}]
    "groups": [[0, 1], [2, 3]]
    "groups": [[0, 1], [0, 2]], with "group": 0 or 1 in each block, as the groups share a node
    "timed": true
    "circuits": true
    {"step": 1, "source": 1, "target": 0, "path": [1, 0], "vcs": [0], "blocks": [0],
     "combine": true}

A file of either version may state the request: one for each group, or one if there are no groups.
A list of words has one entry for each participating node, in ascending order::

    "requests": [{"collective": "gather", "words": [4, 4, 0, 4], "root": 0}]
    "requests": [{"collective": "multicast", "words": 16, "root": 0, "targets": [2, 3]}]
    "requests": [{"collective": "reduce", "words": 16, "root": 0, "operator": "add"}]
    "requests": [{"collective": "broadcast", "words": 16, "root": 0, "partial": true}]

A file with an unknown or a missing key is refused. "steps" and "tcd", which are always written, may
be missing; if present, they must equal the counts. "requests" may be missing; then the check does
not compare the blocks with a request. Reading proves neither that the sends carry out the
collective nor that the blocks are those that its name promises (:func:`.check_promise`):
:meth:`.Schedule.check` does.
"""

from collections.abc import Iterable, Sequence
from itertools import chain, pairwise
from pathlib import Path
from typing import Annotated, Any

import msgspec
import numpy as np
import numpy.typing as npt

from ..base.errors import InvalidInput
from ..base.files import InputFile, write_atomically
from ..base.json_file import decode_versioned, read_json
from ..base.ragged import offsets_of
from ..network.operators import NAME_PATTERN
from ..network.port_model import PortModel
from ..network.topology_file import topology_from_json, topology_to_json
from .blocks import NO_OWNER, Blocks
from .collective import Prefix
from .groups import share_nodes
from .requested import Requested
from .rules import LARGEST_STEP, LARGEST_VC
from .schedule import Schedule

FORMAT = "eyecast-schedule"
PLAIN_VERSION = 1
VERSION = 2

_LARGEST = (1 << 31) - 1
_Count = Annotated[int, msgspec.Meta(ge=0)]
_Number = Annotated[int, msgspec.Meta(ge=0, le=_LARGEST)]
_Step = Annotated[int, msgspec.Meta(ge=1, le=LARGEST_STEP)]
_Vc = Annotated[int, msgspec.Meta(ge=0, le=LARGEST_VC)]
_Path = Annotated[list[_Number], msgspec.Meta(min_length=2)]
_Carried = Annotated[list[_Number], msgspec.Meta(min_length=1)]
_Groups = Annotated[list[_Carried], msgspec.Meta(min_length=1)]
_Operator = Annotated[str, msgspec.Meta(pattern=f"^{NAME_PATTERN}$")]


class _Block(msgspec.Struct, forbid_unknown_fields=True, omit_defaults=True):
    owner: _Number | None
    owed: list[_Number] | None
    words: _Number
    contributors: list[_Number] | msgspec.UnsetType | None = msgspec.UNSET
    operator: _Operator | msgspec.UnsetType = msgspec.UNSET
    prefix: Prefix | None = None
    group: _Number | None = None


class _Send(msgspec.Struct, forbid_unknown_fields=True, gc=False, omit_defaults=True):
    step: _Step
    source: _Number
    target: _Number
    path: _Path
    vcs: list[_Vc]
    blocks: _Carried
    combine: bool = False
    stream: bool = False


class _Request(msgspec.Struct, forbid_unknown_fields=True, omit_defaults=True):
    collective: str
    words: _Number | list[_Number | list[_Number]]
    root: _Number | None = None
    targets: list[_Number] | None = None
    operator: _Operator | None = None
    partial: bool = False
    copies: bool = False
    canonical: bool = False


class _File(msgspec.Struct, forbid_unknown_fields=True, kw_only=True):
    format: str
    version: int
    topology: dict[str, object]
    collective: str
    algorithm: str
    port_model: str
    root: _Number | None
    steps: _Count | msgspec.UnsetType = msgspec.UNSET
    tcd: _Count | msgspec.UnsetType = msgspec.UNSET
    blocks: Annotated[list[_Block], msgspec.Meta(min_length=1)]
    groups: _Groups | msgspec.UnsetType = msgspec.UNSET
    timed: bool = False
    circuits: bool = False
    requests: list[_Request] = []
    sends: list[_Send]


def write_schedule(schedule: Schedule, path: str | Path) -> None:
    """Write a schedule to a JSON file, whole or not at all.

    Parameters
    ----------
    schedule
        The schedule.
    path
        The file; an existing file is replaced.

    Returns
    -------
    None

    Raises
    ------
    InvalidInput
        If the schedule is too large, or the file cannot be written.
    """
    write_atomically(path, schedule_json(schedule))


def schedule_json(schedule: Schedule) -> str:
    """Return ``schedule`` as JSON text; raise :class:`.InvalidInput` if it is too large."""
    schedule.require_listable("a file")
    sends = map(
        _Send,
        schedule.step.tolist(),
        schedule.source.tolist(),
        schedule.target.tolist(),
        _pieces(schedule.path_offsets, schedule.path_nodes),
        _pieces(schedule.path_offsets - np.arange(schedule.sends + 1), schedule.vcs),
        _pieces(schedule.block_offsets, schedule.block_ids),
        schedule.combine.tolist(),
        schedule.stream.tolist(),
    )
    lines = msgspec.json.Encoder().encode_lines(list(sends)).removesuffix(b"\n")
    fields = {
        "format": FORMAT,
        "version": VERSION if _needs_more(schedule) else PLAIN_VERSION,
        "topology": topology_to_json(schedule.topology),
        "collective": schedule.collective,
        "algorithm": schedule.algorithm,
        "port_model": schedule.port_model,
        "root": schedule.root,
        "steps": schedule.steps,
        "tcd": schedule.tcd,
        "blocks": _file_blocks(schedule),
        **({"groups": schedule.groups} if schedule.groups else {}),
        **({"timed": True} if schedule.timed else {}),
        **({"circuits": True} if schedule.circuits else {}),
        **({"requests": [*map(_request, schedule.requests)]} if schedule.requests else {}),
        # JSON escapes a newline in a string, so every newline here lies between two sends.
        "sends": msgspec.Raw(b"[\n" + lines.replace(b"\n", b",\n") + b"\n]"),
    }
    return (msgspec.json.encode(fields) + b"\n").decode()


def _needs_more(schedule: Schedule) -> bool:
    """Tell whether a schedule needs version 2 of the file."""
    marked = schedule.combine.any() or schedule.stream.any() or schedule.blocks.reduced.any()
    more = bool(schedule.groups) or bool((schedule.blocks.words == 0).any())
    return bool(marked) or more or schedule.timed or schedule.circuits


def _file_blocks(schedule: Schedule) -> list[_Block]:
    """Return the blocks in the form of the file, with their groups if groups share nodes."""
    blocks = [_block(schedule.blocks, block) for block in range(len(schedule.blocks))]
    if schedule.blocks.group.size and share_nodes(schedule.groups):
        for block, group in zip(blocks, schedule.blocks.group.tolist(), strict=True):
            block.group = group
    return blocks


def _block(blocks: Blocks, block: int) -> _Block:
    """Return the ``block`` of ``blocks`` in the form of the file, without its group."""
    owed, words = blocks.owed[block], int(blocks.words[block])
    to = None if owed is None else list(owed)
    operator, contributors = blocks.operator[block], blocks.contributors[block]
    if operator is None:
        return _Block(int(blocks.owner[block]), to, words)
    nodes = None if contributors is None else list(contributors)
    return _Block(None, to, words, nodes, operator, blocks.prefix[block])


def _request(requested: Requested) -> _Request:
    """Return the request in the form of the file."""
    return msgspec.convert(requested, _Request, from_attributes=True)


def _requested(request: _Request) -> Requested:
    """Return the request that a file states."""
    return msgspec.convert(request, Requested, from_attributes=True)


def read_schedule(path: str | Path | InputFile) -> Schedule:
    """Read a schedule from a JSON file, without proving it.

    Parameters
    ----------
    path
        A file that :func:`write_schedule` or another tool has written.

    Returns
    -------
    Schedule
        The schedule; its ``check()`` proves it.

    Raises
    ------
    InvalidInput
        If the file cannot be read, or a key or value is wrong; the line names file and place.
    """
    return read_json(path, lambda text: _schedule(_decoded(text)))


def _decoded(text: bytes) -> _File:
    """Decode the file in ``text``; refuse a file of version 1 that needs version 2."""
    file = decode_versioned(text, FORMAT, (PLAIN_VERSION, VERSION), _File)
    if file.version == PLAIN_VERSION:
        more = {
            "a block without an owner": any(block.owner is None for block in file.blocks),
            "a block of no words": any(block.words == 0 for block in file.blocks),
            "groups": file.groups is not msgspec.UNSET,
            "timed": file.timed,
            "circuits": file.circuits,
            "combine": any(send.combine for send in file.sends),
            "stream": any(send.stream for send in file.sends),
        }
        for name in (name for name, there in more.items() if there):
            raise InvalidInput.of("version", f"{VERSION}, as the file has {name}", file.version)
    for place, block in enumerate(file.blocks):
        reduced = {block.owner is None, block.contributors is not msgspec.UNSET}
        if {*reduced, block.operator is not msgspec.UNSET} != {block.owner is None}:
            allowed = "a block with an owner alone, or without one, but contributors and operator"
            raise InvalidInput(f"blocks[{place}] must be {allowed}")
    numbered = {block.group is not None for block in file.blocks}
    if numbered != {False} and (len(numbered) > 1 or file.groups is msgspec.UNSET):
        raise InvalidInput("group must be given for all blocks or for none, beside groups")
    return file


def _schedule(file: _File) -> Schedule:
    """Build the schedule of a file whose types are right, or refuse numbers out of range."""
    topology = topology_from_json(file.topology)
    _require_nodes(file, topology.nodes)
    schedule = Schedule(
        topology=topology,
        collective=file.collective,
        algorithm=file.algorithm,
        port_model=PortModel.named(file.port_model),
        root=file.root,
        blocks=_blocks(file.blocks),
        groups=() if file.groups is msgspec.UNSET else tuple(map(tuple, file.groups)),
        timed=file.timed,
        circuits=file.circuits,
        requests=tuple(map(_requested, file.requests)),
        **_columns(file.sends, topology.nodes, len(file.blocks)),
    )
    for name, given, counted in (
        ("steps", file.steps, schedule.steps),
        ("tcd", file.tcd, schedule.tcd),
    ):
        if given not in (counted, msgspec.UNSET):
            raise InvalidInput.of(name, f"{counted}, as counted over the sends", given)
    return schedule


def _blocks(blocks: Sequence[_Block]) -> Blocks:
    return Blocks(
        np.array([NO_OWNER if each.owner is None else each.owner for each in blocks], np.int32),
        tuple(None if each.owed is None else tuple(each.owed) for each in blocks),
        np.array([each.words for each in blocks], np.int32),
        tuple(
            None if each.contributors is None else tuple(each.contributors or ()) for each in blocks
        ),
        tuple(None if each.operator is msgspec.UNSET else each.operator for each in blocks),
        tuple(each.prefix for each in blocks),
        np.array([each.group for each in blocks if each.group is not None], np.int32),
    )


def _require_nodes(file: _File, nodes: int) -> None:
    """Refuse a root, or a node of a block or a group, that the topology does not have."""
    if file.root is not None and file.root >= nodes:
        raise InvalidInput.of("root", f"0 to {nodes - 1}", file.root)
    for place, block in enumerate(file.blocks):
        for node in (block.owner or 0, *(block.owed or ()), *(block.contributors or ())):
            if node >= nodes:
                raise InvalidInput.of(f"nodes of blocks[{place}]", f"0 to {nodes - 1}", node)
    for place, group in enumerate(file.groups or ()):
        for node in (node for node in group if node >= nodes):
            raise InvalidInput.of(f"nodes of groups[{place}]", f"0 to {nodes - 1}", node)


def _columns(sends: Sequence[_Send], nodes: int, blocks: int) -> dict[str, Any]:
    """Return the columns of the table of sends, by name; refuse numbers out of range."""
    path_offsets, path_nodes = _flat([send.path for send in sends])
    vc_offsets, vcs = _flat([send.vcs for send in sends])
    block_offsets, block_ids = _flat([send.blocks for send in sends])
    each = np.arange(len(sends) + 1)
    source = np.array([send.source for send in sends], np.int32)
    target = np.array([send.target for send in sends], np.int32)
    _require_below(nodes, "source", each, source)
    _require_below(nodes, "target", each, target)
    _require_below(nodes, "path", path_offsets, path_nodes)
    _require_below(blocks, "blocks", block_offsets, block_ids)
    for place in np.flatnonzero(np.diff(vc_offsets) != np.diff(path_offsets) - 1)[:1]:
        links = len(sends[place].path) - 1
        allowed = f"{links} long, a VC for each link of its path"
        raise InvalidInput.of(f"sends[{place}].vcs", allowed, len(sends[place].vcs))
    return {
        "step": np.array([send.step for send in sends], np.int32),
        "source": source,
        "target": target,
        "path_offsets": path_offsets,
        "path_nodes": path_nodes,
        "vcs": vcs,
        "block_offsets": block_offsets,
        "block_ids": block_ids,
        "combine": np.array([send.combine for send in sends], np.bool_),
        "stream": np.array([send.stream for send in sends], np.bool_),
    }


def _pieces(offsets: npt.NDArray[np.int64], values: npt.NDArray[np.int32]) -> Iterable[list[int]]:
    """Cut ``values`` at ``offsets``."""
    numbers = values.tolist()
    return (numbers[begin:end] for begin, end in pairwise(offsets.tolist()))


def _flat(pieces: Sequence[list[int]]) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.int32]]:
    """Join ``pieces``: return the offset at which each begins, and their values."""
    offsets = offsets_of(np.fromiter(map(len, pieces), np.int64, len(pieces)))
    return offsets, np.fromiter(chain.from_iterable(pieces), np.int32, int(offsets[-1]))


def _require_below(
    limit: int, column: str, offsets: npt.NDArray[np.int64], values: npt.NDArray[np.int32]
) -> None:
    """Refuse the first of ``values`` that is ``limit`` or more, naming its send."""
    for place in np.flatnonzero(values >= limit)[:1]:
        send = np.searchsorted(offsets, place, side="right") - 1
        raise InvalidInput.of(f"sends[{send}].{column}", f"0 to {limit - 1}", values[place])
