"""A chip in C on an ECP5-85: its netlist beside its RTL in Icarus, and what place and route says.

    python bench/chip_on_ecp5.py FOLDER [--circuits]

A 2x2 mesh adds four words of every tile by ``ey_allreduce``; a tile that gets a wrong sum never
ends. The chip's RTL and the netlist that yosys makes of it must print the same lines of all tiles,
with their cycles, and stop in the same cycle. Files and logs stay in FOLDER. The numbers are in
docs/guides/chip.md. Place and route take half an hour.
"""

import re
import subprocess
from pathlib import Path

import click
from rich.console import Console
from rich.table import Table

from eyecast.boards.proof.proof import cell_models
from eyecast.boards.registry import find_board
from eyecast.boards.resources import placed_resources
from eyecast.boards.tools import run_logged, run_tool
from eyecast.chip.chip import build
from eyecast.chip.hardware import CHIP, chip_verilog
from eyecast.chip.simulation import PROGRAM, core_verilog
from eyecast.model.network.topology import mesh

SOURCE = """\
#include <ey.h>

int main(void) {
    int words[4] = {ey_rank(), 1, 2, 3};
    ey_allreduce(EY_IN_PLACE, words, 4, EY_INT, EY_SUM);
    while (words[0] != 6 || words[1] != 4 || words[2] != 8 || words[3] != 12) {}
    return 0;
}
"""
MOST_CYCLES = 20_000
BENCH = f"""\
module bench;
  reg clk = 0, rst = 1;
  wire stopped;
  integer cycle = 0;
  {CHIP} chip(.clk(clk), .rst(rst), .stopped(stopped));
  always #5 clk = ~clk;
  always @(posedge clk) begin
    cycle <= cycle + 1;
    rst <= cycle < 3;
    if (cycle > 4 && (stopped || cycle == {MOST_CYCLES})) begin
      $display("stopped %0d in cycle %0d", stopped, cycle);
      $finish;
    end
  end
endmodule
"""
NETLIST = f"""\
read_verilog -sv chip.v
synth_ecp5 -top {CHIP} -json chip.json
write_verilog -noattr netlist.v
"""
DEVICE = ("--85k", "--package", "CABGA381", "--speed", "6", "--freq", "25")


def simulate(folder: Path, *sources: str) -> set[str]:
    """Simulate the chip of some files in Icarus; return the lines of its tiles and of its end."""
    run_logged("iverilog", ["iverilog", "-g2012", "-o", "chip.vvp", *sources, "bench.v"], folder)
    command = ["vvp", "-n", "chip.vvp"]
    printed = subprocess.run(command, cwd=folder, check=True, capture_output=True, text=True).stdout
    return {line for line in printed.splitlines() if line.startswith(("chip ", "stopped 1"))}


@click.command()
@click.argument("folder", type=click.Path(path_type=Path))
@click.option("--circuits", is_flag=True)
def main(folder: Path, *, circuits: bool) -> None:
    """Compare netlist and RTL, then place and route."""
    folder.mkdir(parents=True)
    (folder / "app.c").write_text(SOURCE)
    made = build(folder / "app.c", mesh((2, 2)), folder, circuits=circuits, checked=False)
    (folder / PROGRAM).write_text(made.binary.hexadecimal)
    (folder / "chip.v").write_text(chip_verilog(made.programs.config) + core_verilog().read_text())
    (folder / "bench.v").write_text(BENCH)
    (folder / "netlist.ys").write_text(NETLIST)
    run_tool("yosys", ["-q", "netlist.ys"], folder)
    # The models of cells that only place and route makes are not Verilog that Icarus reads.
    placed = r"module TRELLIS_COMB\b.*?endmodule"
    (folder / "cells.v").write_text(re.sub(placed, "", cell_models("ecp5"), flags=re.DOTALL))
    rtl, netlist = simulate(folder, "chip.v"), simulate(folder, "netlist.v", "cells.v")
    if rtl != netlist or not any(line.startswith("stopped 1") for line in rtl):
        raise SystemExit(f"the netlist differs from the RTL: {sorted(rtl ^ netlist)[:10]}")
    Console().print(f"netlist and RTL: {len(rtl)} equal lines, {max(rtl)}")
    files = ("--json", "chip.json", "--textcfg", "chip.config", "--lpf-allow-unconstrained")
    run_tool("nextpnr-ecp5", [*DEVICE, *files, "--timing-allow-fail"], folder)
    log = (folder / "nextpnr-ecp5.log").read_text()
    table = Table("resource", "used", "available")
    for resource in placed_resources(find_board("ulx3s-85f"), log):
        table.add_row(resource.name, f"{resource.used:,}", f"{resource.available:,}")
    Console().print(table, re.findall(r"Max frequency.*", log)[-1])


if __name__ == "__main__":
    main()
