"""A network with a host: one more node, which has the message at the start.

The host of an N-node network is node N. It is linked, both ways, only to the nodes that it sends to
(Ho, Hsu & Sung 1996, section 7: as many links as sends are enough)::

    0 --- 1 --- 2 --- 3        line of 4, the host linked to nodes 1 and 3
          |           |
          '---- 4 ----'
"""

from collections.abc import Iterable
from dataclasses import dataclass, field

import numpy as np
import numpy.typing as npt

from ..base.errors import InvalidInput, require_range
from .faults import with_faults
from .topology import NO_LINK, UNSAID, Topology, require_port_count


@dataclass(frozen=True, eq=False, kw_only=True, repr=False)
class HostedTopology(Topology):
    """A topology whose last node is a host.

    ``network`` is the network without faults to which the host is attached. ``host_links`` are the
    nodes linked to the host, ascending: port 1 of the host leads to the first, and so on. They
    reach the host by their last port. ``dims`` is empty, because the whole is not a grid.
    """

    network: Topology
    host_links: tuple[int, ...] = field(default=())

    @property
    def host(self) -> int:
        """The number of the host."""
        return self.nodes - 1


def with_host(topology: Topology, targets: Iterable[int]) -> HostedTopology:
    """Return ``topology`` with a host that is linked to the nodes ``targets``.

    Faults of ``topology`` stay, and its links that differ. Raises :class:`InvalidInput` for no
    targets or targets outside it.
    """
    network = topology.without_faults or topology
    links = tuple(sorted(set(targets)))
    if not links:
        raise InvalidInput.of("host links", "at least one node", "none")
    for node in links:
        require_range("node of host links", node, 0, network.nodes - 1)
    host, port = network.nodes, network.ports
    ports = max(port + 1, 1 + len(links))
    require_port_count(f"{network.label} and host", host + 1, ports)
    neighbor = np.full((host + 1, ports), NO_LINK, dtype=np.int32)
    peer = np.full_like(neighbor, NO_LINK)
    neighbor[:host, :port], peer[:host, :port] = network.neighbor, network.peer
    own = np.arange(1, 1 + len(links))
    neighbor[host, own], peer[host, own] = links, port
    neighbor[links, port], peer[links, port] = host, own

    def with_host_links(table: npt.NDArray[np.int64] | None) -> npt.NDArray[np.int64] | None:
        if table is None:
            return None
        values = np.full(neighbor.shape, UNSAID)
        values[:host, :port] = table
        return values

    hosted = HostedTopology(
        "graph",
        (),
        neighbor,
        peer,
        name=f"{network.plain_label} and host",
        switches=network.switches,
        node_names=network.node_names,
        link_registers_of=with_host_links(network.link_registers_of),
        link_rate_of=with_host_links(network.link_rate_of),
        network=network,
        host_links=links,
    )
    faulty = with_faults(hosted, topology.faulty_nodes, topology.faulty_links)
    assert isinstance(faulty, HostedTopology)
    return faulty
