"""``eyecast traffic``: packets at set cycles, on the model, on the hardware or on both."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import click
import numpy as np
import numpy.typing as npt

from ..model.base.errors import InvalidInput, require_range
from ..model.base.files import InputFile
from ..model.network.network_text import SizeLimit, node_in_words
from ..model.network.topology import Topology
from ..model.program.certified import Room
from ..model.program.checks import require_table_room
from ..model.program.program import Program
from ..model.traffic.patterns import PATTERNS
from ..model.traffic.traffic import Traffic, draw_traffic
from .command import command
from .console import (
    BUILDING,
    busy,
    print_checks,
    print_json,
    print_table,
    progress,
    say,
    say_troubles,
    say_waits,
    say_written,
    unfinished,
)
from .options.hardware import force_option, require_no_deadlock, traffic_hardware_options
from .options.network import NetworkOptions, network_options
from .options.output import json_option, output_option, output_paths, report_option, require_seen
from .options.traffic_file import DrawingOptions, drawing_options
from .options.values import complete_words, file_option, float_option, integer_option, recorded
from .waves import WavesOptions, waves_options, write_waves_files

if TYPE_CHECKING:
    from ..model.compare.traffic_case import TrafficCase, TrafficResult

FILES = ("latency.svg", "trace-model.csv", "traffic.csv")
HARDWARE_TRACE = "trace-hardware.csv"
"""Files in the output folder."""

PLACES = ("model", "hardware", "both")


@dataclass(frozen=True)
class TrafficOptions:
    """Packets that are read or drawn, and the nodes' back-pressure."""

    traffic_file: str | None
    pattern: str
    rate: float
    hotspots: tuple[str, ...]
    burst: int
    reply_flits: int
    drawing: DrawingOptions
    back_pressure: float

    def facts(self, traffic: Traffic) -> dict[str, object]:
        """Return what identifies the packets in a result of ``--json``."""
        flits = traffic.flits.tolist()
        return {
            "packets": len(traffic),
            "flits": [min(flits), max(flits)] if flits else None,
            "pattern": self.pattern if self.traffic_file is None else None,
            "rate": self.rate if self.traffic_file is None else None,
        }

    def traffic(self, topology: Topology, seed: int) -> Traffic:
        """Read or draw the packets."""
        if self.traffic_file is not None:
            file = InputFile.read(self.traffic_file)
            return self.drawing.traffic_of_file(file, None, topology, seed, "--traffic-file")
        return draw_traffic(
            topology,
            self.pattern,
            rate=self.rate,
            flits=self.drawing.packet_flits,
            cycles=self.drawing.cycles,
            seed=seed,
            burst=self.burst,
            reply_flits=self.reply_flits,
            hotspots=[node_in_words(topology, text, "--hotspot") for text in self.hotspots],
        )


traffic_options = recorded(
    "options",
    TrafficOptions,
    file_option("--traffic-file", help="Read packets from a CSV file instead of drawing them."),
    click.option(
        "--pattern",
        default="uniform",
        shell_complete=complete_words(PATTERNS),
        show_default=True,
        help=f"{', '.join(PATTERNS)}.",
    ),
    float_option("--rate", 0.2, "Flits that each node tries to send per cycle, 0 to 1."),
    click.option(
        "--hotspot",
        "hotspots",
        metavar="X,Y",
        multiple=True,
        help="A node that gets more packets in the hotspot pattern; repeat the option for several.",
    ),
    integer_option(
        "--burst",
        0,
        "Mean cycles of a burst, in which a node sends at full rate between pauses; 0 for "
        "no bursts.",
    ),
    integer_option(
        "--reply-flits",
        0,
        "Flits of the packet by which a target answers each packet; 0 for no replies.",
    ),
    drawing_options,
    float_option("--back-pressure", 0.0, "Share of the cycles in which a node accepts no flit."),
)


@command(
    "traffic",
    "eyecast traffic --torus 4x4 --vcs 2 --rate 0.3 -o run",
    "eyecast traffic --mesh 8x8 --pattern tornado --burst 50 --on model --report traffic.html",
)
@network_options
@traffic_options
@traffic_hardware_options
@click.option(
    "--on",
    "place",
    default="both",
    shell_complete=complete_words(PLACES),
    show_default=True,
    help="Run on the cycle model, on the simulated hardware, or on both.",
)
@force_option
@output_option("traffic, traces, waveforms and the histogram of latencies", metavar="FOLDER")
@waves_options
@report_option
@json_option
def traffic_command(
    network: NetworkOptions,
    options: TrafficOptions,
    hardware: Room,
    place: str,
    force: bool,
    output: str | None,
    waves: WavesOptions,
    report: str | None,
    as_json: bool,
) -> None:
    """Send packets without a schedule; print throughput, latency and link use.

    With --on both, the exit status is 0 only if model and hardware agree on every flit.
    """
    from ..model.run.measures import troubles
    from ..model.traffic.measures import measure_rows, measure_traffic
    from ..model.traffic.program import deliveries

    if place not in PLACES:
        raise InvalidInput.of("--on", "model, hardware or both", place)
    waves.require_place(output, "-o FOLDER")
    with busy("drawing, compiling, predicting (the first time, the cycle model is compiled)"):
        on_hardware = place != "model"
        case = _case(network, options, hardware, report, on_hardware=on_hardware, force=force)
    predicted, config = case.predicted, case.program.config
    node = waves.node(config.topology, None)
    names = [*FILES, *([HARDWARE_TRACE] if on_hardware else [])]
    paths = output_paths(output, *names, *waves.files, report=report)
    result = _run_on_hardware(case) if on_hardware else None
    run = predicted if result is None else result.measured
    measured = measure_traffic(case.traffic, case.program, run.trace)
    latency = deliveries(case.traffic, case.program, run.trace).latency
    waits = troubles(case.program, run)
    if paths:
        _write(case, result, latency, paths[: len(names)])
    if waves.waves:
        write_waves_files(paths[len(names) :], config, run, node)
    compared = result if place == "both" else None
    if report is not None:
        from ..report.reports import report_traffic

        with busy("writing the page"):
            report_traffic(case, latency, measure_rows(measured), result).write(report)
    if as_json:
        checks = None if compared is None else [check.to_json() for check in compared.checks]
        print_json(
            {
                **options.facts(case.traffic),
                **{"measures": measured, "checks": checks, "waiting": waits},
            },
            **network.facts(config.topology),
        )
    else:
        _print(case, measured, compared)
        say_waits(case.program, run)
        say_troubles(waits)
        say_written(*paths, report)
    if compared is not None and not compared.alike:
        raise RuntimeError("hardware and prediction do not agree")
    if not predicted.finished:
        raise RuntimeError(f"the traffic does not end: {unfinished(predicted, waits)}")


def _case(
    network: NetworkOptions,
    options: TrafficOptions,
    hardware: Room,
    report: str | None,
    *,
    on_hardware: bool,
    force: bool,
) -> TrafficCase:
    """Draw or read the traffic, compile it for a network of its size, and predict its run."""
    from ..model.compare.traffic_case import TrafficCase

    def require(program: Program) -> None:
        if on_hardware:
            require_table_room(program, otherwise=" (but on the model alone)")
        require_no_deadlock(program, force=force)

    require_range("--seed", network.seed, 0)
    topology = network.topology(SizeLimit.HARDWARE, draws=True)
    require_seen(report, topology)
    seed, pressure = network.seed, options.back_pressure
    traffic = options.traffic(topology, seed)
    grown = {"message_words", "table_words"}.difference(hardware.fixed)
    given = {name: value for name, value in hardware.parameters.items() if name not in grown}
    return TrafficCase.on_network(
        topology, traffic, given, seed=seed, back_pressure=pressure, require=require
    )


def _run_on_hardware(case: TrafficCase) -> TrafficResult:
    """Run the traffic on the hardware."""
    from ..sim.verify import run_traffic

    with progress("running", 1, shown=False) as (say, _):
        return next(run_traffic([case], on_build=lambda: say(BUILDING)))


def _write(
    case: TrafficCase,
    result: TrafficResult | None,
    latency: npt.NDArray[np.int64],
    paths: Sequence[Path],
) -> None:
    """Write the traffic, the traces, and the latency picture of the hardware's or model's run."""
    from ..model.traffic.traffic import write_traffic
    from ..picture.file import save_picture
    from ..picture.latency import draw_latencies

    latencies, model_trace, traffic, *hardware_trace = paths
    write_traffic(case.traffic, traffic)
    case.predicted.trace.write_csv(model_trace)
    if result is not None:
        result.measured.trace.write_csv(hardware_trace[0])
    save_picture(draw_latencies(latency, case.title), latencies)


def _print(
    case: TrafficCase, measured: dict[str, float | int], compared: TrafficResult | None
) -> None:
    """Print the measures, and the comparison if one was made."""
    from ..model.traffic.measures import measure_rows

    print_table(case.title, ("", "measured"), measure_rows(measured))
    if compared is None:
        return
    print_checks("model and hardware", compared.checks)
    if compared.difference is not None:
        say(*compared.difference.describe().split("\n"))
