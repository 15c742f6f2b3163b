"""Throughput, latency and use of links, measured in a trace of traffic."""

from collections.abc import Mapping

import numpy as np

from ..network.topology import NO_LINK
from ..program.program import Program
from ..run.link_flits import link_flits
from ..run.trace import Trace
from .program import deliveries
from .traffic import Traffic


def measure_traffic(traffic: Traffic, program: Program, trace: Trace) -> dict[str, float | int]:
    """Measure throughput, latency and use of links in a trace of ``traffic`` as a program.

    Throughput is in flits per node (without switches) and cycle; all header flits count, also those
    dropped on the way. A packet is accepted when its tail is delivered. If packets start in cycles
    up to T, accepted flits are counted from T / 4 to T, when the network neither fills nor empties.
    If no packet is accepted in that time, they are counted from the first start to the last
    acceptance. Latencies are in cycles, from a packet's start to its tail's delivery; percentiles
    are interpolated between the nearest two. The use of a link is the share of cycles in which a
    flit leaves for it, up to the last flit of the trace.
    """
    topology = program.config.topology
    last = int(traffic.cycle.max(initial=0)) + 1
    first, end = last // 4, last
    delivery = deliveries(traffic, program, trace)
    in_time = (delivery.arrived >= first) & (delivery.arrived < end)
    if not in_time.any():
        first = int(traffic.cycle.min(initial=last))
        end = int(delivery.arrived.max(initial=first)) + 1
        in_time = np.ones(len(delivery.arrived), dtype=np.bool_)
    latency = delivery.latency
    on_links = link_flits(topology, trace)[:, 1:][topology.neighbor[:, 1:] != NO_LINK]
    cycles = int(trace.cycle.max(initial=0)) + 1
    accepted = float(delivery.flits[in_time].sum())
    measures: dict[str, float | int] = {
        "packets_delivered": len(latency),
        "offered_throughput": float(traffic.flits.sum()) / topology.interfaces / last,
        "accepted_throughput": accepted / topology.interfaces / (end - first),
    }
    if latency.size:
        measures |= {
            "mean_latency": float(latency.mean()),
            "median_latency": float(np.median(latency)),
            "latency_99th_percentile": float(np.percentile(latency, 99)),
            "longest_latency": int(latency.max()),
        }
    if on_links.size:
        measures |= {
            "mean_link_use": float(on_links.mean()) / cycles,
            "busiest_link_use": float(on_links.max()) / cycles,
        }
    return measures


def measure_rows(measured: Mapping[str, float | int]) -> list[tuple[str, object]]:
    """Return measures with readable names, units and four significant digits."""
    return [
        (_readable(name), f"{value:.4g}" if isinstance(value, float) else value)
        for name, value in measured.items()
    ]


def _readable(name: str) -> str:
    units = (unit for measure, unit in _UNITS.items() if measure in name)
    return ", ".join((name.replace("_", " "), *units))


_UNITS = {"throughput": "flits per node and cycle", "latency": "cycles", "use": "share of cycles"}
