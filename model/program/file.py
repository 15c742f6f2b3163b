"""Programs as JSON files: the network's limits, and every node's rows and receives.

::

    {"format": "eyecast-program", "version": 1,
     "network": {"topology": {"kind": "mesh", "dims": [2, 1],
                              "faulty_nodes": [], "faulty_links": []},
                 "vcs": 1, "depth": 2, "flit_width": 32, "message_words": 256,
                 "table_words": 64, "steps": 15},
     "port_model": "half-duplex",
     "nodes": [{"rows": [{"step": 1, "route": [[1, 1, 0]], "source_address": 0, "target_address": 0,
                          "length": 4}], "receives": []},
               {"rows": [], "receives": [1]}]}

:mod:`~eyecast.model.network.config_file` describes "network". A route is a list of segments
[port, hops, vc]. A timed row has "start"; "awaited" counts the packets of timed rows that a node
receives. A row whose message continues in the next row is "continued". In an all-port network
"receive_ports" has the port of each of "receives". "operator", "stream", "lead" and "window" of a
row are the numbers of docs/router.md, sections 19 and 20; the file leaves them out if they are 0.

Version 2 has the run tables of a network with circuits (``circuit_file.py``).
"""

from collections.abc import Iterator
from pathlib import Path
from typing import Annotated

import msgspec

from ..base.errors import InvalidInput
from ..base.files import InputFile, write_atomically
from ..base.json_file import Header, decode_versioned, read_json
from ..network.config import NetworkConfig
from ..network.config_file import network_from_json, network_to_json
from ..network.port_model import PortModel
from ..network.segment import Segment
from ..network.topology_file import topology_to_json
from .any_program import AnyProgram
from .circuits.checks import check_circuits
from .circuits.file import CircuitNode, circuit_nodes, circuit_program
from .circuits.program import CircuitProgram
from .program import Program
from .row import ADDITIONS, Row

FORMAT = "eyecast-program"
TABLES, RUN_TABLES = 1, 2
"""Versions: a program with injection tables, and one of circuits with run tables."""

_Natural = Annotated[int, msgspec.Meta(ge=0, le=(1 << 31) - 1)]
_Positive = Annotated[int, msgspec.Meta(ge=1, le=(1 << 31) - 1)]


class _Row(msgspec.Struct, forbid_unknown_fields=True):
    step: _Positive
    route: list[tuple[_Positive, _Positive, _Natural]]
    source_address: _Natural
    target_address: _Natural
    length: _Natural
    start: _Natural | None = None
    continued: bool = False
    operator: _Natural = 0
    stream: _Natural = 0
    lead: _Natural = 0
    window: _Natural = 0


class _Node(msgspec.Struct, forbid_unknown_fields=True):
    rows: list[_Row]
    receives: list[_Positive]
    awaited: _Natural = 0
    receive_ports: list[_Positive] = []


class _Head(Header, forbid_unknown_fields=True):
    network: dict[str, object]
    port_model: str


class _File(_Head, forbid_unknown_fields=True):
    nodes: list[_Node]


class _CircuitFile(_Head, forbid_unknown_fields=True):
    nodes: list[CircuitNode]


def program_json(program: AnyProgram) -> str:
    """Return ``program`` as JSON text, one node per line."""
    nodes: Iterator[object]
    if isinstance(program, CircuitProgram):
        version, nodes = RUN_TABLES, circuit_nodes(program)
    else:
        version, nodes = TABLES, _nodes(program)
    named = {"topology": topology_to_json(program.config.topology)}
    fields = {
        "format": FORMAT,
        "version": version,
        "network": network_to_json(program.config) | named,
        "port_model": program.port_model,
        "nodes": msgspec.Raw(b"[\n" + b",\n".join(map(msgspec.json.encode, nodes)) + b"\n]"),
    }
    return (msgspec.json.encode(fields) + b"\n").decode()


def _nodes(program: Program) -> Iterator[dict[str, object]]:
    """Yield the nodes of a program with injection tables in the form of the file."""
    columns = zip(program.rows, program.receives, program.receive_ports, strict=True)
    for node, awaited in zip(columns, program.awaited.tolist(), strict=True):
        yield _node_to_json(program.config, *node, awaited)


def _node_to_json(
    config: NetworkConfig,
    rows: tuple[Row, ...],
    receives: tuple[int, ...],
    receive_ports: tuple[int, ...],
    awaited: int,
) -> dict[str, object]:
    """Return a node of a program in the form of the file."""
    fields: dict[str, object] = {
        "rows": [_row_to_json(row) for row in rows],
        "receives": receives,
    }
    if awaited:
        fields["awaited"] = awaited
    if config.all_port:
        fields["receive_ports"] = receive_ports
    return fields


def _row_to_json(row: Row) -> dict[str, object]:
    """Return a row of a program in the form of the file."""
    fields: dict[str, object] = {
        "step": row.step,
        "route": row.route,
        "source_address": row.source_address,
        "target_address": row.target_address,
        "length": row.length,
    }
    if row.start is not None:
        fields["start"] = row.start
    if row.continued:
        fields["continued"] = True
    additions = {name: getattr(row, name) for name in ADDITIONS}
    return fields | {name: value for name, value in additions.items() if value}


def write_program(program: AnyProgram, path: str | Path) -> None:
    """Write a program to a JSON file, whole or not at all.

    Parameters
    ----------
    program
        The program.
    path
        The file; an existing file is replaced.

    Returns
    -------
    None

    Raises
    ------
    InvalidInput
        If the file cannot be written.
    """
    write_atomically(path, program_json(program))


def read_program(path: str | Path | InputFile) -> AnyProgram:
    """Read a program from a JSON file, and check that its network can carry it out.

    Parameters
    ----------
    path
        A file that :func:`write_program` or another tool has written.

    Returns
    -------
    Program or CircuitProgram
        The program.

    Raises
    ------
    InvalidInput
        If the file cannot be read, or a key or value is wrong; the line names file and place.
    """
    return read_json(path, _read)


def _read(text: bytes) -> AnyProgram:
    """Return the program of a file's text, checked."""
    version = decode_versioned(text, FORMAT, (TABLES, RUN_TABLES), Header).version
    if version == TABLES:
        return _program(msgspec.json.decode(text, type=_File))
    return _circuits(msgspec.json.decode(text, type=_CircuitFile))


def _circuits(file: _CircuitFile) -> CircuitProgram:
    """Build the program of circuits of a file whose types are right, and check it."""
    config, port_model = _network(file)
    if not config.circuits:
        raise InvalidInput.of("network.circuits", f"true in version {RUN_TABLES}", "false")
    program = circuit_program(config, port_model, file.nodes)
    check_circuits(program)
    return program


def _network(file: _File | _CircuitFile) -> tuple[NetworkConfig, PortModel]:
    """Return the network and the port model of a file, and require an entry for each node."""
    config = network_from_json(file.network)
    port_model = PortModel.named(file.port_model, "port_model")
    if len(file.nodes) != config.topology.nodes:
        raise InvalidInput.of("nodes", f"{config.topology.nodes} entries", len(file.nodes))
    return config, port_model


def _program(file: _File) -> Program:
    """Build the program of a file whose types are right, and check it."""
    config, port_model = _network(file)
    if config.circuits:
        raise InvalidInput.of("network.circuits", f"left out in version {TABLES}", "true")
    for number, node in enumerate(file.nodes):
        if node.receives != sorted(node.receives):
            raise InvalidInput.of(f"nodes[{number}].receives", "in order of step", node.receives)
    program = Program.from_rows(
        config,
        port_model,
        [[_row(row) for row in node.rows] for node in file.nodes],
        [node.receives for node in file.nodes],
        receive_ports=[node.receive_ports for node in file.nodes],
        awaited=[node.awaited for node in file.nodes],
    )
    program.check()
    return program


def _row(row: _Row) -> Row:
    """Return a row of the file as a row of a program."""
    route = tuple(Segment(*segment) for segment in row.route)
    addresses = row.source_address, row.target_address, row.length
    additions = (getattr(row, name) for name in ADDITIONS)
    return Row(row.step, route, *addresses, row.start, row.continued, *additions)
