"""A plan of the host as a schedule: the flood, cut down to what reaches each node first.

The host is one more node (:mod:`...network.attached_host`) and has the message at the start. A node
that gets the message in step *i* gets it once, by one link: from the host if that sends to it in
step *i*, else from the lowest-numbered neighbour that has it since step *i* - 1. All other copies
of the flood bring nothing new. So every send is of one hop, in the step of its arrival, and the
sends make up a tree from the host.
"""

from dataclasses import replace

import numpy as np
import numpy.typing as npt

from ...base.errors import require_range
from ...network.attached_host import with_host
from ...network.port_model import PortModel
from ...network.topology import NO_LINK
from ...schedule.blocks import Blocks
from ...schedule.builder import one_block_schedule
from ...schedule.collective import Collective
from ...schedule.requested import Requested
from ...schedule.schedule import Schedule
from .plan import NOT_REACHED, Plan

ALGORITHM = "transmit"


def transmit_schedule(plan: Plan, words: int) -> Schedule:
    """Return the broadcast of ``words`` words from the host that ``plan`` describes, all-port.

    The host sends once in a step at most, as plans do; a send of the host to a node that has the
    message by then is left out. Its links are those that it uses. Raises :class:`.InvalidInput` for
    a plan that leaves a node out and for a message without words.
    """
    require_range("words", words, 1)
    require_range("time of the plan", plan.time, 1)
    arrival = plan.arrival
    useful = [(step, node) for step, node in plan.sends if arrival[node] == step]
    hosted = with_host(plan.topology, (node for _, node in useful))
    senders = _senders(plan, hosted.host)
    reached = np.flatnonzero(arrival != NOT_REACHED).astype(np.int32)
    order = reached[np.argsort(arrival[reached], kind="stable")]
    owed = None if order.size == plan.topology.nodes else (*reached.tolist(), hosted.host)
    made = one_block_schedule(
        ALGORITHM,
        hosted,
        Blocks(np.array([hosted.host]), (owed,), np.array([words])),
        arrival[order],
        2 * np.arange(order.size + 1),
        np.stack((senders[order], order), axis=1).ravel(),
        port_model=PortModel.ALL_PORT,
    )
    asked = Requested(collective=Collective.BROADCAST, words=words, root=hosted.host)
    return replace(made, requests=(asked,))


def _senders(plan: Plan, host: int) -> npt.NDArray[np.int32]:
    """From whom each node has the message; shape (nodes,)."""
    neighbor, arrival = plan.topology.neighbor, plan.arrival
    begins, ports = np.nonzero(neighbor != NO_LINK)
    ends = neighbor[begins, ports]
    first = arrival[begins] + 1 == arrival[ends]
    senders = np.full(plan.topology.nodes, host, dtype=np.int32)
    np.minimum.at(senders, ends[first], begins[first].astype(np.int32))
    for step, node in plan.sends:
        if arrival[node] == step:
            senders[node] = host
    return senders
