"""The schedule of a command: from the options, or from a file of Eyecast or another tool."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from ...model.base.errors import InvalidInput
from ...model.base.files import InputFile, input_name
from ...model.collectives.declared.request import Ports
from ...model.collectives.task import Task
from ...model.compare.answer import Answer
from ...model.network.config import NetworkConfig, Timing
from ...model.network.network_text import SizeLimit
from ...model.network.port_model import PortModel
from ...model.network.topology import Topology
from ...model.program.certified import Room
from ...model.program.compiler import Compiled
from ...model.program.deadlock import certify
from ...model.program.program import Program
from ...model.schedule.schedule import Schedule
from .collective import CollectiveOptions, collective_options, require_words
from .hardware import HARDWARE_NAMES, config_of, hardware_options, with_ports
from .network import NETWORK_NAMES, NetworkFacts, NetworkOptions, network_options
from .values import Decorator, file_option, option_group, option_names, recorded, refuse_beside

if TYPE_CHECKING:
    from ...formats.format import Format

Require = Callable[[Topology], None]
"""A function that refuses a network before any work."""


def _any_network(_topology: Topology) -> None:
    """Refuse no network."""


schedule_file_option = option_group(
    file_option(
        "--schedule",
        "schedule_file",
        help=(
            "Read the schedule from this file (- is standard input) instead of making one. "
            "A file of Eyecast names its network; another tool's file needs --mesh or a "
            "similar option."
        ),
    ),
    heading="Collective",
)

REPLACED_BY_SCHEDULE_FILE = (*NETWORK_NAMES, *option_names(collective_options))
"""Options refused beside ``--schedule``, if the file names its network."""

REPLACED_BY_PROGRAM_FILE = ("--schedule", *REPLACED_BY_SCHEDULE_FILE, *HARDWARE_NAMES)
"""Options refused beside ``--program``."""

REPLACED_BY_RANKS = tuple(
    name for name in option_names(collective_options) if name not in ("--ports", "--words")
)
"""Options refused beside a file of ranks, which needs a network from the options."""


@dataclass(frozen=True)
class ScheduleOptions:
    """A network, a collective and hardware, as they are typed, or the files that replace them."""

    network: NetworkOptions
    collective: CollectiveOptions
    hardware: Room
    schedule_file: str | None = None
    program_file: str | None = None

    @property
    def room(self) -> Room:
        """The network of the hardware's options, for nodes with the collective's ports."""
        return with_ports(self.hardware, self.collective.ports)

    def config(self, limit: SizeLimit) -> NetworkConfig:
        """Return the network of the options, without a schedule."""
        topology = self.network.topology(limit)
        return config_of(self.hardware, topology, self.collective.ports)

    def task(self, topology: Topology, source: int | None = None) -> Task:
        """Return the task of the options on ``topology``; ``source`` is the default source."""
        return self.collective.task(self.network, topology, self.hardware, source)

    def answer(
        self,
        limit: SizeLimit,
        require: Require = _any_network,
        *,
        timing: Timing = Timing.BARRIER,
        require_program: Callable[[Program], None] = certify,
    ) -> Answer:
        """Return the schedule of the options or of the file that they name, checked.

        ``require`` refuses a network before any work. The best algorithm is the fastest with
        ``timing`` among those whose programs ``require_program`` allows.
        """
        if self.schedule_file is not None:
            file = InputFile.read(self.schedule_file)
            words, ports = self.collective.words, self.collective.ports
            reader = ScheduleReader(self.network, ports, words, limit, require)
            return Answer(reader.read(file, None, "--schedule"))
        topology = self.network.topology(limit)
        require(topology)
        room = replace(self.room, require=require_program)
        return self.collective.answer(self.task(topology), room, timing)

    def compiled(self, found: Sequence[Answer]) -> list[Compiled]:
        """Compile all schedules for one network that has room for each of them."""
        if len(found) == 1 and (kept := found[0].kept) is not None:
            return [kept.compiled]
        return self.room.compile([each.schedule for each in found])

    def facts(self, topology: Topology) -> NetworkFacts:
        """Return the network and the seed of a result; a schedule or program file has no seed."""
        facts = self.network.facts(topology)
        return {**facts, "seed": None} if self.schedule_file or self.program_file else facts


def schedule_options(*groups: Decorator) -> Decorator:
    """Return groups of options that a command receives as :class:`ScheduleOptions`."""
    return recorded("wanted", ScheduleOptions, *groups)


compiled_options = schedule_options(
    network_options, collective_options, schedule_file_option, hardware_options
)
"""The options of a schedule and of hardware that runs it."""


@dataclass(frozen=True)
class ScheduleReader:
    """The network, the ports and the words that options give to a file without them."""

    network: NetworkOptions
    ports: Ports
    words: int
    limit: SizeLimit
    require: Require = _any_network

    def read(self, file: InputFile, form: Format | None, option: str) -> Schedule:
        """Return the schedule of ``file``, checked; ``form`` is its format, detected if None.

        Refuses options that the file replaces, beside ``option``.
        """
        from ...formats.format import Content, Setting, Wishes
        from ...formats.own import SCHEDULE
        from ...formats.registry import format_with

        form = form or format_with(file, Content.SCHEDULE, SCHEDULE)
        if form.read_schedule is not None:
            refuse_beside(option, REPLACED_BY_SCHEDULE_FILE)
            schedule = self._allowed(form.read_schedule(file))
        elif form.read_schedule_in is not None and not self.network.sizes:
            refuse_beside(option, (*NETWORK_NAMES, *REPLACED_BY_RANKS))
            wishes = Wishes(ports=self._port_model, words=require_words(self.words))
            schedule = self._allowed(form.read_schedule_in(file, wishes))
        else:
            assert form.read_schedule_on is not None
            refuse_beside(option, REPLACED_BY_RANKS)
            if not self.network.sizes:
                raise InvalidInput(
                    f"{input_name(file)} names no network: give one, such as --mesh 4x4"
                )
            topology = self.network.topology(self.limit)
            self.require(topology)
            words = require_words(self.words)
            setting = Setting(topology=topology, ports=self._port_model, words=words)
            schedule = form.read_schedule_on(file, setting)
        try:
            schedule.check()
        except InvalidInput as error:
            raise InvalidInput(f"{input_name(file)}: {error}") from error
        return schedule

    def _allowed(self, schedule: Schedule) -> Schedule:
        """Return a schedule with a network of its own; refuse one that is too large."""
        self.limit.require(schedule.topology.label, schedule.topology.nodes)
        self.require(schedule.topology)
        return schedule

    @property
    def _port_model(self) -> PortModel:
        """The port model for a foreign schedule: full-duplex by default."""
        if self.ports is Ports.ALL:
            return PortModel.ALL_PORT
        return self.ports.duplex or PortModel.FULL_DUPLEX
