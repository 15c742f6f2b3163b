"""Packages of workloads: their programs, the order of the runs, and the driver on an engine."""

import re
from pathlib import Path

import pytest
from helpers.command import Command, refusal
from helpers.packages import run_driver

TABLE = """id,rank,what,amount,after
layer,all,operations,5000,
*/sum,0 1/2 3,all-reduce,6,layer
send,0>3,message,30,*/sum
again,0 1/2 3,all-reduce,6,*/sum
"""

PORTS = ("--tile-ports",)


@pytest.fixture
def package(eyecast: Command, here: Path, request: pytest.FixtureRequest) -> Path:
    (here / "w.csv").write_text(TABLE)
    made = eyecast("ip", "--workload", "w.csv", "--mesh", "2x2", *request.param, "-o", "package")
    assert made.errors == ""
    return here / "package"


@pytest.fixture
def _no_verilog(monkeypatch: pytest.MonkeyPatch) -> None:
    """Leave the hardware, which takes long to write, out of packages."""
    monkeypatch.setattr("eyecast.ip.package.network_modules", lambda *_, **__: {})


@pytest.mark.usefixtures("_no_verilog")
@pytest.mark.parametrize("package", [("--message-words", "16")], indirect=True)
def test_equal_programs_are_kept_once(package: Path) -> None:
    text = (package / "driver" / "eyecast_workload.h").read_text()
    (order,) = re.findall(r"order\[EYECAST_WORKLOAD_RUNS\] = \{\n(.*?)\};", text, re.DOTALL)
    # A message of 30 words in pieces of 8, 8, 7 and 7 words.
    runs = [tuple(line.strip(" */,").split(" /* ")) for line in order.strip().split("\n")]
    assert runs == [
        ("0", "__sum"),
        *[(program, "send") for program in "1122"],
        ("0", "again"),
    ]
    assert "PROGRAMS 3\n" in text


@pytest.mark.slow
@pytest.mark.parametrize(
    "package", [("--tile-ports",), ("--tile-ports", "--circuits")], indirect=True
)
def test_the_driver_runs_the_programs_in_order(package: Path) -> None:
    said = run_driver(Path(__file__).parent / "workload_on_engine.c")
    assert said.splitlines()[0] == "PASS"


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ("--mesh 2x2 --rate 4", "--rate must be left out with a collective: only --workload"),
        ("--mesh 2x2 --workload w.csv --source 0,0", "--source must be left out with --workload"),
        ("--mesh 8x1 --workload w.csv", "programs of w.csv must be 1 to 15, which a controller"),
    ],
)
def test_other_packages_are_refused(eyecast: Command, here: Path, options: str, words: str) -> None:
    lines = [f"m{n},{n % 7}>7,message,{n + 1}," for n in range(16)]
    (here / "w.csv").write_text("\n".join(["id,rank,what,amount,after", *lines]))
    answer = eyecast("ip", *options.split(), "-o", "package")
    assert answer.errors.startswith(refusal(words).errors.rstrip())
    assert not Path("package").exists()
