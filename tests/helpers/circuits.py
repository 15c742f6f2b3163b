"""Programs of circuits for tests."""

from collections.abc import Sequence
from typing import Any

import numpy as np

from eyecast.model.network.config import NetworkConfig
from eyecast.model.network.topology import line
from eyecast.model.program.circuits.program import LANE_COLUMNS, CircuitProgram


def circuit_program(
    config: NetworkConfig, tables: Sequence[Sequence[dict[str, Any]]], **others: Any
) -> CircuitProgram:
    """Return the program with these entries of each node.

    An entry has fields by name; ``codes`` is a dict from outputs to codes, and fields left out
    are 0, the duration 1. ``ejections`` is a dict from lanes, which count from 1. So may be the
    addresses and ``receive``; a number is that of lane 1.
    """
    entries = [entry for table in tables for entry in table]
    lanes = range(1, config.lanes + 1)
    columns: dict[str, Any] = {
        name: [entry.get(name, 0) for entry in entries] for name in ("first", "second", "operator")
    }
    columns["duration"] = [entry.get("duration", 1) for entry in entries]
    columns["first_entry"] = np.cumsum([0, *map(len, tables)])
    arrays = {name: np.array(column, np.int64) for name, column in columns.items()}
    numbers = dict.fromkeys(LANE_COLUMNS, lanes)
    numbers |= {
        "codes": range(config.topology.ports),
        "ejections": lanes[: len(lanes) * config.all_port],
    }
    for name, places in numbers.items():
        given = [entry.get(name, {}) for entry in entries]
        rows = [each if isinstance(each, dict) else {1: each} for each in given]
        column = [[row.get(place, 0) for place in places] for row in rows]
        arrays[name] = np.array(column, np.int64).reshape(len(entries), len(places))
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
