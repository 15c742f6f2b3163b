"""``eyecast costs``, and the formulas beside what is counted in ``eyecast compare``."""

from __future__ import annotations

from pathlib import Path

import pytest
from command import Command, refusal, result

COSTS = ("costs", "--collective", "all-gather", "--dimension", "7", "--flits", "16")


def test_the_table(eyecast: Command) -> None:
    """By SBT with one port: log N start-ups if packets are large, (N - 1) M words (Table 11)."""
    options = (*COSTS, "--packet", "1024", "--tau", "3", "--tc", "2")
    rows = result(eyecast(*options, "--json"))
    (sbt,) = [row for row in rows if (row["graph"], row["ports"]) == ("sbt", "one-port")]
    assert (sbt["start_ups"], sbt["words"], sbt["place"]) == (7, 127 * 16, "Table 11")
    assert (sbt["time"], sbt["least_time"]) == (3 * 7 + 2 * 2032, 3 * 7 + 2 * 2032)
    assert sbt["best_packet"] == 1024
    bound = rows[0]
    assert (bound["graph"], bound["least_time"]) == ("lower bound", 3 * 7 + 2 * 2032)
    answer = eyecast(*options)
    assert answer.status == 0
    assert all(row["graph"].split()[0] in answer.output for row in rows)


def test_the_pictures(eyecast: Command, here: Path) -> None:
    answer = eyecast(*COSTS, "-o", "figures")
    assert answer.output.endswith("wrote figures/speed-up.svg\nwrote figures/times.svg\n")
    assert {path.name for path in (here / "figures").iterdir()} == {"speed-up.svg", "times.svg"}


@pytest.mark.parametrize(
    ("arguments", "line"),
    [
        ("--dimension 0", "--dimension must be 1 to 20, not 0"),
        ("--flits 0", "--flits must be 1 to 2147483648, not 0"),
        ("--packet 0", "--packet must be 1 to 2147483648, not 0"),
        ("--tc 1e-320", "--tc must be 0, or 1e-100 to 1e+09, not 1e-320"),
        ("--tau -1", "--tau must be 0, or 1e-100 to 1e+09, not -1.0"),
        ("--tc 1e10", "--tc must be 0, or 1e-100 to 1e+09, not 10000000000.0"),
        ("--tc inf", "--tc must be a number, not 'inf'"),
        ("--tau 0 --tc 0", "--tau or --tc must be more than 0 for the pictures"),
        (
            "--collective gather",
            "collective must be broadcast, scatter, all-gather, all-to-all, not gather",
        ),
    ],
)
def test_bad_options(eyecast: Command, here: Path, arguments: str, line: str) -> None:
    assert eyecast("costs", *arguments.split(), "-o", "figures") == refusal(line)
    assert not list(here.iterdir())


@pytest.mark.parametrize("ports", ["one", "all"])
@pytest.mark.parametrize("collective", ["broadcast", "scatter", "all-gather", "all-to-all"])
def test_formulas_beside_what_is_counted(eyecast: Command, collective: str, ports: str) -> None:
    source = () if collective.startswith("all") else ("--source", "0,1,0")
    options = ("--hypercube", "3", "--collective", collective, *source, "--ports", ports)
    found = result(eyecast("compare", *options, "--flits", "6", "--json"))
    priced = [entry for entry in found["algorithms"] if entry["formula"]]
    assert "sbt" in {entry["algorithm"] for entry in priced}
    for entry in priced:
        assert entry["formula"][1:] == [entry["start_ups"], entry["words"]], entry


def test_copies_go_round_broken_links(eyecast: Command) -> None:
    """Whole copies down n trees reach every node, whatever n - 1 links fail."""
    options = ("--hypercube", "3", "--source", "0,0,0", "--algorithm", "nesbt-copies")
    broken = ("--faulty-link", "0,0,0:1,0,0", "--faulty-link", "0,1,0:0,1,1")
    found = result(eyecast("predict", *options, *broken, "--ports", "all", "--json"))
    assert found["finished"]
    assert not {"0:1", "2:3"} & set(found["link_flits"])
    assert eyecast("schedule", *options) == refusal("--ports for nesbt-copies must be all, not one")


def test_bounds_do_not_depend_on_how_a_message_is_cut(eyecast: Command) -> None:
    options = ("--hypercube", "3", "--source", "0,0,0", "--collective", "scatter", "--flits", "6")
    whole = result(eyecast("schedule", *options, "--json"))["least"]
    assert (whole["word_hops"], whole["node_words"]) == (6 * 12, 6 * 7)
    assert result(eyecast("schedule", *options, "--packet", "4", "--json"))["least"] == whole


@pytest.mark.parametrize("times", [("1e-100", "1e9"), ("1e9", "1e-100"), ("1e-100", "1e-100")])
@pytest.mark.parametrize("collective", ["broadcast", "scatter", "all-gather", "all-to-all"])
def test_the_shortest_and_longest_times(
    eyecast: Command, collective: str, times: tuple[str, str]
) -> None:
    tau, tc = times
    sizes = ("--dimension", "16", "--flits", str(1 << 31), "--packet", "1")
    options = ("--collective", collective, *sizes, "--tau", tau, "--tc", tc)
    result(eyecast("costs", *options, "--json"))
