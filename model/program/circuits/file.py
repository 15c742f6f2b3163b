"""Programs of circuits in JSON files: the run table of every node, version 2 of program files.

::

    {"format": "eyecast-program", "version": 2,
     "network": {"topology": {"kind": "line", "nodes": 3, ...}, ..., "circuits": true},
     "port_model": "full-duplex",
     "nodes": [{"runs": [{"duration": 2, "codes": [0, 1, 0]}]},
               {"runs": [{"duration": 1}, {"duration": 2, "codes": [3, 3, 0], "receive": 1}]},
               {"runs": [{"duration": 2}, {"duration": 2, "codes": [3, 0, 0], "receive": 1}]}]}

A run is an entry of a run table, with the fields of docs/router.md, section 23. "codes" has the
code of each output, from output 0 on. In an all-port network "ejections" and the addresses are
lists, too, from lane 1 on. The file leaves a field out if it is 0. The end entry is not in it.
"""

from collections.abc import Iterator
from itertools import pairwise
from typing import Annotated

import msgspec
import numpy as np

from ...base.errors import InvalidInput
from ...base.ragged import offsets_of
from ...network.config import NetworkConfig
from ...network.port_model import PortModel
from .program import LANE_COLUMNS, CircuitProgram

_Number = Annotated[int, msgspec.Meta(ge=0, le=(1 << 31) - 1)]


class Run(msgspec.Struct, forbid_unknown_fields=True, omit_defaults=True):
    """An entry of a run table in the form of the file."""

    duration: _Number
    codes: list[_Number] = []
    ejections: list[_Number] = []
    first: _Number = 0
    second: _Number = 0
    operator: _Number = 0
    send_address: _Number | list[_Number] = 0
    receive_address: _Number | list[_Number] = 0
    receive: _Number | list[_Number] = 0


RUN_FIELDS = Run.__struct_fields__
"""The fields of a run, which are columns of a program, too."""


class CircuitNode(msgspec.Struct, forbid_unknown_fields=True):
    """A node in the form of the file."""

    runs: list[Run]


def circuit_nodes(program: CircuitProgram) -> Iterator[CircuitNode]:
    """Yield the nodes of ``program`` in the form of the file."""
    columns = {name: getattr(program, name).tolist() for name in RUN_FIELDS}
    for name in ("codes", "ejections"):
        columns[name] = [each if any(each) else [] for each in columns[name]]
    for name in LANE_COLUMNS:
        # One lane has a number, several ones a list.
        columns[name] = [
            (each[0] if len(each) == 1 else each) if any(each) else 0 for each in columns[name]
        ]
    runs = [Run(*row) for row in zip(*columns.values(), strict=True)]
    for begin, end in pairwise(program.first_entry.tolist()):
        yield CircuitNode(runs[begin:end])


def circuit_program(
    config: NetworkConfig, port_model: PortModel, nodes: list[CircuitNode]
) -> CircuitProgram:
    """Return the program of a file's nodes.

    Raises :class:`.InvalidInput` for a run with too few or too many codes, or values of lanes.
    """
    lanes = config.lanes
    sizes = {"codes": config.topology.ports, "ejections": lanes if config.all_port else 0}
    sizes |= dict.fromkeys(LANE_COLUMNS, lanes)
    for number, node in enumerate(nodes):
        for place, run in enumerate(node.runs):
            for name, size in sizes.items():
                given = getattr(run, name)
                count = len(given) if isinstance(given, list) else size if not given else 1
                if count not in (0, size):
                    where = f"nodes[{number}].runs[{place}].{name}"
                    raise InvalidInput.of(where, f"{size} {name}", count)
    runs = [run for node in nodes for run in node.runs]
    columns = {name: [getattr(run, name) for run in runs] for name in RUN_FIELDS}
    for name, size in sizes.items():
        columns[name] = [
            given if isinstance(given, list) and given else [given or 0] * size
            for given in columns[name]
        ]
    arrays = {name: np.array(column, np.int64) for name, column in columns.items()}
    for name, size in sizes.items():
        arrays[name] = arrays[name].reshape(len(runs), size)
    first = offsets_of([len(node.runs) for node in nodes])
    return CircuitProgram(config=config, port_model=port_model, first_entry=first, **arrays)
