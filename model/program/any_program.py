"""Programs of both kinds of networks: injection tables, or run tables of circuits."""

from typing import TypeAlias

from ..base.errors import InvalidInput
from ..network.config import Timing
from .circuits.program import CircuitProgram
from .program import Program

AnyProgram: TypeAlias = Program | CircuitProgram
"""The program of a network with circuits, or of one without."""


def manner(program: AnyProgram, timing: Timing) -> str:
    """Return how a run goes, for titles: its timing, or "circuits", which have no steps."""
    return "circuits" if isinstance(program, CircuitProgram) else f"{timing} timing"


def without_circuits(program: AnyProgram) -> Program:
    """Return ``program``; raise :class:`.InvalidInput` for one of a network with circuits."""
    if isinstance(program, CircuitProgram):
        raise InvalidInput.of("circuits", "left out of the network here", "given")
    return program
