"""Resets in the middle of runs: every link is reset while a packet crosses it."""

from collections.abc import Iterator, Sequence

import numpy as np

from ..model.network.config import NetworkConfig
from ..model.run.packets import packets_of, routed
from ..model.run.run import Prediction

Place = tuple[int, int, int, bool]
"""Node, port and VC of an output, and whether the first packet of the run goes on from there.

The first packet after the reset shows what the link's input has kept from before it.
"""


def reset_cycles(
    config: NetworkConfig, runs: Sequence[Prediction], meetings: Sequence[int]
) -> dict[int, list[int]]:
    """Return the cycles of resets for as few runs as reach all links that packets cross.

    The runs with the numbers ``meetings`` are reset twice, a packet apart: arbiters, which remember
    whose turn it is, have given turns to different inputs then.
    """
    amid = {number: {*_amid(config, run)} for number, run in enumerate(runs)}
    left = {place for each in amid.values() for _, place in each}
    chosen: dict[int, list[int]] = {}
    for number in (*meetings, *(None for _ in left)):
        gains: dict[tuple[int, int], int] = {}
        for at in amid if number is None else [number]:
            for cycle, place in amid[at]:
                gains[at, cycle] = gains.get((at, cycle), 0) + (place in left)
        if not gains:
            continue
        at, cycle = max(gains, key=lambda each: (gains[each], [-part for part in each]))
        if number is None and not gains[at, cycle]:
            break
        left -= {place for when, place in amid[at] if when == cycle}
        chosen.setdefault(at, []).append(cycle)
        if number is not None:
            chosen[at].append(min(cycle + PACKET + 2 * config.depth, runs[at].ending.cycle - 1))
    return chosen


PACKET = 7
"""Cycles that an output needs for a packet of :func:`.meetings`, and twice the depth."""


def _amid(config: NetworkConfig, run: Prediction) -> Iterator[tuple[int, Place]]:
    """Yield the cycles before which a head has left an output and its tail has not."""
    packets = packets_of(config, run.trace)
    flits, outputs = packets.flits, routed(config, packets)[2] // config.vcs
    goes_on: dict[int, bool] = {}
    for number, (begin, end) in enumerate(zip(packets.begin, packets.end - 1, strict=True)):
        on = outputs[number] % config.topology.ports > 0 and int(flits.port[begin]) > 0
        on = goes_on.setdefault(int(packets.channel[number]), bool(on))
        place = int(flits.node[begin]), int(flits.port[begin]), int(flits.vc[begin]), on
        last = min(int(flits.cycle[end]), run.ending.cycle)
        yield from ((cycle, place) for cycle in np.arange(flits.cycle[begin] + 2, last).tolist())
