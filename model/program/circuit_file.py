"""Programs of circuits in JSON files: the run table of every node, version 2 of program files.

::

    {"format": "eyecast-program", "version": 2,
     "network": {"topology": {"kind": "line", "nodes": 3, ...}, ..., "circuits": true},
     "port_model": "full-duplex",
     "nodes": [{"runs": [{"duration": 2, "codes": [0, 1, 0]}]},
               {"runs": [{"duration": 1}, {"duration": 2, "codes": [3, 3, 0], "receive": 1}]},
               {"runs": [{"duration": 2}, {"duration": 2, "codes": [3, 0, 0], "receive": 1}]}]}

A run is an entry of a run table, with the fields of docs/router.md, section 23. "codes" has the
code of each output, from output 0 on. All-port, "ejections", both addresses and "receive" are lists
with a value for each lane. The file leaves a field out if it is 0, or all its values. The end entry
is not in the file.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import pairwise
from typing import Annotated

import msgspec
import numpy as np

from ..base.errors import InvalidInput
from ..base.ragged import offsets_of
from ..network.config import NetworkConfig
from ..network.port_model import PortModel
from .circuits import LANE_COLUMNS, CircuitProgram

_Number = Annotated[int, msgspec.Meta(ge=0, le=(1 << 31) - 1)]
_OfLanes = _Number | list[_Number]
"""A value, or all-port one for each lane."""


class Run(msgspec.Struct, forbid_unknown_fields=True, omit_defaults=True):
    """An entry of a run table in the form of the file."""

    duration: _Number
    codes: list[_Number] = []
    ejections: list[_Number] = []
    first: _Number = 0
    second: _Number = 0
    operator: _Number = 0
    send_address: _OfLanes = 0
    receive_address: _OfLanes = 0
    receive: _OfLanes = 0


RUN_FIELDS = Run.__struct_fields__
"""The fields of a run, which are columns of a program, too."""


class CircuitNode(msgspec.Struct, forbid_unknown_fields=True):
    """A node in the form of the file."""

    runs: list[Run]


def circuit_nodes(program: CircuitProgram) -> Iterator[CircuitNode]:
    """Yield the nodes of ``program`` in the form of the file."""
    columns = {name: getattr(program, name).tolist() for name in RUN_FIELDS}
    for name in ("codes", "ejections"):
        columns[name] = [values if any(values) else [] for values in columns[name]]
    for name in LANE_COLUMNS:
        columns[name] = [_of_lanes(values) for values in columns[name]]
    runs = [Run(*row) for row in zip(*columns.values(), strict=True)]
    for begin, end in pairwise(program.first_entry.tolist()):
        yield CircuitNode(runs[begin:end])


def _of_lanes(values: list[int]) -> int | list[int]:
    """Return the values of the lanes in the form of the file."""
    if len(values) == 1:
        return values[0]
    return values if any(values) else 0


def circuit_program(
    config: NetworkConfig, port_model: PortModel, nodes: list[CircuitNode]
) -> CircuitProgram:
    """Return the program of a file's nodes.

    Raises :class:`.InvalidInput` for a run with too few or too many values.
    """
    lanes = config.lanes
    widths = {"codes": config.topology.ports, "ejections": lanes if config.all_port else 0}
    widths |= dict.fromkeys(LANE_COLUMNS, lanes)
    rows: dict[str, list[list[int]]] = {name: [] for name in widths}
    for number, node in enumerate(nodes):
        for place, run in enumerate(node.runs):
            for name, width in widths.items():
                values = _values(getattr(run, name), width)
                if len(values) != width:
                    where = f"nodes[{number}].runs[{place}].{name}"
                    raise InvalidInput.of(where, f"{width} values", len(values))
                rows[name].append(values)
    runs = [run for node in nodes for run in node.runs]
    arrays = {
        name: np.array([getattr(run, name) for run in runs], np.int64)
        for name in RUN_FIELDS
        if name not in widths
    }
    for name, width in widths.items():
        arrays[name] = np.array(rows[name], np.int64).reshape(len(runs), width)
    first = offsets_of([len(node.runs) for node in nodes])
    return CircuitProgram(config=config, port_model=port_model, first_entry=first, **arrays)


def _values(given: int | list[int], width: int) -> list[int]:
    """Return the values of a field; a number stands for a single lane, or for 0 of all."""
    if isinstance(given, list):
        return given or [0] * width
    return [given] * width if width == 1 or not given else [given]
