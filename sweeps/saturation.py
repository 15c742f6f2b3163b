"""Latency over load: finds the saturation of a network, and measures loads up to it.

**Saturation** is the load above which the network no longer delivers all offered packets: below it
accepted and offered throughput are equal, above it the accepted throughput is lower (W. J. Dally
and B. Towles, "Principles and Practices of Interconnection Networks", 2004, chapter 23; the
measurement also follows this book: infinite source queues, a warm-up that is left out, and
continued injection while measured packets drain). Here a load is above saturation if the accepted
throughput is less than :data:`SUSTAINED` of the offered one. Bisection brackets it for each seed;
the estimate is the mean of the brackets' middles.

**Confidence intervals** are at 95 %, by Student's t from one value for each seed; the seeds are
independent replications. The interval of saturation also includes half a bracket, the resolution of
each seed.

**Warm-up**: :func:`.warm_up_end` finds its end in the latencies of packets in order of their start.
A run in which it does not end is repeated with twice the length, up to :data:`GROWTH` times the
given length.
"""

import statistics
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np

from ..model.base.errors import InvalidInput
from ..model.compare.traffic_case import TrafficCase
from ..model.network.config import NetworkConfig
from ..model.network.topology import Topology
from ..model.traffic.program import deliveries
from .facts import NETWORK, network_facts
from .layout import MODEL
from .networks import topology_of
from .traffic import traffic_case
from .warm_up import warm_up_end

SUSTAINED = 0.95
"""Least accepted share of the offered throughput below saturation."""

MEASURED_SHARE = 0.8
"""Share of a run's cycles whose packets are measured; the rest drains them under load."""

LEAST_CYCLES, GROWTH = 1000, 4
"""Least cycles of a run, and the longest run as a multiple of the given cycles."""

CURVE = (0.1, 0.25, 0.4, 0.55, 0.7, 0.8, 0.9, 0.95)
"""Measured loads, as shares of the saturation load."""

CONFIDENCE = 0.95

RESULTS = {
    "part": str,
    "seeds_used": int,
    "saturation_rate": float,
    "saturation_half_width": float,
    "accepted_half_width": float,
    "latency_half_width": float,
    "warm_up_cycles": int,
    "measured_cycles": int,
    "steady": bool,
}
"""Columns of these points besides those of traffic.

``part`` is "saturation" in the first row of a point, and "load" in the rows of its loads.
"""


@dataclass(frozen=True)
class Load:
    """One run at one load, with one seed.

    offered, accepted, latency
        Flits per node and cycle, offered and accepted; mean cycles from a packet's start to its
        tail's delivery. All count packets that start (``accepted``: flits that arrive) in the
        measured cycles.
    warm_up, measured
        Cycles left out at the beginning, and measured cycles.
    steady
        True if the warm-up ends; otherwise the second half of the run is measured.
    config
        The network.
    """

    offered: float
    accepted: float
    latency: float
    warm_up: int
    measured: int
    steady: bool
    config: NetworkConfig

    @property
    def sustained(self) -> bool:
        """True if the accepted throughput is :data:`SUSTAINED` of the offered one, or more."""
        return self.accepted >= SUSTAINED * self.offered


def results(values: dict[str, Any]) -> list[dict[str, Any]]:
    """Find the saturation of a point's network, and measure loads up to it.

    Raises :class:`.InvalidInput` if the pattern, packets or routes do not fit the network.
    """
    topology, seeds = topology_of(values), values["seeds"]
    brackets = [
        bracket(partial(_sustained, topology, values, seed), values["precision"]) for seed in seeds
    ]
    rate, half_width = mean_and_half_width([(low + high) / 2 for low, high in brackets])
    widest = max(high - low for low, high in brackets)
    curve = [
        _curve_row(part * rate, [_measure(topology, values, part * rate, seed) for seed in seeds])
        for part in CURVE
    ]
    network = {name: curve[0][name] for name in NETWORK}
    first = {
        **network,
        "on": MODEL,
        "part": "saturation",
        "seeds_used": len(seeds),
        "saturation_rate": rate,
        "saturation_half_width": half_width + widest / 2,
    }
    return [first, *curve]


def bracket(sustained: Callable[[float], bool], precision: float) -> tuple[float, float]:
    """Bracket the load at which ``sustained`` becomes false, to ``precision`` or less.

    Loads are from 0 to 1 flits per node and cycle; if 1 is sustained, both ends are 1.
    """
    low, high = 0.0, 1.0
    if sustained(high):
        return high, high
    while high - low > precision:
        middle = (low + high) / 2
        low, high = (middle, high) if sustained(middle) else (low, middle)
    return low, high


def _sustained(topology: Topology, values: dict[str, Any], seed: int, rate: float) -> bool:
    return _measure(topology, values, rate, seed).sustained


def _measure(topology: Topology, values: dict[str, Any], rate: float, seed: int) -> Load:
    """Run one load; repeat it longer if the warm-up does not end but the load is sustained."""
    cycles, longest = values["cycles"], GROWTH * values["cycles"]
    while True:
        case = traffic_case(topology, values, rate=rate, cycles=cycles, seed=seed)
        load = _load(case, cycles)
        if load.steady or not load.sustained or 2 * cycles > longest:
            return load
        cycles *= 2


def _load(case: TrafficCase, cycles: int) -> Load:
    """Measure a run in which packets were drawn for ``cycles`` cycles."""
    config = case.program.config
    delivered = deliveries(case.traffic, case.program, case.predicted.trace)
    end = int(cycles * MEASURED_SHARE)
    order = np.argsort(delivered.started, kind="stable")
    order = order[delivered.started[order] < end]
    left_out = warm_up_end(delivered.latency[order])
    first = end // 2 if left_out is None else int(delivered.started[order[left_out]])
    starts = (delivered.started >= first) & (delivered.started < end)
    arrives = (delivered.arrived >= first) & (delivered.arrived < end)
    room = config.topology.interfaces * (end - first)
    return Load(
        offered=float(delivered.flits[starts].sum()) / room,
        accepted=float(delivered.flits[arrives].sum()) / room,
        latency=float(delivered.latency[starts].mean()) if starts.any() else 0.0,
        warm_up=first,
        measured=end - first,
        steady=left_out is not None,
        config=config,
    )


def _curve_row(rate: float, loads: Sequence[Load]) -> dict[str, Any]:
    """Return the row of one load from the runs of all seeds."""
    accepted, accepted_half = mean_and_half_width([load.accepted for load in loads])
    latency, latency_half = mean_and_half_width([load.latency for load in loads])
    return {
        **network_facts(loads[0].config),
        "on": MODEL,
        "part": "load",
        "seeds_used": len(loads),
        "rate": rate,
        "offered_throughput": statistics.fmean(load.offered for load in loads),
        "accepted_throughput": accepted,
        "accepted_half_width": accepted_half,
        "mean_latency": latency,
        "latency_half_width": latency_half,
        "warm_up_cycles": max(load.warm_up for load in loads),
        "measured_cycles": min(load.measured for load in loads),
        "steady": all(load.steady for load in loads),
    }


def require_statistics() -> None:
    """Raise :class:`.InvalidInput` if the library for confidence intervals is missing."""
    _scipy_special()


def mean_and_half_width(values: Sequence[float]) -> tuple[float, float]:
    """Return the mean of independent ``values``, and half the width of its confidence interval."""
    student = _scipy_special().stdtrit
    quantile = float(student(len(values) - 1, 0.5 + CONFIDENCE / 2))
    mean = statistics.fmean(values)
    return mean, quantile * statistics.stdev(values, mean) / len(values) ** 0.5


def _scipy_special() -> Any:
    """Load the library with Student's distribution; raise :class:`.InvalidInput` if missing."""
    try:
        from scipy import special  # noqa: PLC0415 - of an extra
    except ImportError as error:
        allowed = "installed for saturation (pip install 'eyecast[sweep]')"
        raise InvalidInput.of("scipy", allowed, "missing") from error
    return special
