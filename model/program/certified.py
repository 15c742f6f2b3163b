"""A schedule compiled for a network with room for it, and certified free of deadlock."""

from __future__ import annotations

from typing import Any

from ..network.config import NetworkConfig
from ..network.port_model import PortModel
from ..schedule.schedule import Schedule
from .compiler import Compiled, fit
from .deadlock import certify


def compile_certified(made: Schedule, parameters: dict[str, Any]) -> Compiled:
    """Compile a schedule for the network of ``parameters``, with room for it, and certify it.

    ``parameters`` are fields of :class:`.NetworkConfig`; what only makes room is as large as the
    schedule needs unless it is among them. Raises :class:`.InvalidInput` for what does not fit,
    and where routes may deadlock.
    """
    all_port = made.port_model == PortModel.ALL_PORT
    config = NetworkConfig(topology=made.topology, **{"all_port": all_port, **parameters})
    _, (compiled,) = fit(config, [made], fixed=parameters)
    certify(compiled.program)
    return compiled
