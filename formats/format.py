"""Entries of the registry: the name of a file format, its looks, and its readers and writers."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path

from ..model.base.files import InputFile
from ..model.network.port_model import PortModel
from ..model.network.topology import Topology
from ..model.schedule.schedule import Schedule
from ..model.traffic.traffic import Traffic


class Content(StrEnum):
    """Nouns that a file may hold."""

    NETWORK = "network"
    SCHEDULE = "schedule"
    TRAFFIC = "traffic"


@dataclass(frozen=True, kw_only=True)
class Setting:
    """A user's words on a schedule, where its file has none.

    topology
        The network; a file's rank r is the r-th node of it that takes part.
    ports
        The port model that steps are packed for.
    words
        Words of a block, where the file has no lengths.
    """

    topology: Topology
    ports: PortModel = PortModel.FULL_DUPLEX
    words: int = 16


@dataclass(frozen=True, kw_only=True)
class TrafficSetting:
    """A user's words on traffic: the network, and for files of rates alone how they are drawn.

    ``flits`` is the length of a packet with its header, ``cycles`` for how long packets are drawn,
    ``seed`` from which number.
    """

    topology: Topology
    flits: int
    cycles: int
    seed: int


@dataclass(frozen=True, kw_only=True)
class Format:
    """One file format. Readers raise :class:`.InvalidInput` that names file, line and element.

    name
        The name after ``--from`` and ``--to``.
    title
        The name as its owners write it.
    suffixes
        Ends of its files' names, with the dot.
    looks
        Tells by the first bytes of a file, at most :data:`HEAD`, if it may be one.
    read_network
        Reads a network.
    read_schedule
        Reads a schedule from a file that names the network.
    read_schedule_on
        Reads a schedule from a file that names ranks alone; a file format has one of both.
    read_traffic
        Reads traffic.
    draws_traffic
        True where the file has rates alone, and packets are drawn from them.
    write_network, write_schedule, write_traffic
        Write to a path, whole or not at all, and refuse what the format cannot say.
    """

    name: str
    title: str
    suffixes: tuple[str, ...]
    looks: Callable[[bytes], bool]
    read_network: Callable[[InputFile], Topology] | None = None
    read_schedule: Callable[[InputFile], Schedule] | None = None
    read_schedule_on: Callable[[InputFile, Setting], Schedule] | None = None
    read_traffic: Callable[[InputFile, TrafficSetting], Traffic] | None = None
    draws_traffic: bool = False
    write_network: Callable[[Topology, Path], None] | None = None
    write_schedule: Callable[[Schedule, Path], None] | None = None
    write_traffic: Callable[[Traffic, Path], None] | None = None

    @property
    def reads(self) -> frozenset[Content]:
        """Nouns that are read from it."""
        readers = (
            (Content.NETWORK, self.read_network),
            (Content.SCHEDULE, self.read_schedule or self.read_schedule_on),
            (Content.TRAFFIC, self.read_traffic),
        )
        return frozenset(content for content, reader in readers if reader is not None)

    @property
    def writes(self) -> frozenset[Content]:
        """Nouns that are written to it."""
        writers = (
            (Content.NETWORK, self.write_network),
            (Content.SCHEDULE, self.write_schedule),
            (Content.TRAFFIC, self.write_traffic),
        )
        return frozenset(content for content, writer in writers if writer is not None)


HEAD = 4096
"""Bytes by which a file is recognised."""
