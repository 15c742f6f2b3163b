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
class Wishes:
    """A user's words on a schedule, where its file has none.

    ``ports`` is the port model that steps are packed for, ``words`` the length of a block, where
    the file has no lengths.
    """

    ports: PortModel = PortModel.FULL_DUPLEX
    words: int = 16


@dataclass(frozen=True, kw_only=True)
class Setting(Wishes):
    """Words on a schedule, and its network: a file's rank r is the r-th working node of it."""

    topology: Topology


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
    read_schedule_in
        Reads a schedule, in no steps yet, from a file that describes a network of its own.
    read_schedule_on
        Reads a schedule, in no steps yet, from a file of ranks, onto a network.
    read_traffic
        Reads traffic.
    draws_traffic
        True where the file has rates alone, and packets are drawn from them.
    omits
        Things of a schedule that it cannot say, and that are not in a file of it.
    write_network, write_schedule, write_traffic
        Write to a path, whole or not at all, and refuse what the format cannot say.
    """

    name: str
    title: str
    suffixes: tuple[str, ...]
    looks: Callable[[bytes], bool]
    read_network: Callable[[InputFile], Topology] | None = None
    read_schedule: Callable[[InputFile], Schedule] | None = None
    read_schedule_in: Callable[[InputFile, Wishes], Schedule] | None = None
    read_schedule_on: Callable[[InputFile, Setting], Schedule] | None = None
    read_traffic: Callable[[InputFile, TrafficSetting], Traffic] | None = None
    draws_traffic: bool = False
    omits: str = ""
    write_network: Callable[[Topology, Path], None] | None = None
    write_schedule: Callable[[Schedule, Path], None] | None = None
    write_traffic: Callable[[Traffic, Path], None] | None = None

    @property
    def reads(self) -> frozenset[Content]:
        """Nouns that are read from it."""
        of_schedules = (self.read_schedule, self.read_schedule_in, self.read_schedule_on)
        readers = (
            (Content.NETWORK, (self.read_network,)),
            (Content.SCHEDULE, of_schedules),
            (Content.TRAFFIC, (self.read_traffic,)),
        )
        return frozenset(content for content, given in readers if any(given))

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
