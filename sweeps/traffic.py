"""Traffic points: drawn packets at one load, run until the last is delivered."""

from typing import Any

from ..model.compare.traffic_case import TrafficCase
from ..model.network.topology import Topology
from ..model.program.checks import require_table_room
from ..model.run.run import Run
from ..model.traffic.measures import measure_traffic
from ..model.traffic.traffic import draw_traffic
from .facts import given_parameters, run_facts
from .layout import HARDWARE
from .networks import topology_of

RESULTS = {
    "packets": int,
    "packets_delivered": int,
    "offered_throughput": float,
    "accepted_throughput": float,
    "mean_latency": float,
    "median_latency": float,
    "latency_99th_percentile": float,
    "longest_latency": int,
    "mean_link_use": float,
    "busiest_link_use": float,
}
"""Columns that only traffic has: those of :func:`.measure_traffic`, and packets."""


def prepare(values: dict[str, Any]) -> TrafficCase:
    """Draw the traffic of a point, and predict its run.

    Raises :class:`.InvalidInput` if the pattern needs another network, if packets are shorter than
    their header, and if routes may deadlock.
    """
    case = traffic_case(
        topology_of(values),
        values,
        rate=values["rate"],
        cycles=values["cycles"],
        seed=values["seed"],
        back_pressure=values["back_pressure"],
    )
    if values["on"] == HARDWARE:
        require_table_room(case.program, otherwise=" (but on the model alone)")
    return case


def traffic_case(
    topology: Topology,
    values: dict[str, Any],
    *,
    rate: float,
    cycles: int,
    seed: int,
    back_pressure: float = 0.0,
) -> TrafficCase:
    """Draw and predict traffic with the pattern, packets and network of a point."""
    flits = values["packet_flits"]
    drawn = draw_traffic(
        topology,
        values["pattern"],
        rate=rate,
        flits=flits,
        cycles=cycles,
        seed=seed,
        burst=values["burst"],
        reply_flits=values["reply_flits"],
    )
    given = given_parameters(values)
    return TrafficCase.on_network(topology, drawn, given, seed=seed, back_pressure=back_pressure)


def results(case: TrafficCase, run: Run) -> dict[str, Any]:
    """Measure a run of traffic."""
    config = case.program.config
    return {
        **run_facts(config, run),
        "packets": len(case.traffic),
        **measure_traffic(case.traffic, case.program, run.trace),
    }
