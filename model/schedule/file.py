"""Schedules as JSON files, for other people's tools and from them.

One object: what the schedule is, what its collective moves, and the sends, one per line::

    {"format": "eyecast-schedule", "version": 1,
     "topology": {"kind": "mesh", "dims": [2, 1], "faulty_nodes": [], "faulty_links": []},
     "collective": "broadcast", "algorithm": "eye", "port_model": "half-duplex", "root": 0,
     "steps": 1, "tcd": 1, "blocks": [{"owner": 0, "owed": null, "words": 16}],
     "sends": [{"step": 1, "source": 0, "target": 1, "path": [0, 1], "vcs": [0], "blocks": [0]}]}

A file is read only if it says all of this and nothing else. Only "steps" and "tcd", which
are always written, may be left out: they are counted, and must be right where they are given.
Whether the sends carry out the collective, and whether its blocks are what its name promises
(:func:`.check_promise`), is another question, which :meth:`.Schedule.check` answers.
"""

from __future__ import annotations

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
from ..base.pieces import offsets_of
from ..network.port_model import PortModel
from ..network.topology_file import topology_from_json, topology_to_json
from .checks import LARGEST_STEP, LARGEST_VC
from .schedule import Schedule
from .table import Blocks

FORMAT = "eyecast-schedule"
VERSION = 1

_LARGEST = (1 << 31) - 1
_Count = Annotated[int, msgspec.Meta(ge=0)]
_Number = Annotated[int, msgspec.Meta(ge=0, le=_LARGEST)]
_Words = Annotated[int, msgspec.Meta(ge=1, le=_LARGEST)]
_Step = Annotated[int, msgspec.Meta(ge=1, le=LARGEST_STEP)]
_Vc = Annotated[int, msgspec.Meta(ge=0, le=LARGEST_VC)]
_Path = Annotated[list[_Number], msgspec.Meta(min_length=2)]
_Carried = Annotated[list[_Number], msgspec.Meta(min_length=1)]


class _Block(msgspec.Struct, forbid_unknown_fields=True):
    owner: _Number
    owed: list[_Number] | None
    words: _Words


class _Send(msgspec.Struct, forbid_unknown_fields=True, gc=False):
    step: _Step
    source: _Number
    target: _Number
    path: _Path
    vcs: list[_Vc]
    blocks: _Carried


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
    sends: list[_Send]


def write_schedule(schedule: Schedule, path: str | Path) -> None:
    """Write ``schedule`` to ``path`` as JSON, whole or not at all.

    Raises :class:`InvalidInput` if the file cannot be written.
    """
    write_atomically(path, schedule_json(schedule))


def schedule_json(schedule: Schedule) -> str:
    """Return ``schedule`` as JSON text."""
    blocks = zip(
        schedule.blocks.owner.tolist(),
        schedule.blocks.owed,
        schedule.blocks.words.tolist(),
        strict=True,
    )
    sends = map(
        _Send,
        schedule.step.tolist(),
        schedule.source.tolist(),
        schedule.target.tolist(),
        _pieces(schedule.path_offsets, schedule.path_nodes),
        _pieces(schedule.path_offsets - np.arange(schedule.sends + 1), schedule.vcs),
        _pieces(schedule.block_offsets, schedule.block_ids),
    )
    lines = msgspec.json.Encoder().encode_lines(list(sends)).removesuffix(b"\n")
    fields = {
        "format": FORMAT,
        "version": VERSION,
        "topology": topology_to_json(schedule.topology),
        "collective": schedule.collective,
        "algorithm": schedule.algorithm,
        "port_model": schedule.port_model,
        "root": schedule.root,
        "steps": schedule.steps,
        "tcd": schedule.tcd,
        "blocks": [
            _Block(owner, None if owed is None else list(owed), words)
            for owner, owed, words in blocks
        ],
        # A newline in a string is escaped in JSON: these all lie between sends.
        "sends": msgspec.Raw(b"[\n" + lines.replace(b"\n", b",\n") + b"\n]"),
    }
    return (msgspec.json.encode(fields) + b"\n").decode()


def read_schedule(path: str | Path | InputFile) -> Schedule:
    """Read the schedule in the JSON file ``path``. It is not checked yet.

    Raises :class:`InvalidInput` with one line that names the file, the place in it and what is
    allowed there.
    """
    return read_json(path, lambda text: _schedule(decode_versioned(text, FORMAT, VERSION, _File)))


def _schedule(file: _File) -> Schedule:
    """Build the schedule of a file whose types are right, or refuse what is out of range."""
    topology = topology_from_json(file.topology)
    _require_nodes(file, topology.nodes)
    schedule = Schedule(
        topology=topology,
        collective=file.collective,
        algorithm=file.algorithm,
        port_model=PortModel.named(file.port_model),
        root=file.root,
        blocks=Blocks(
            np.array([block.owner for block in file.blocks], np.int32),
            tuple(None if block.owed is None else tuple(block.owed) for block in file.blocks),
            np.array([block.words for block in file.blocks], np.int32),
        ),
        **_columns(file.sends, topology.nodes, len(file.blocks)),
    )
    for name, given, counted in (
        ("steps", file.steps, schedule.steps),
        ("tcd", file.tcd, schedule.tcd),
    ):
        if given not in (counted, msgspec.UNSET):
            raise InvalidInput.of(name, f"{counted}, as counted over the sends", given)
    return schedule


def _require_nodes(file: _File, nodes: int) -> None:
    """Refuse a root, an owner, or one who is owed a block that is no node."""
    if file.root is not None and file.root >= nodes:
        raise InvalidInput.of("root", f"0 to {nodes - 1}", file.root)
    for place, block in enumerate(file.blocks):
        for node in (block.owner, *(block.owed or ())):
            if node >= nodes:
                raise InvalidInput.of(f"nodes of blocks[{place}]", f"0 to {nodes - 1}", node)


def _columns(sends: Sequence[_Send], nodes: int, blocks: int) -> dict[str, Any]:
    """The columns of the table of sends, by name, all within ``nodes`` and ``blocks``."""
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
    }


def _pieces(offsets: npt.NDArray[np.int64], values: npt.NDArray[np.int32]) -> Iterable[list[int]]:
    """Cut ``values`` at ``offsets``."""
    numbers = values.tolist()
    return (numbers[begin:end] for begin, end in pairwise(offsets.tolist()))


def _flat(pieces: Sequence[list[int]]) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.int32]]:
    """Join ``pieces``: the offsets at which each begins, and their values."""
    offsets = offsets_of(np.fromiter(map(len, pieces), np.int64, len(pieces)))
    return offsets, np.fromiter(chain.from_iterable(pieces), np.int32, int(offsets[-1]))


def _require_below(
    limit: int, column: str, offsets: npt.NDArray[np.int64], values: npt.NDArray[np.int32]
) -> None:
    """Refuse the first of ``values`` that is ``limit`` or more, by its place in the file."""
    for place in np.flatnonzero(values >= limit)[:1]:
        send = np.searchsorted(offsets, place, side="right") - 1
        raise InvalidInput.of(f"sends[{send}].{column}", f"0 to {limit - 1}", values[place])
