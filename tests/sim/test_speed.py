"""Causes of slow simulation that Verilator reports."""

import subprocess

import pytest

from eyecast.model.network.config import NetworkConfig
from eyecast.model.network.topology import mesh
from eyecast.sim.toolchain import environment
from eyecast.sim.verilog import TOP_MODULE, network_verilog

QUIET = ("-Wno-fatal", "-Wno-lint", "-Wno-style")


@pytest.mark.slow
@pytest.mark.parametrize(
    "options", [{"vcs": 2, "timed_rows": True}, {"contention_free": True}], ids=str
)
def test_no_simulator_sees_a_loop_in_a_network(options, tmp_path):
    """If some bits of a signal depended on its other bits, each tile would be evaluated twice."""
    config = NetworkConfig(topology=mesh((2, 1)), **options)
    (tmp_path / "network.v").write_text(network_verilog(config, trace=False))
    program = ["verilator", "--lint-only", *QUIET, "-Wwarn-UNOPTFLAT", "--top-module", TOP_MODULE]
    done = subprocess.run(
        # By default Verilator breaks such loops up; this option shows them.
        [*program, "-fno-dfg", "network.v"],
        env=environment(),
        cwd=tmp_path,
        capture_output=True,
        text=True,
        check=True,
    )
    assert "UNOPTFLAT" not in done.stderr
