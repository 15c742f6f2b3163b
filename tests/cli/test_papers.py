"""Less common results of the papers, at the command line."""

import json
from pathlib import Path

import pytest
from helpers.command import Command, refusal, result
from helpers.generated import generated

from eyecast.model.collectives.cube.all_to_all import ORDERS
from eyecast.model.collectives.fault_blocks.broadcast import most_steps, most_tcd
from eyecast.model.network.topology import hypercube
from eyecast.model.schedule.file import read_schedule, schedule_json

CUBE = ("schedule", "--hypercube", "4", "--source", "0,1,0,0", "--json", "-o", "s.json")


@pytest.mark.parametrize(
    ("graph", "half", "full"),
    [("brg", 21, 18), ("sbt", 16, 16), ("tcbt", 15, 12), ("nesbt", 11, 8)],
)
def test_ports_that_send_or_receive_and_ports_that_do_both(
    eyecast: Command, here: Path, graph: str, half: int, full: int
) -> None:
    """P = 4 packets: BRG takes 2 P + N - 3 or P + N - 2 steps; nESBT 2 P + n - 1 (Theorem 4.3)."""
    for ports, steps in (("half-duplex", half), ("full-duplex", full)):
        options = ("--algorithm", graph, "--ports", ports, "--words", "8", "--packet", "2")
        assert result(eyecast(*CUBE, *options))["steps"] == steps
        assert json.loads((here / "s.json").read_text())["port_model"] == ports


def test_the_scatter_of_a_path_is_full_duplex(eyecast: Command) -> None:
    options = (*CUBE, "--collective", "scatter", "--algorithm", "brg", "--ports")
    assert result(eyecast(*options, "full-duplex"))["steps"] == 15
    line = "ports for brg scatter must be one or full-duplex, not half-duplex"
    assert eyecast(*options, "half-duplex") == refusal(line)


def test_other_algorithms_have_the_ports_that_they_have(eyecast: Command, here: Path) -> None:
    options = (*CUBE, "--algorithm", "tree", "--ports")
    assert result(eyecast(*options, "half-duplex"))["ports"] == "half-duplex"
    line = "--ports for tree broadcast must be one or half-duplex, not full-duplex"
    assert eyecast(*options, "full-duplex") == refusal(line)
    ring = ("--torus", "4", "--collective", "all-gather", "--algorithm", "ring", "--vcs", "2")
    found = result(eyecast("predict", *ring, "--ports", "full-duplex", "--json"))
    assert found["ports"] == "full-duplex"


@pytest.mark.parametrize(
    ("options", "named"),
    [
        (("--packet", "4"), "--packet"),
        (("--ports", "half-duplex"), "--ports half-duplex or full-duplex"),
    ],
)
def test_best_names_the_option_that_nothing_heeds(
    eyecast: Command, options: tuple[str, str], named: str
) -> None:
    asked = ("schedule", "--mesh", "3x3", "--collective", "all-to-all", "--algorithm", "best")
    heeds = "no algorithm for all-to-all on a 3x3 mesh heeds it"
    line = f"{named} must be left out with best: {heeds}"
    assert eyecast(*asked, *options) == refusal(line)


def test_formulas_of_these_ports_beside_what_is_counted(eyecast: Command) -> None:
    options = ("--hypercube", "3", "--source", "0,1,0", "--words", "6", "--ports", "half-duplex")
    found = result(eyecast("compare", *options, "--json"))["algorithms"]
    made = {entry["algorithm"] for entry in found}
    # Some algorithms make half-duplex schedules; the chain makes full-duplex ones.
    assert made >= {"brg", "sbt", "tcbt", "nesbt", "eye", "tree"} and "chain" not in made
    (nesbt,) = [entry for entry in found if entry["algorithm"] == "nesbt"]
    assert nesbt["formula"] == ["4.1.5", nesbt["start_ups"], nesbt["words"]]


def test_the_scatter_in_the_order_of_the_gray_code(eyecast: Command, here: Path) -> None:
    """The source crosses dimensions 0, 1, 0, 2, 0, 1, 0, 3 ..."""
    options = ("--collective", "scatter", "--algorithm", "sbt-gray", "--words", "1")
    assert result(eyecast(*CUBE, *options))["steps"] == 15
    schedule = read_schedule(here / "s.json")
    first = schedule.source == schedule.root
    crossed = (schedule.source ^ schedule.target)[first].tolist()
    again = [0, 1, 0, 2, 0, 1, 0]
    assert [bit.bit_length() - 1 for bit in crossed] == [*again, 3, *again]


@pytest.mark.parametrize("order", ORDERS)
def test_orders_of_an_all_to_all(eyecast: Command, here: Path, order: str) -> None:
    """Check the steps of Theorems 7.3 and 7.4."""
    options = ("--collective", "all-to-all", "--algorithm", "sbt", "--ports", "all", "--words", "2")
    cube = ("schedule", "--hypercube", "3", *options, "-o", "s.json", "--json")
    result(eyecast(*cube, "--order", order))
    made = generated("all-to-all", "sbt", hypercube(3), words=2, all_port=True, order=order)
    assert (here / "s.json").read_text() == schedule_json(made)
    assert eyecast(*cube, "--order", "preorder") == refusal(
        "order of all-to-all must be postorder or reverse-breadth-first, not preorder"
    )


def test_orders_make_a_difference(eyecast: Command, here: Path) -> None:
    options = ("--collective", "all-to-all", "--algorithm", "sbt", "--ports", "all", "--words", "2")
    texts = []
    for order in ORDERS:
        eyecast("schedule", "--hypercube", "3", *options, "-o", "s.json", "--order", order)
        texts.append((here / "s.json").read_text())
    assert texts[0] != texts[1]


def test_bounds_of_theorem_6_beside_jiang_wu(eyecast: Command) -> None:
    """Two diagonally adjacent faults make one fault block, of 2 x 2 nodes."""
    options = ("--mesh", "6x5", "--source", "0,0", "--algorithm", "jiang-wu")
    faults = ("--faulty-node", "1,1", "--faulty-node", "2,2")
    found = result(eyecast("schedule", *options, *faults, "--json"))
    assert found["most"] == {"steps": most_steps((6, 5), 1), "tcd": most_tcd((6, 5), 1)}
    assert found["steps"] <= found["most"]["steps"]
    assert "paper: at most" in eyecast("schedule", *options, *faults).output
    assert "at most" not in eyecast("schedule", "--mesh", "4x4", "--source", "0,0").output


def test_separate_lines(eyecast: Command, here: Path) -> None:
    """Theorem 3 of Ho, Hsu & Sung: 3 separate lines of 12 nodes are reached in 6 steps."""
    found = result(
        eyecast("transmit", "--star-tree", "3x12", "--faulty-node", "0", "--json", "-o", "s.json")
    )
    (plan,) = found["plans"]
    assert (plan["scheme"], plan["t"], plan["s"], plan["claim"]) == ("Theorem 3", 6, 6, [6, 6])
    assert found["proved"]
    schedule = read_schedule(here / "s.json")
    schedule.check()
    assert (schedule.collective, schedule.sends) == ("broadcast", 36)
    line = "separate lines must be 3 of n^2/3 nodes, n a multiple of 3 and more (Theorem 3)"
    for length in (3, 11):
        star = ("transmit", "--star-tree", f"3x{length}", "--faulty-node", "0")
        assert eyecast(*star) == refusal(f"{line}, not of {length}")
