"""Networks of points, from words or a file, with their faults."""

from functools import lru_cache
from pathlib import Path
from typing import Any

from ..model.base.errors import InvalidInput, one_of
from ..model.base.files import InputFile
from ..model.collectives.declared.request import Ports
from ..model.network.config import NetworkConfig
from ..model.network.faults import draw_faults, with_faults
from ..model.network.kinds import GRAPH, KINDS
from ..model.network.network_text import SizeLimit, link_in_words, node_in_words, sized_network
from ..model.network.topology import Topology
from ..model.network.topology_file import topology_from_json
from .layout import COLLECTIVE, COLUMN_OF, PARAMETER_NAMES


def network_in_words(words: str, limit: SizeLimit, parameter: str, folder: Path) -> Topology:
    """Make the network that ``words`` name: "mesh 8x8", "graph ring.json" (in ``folder``).

    Raises :class:`.InvalidInput` with ``parameter`` if the network is unknown or too large.
    """
    name, _, size = words.partition(" ")
    if name == GRAPH:
        # This import loads the readers of all formats.
        from ..formats.registry import network_of_file  # noqa: PLC0415

        topology = network_of_file(InputFile.read(folder / size))
        limit.require(topology.label, topology.nodes)
        return topology
    if name not in KINDS:
        kinds = one_of((*KINDS, GRAPH))
        raise InvalidInput.of(parameter, f"{kinds} and a size, such as mesh 8x8", repr(words))
    return sized_network(name, size, limit, parameter)


def with_named_faults(topology: Topology, nodes: str, links: str, place: str) -> Topology:
    """Return ``topology`` without the nodes in "3,4 5,5" and the links in "3,4:4,4".

    Errors begin with ``place``.
    """
    faulty = [node_in_words(topology, text, f"{place}faulty_nodes") for text in nodes.split()]
    lost = [link_in_words(topology, text, f"{place}faulty_links") for text in links.split()]
    return with_faults(topology, faulty, lost) if faulty or lost else topology


def topology_of(values: dict[str, Any]) -> Topology:
    """Make the network of a point, without its faulty nodes and links."""
    graph = values.get("graph")
    whole = _whole(values["network"]) if graph is None else topology_from_json(graph)
    topology = with_named_faults(whole, values["faulty_nodes"], values["faulty_links"], "")
    share, seed = values["random_faults"], values["seed"]
    if not share:
        return topology
    return with_faults(topology, draw_faults(topology, share, seed=seed, part_name="random_faults"))


def config_of(values: dict[str, Any], row: dict[str, Any]) -> NetworkConfig:
    """Make the configuration of a point again, with the sizes in its row."""
    parameters = {name: row[COLUMN_OF.get(name, name)] for name in PARAMETER_NAMES}
    return NetworkConfig(
        topology=topology_of(values),
        **parameters,
        timed_rows=row["kind"] != COLLECTIVE,
        all_port=values.get("ports") == Ports.ALL,
    )


@lru_cache(maxsize=8)
def _whole(words: str) -> Topology:
    """Make a network without faults, cached for many points; its size was checked before."""
    return network_in_words(words, SizeLimit.PROGRAM, "network", Path())
