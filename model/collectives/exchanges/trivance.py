"""All-gather on all ports in ⌈log3 n⌉ rounds for each ring, of any length n.

A node has h = a + b + 1 blocks: its own, those of a nodes before and those of b nodes behind it. In
one round it gets h more from the node h before it and h more from the node h behind; h triples::

    n = 9    node 4    | 4 |    from 3 and 5    | 3 4 5 |    from 1 and 7    | 0 1 2 3 4 5 6 7 8 |

On a torus this is done axis by axis. Run backwards and then forwards it is the all-reduce of
*Trivance*, in its form that sends every word once (arXiv 2602.17254). In a round h paths cross each
link; :mod:`.rounds` deals them to steps. The form that sends whole messages is in
:mod:`.trivance_whole`.
"""

from collections.abc import Iterator
from math import prod

from ...network.port_model import PortModel
from ...network.topology import Topology
from ...schedule.collective import Collective
from ...schedule.schedule import Schedule
from ..declared.algorithm import ALL, Declared
from .rounds import Send, all_gather_of_rounds, require_ring


def trivance_all_gather(topology: Topology, words: int) -> Schedule:
    """Bring ``words`` words of each node of a torus or ring to all nodes, all-port.

    Raises :class:`.InvalidInput` for another network, and as :func:`.all_gather_of_rounds` does.
    """
    require_ring("trivance", topology)
    return all_gather_of_rounds("trivance", topology, words, _rounds(topology), PortModel.ALL_PORT)


def _rounds(topology: Topology) -> Iterator[list[Send]]:
    for axis, side in enumerate(topology.dims):
        stride = prod(topology.dims[:axis])
        before = behind = 0
        while before + behind + 1 < side:
            held = before + behind + 1
            left = min(2 * held, side - held)
            up, down = left // 2, left - left // 2
            sends: list[Send] = []
            for node in range(topology.nodes):
                # This node gets the nearest of the blocks that its two partners have.
                ranges = (
                    (-held, range(-before - up, -before)),
                    (held, range(behind + 1, behind + 1 + down)),
                )
                for away, places in ranges:
                    if places:
                        source = _moved(node, away, side, stride)
                        had = [_moved(node, place, side, stride) for place in places]
                        sends.append((source, node, _below(had, stride)))
            yield sends
            before, behind = before + up, behind + down


def _moved(node: int, by: int, side: int, stride: int) -> int:
    """Return the node ``by`` nodes up its axis."""
    place = node // stride % side
    return node + ((place + by) % side - place) * stride


def _below(nodes: list[int], stride: int) -> list[int]:
    """Return all nodes that differ from one of ``nodes`` only on the axes before."""
    return [node // stride * stride + low for node in nodes for low in range(stride)]


ALGORITHM = Declared(
    Collective.ALL_GATHER,
    "trivance",
    lambda asked: trivance_all_gather(asked.topology, asked.words),
    networks="tori",
    steps="⌈log3 n⌉ rounds on each axis",
    paper="Trivance, arXiv 2602.17254",
    takes=("all_port",),
    ports=(ALL,),
)
