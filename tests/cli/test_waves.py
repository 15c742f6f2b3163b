"""``--waves`` of three commands: the requested file is written, and agrees with the trace."""

from pathlib import Path

import pytest
from helpers.command import Command
from helpers.waves import flits_in, read_waves

from eyecast.model.network.topology import Topology, mesh, torus
from eyecast.model.run.trace import Trace

SMALL = "--mesh 2x2 --source 1,0 --words 4"
VIEWS = {"waves.vcd", "waves.gtkw", "waves.sucl"}


@pytest.mark.parametrize(
    ("line", "network", "trace"),
    [
        (f"predict {SMALL} -o run/trace.csv", mesh((2, 2)), "trace.csv"),
        (f"verify {SMALL} -o run", mesh((2, 2)), "trace-hardware.csv"),
        (
            "traffic --torus 3x3 --vcs 2 --rate 0.4 --cycles 50 --on model -o run",
            torus((3, 3)),
            "trace-model.csv",
        ),
    ],
    ids=["predict", "verify", "traffic"],
)
def test_waves_are_written_beside_the_trace(
    line: str, network: Topology, trace: str, eyecast: Command, here: Path
) -> None:
    (here / "run").mkdir()
    without = eyecast(*line.split())
    assert without.status == 0
    written = {path.name for path in (here / "run").iterdir()}
    assert not written & VIEWS
    answer = eyecast(*line.split(), "--waves", "--waves-node", "1,1")
    assert answer.status == 0
    assert {path.name for path in (here / "run").iterdir()} == written | VIEWS
    assert all(f"wrote run/{name}\n" in answer.output for name in VIEWS)
    shown = sorted(flits_in(read_waves(here / "run" / "waves.vcd"), network))
    assert shown == sorted(Trace.read_csv(here / "run" / trace))
    assert "network.node_1,1.interface" in (here / "run" / "waves.sucl").read_text()
