"""The packets that a monitor would report for a run, computed from its trace."""

from __future__ import annotations

from collections.abc import Iterator

from eyecast.model.network.config import NetworkConfig
from eyecast.model.run.packets import packets_of
from eyecast.model.run.trace import Trace
from eyecast.testbench.monitor import Packet


def packets(config: NetworkConfig, trace: Trace) -> Iterator[Packet]:
    """Return the packets of a trace in the order of their ends."""
    found = packets_of(config, trace)
    for begin, header_end, end in sorted(
        zip(found.begin, found.header_end, found.end, strict=True),
        key=lambda place: found.flits.cycle[place[2] - 1],
    ):
        flits = [found.flits[place] for place in range(begin, end)]
        first, last = flits[0], flits[-1]
        yield Packet(
            *(first.node, first.port, first.vc, first.cycle, last.cycle),
            header=tuple(flit.data for flit in flits[: header_end - begin]),
            words=tuple(flit.data for flit in flits[header_end - begin :]),
        )
