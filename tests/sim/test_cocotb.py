"""The sentences of ``sim/collective_tests.py`` hold on exported Verilog, and faults break them.

``sim/collective_tests.py`` are cocotb tests; cocotb's runner runs them on Verilator and Icarus.
"""

import os
import shutil
import subprocess
import sys
import textwrap
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from helpers.cocotb_runs import failures, verilog_of, write_run
from helpers.processes import needs

from eyecast.api import hypercube, mesh, schedule, with_faults
from eyecast.model.compare.case import Case
from eyecast.model.network.config import Timing
from eyecast.model.network.topology import Topology
from eyecast.model.run.trace import Trace, first_difference
from eyecast.model.schedule.schedule import Schedule
from eyecast.sim.verify import verify

SENTENCES = {
    "test_every_node_is_delivered",
    "test_every_packet_is_delivered_once",
    "test_no_two_packets_share_a_link_in_a_step",
    "test_steps_are_as_predicted",
    "test_cycles_are_as_predicted",
    "test_flits_are_as_predicted",
    "test_no_node_sets_a_flag",
    "test_a_host_that_pauses_changes_nothing",
}

OF_PACKETS = {
    "test_every_packet_is_delivered_once",
    "test_no_two_packets_share_a_link_in_a_step",
    "test_steps_are_as_predicted",
}
"""Sentences that circuits, which carry no packets, leave out."""

needs_icarus = needs("iverilog")


def exchange(flits: int) -> Schedule:
    """Return an all-to-all on the smallest mesh, in which each output carries several packets."""
    return schedule(mesh((2, 2)), "row-column", collective="all-to-all", words=flits)


@pytest.fixture
def _covered(tmp_path: Path, record_property: Callable[[str, object], None]) -> Iterator[None]:
    """Add the run's coverage to the table that pytest prints at the end."""
    yield
    record_property("coverage", (tmp_path / "coverage.json").read_text())


@pytest.mark.usefixtures("_covered")
def test_the_sentences_hold_on_the_smallest_mesh(tmp_path: Path) -> None:
    write_run(tmp_path, exchange(3))
    assert failures(tmp_path) == dict.fromkeys(SENTENCES)


@needs_icarus
@pytest.mark.slow
@pytest.mark.usefixtures("_covered")
@pytest.mark.parametrize("flit_width", [32, 192])
def test_the_sentences_hold_on_circuits(tmp_path: Path, flit_width: int) -> None:
    write_run(tmp_path, exchange(3), circuits=True, flit_width=flit_width)
    assert failures(tmp_path, "icarus") == dict.fromkeys(SENTENCES - OF_PACKETS)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("topology", "algorithm", "asked", "parameters"),
    [
        (mesh((4, 4)), "eye", {"source": (0, 0)}, {"vcs": 2, "depth": 4, "link_registers": 1}),
        (mesh((3, 3)), "minimum", {"source": (0, 2), "words": 5}, {"flit_width": 16}),
        (with_faults(mesh((4, 3)), faulty_nodes=[5]), "tree", {"source": 0}, {}),
    ],
    ids=["registers", "16 bits", "faulty"],
)
@pytest.mark.usefixtures("_covered")
def test_the_sentences_hold(
    tmp_path: Path,
    topology: Topology,
    algorithm: str,
    asked: dict[str, Any],
    parameters: dict[str, Any],
) -> None:
    made = schedule(topology, algorithm, **asked)
    write_run(tmp_path, made, Timing.SELF_TIMED, **parameters)
    assert failures(tmp_path) == dict.fromkeys(SENTENCES)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("topology", "algorithm", "asked", "parameters", "timing"),
    [
        (
            mesh((3, 2)),
            "minimum",
            {"source": (0, 0), "words": 5},
            {"depth": 1, "link_registers": 1, "flit_width": 16},
            Timing.SELF_TIMED,
        ),
        (
            mesh((3, 2)),
            "stream-ring",
            {"collective": "all-reduce", "words": 12, "operator": "add"},
            {"message_words": 64},
            Timing.BARRIER,
        ),
        (
            mesh((2, 2)),
            "ring",
            {"collective": "all-reduce", "words": 4, "operator": "add:16"},
            {"flit_width": 128},
            Timing.BARRIER,
        ),
        # Several packets end at a node in one cycle; a trace has them in order of the ports.
        (
            hypercube(2),
            "hamiltonian",
            {"collective": "all-gather", "words": 2, "ports": "all"},
            {},
            Timing.BARRIER,
        ),
    ],
    ids=["credits", "streams", "wide words", "all ports"],
)
@pytest.mark.usefixtures("_covered")
def test_monitors_see_what_the_hardware_prints(
    tmp_path: Path,
    topology: Topology,
    algorithm: str,
    asked: dict[str, Any],
    parameters: dict[str, Any],
    timing: Timing,
) -> None:
    """The exported Verilog prints no trace; ``eyecast verify`` runs one that does."""
    compiled = write_run(tmp_path, schedule(topology, algorithm, **asked), timing, **parameters)
    said = failures(tmp_path, test="test_flits_are_as_predicted")
    assert said == {"test_flits_are_as_predicted": None}
    (verified,) = verify([Case.of(compiled, timing=timing, seed=0)])
    seen = Trace.read_csv(tmp_path / "trace.csv", compiled.program.config.pieces)
    assert len(seen)
    assert first_difference(verified.measured.trace, seen) is None


@needs_icarus
@pytest.mark.slow
@pytest.mark.usefixtures("_covered")
def test_the_sentences_hold_on_icarus(tmp_path: Path) -> None:
    write_run(tmp_path, schedule(mesh((3, 2)), "minimum", source=(0, 0), words=4), vcs=2)
    assert failures(tmp_path, "icarus") == dict.fromkeys(SENTENCES)


FLAGGED = "test_no_node_sets_a_flag"
SHARED = "test_no_two_packets_share_a_link_in_a_step"
LATE = {
    "test_cycles_are_as_predicted",
    "test_flits_are_as_predicted",
    "test_a_host_that_pauses_changes_nothing",
}
WRONG = {"test_every_node_is_delivered", *LATE}
NEVER_DONE = {"test_every_packet_is_delivered_once", "test_steps_are_as_predicted", *WRONG}

FAULTS: dict[str, tuple[dict[str, str], set[str]]] = {
    "a flit a cycle late": (
        {
            "== READY) ? row__due & !row__unsound": "== READY) ? late & row__due & !row__unsound",
            "initial state = CONTROL;": """initial state = CONTROL;
  reg late = 1'h0;
  always @(posedge clk) late <= row__due & (state == READY) & !injector__injected;""",
        },
        LATE,
    ),
    "two packets of a step on a link": (
        {
            """assign read_port__addr = rst ? 6'h0 : place;
  always @(posedge clk) begin
    if (read__advance) begin
      place <= place + 6'h1;""": """reg again = 1'h0;
  wire back = (place == 6'h2) & !again;
  assign read_port__addr = (rst | back) ? 6'h0 : place;
  always @(posedge clk) begin
    again <= !rst & (again | (back & read__advance));
    if (read__advance) begin
      place <= back ? 6'h1 : place + 6'h1;""",
        },
        {SHARED, FLAGGED, *NEVER_DONE},
    ),
    "a wrong word": (
        {
            "message__word : table__word};": "message__word ^ 32'h1 : table__word};",
        },
        WRONG - {"test_cycles_are_as_predicted"},
    ),
    "a missing credit": (
        {
            ".outputs__0__credit(tile_0__outputs__0__credit)": ".outputs__0__credit(2'h0)",
        },
        NEVER_DONE,
    ),
    "a flag that stays": (
        {
            "causes__bad_write = is_word & !fits;": (
                "causes__bad_write = is_word & ejection__flit[33];"
            ),
        },
        {FLAGGED, *NEVER_DONE},
    ),
}

CIRCUIT_FAULTS: dict[str, tuple[dict[str, str], set[str]]] = {
    "a run of circuits that ends early": (
        {"assign finished = ended[2] & !flagged;": "assign finished = ended[0] & !flagged;"},
        {"test_cycles_are_as_predicted", "test_a_host_that_pauses_changes_nothing"},
    ),
    "a flag of circuits": (
        {"if (lost_word) begin": "if (lost_word | ejection__valid) begin"},
        {FLAGGED, "test_cycles_are_as_predicted", "test_a_host_that_pauses_changes_nothing"},
    ),
}


@needs_icarus
@pytest.mark.slow
@pytest.mark.parametrize("fault", [*FAULTS, *CIRCUIT_FAULTS])
def test_a_fault_in_the_exported_verilog_breaks_the_right_sentences(
    tmp_path: Path, fault: str
) -> None:
    circuits = fault in CIRCUIT_FAULTS
    write_run(tmp_path, exchange(4), vcs=1 if circuits else 2, circuits=circuits)
    replaced, broken = (FAULTS | CIRCUIT_FAULTS)[fault]
    text = verilog_of(tmp_path)
    for old, new in replaced.items():
        assert old in text
        text = text.replace(old, new, 1)
    said = failures(tmp_path, "icarus", verilog=text)
    assert {name for name, failure in said.items() if failure} == broken, said


EXAMPLE = Path(__file__).parents[2] / "examples" / "testbench"
GUIDE = EXAMPLE.parents[1] / "docs" / "guides" / "own-testbench.md"


def test_the_guide_shows_the_example() -> None:
    code = (EXAMPLE / "bench.py").read_text().partition('"""\n')[2].strip("\n")
    assert textwrap.indent(code, "    ", lambda line: line != "\n") in GUIDE.read_text()


@needs_icarus
@pytest.mark.slow
def test_the_example_passes_and_finds_the_fault_of_the_guide(tmp_path: Path) -> None:
    write_run(tmp_path, schedule(mesh((2, 2)), "eye", source=(0, 0), words=4), programs=1)
    for file in EXAMPLE.iterdir():
        shutil.copy(file, tmp_path)
    places = str(Path(sys.executable).parent), os.environ["PATH"]
    make = {"args": ["make"], "cwd": tmp_path, "env": {**os.environ, "PATH": ":".join(places)}}
    done = subprocess.run(**make, capture_output=True, text=True, check=True)
    assert "FAIL=0" in done.stdout
    text = verilog_of(tmp_path)
    right, wrong = next(iter(FAULTS["a wrong word"][0].items()))
    (tmp_path / "network.v").write_text(text.replace(right, wrong, 1))
    done = subprocess.run(**make, capture_output=True, text=True, check=False)
    said = "flit: cycle 4, node 0, port 1, VC 0: the hardware sends 4,0,1,0,body,d9c2825e"
    assert said in done.stdout
