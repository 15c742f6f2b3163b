"""Certificates of programs of both kinds."""

from ..network.config import Timing
from ..program.circuits.program import CircuitProgram
from ..program.compiler import Compiled
from .circuit_certificate import circuit_certificate
from .packet_certificate import packet_certificate


def certificate_json(compiled: Compiled, timing: Timing) -> str:
    """Return the certificate of a program as JSON text; circuits have no ``timing``.

    Raises :class:`.InvalidInput` for a program that has no certificate.
    """
    if isinstance(compiled.program, CircuitProgram):
        return circuit_certificate(compiled)
    return packet_certificate(compiled, timing)
