"""Recordings of a small broadcast, as simulators and logic analysers write them."""

from collections.abc import Mapping

from eyecast.model.network.config import NetworkConfig
from eyecast.model.network.probes import output_probes
from eyecast.model.network.topology import mesh
from eyecast.model.run.trace import Trace
from eyecast.waves.recorded_trace import DONE, RESET, recorded_signals

NETWORK = ("--mesh", "2x2", "--source", "0,0", "--words", "4")
CONFIG = NetworkConfig(topology=mesh((2, 2)))
CYCLES = 17
WIDTHS = recorded_signals(CONFIG)
VALID = "tile_0.outputs__0__valid"


def samples(
    trace: Trace, config: NetworkConfig = CONFIG, cycles: int = CYCLES
) -> list[dict[str, int]]:
    """Return the signals in each cycle: two of reset, the run, two after its end."""
    probes = {(probe.node, probe.port): probe for probe in output_probes(config)}
    idle = dict.fromkeys(recorded_signals(config), 0)
    rows = [{**idle, RESET: 1}, {**idle, RESET: 1}, *({**idle} for _ in range(cycles + 2))]
    for flit in trace:
        probe, row = probes[flit.node, flit.port], rows[2 + flit.cycle]
        row[probe.valid] = 1 << flit.vc
        row[probe.flit] = flit.kind << config.flit_width | flit.data
    for row in rows[2 + cycles :]:
        row[DONE] = 1
    return rows


def waveform(
    rows: list[dict[str, int]], scope: str = "bench.chip.noc", widths: Mapping[str, int] = WIDTHS
) -> str:
    """Write a VCD file with a clock, in which the network is deep in a chip's hierarchy."""
    names = [*rows[0], "clk"]
    scopes = scope.split(".")
    lines = [f"$scope module {each} $end" for each in scopes]
    for number, name in enumerate(names):
        *inner, last = name.split(".")
        lines += [f"$scope module {each} $end" for each in inner]
        bits = widths.get(name, 1)
        lines += [f"$var wire {bits} s{number} {last} $end", *["$upscope $end"] * len(inner)]
    lines += [*["$upscope $end"] * len(scopes), "$enddefinitions $end"]
    clock = f"s{len(names) - 1}"
    for time, row in enumerate(rows):
        changes = [f"b{value:b} s{number}" for number, value in enumerate(row.values())]
        lines += [f"#{2 * time}", f"1{clock}", *changes, f"#{2 * time + 1}", f"0{clock}"]
    return "\n".join([*lines, f"#{2 * len(rows)}", ""])


def table(rows: list[dict[str, int]], *, radix: bool) -> str:
    """Write a logic analyser's table: hexadecimal, or with a row of radixes."""
    lines = [",".join(f"chip.noc.{name}" for name in rows[0])]
    if radix:
        lines.append(",".join(["Radix - UNSIGNED", *["BINARY"] * (len(rows[0]) - 1)]))
    for row in rows:
        first, *others = row.values()
        form = "b" if radix else "x"
        lines.append(",".join([str(first), *(f"{value:{form}}" for value in others)]))
    return "\n".join([*lines, ""])
