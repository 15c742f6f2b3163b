"""Graphs in networkx's node-link JSON (:mod:`..model.network.node_link`)."""

import msgspec

from ..model.base.files import InputFile
from ..model.base.json_file import read_json
from ..model.network.node_link import decode_edges
from ..model.network.topology import Topology
from .format import Format, json_keys
from .graphs import network_of

_USED = {"id", "source", "target", "switch"}


class _Looks(msgspec.Struct):
    """Raw nodes and edges, to find attributes that are skipped."""

    nodes: list[dict[str, msgspec.Raw]]
    edges: list[dict[str, msgspec.Raw]] = []
    links: list[dict[str, msgspec.Raw]] = []


def read_node_link(file: InputFile) -> Topology:
    """Read a node-link graph, and report the attributes that a network cannot hold.

    Raises :class:`.InvalidInput` with the file and the place in it.
    """
    edges, looks = read_json(
        file, lambda text: (decode_edges(text), msgspec.json.decode(text, type=_Looks))
    )
    passed_over = {
        f"{name} of {what}"
        for what, things in (("nodes", looks.nodes), ("edges", looks.edges or looks.links))
        for name in set().union(*things) - _USED - ({"key"} if what == "edges" else set())
    }
    return network_of(file, edges, passed_over=passed_over)


NODE_LINK = Format(
    name="node-link",
    title="networkx node-link JSON",
    suffixes=(".json",),
    # Eyecast's own files say their format, or the kind of their network.
    looks=lambda content: "nodes" in (keys := json_keys(content)) and not keys & {"kind", "format"},
    read_network=read_node_link,
)
