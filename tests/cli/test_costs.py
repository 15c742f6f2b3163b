"""``eyecast costs``: its formulas agree with the counts of ``eyecast compare``."""

from __future__ import annotations

from math import comb
from pathlib import Path
from typing import Any

import pytest
from helpers.command import Command, envelope, refusal, result

from eyecast.model.papers.costs.tables import find_cost

COSTS = ("costs", "--collective", "all-gather", "--dimension", "7", "--flits", "16")


def test_the_table(eyecast: Command) -> None:
    """With large packets, SBT with one port takes log N start-ups, (N - 1) M words (Table 11)."""
    options = (*COSTS, "--packet", "1024", "--tau", "3", "--tc", "2")
    printed = envelope(eyecast(*options, "--json"))
    assert printed["network"] == "7-cube"
    found = printed["result"]
    rows = found.pop("rows")
    assert found.items() >= {"collective": "all-gather", "flits": 16}.items()
    (sbt,) = [row for row in rows if (row["graph"], row["ports"]) == ("sbt", "one-port")]
    assert (sbt["start_ups"], sbt["words"], sbt["place"]) == (7, 127 * 16, "Table 11")
    assert (sbt["time"], sbt["least_time"]) == (3 * 7 + 2 * 2032, 3 * 7 + 2 * 2032)
    assert sbt["best_packet"] == 1024
    bound = rows[0]
    assert (bound["graph"], bound["least_time"]) == ("lower bound", 3 * 7 + 2 * 2032)
    answer = eyecast(*options)
    assert answer.status == 0
    assert all(row["graph"].split()[0] in answer.output for row in rows)


def costs(eyecast: Command, *options: str) -> dict[tuple[str, str], dict[str, Any]]:
    rows = result(eyecast("costs", *options, "--json"))["rows"]
    return {(row["graph"], row["ports"]): row for row in rows}


def test_best_packets_are_of_the_message(eyecast: Command) -> None:
    """The formula's B_opt is 163 words, so T is that of one packet with the whole 8 words."""
    options = ("--collective", "broadcast", "--dimension", "4", "--flits", "8", "--packet", "2")
    rows = costs(eyecast, *options, "--tau", "1000", "--tc", "1")
    nesbt, bound = rows["nesbt", "one-port"], rows["lower bound", "one-port"]
    assert find_cost("broadcast", "nesbt", "one-port").best_packet(4, 8, 1000, 1) > 8
    assert (nesbt["best_packet"], nesbt["least_time"]) == (8, 5 * 1000 + 5 * 8)
    assert bound["least_time"] == 4 * 1000 + 11
    assert not any(row.get("below_bound") for row in rows.values())
    # A larger packet size has the same effect.
    larger = costs(eyecast, *options[:-1], "100", "--tau", "1000", "--tc", "1")
    assert larger["nesbt", "one-port"]["time"] == 5 * 1000 + 5 * 8
    assert "*" not in eyecast("costs", *options).output


def test_what_is_below_the_bound_is_marked(eyecast: Command) -> None:
    """With one word and n = 4 trees, the formula gives each tree a quarter of the word."""
    options = ("--dimension", "4", "--flits", "1", "--packet", "1", "--tau", "1", "--tc", "1")
    rows = costs(eyecast, *options)
    assert [key for key, row in rows.items() if row.get("below_bound")] == [("nrsbt", "n-port")]
    assert rows["nrsbt", "n-port"]["least_time"] == 5 < rows["lower bound", "n-port"]["least_time"]
    output = eyecast("costs", *options).output
    assert "5 *" in output
    assert "* below the lower bound" in output


def rows_of(eyecast: Command, table: int, *options: str) -> list[list[object]]:
    found = result(eyecast("costs", "--table", str(table), "--dimension", "3", *options, "--json"))
    assert (found["table"], found["dimension"], found["collective"]) == (table, 3, None)
    return [list(row.values()) for row in found["rows"]]


def test_table_1_is_what_links_carry(eyecast: Command) -> None:
    """SBT has C(d, level) links of dimension d at each level, so 2^d of dimension d in all."""
    rows = rows_of(eyecast, 1)
    sbt = {
        (level, d): [links, share] for graph, level, d, links, share, *_ in rows if graph == "sbt"
    }
    assert sbt == {
        (level, d): [str(2**d), str(comb(d, level))] for level in range(3) for d in range(3)
    }
    # In nESBT every dimension has 7/3 links of a tree, and 1/3 of a link at level 0.
    assert ["nesbt", 0, 0, "7/3", "1/3"] in [row[:5] for row in rows]


def test_tables_of_numbers(eyecast: Command) -> None:
    """The rows for n = 3 are those of the paper."""
    steps, more = rows_of(eyecast, 2), rows_of(eyecast, 3)
    assert [row[2] for row in steps] == ["7", "7", "3", "3", "3", "3", "4", "3", "4", "4"]
    assert [row[2] for row in more] == ["2", "1", "3", "1", "3", "1", "3", "1", "1", "1/3"]
    assert rows_of(eyecast, 6)[2] == ["tcbt", "one-port", "1", "3", "2", "3"]
    least = dict(rows_of(eyecast, 10))
    assert least == {"brg": "7", "sbt": "3", "nesbt": "6", "nrsbt": "5", "sbnt": "5", "tcbt": "4"}
    best = rows_of(eyecast, 19, "--tau", "1", "--tc", "1", "--flits", "3")
    assert ["scatter", "n-port", "any", "sbnt", "3", "10", "10", "nrsbt, sbnt", "10"] in best
    assert best[:2] == [
        ["broadcast", "one-port", "M > 1", "nesbt", "1", "12", "8", "sbt, nesbt", "12"],
        ["broadcast", "n-port", "M <= n", "nrsbt", "1", "6", "6", "nrsbt", "6"],
    ]
    few = rows_of(eyecast, 19, "--flits", "1")
    assert [row[:4] for row in few[:2]] == [
        ["broadcast", "one-port", "M = 1", "sbt"],
        ["broadcast", "n-port", "M <= n", "nrsbt"],
    ]


def test_tables_of_times(eyecast: Command) -> None:
    """The table's rows are those for its collective and ports without ``--table``."""
    table = result(eyecast("costs", "--table", "13", "--json"))
    whole = result(eyecast("costs", "--collective", "all-gather", "--json"))
    assert table["rows"] == [row for row in whole["rows"] if row["ports"] == "n-port"]
    assert (table["table"], whole["table"], table["collective"]) == (13, None, "all-gather")
    refused = eyecast("costs", "--table", "13", "--collective", "scatter")
    assert refused == refusal("--collective must be left out with --table: the table says which")
    assert "Table 6" in eyecast("costs", "--table", "6").output


def test_the_pictures_are_of_the_collective(eyecast: Command, here: Path) -> None:
    drawn = set()
    for collective in ("broadcast", "all-to-all"):
        answer = eyecast("costs", "--collective", collective, "-o", collective)
        names = ["times.svg", *(["speed-up.svg"] if collective == "broadcast" else [])]
        wrote = "".join(f"wrote {collective}/{name}\n" for name in names)
        assert answer.output.endswith(wrote)
        assert {path.name for path in (here / collective).iterdir()} == {*names}
        drawn.add((here / collective / "times.svg").read_text())
    assert len(drawn) == 2


@pytest.mark.parametrize(
    ("arguments", "line"),
    [
        ("--table 20", "--table must be 1 to 19, not 20"),
        ("--table 1,2", "--table must be 1 to 19, not 1,2"),
        ("--table x", "--table must be 1 to 19, not 'x'"),
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
    output = () if "--table" in arguments else ("-o", "figures")
    assert eyecast("costs", *arguments.split(), *output) == refusal(line)
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
    """Whole copies down n trees reach every node, whichever n - 1 links fail."""
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
