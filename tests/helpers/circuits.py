"""Programs of circuits for tests."""

from collections.abc import Sequence
from typing import Any

import numpy as np

from eyecast.model.network.config import NetworkConfig
from eyecast.model.network.topology import line
from eyecast.model.program.circuits import CircuitProgram


def circuit_program(
    config: NetworkConfig, tables: Sequence[Sequence[dict[str, Any]]], **others: Any
) -> CircuitProgram:
    """Return the program with these entries of each node.

    An entry has fields by name; ``codes`` is a dict from outputs to codes, and fields left out
    are 0, the duration 1.
    """
    entries = [entry for table in tables for entry in table]
    ports = range(config.topology.ports)
    names = ("first", "second", "operator", "send_address", "receive_address", "receive")
    columns: dict[str, Any] = {name: [entry.get(name, 0) for entry in entries] for name in names}
    columns["duration"] = [entry.get("duration", 1) for entry in entries]
    columns["first_entry"] = np.cumsum([0, *map(len, tables)])
    arrays = {name: np.array(column, np.int64) for name, column in columns.items()}
    codes = [[entry.get("codes", {}).get(port, 0) for port in ports] for entry in entries]
    arrays["codes"] = np.array(codes, np.int64).reshape(len(entries), len(ports))
    return CircuitProgram(config=config, **{"port_model": "full-duplex"} | arrays | others)


def example() -> CircuitProgram:
    """The worked example of the page: node 0 of a line of three sends two words to the others."""
    config = NetworkConfig(topology=line(3), message_words=8, circuits=True)
    arriving = {"duration": 2, "receive": 1}
    tables = [
        [{"duration": 2, "codes": {1: 1}}],
        [{}, {"codes": {0: 3, 1: 3}} | arriving],
        [{"duration": 2}, {"codes": {0: 3}} | arriving],
    ]
    return circuit_program(config, tables)
