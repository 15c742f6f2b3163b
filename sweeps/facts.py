"""Facts of every run: its network's parameters, and its counts."""

import json
from typing import Any

import numpy as np

from ..model.network.config import PARAMETERS, NetworkConfig
from ..model.network.config_file import network_to_json
from ..model.run.link_flits import link_flits
from ..model.run.run import Run
from ..sim.cache import digest
from .layout import COLUMN_OF, PARAMETER_NAMES

NETWORK = {
    **{COLUMN_OF.get(name, name): PARAMETERS[name].kind for name in PARAMETER_NAMES},
    "nodes": int,
    "faulty": int,
    "configuration": str,
}
"""Columns on the network that ran: its parameters with grown sizes, and a digest."""

RUN = {
    "finished": bool,
    "cycles": int,
    "stalled_flits": int,
    "flags": str,
    "link_flits": int,
    "busiest_link_flits": int,
    "trace": str,
}
"""Columns on a run; the last is a digest of every flit that left a router."""


def given_parameters(values: dict[str, Any]) -> dict[str, Any]:
    """Return the network parameters that have a value in the point."""
    given = {name: values.get(name) for name in PARAMETER_NAMES}
    return {name: value for name, value in given.items() if value is not None}


def network_facts(config: NetworkConfig) -> dict[str, Any]:
    """Return facts of the network that a point ran on."""
    return {
        **{COLUMN_OF.get(name, name): config.display_value(name) for name in PARAMETER_NAMES},
        "nodes": config.topology.nodes,
        "faulty": len(config.topology.faulty_nodes),
        "configuration": configuration(config),
    }


def configuration(config: NetworkConfig) -> str:
    """Return a digest of a network: topology and all parameters."""
    return digest(json.dumps(network_to_json(config), sort_keys=True))


def run_facts(config: NetworkConfig, run: Run) -> dict[str, Any]:
    """Return the counts that every run has."""
    on_links = link_flits(config.topology, run.trace)[:, 1:]
    flags = {name for node in np.flatnonzero(run.flags).tolist() for name in run.flag_names(node)}
    return {
        **network_facts(config),
        "finished": run.finished,
        "cycles": run.cycles,
        "stalled_flits": int(run.stalled_flits.sum()),
        "flags": ", ".join(sorted(flags)) or "none",
        "link_flits": int(on_links.sum()),
        "busiest_link_flits": int(on_links.max(initial=0)),
        "trace": digest(*(np.ascontiguousarray(column).tobytes() for column in run.trace.columns)),
    }
