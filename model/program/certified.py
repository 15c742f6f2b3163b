"""The network for a set of schedules: the user's parameters, enlarged as the schedules need."""

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from ..base.errors import InvalidInput
from ..network.config import MOST_MEMORY_WORDS, NetworkConfig
from ..network.port_model import PortModel
from ..schedule.schedule import Schedule
from .compiler import Compiled, compile_all, make_room
from .deadlock import certify
from .memory.layout import Layout
from .program import Program


@dataclass(frozen=True)
class Room:
    """The network that a user requests.

    ``parameters`` are fields of :class:`.NetworkConfig`. Schedules do not raise those named in
    ``fixed``; the other step numbers, VCs, memories and operators grow as schedules need.
    ``require`` refuses a program that must not run; by default, one that may deadlock.
    """

    parameters: Mapping[str, Any] = field(default_factory=dict)
    fixed: Collection[str] = ()
    require: Callable[[Program], None] = certify

    @property
    def circuits(self) -> bool:
        """True for a network of circuits instead of packets."""
        return bool(self.parameters.get("circuits"))

    def compile(self, schedules: Sequence[Schedule]) -> list[Compiled]:
        """Compile all of ``schedules`` for one network with room for each."""
        config, layouts = self.common(schedules)
        return compile_all(config, schedules, layouts, fixed=self.fixed)[1]

    def compile_one(self, schedule: Schedule) -> Compiled:
        """Compile a schedule for a network with room for it, and refuse one that must not run."""
        (compiled,) = self.compile([schedule])
        if isinstance(compiled.program, Program):
            self.require(compiled.program)
        return compiled

    def common(self, schedules: Sequence[Schedule]) -> tuple[NetworkConfig, list[Layout]]:
        """Return the network with room for all of ``schedules``, except tables, and the layouts."""
        needed = any(schedule.port_model == PortModel.ALL_PORT for schedule in schedules)
        all_port = self.parameters.get("all_port", False) or needed
        parameters = {**self.parameters, "all_port": all_port}
        config = NetworkConfig(topology=schedules[0].topology, **parameters)
        config, layouts = make_room(config, schedules, fixed=self.fixed)
        for layout in layouts:
            if not layout.fits(config):
                before = f"flits of the message must be {layout.limit(config)}"
                if config.message_words == MOST_MEMORY_WORDS:
                    raise InvalidInput(f"{before}, not {layout.size}")
                after = f"), not {layout.size}"
                raise InvalidInput.around(f"{before} (raise ", "message_words", after)
        return config, layouts


def compile_certified(made: Schedule, parameters: dict[str, Any]) -> Compiled:
    """Compile a schedule for a :class:`Room` whose ``parameters`` are all fixed."""
    return Room(parameters, parameters.keys()).compile_one(made)
