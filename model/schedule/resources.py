"""Resources that the sends of a schedule occupy: ports and links, one send at a time.

::

    send 0 -> 2 by 1     port out of 0,  link 0 -> 1,  link 1 -> 2,  port into 2
"""

from typing import NamedTuple

import numpy as np

from ..base.arrays import Numbers
from .schedule import Schedule


class Resources(NamedTuple):
    """The resources of all sends, in the order in which each send passes them.

    Send i occupies ``resource[first[i]:first[i + 1]]``: its links and a port at either end.
    Resources are numbered from 0 to ``number - 1``; ports out of nodes are in the order of the
    nodes.
    """

    first: Numbers
    resource: Numbers
    number: int


def resources_of(schedule: Schedule, *, all_port: bool = False) -> Resources:
    """Return the resources of all sends, if each node has one port out and one port in.

    ``all_port``: if it has a port for every link instead. Then links are the only resources.
    """
    nodes = schedule.topology.nodes
    outs = nodes * schedule.topology.ports
    if all_port:
        hops = schedule.path_offsets - np.arange(schedule.sends + 1)
        return Resources(hops, schedule.links.astype(np.int64), outs)
    first = schedule.path_offsets + np.arange(schedule.sends + 1)
    resource = np.empty(first[-1], np.int64)
    on_link = np.ones(resource.size, np.bool_)
    on_link[first[:-1]] = on_link[first[1:] - 1] = False
    resource[first[:-1]] = outs + schedule.source
    resource[first[1:] - 1] = outs + nodes + schedule.target
    resource[on_link] = schedule.links
    return Resources(first, resource, outs + 2 * nodes)
