"""Entries of the registry: a file format's name, recognition, readers and writers."""

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from fractions import Fraction
from functools import lru_cache
from math import ceil
from operator import attrgetter
from pathlib import Path
from typing import Any

import msgspec
import numpy as np

from ..model.base.errors import InvalidInput, require_range
from ..model.base.files import InputFile
from ..model.network.port_model import PortModel
from ..model.network.topology import Topology
from ..model.schedule.schedule import Schedule
from ..model.traffic.traffic import Traffic
from ..model.workload.workload import WORD_BYTES, Workload


class Content(StrEnum):
    """Kinds of content of a file."""

    NETWORK = "network"
    SCHEDULE = "schedule"
    TRAFFIC = "traffic"
    WORKLOAD = "workload"


@dataclass(frozen=True, kw_only=True)
class Wishes:
    """Settings for a schedule that its file lacks.

    ``ports`` is the port model for packing steps, ``words`` the length of a block if the file has
    no lengths.
    """

    ports: PortModel = PortModel.FULL_DUPLEX
    words: int = 16


@dataclass(frozen=True, kw_only=True)
class Setting(Wishes):
    """Settings for a schedule, with its network: rank r is the r-th working node."""

    topology: Topology


@dataclass(frozen=True, kw_only=True)
class TrafficSetting:
    """Settings for traffic: the network, and how to draw packets from rates.

    ``flits`` is the length of a packet with its header, ``cycles`` the time in which packets are
    drawn, ``seed`` the seed of drawing.
    """

    topology: Topology
    flits: int
    cycles: int
    seed: int


@dataclass(frozen=True, kw_only=True)
class WorkloadSetting:
    """The facts that the file of a workload leaves open.

    ``clock`` is the number of cycles in a nanosecond, ``rate`` the operations that a rank computes
    in a cycle, ``word_bytes`` the bytes of a word, and ``comm_group`` the file that lists the ranks
    of each group; None if the workload's file does, or has none.
    """

    clock: float = 1.0
    rate: int = 1024
    word_bytes: int = WORD_BYTES
    comm_group: str | Path | None = None

    def __post_init__(self) -> None:
        if not 0 < self.clock <= MOST_CLOCK:
            raise InvalidInput.of("clock", f"above 0, at most {MOST_CLOCK}", self.clock)
        require_range("rate", self.rate, 1, 1 << 40)
        if self.word_bytes not in _WORD_BYTES:
            raise InvalidInput.of(
                "word bytes", "1 to 8, or a multiple of 8 up to 64", self.word_bytes
            )

    def cycles_of_operations(self, operations: int) -> int:
        """Return the cycles in which a rank computes so many operations, rounded up."""
        return -(-operations // self.rate)

    def cycles_of_nanoseconds(self, nanoseconds: int) -> int:
        """Return the cycles of a time, rounded up."""
        return ceil(Fraction(str(self.clock)) * nanoseconds)

    def words_of(self, size: int) -> int:
        """Return the words of a message of ``size`` bytes: whole words, at least one."""
        return max(1, -(-size // self.word_bytes))


MOST_CLOCK = 1000
"""Most cycles of a nanosecond."""

_WORD_BYTES = (*range(1, 8), *range(8, 65, 8))
"""Bytes that a word may have."""


@dataclass(frozen=True, kw_only=True)
class Format:
    """One file format. Readers raise :class:`.InvalidInput` with file, line and element.

    name
        The name after ``--from`` and ``--to``.
    title
        The name as its owners write it.
    suffixes
        Suffixes of its files, with the dot.
    looks
        Returns whether a file may have this format, by its content.
    marked
        True if its content has a mark of its own; a list of numbers has none.
    read_network
        Reads a network.
    read_schedule
        Reads a schedule from a file that names its network.
    read_schedule_in
        Reads a schedule without steps from a file that describes its network.
    read_schedule_on
        Reads a schedule without steps from a file of ranks, onto a given network.
    read_traffic
        Reads traffic.
    read_workload
        Reads a workload, on the first working nodes of a given network.
    files
        Returns the files of a workload, of which the given file is one.
    heeds
        The fields of :class:`WorkloadSetting` that change how a workload is read.
    draws_traffic
        True if the file has only rates, from which packets are drawn.
    omits
        Words for each field of a schedule or network that the format cannot hold; its writer
        refuses a field that is neither written nor named here.
    write_network, write_schedule, write_traffic
        Write a complete file or none, and refuse content that the format cannot hold.
    """

    name: str
    title: str
    suffixes: tuple[str, ...]
    looks: Callable[[bytes], bool]
    marked: bool = True
    read_network: Callable[[InputFile], Topology] | None = None
    read_schedule: Callable[[InputFile], Schedule] | None = None
    read_schedule_in: Callable[[InputFile, Wishes], Schedule] | None = None
    read_schedule_on: Callable[[InputFile, Setting], Schedule] | None = None
    read_traffic: Callable[[InputFile, TrafficSetting], Traffic] | None = None
    read_workload: Callable[[InputFile, Topology, WorkloadSetting], Workload] | None = None
    files: Callable[[InputFile], Sequence[InputFile]] = lambda file: [file]
    heeds: tuple[str, ...] = ()
    draws_traffic: bool = False
    omits: Mapping[str, str] = field(default_factory=dict)
    write_network: Callable[[Topology, Path], None] | None = None
    write_schedule: Callable[[Schedule, Path], None] | None = None
    write_traffic: Callable[[Traffic, Path], None] | None = None

    @property
    def reads(self) -> frozenset[Content]:
        """Kinds of content that the format can be read as."""
        of_schedules = (self.read_schedule, self.read_schedule_in, self.read_schedule_on)
        readers = (
            (Content.NETWORK, (self.read_network,)),
            (Content.SCHEDULE, of_schedules),
            (Content.TRAFFIC, (self.read_traffic,)),
            (Content.WORKLOAD, (self.read_workload,)),
        )
        return frozenset(content for content, given in readers if any(given))

    @property
    def writes(self) -> frozenset[Content]:
        """Kinds of content that can be written in the format."""
        writers = (
            (Content.NETWORK, self.write_network),
            (Content.SCHEDULE, self.write_schedule),
            (Content.TRAFFIC, self.write_traffic),
        )
        return frozenset(content for content, writer in writers if writer is not None)

    def lost(self, content: Schedule | Topology) -> str:
        """Return words for the facts of ``content`` that the format omits: "steps and paths"."""
        words = dict.fromkeys(
            said for name, said in self.omits.items() if _is_said(attrgetter(name)(content))
        )
        *others, last = words or [""]
        return f"{', '.join(others)} and {last}" if others else last


def _is_said(value: Any) -> bool:
    """Tell whether a field says something: an array some number other than 0, a tuple anything."""
    if isinstance(value, np.ndarray):
        return bool(value.any())
    if isinstance(value, tuple):
        return any(each is not None and each != () for each in value)
    return value is not None and bool(value is not False and value != "")


_HEAD = 4096
"""Bytes in which the keys of incomplete JSON are looked for."""


@lru_cache(maxsize=1)
def json_keys(content: bytes) -> frozenset[str]:
    """Return the keys of a JSON object, those of its members left out; none of any other text."""
    if not content.lstrip().startswith(b"{"):
        return frozenset()
    try:
        return frozenset(msgspec.json.decode(content, type=dict[str, msgspec.Raw]))
    except (UnicodeDecodeError, msgspec.DecodeError):
        return frozenset(re.findall(r'"([^"]*)"\s*:', content[:_HEAD].decode(errors="replace")))
