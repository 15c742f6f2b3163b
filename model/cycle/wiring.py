"""The wires between the routers and interfaces of the cycle model, from a network's parameters.

A line has ``1 << vc_bits`` channels (:mod:`.state`): where V is no power of two, some are not used.
"""

from typing import Any

import numpy as np
import numpy.typing as npt

from ..network.config import NetworkConfig
from ..network.topology import NO_LINK
from .state import NONE, Buffer, Line, Output, records


def lines_of(config: NetworkConfig) -> int:
    """Return the lanes and link ports of a node."""
    return config.lanes + config.topology.ports - 1


def of_lines(config: NetworkConfig, of_links: npt.NDArray[np.int64]) -> npt.NDArray[np.int64]:
    """Return values of ports, shape (nodes, ports), for all lines; lanes have that of port 0."""
    return np.repeat(of_links, [config.lanes, *[1] * (config.topology.ports - 1)], axis=1)


def most_registers(config: NetworkConfig) -> int:
    """Return the registers of the link that has most."""
    return int(config.registers_of_links.max())


def channels_of(config: NetworkConfig) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.int64]]:
    """Return the channels of all routers, shape (nodes, lines, VCs), and those of all senders."""
    width = 1 << config.header.vc_bits
    shape = (config.topology.nodes, lines_of(config), width)
    routers = np.arange(np.prod(shape)).reshape(shape)
    senders = np.arange(config.topology.nodes * config.lanes * width)
    return routers, routers.size + senders.reshape(-1, config.lanes, width)


def _downstream(config: NetworkConfig) -> npt.NDArray[np.int64]:
    """Return the input channel that each output channel feeds, and each channel of a sender."""
    topology, lanes = config.topology, config.lanes
    routers, _ = channels_of(config)
    neighbor = topology.neighbor[:, 1:]
    fed = routers[neighbor, lanes - 1 + topology.peer[:, 1:]]
    downstream = np.full_like(routers, NO_LINK)
    downstream[:, lanes:] = np.where(neighbor[..., None] == NO_LINK, NO_LINK, fed)
    return np.concatenate((downstream.ravel(), routers[:, :lanes].ravel()))


def wired(config: NetworkConfig) -> dict[str, Any]:
    """Return the records of :class:`.Registers` for all channels and lines, after reset."""
    routers, senders = channels_of(config)
    nodes, lines, width = routers.shape
    downstream = _downstream(config)
    outputs = np.flatnonzero(downstream != NO_LINK)
    registers = np.zeros(len(downstream), dtype=np.int64)
    registers[: routers.size] = np.repeat(of_lines(config, config.registers_of_links), width)
    upstream, before = np.full((2, routers.size), NO_LINK)
    upstream[downstream[outputs]] = outputs
    before[downstream[outputs]] = registers[outputs]
    port = np.maximum(np.arange(lines) - config.lanes + 1, 0)
    every = (1 << config.vcs) - 1
    return {
        "buffers": records(
            Buffer, routers.size, upstream=upstream.astype(np.uint32), registers=before
        ),
        "outputs": records(
            Output,
            routers.size + senders.size,
            holder=NONE,
            downstream=downstream.astype(np.uint32),
            turn=(lines - config.lanes) * width,
            credits=config.depth,
            registers=registers,
        ),
        "lines": records(
            Line,
            nodes * lines,
            credited=every,
            port=np.tile(port, nodes),
            node=np.repeat(np.arange(nodes), lines),
        ),
    }
