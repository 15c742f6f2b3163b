"""Programs of circuits for tests."""

from eyecast.ip.circuits import Entry, circuit_program
from eyecast.model.network.config import NetworkConfig
from eyecast.model.network.topology import line
from eyecast.model.program.circuits.program import CircuitProgram

__all__ = ["circuit_program", "example"]


def example() -> CircuitProgram:
    """The worked example of the page: node 0 of a line of three sends two words to the others."""
    config = NetworkConfig(topology=line(3), message_words=8, circuits=True)
    arriving = {"duration": 2, "receive": 1}
    tables: list[list[Entry]] = [
        [{"duration": 2, "codes": {1: 1}}],
        [{}, {"codes": {0: 3, 1: 3}} | arriving],
        [{"duration": 2}, {"codes": {0: 3}} | arriving],
    ]
    return circuit_program(config, tables)
