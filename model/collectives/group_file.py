"""Groups as a user describes them: each with its nodes and its own settings.

A file of groups is JSON. A setting that a group leaves out comes from the command's options.
Words of blocks are in the order of the group's nodes::

    {"format": "eyecast-groups", "version": 1,
     "groups": [{"nodes": [0, 1, 2], "collective": "broadcast", "root": 1, "words": 64},
                {"nodes": [5, 6, 9], "collective": "all-gather", "block_words": [4, 0, 7]},
                {"nodes": [10, 11], "collective": "all-gather", "algorithm": "ring"}]}
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any

import msgspec

from ..base.errors import InvalidInput
from ..base.json_file import decode_versioned, place_first, read_json
from ..network.boxes import Nodes
from ..schedule.collective import ROOTLESS, Collective
from .declared.block_words import BlockWords, Table, as_block_words, require_shape

FORMAT = "eyecast-groups"

_Number = Annotated[int, msgspec.Meta(ge=0)]
_Words = Annotated[int, msgspec.Meta(ge=1, le=(1 << 31) - 1)]


class _Group(msgspec.Struct, forbid_unknown_fields=True):
    nodes: list[_Number]
    collective: str | None = None
    root: _Number | None = None
    words: _Words | None = None
    algorithm: str | None = None
    block_words: Table | None = None


_Groups = Annotated[list[_Group], msgspec.Meta(min_length=1)]


class _File(msgspec.Struct, forbid_unknown_fields=True):
    format: str
    version: int
    groups: _Groups


@dataclass(frozen=True)
class Group:
    """A group: its nodes, root and targets as numbers of one network, and its own settings.

    ``words`` is the length of its message, or of each block; ``block_words`` are the lengths of
    unequal blocks, in the order of ``nodes``. A setting of None is the same as for all groups.
    ``root`` is None if the collective has no root, ``targets`` if it is no multicast.
    """

    nodes: Nodes
    root: int | None = None
    collective: str | None = None
    words: int | None = None
    algorithm: str | None = None
    block_words: BlockWords | None = None
    targets: Nodes | None = None


def read_groups(path: str | Path, collective: str) -> list[Group]:
    """Read the groups of the JSON file ``path``; ``collective`` is that of groups without one.

    Raises :class:`.InvalidInput` with one line: the file, the group and the allowed values.
    """

    def build(text: bytes) -> list[Group]:
        return _groups(decode_versioned(text, FORMAT, (1,), _File).groups, collective)

    return read_json(path, build)


def groups_of(described: Sequence[Mapping[str, Any]], collective: str) -> list[Group]:
    """Return groups from descriptions as in a file; see :func:`read_groups`."""
    try:
        groups = msgspec.convert(list(described), _Groups)
    except msgspec.ValidationError as error:
        raise InvalidInput(place_first(error, "groups")) from error
    return _groups(groups, collective)


def _groups(groups: Iterable[_Group], collective: str) -> list[Group]:
    """Return the groups of a decoded file; refuse settings that contradict each other."""
    made = []
    for number, group in enumerate(groups):
        name = group.collective or collective
        if name == Collective.MULTICAST:
            allowed = "another, such as a broadcast among those who get it"
            raise InvalidInput.of(f"collective of group {number}", allowed, name)
        if (group.root is None) != (name in ROOTLESS):
            allowed = "left out, as every node is one" if name in ROOTLESS else "a node"
            raise InvalidInput.of(f"root of group {number}", allowed, group.root)
        if group.root is not None and group.root not in group.nodes:
            raise InvalidInput.of(f"root of group {number}", "one of its nodes", group.root)
        if group.words is not None and group.block_words is not None:
            raise InvalidInput(f"words of group {number} must be left out with its block_words")
        made.append(
            Group(
                tuple(group.nodes),
                group.root,
                name,
                group.words,
                group.algorithm,
                _block_words(group, name, number),
            )
        )
    return made


def _block_words(group: _Group, collective: str, number: int) -> BlockWords | None:
    """Return the words of a group's unequal blocks; None if it has none."""
    if group.block_words is None:
        return None
    words = as_block_words(group.block_words)
    try:
        require_shape(words, collective, len(group.nodes))
    except InvalidInput as error:
        raise InvalidInput(f"group {number}: {error}") from error
    return words
