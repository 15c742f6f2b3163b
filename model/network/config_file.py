"""Configurations of networks in JSON files: the topology and the parameters.

::

    {"topology": {"kind": "mesh", "dims": [2, 1], "faulty_nodes": [], "faulty_links": []},
     "vcs": 1, "depth": 2, "flit_width": 32, "message_words": 256, "table_words": 64, "steps": 15,
     "link_registers": 1}

Parameters that are not in every file (``Parameter.in_every_file``) are left out if they are 0,
false or empty. "operators" is a list of names; a custom operator is an object in that list::

    {"operators": ["add", "max", {"name": "saturating-add", "latency": 1}]}
"""

import json
from dataclasses import replace
from zlib import crc32

import msgspec

from ..base.errors import InvalidInput
from ..base.json_file import place_first
from .config import DEFAULTS, PARAMETERS, NetworkConfig
from .operators import Operator
from .topology_file import topology_from_json, topology_to_json

_IN_EVERY_FILE = tuple(name for name, known in PARAMETERS.items() if known.in_every_file)
_OTHERS = {name: usual for name, usual in DEFAULTS.items() if name not in _IN_EVERY_FILE}


class _Operator(msgspec.Struct, forbid_unknown_fields=True):
    name: str
    latency: int


_TYPES = {name: type(usual) for name, usual in DEFAULTS.items()} | {
    "operators": tuple[str | _Operator, ...]
}
_Layout = msgspec.defstruct(
    "_Layout",
    [
        ("topology", dict[str, object]),
        *((name, _TYPES[name]) for name in _IN_EVERY_FILE),
        *((name, _TYPES[name], usual) for name, usual in _OTHERS.items()),
    ],
    forbid_unknown_fields=True,
)


def network_to_json(config: NetworkConfig) -> dict[str, object]:
    """Describe ``config`` in the form of program files, without the names of its nodes.

    Names change no hardware, so no identity and no kept build depends on them.
    """
    values = {name: getattr(config, name) for name in (*_IN_EVERY_FILE, *_OTHERS)}
    unusual = {
        name: value
        for name, value in values.items()
        if name in _IN_EVERY_FILE or value != _OTHERS[name]
    }
    if config.operators:
        unusual["operators"] = [_operator_to_json(operator) for operator in config.operators]
    return {"topology": topology_to_json(replace(config.topology, node_names=())), **unusual}


def differing(one: NetworkConfig, other: NetworkConfig) -> list[str]:
    """Return the names of the parameters, as in program files, in which two networks differ."""
    first, second = network_to_json(one), network_to_json(other)
    return [name for name in {**first, **second} if first.get(name) != second.get(name)]


def network_from_json(description: dict[str, object]) -> NetworkConfig:
    """Build the configuration that a file describes.

    Raises :class:`InvalidInput` that names the place within ``network``, or the fault in it.
    """
    try:
        values = msgspec.structs.asdict(msgspec.convert(description, _Layout))
        values["operators"] = tuple(map(_operator_from_json, values["operators"]))
    except msgspec.ValidationError as error:
        raise InvalidInput(place_first(error, "network")) from error
    topology = topology_from_json(values.pop("topology"))
    return NetworkConfig(topology=topology, **values)


def _operator_to_json(operator: Operator) -> object:
    """Return an operator in the form of the file."""
    if operator.built_in:
        return operator.name
    return {"name": operator.name, "latency": operator.latency}


def _operator_from_json(described: str | _Operator) -> str | Operator:
    """Return the operator of a file; a custom one has neither meaning nor component."""
    if isinstance(described, str):
        return described
    return Operator(described.name, described.latency)


def identity(config: NetworkConfig) -> int:
    """Return the 32 bits that identify a network (docs/router.md, section 16)."""
    text = json.dumps(network_to_json(config), sort_keys=True, separators=(",", ":"))
    return crc32(text.encode())
