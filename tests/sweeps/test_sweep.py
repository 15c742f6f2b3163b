"""Sweeps in this process, from their grids to their rows."""

import sys
from pathlib import Path

import pytest
from helpers.command import Command, result
from helpers.sweeps import (
    BROADCAST,
    SIX_POINTS,
    Counting,
    points_of,
    sweep_of,
    without_seconds,
)

import eyecast as face
from eyecast.sweeps import collective
from eyecast.sweeps.journal import Journal
from eyecast.sweeps.points import Point
from eyecast.sweeps.run import Row
from eyecast.sweeps.series import exposed_panels
from eyecast.sweeps.sweep import groups_of, points_in, run_here, run_missing, table_rows
from eyecast.sweeps.table import COLUMNS


@pytest.fixture
def six_points(here: Path) -> list[Point]:
    (here / "six.toml").write_text(SIX_POINTS)
    return points_in("six.toml")


def rows_of(points: list[Point]) -> list[Row]:
    return table_rows(points, dict(run_here(groups_of(points))))


def run_kept(points: list[Point], run: Counting, table: Path = Path("t.csv")) -> list[Row]:
    with Journal(table) as journal:
        run_missing(points, journal, run, lambda _rows: None)
        return table_rows(points, journal.rows)


def test_rows_say_what_the_commands_say(six_points: list[Point], eyecast: Command) -> None:
    rows = rows_of(six_points)
    assert [row["status"] for row in rows] == ["done"] * 2 + ["refused"] * 2 + ["done"] * 2
    for row, flits in zip(rows, (1, 4), strict=False):
        arguments = ("--mesh", "2x2", "--source", "0,0", "--words", str(flits), "--json")
        predicted = result(eyecast("predict", *arguments))
        assert (row["cycles"], row["words"]) == (predicted["cycles"], flits)
        assert row["steps"] == len(predicted["steps"])
    for row, rate in zip(rows[4:], ("0.1", "0.3"), strict=True):
        arguments = ("--mesh", "2x2", "--rate", rate, "--cycles", "100", "--json")
        measured = result(eyecast("traffic", *arguments, "--on", "model"))["measures"]
        assert {name: row[name] for name in measured} == measured
    assert "u-torus" in rows[2]["error"] and "2x2 mesh" in rows[2]["error"]


WORKLOAD = {"kind": "workload", "network": ["mesh 2x2", "line 2"], "workload": "w.csv"}


def test_workloads_are_those_of_python_and_follow_their_file(here: Path) -> None:
    table = "id,rank,what,amount,after\nlayer,all,operations,5000,\nsum,0-3,all-reduce,{},layer\n"
    asked = WORKLOAD | {"rate": [100, 1000], "circuits": [False, True], "mapping": "best"}
    keys = set()
    for words in (40, 80):
        (here / "w.csv").write_text(table.format(words))
        points = points_of(asked)
        keys |= {point.key for point in points}
        rows = rows_of(points)
        assert [row["status"] for row in rows] == ["done"] * 4 + ["refused"] * 4
        assert "rank must be all, or ranks from 0 to 1" in rows[4]["error"]
        # Python reads the file as it is now.
        for row in rows[:4] if words == 80 else ():
            given = {name: row[name] for name in ("rate", "circuits", "mapping")}
            found = face.workload(face.mesh((2, 2)), "w.csv", **given)
            assert (row["cycles"], row["ideal_cycles"]) == (found.engine.cycles, found.ideal.cycles)
            assert (row["least_cycles"], row["call_words"]) == (found.bound, words)
            assert row["exposed"] == found.engine.mean("exposed")
        ((title, (lines, _)),) = exposed_panels(rows).items()
        assert title == "mesh 2x2, exposed communication"
        assert {name: points[0][0] for name, points in lines.items()} == {
            f"rate {rate}{more}": words for rate in (100, 1000) for more in ("", ", circuits")
        }
    assert len(keys) == 16


SUMS = {"kind": "collective", "network": "mesh 2x2", "algorithm": "ring"}
SUMS |= {"collective": ["all-reduce", "reduce-scatter"], "operator": ["max", "xor"]}


def test_operators_are_those_of_the_commands(eyecast: Command) -> None:
    rows = rows_of(points_of(SUMS))
    assert [row["status"] for row in rows] == ["done"] * 4
    for row in rows:
        asked = ("--collective", row["collective"], "--operator", row["operator"])
        asked += ("--algorithm", "ring")
        predicted = result(eyecast("predict", "--mesh", "2x2", *asked, "--json"))
        assert (row["cycles"], row["operators"]) == (predicted["cycles"], row["operator"])
    assert len({row["configuration"] for row in rows}) == 2
    (refused,) = rows_of(points_of(SUMS | {"operator": "max", "operators": "add"}))[:1]
    complaint = "operator must be add, as the network is built with no other, not max"
    assert (refused["status"], refused["error"]) == ("refused", complaint)


def test_a_barrier_has_one_word(eyecast: Command) -> None:
    asked = {"kind": "collective", "network": "mesh 2x2", "algorithm": "eye", "source": None}
    (row,) = rows_of(points_of(asked | {"collective": "barrier", "words": [1, 16, 256]}))
    command = ("predict", "--mesh", "2x2", "--collective", "barrier", "--algorithm", "eye")
    predicted = result(eyecast(*command, "--json"))
    assert (row["words"], row["cycles"]) == (1, predicted["cycles"])


def test_every_value_of_a_row_has_a_column(six_points: list[Point]) -> None:
    found = dict(run_here(groups_of(six_points)))
    named = {name for rows in found.values() for row in rows for name in row}
    assert named <= set(COLUMNS)
    assert len({row["key"] for rows in found.values() for row in rows}) == 6


def test_what_was_done_before_an_interruption_is_not_done_again(six_points: list[Point]) -> None:
    first = Counting(stop_after=4)
    with pytest.raises(KeyboardInterrupt):
        run_kept(six_points, first)
    second = Counting()
    rows = run_kept(six_points, second)
    assert len(first.ran) == 4
    assert sorted(first.ran + second.ran) == sorted(point.key for point in six_points)
    assert without_seconds(rows) == without_seconds(rows_of(six_points))


def test_a_result_that_was_cut_off_is_made_again(six_points: list[Point]) -> None:
    whole = run_kept(six_points, Counting())
    (part,) = Path("t.csv.parts").glob("*.jsonl")
    part.write_bytes(part.read_bytes()[:-9])
    again = Counting()
    assert without_seconds(run_kept(six_points, again)) == without_seconds(whole)
    assert again.ran == [six_points[-1].key]


def test_two_sweeps_do_not_write_one_table(here: Path) -> None:
    with Journal(here / "t.csv"), pytest.raises(face.InvalidInput, match="by one sweep, not two"):
        Journal(here / "t.csv").__enter__()


def test_a_point_that_fails_is_a_row_that_says_why(monkeypatch: pytest.MonkeyPatch) -> None:
    results = collective.results

    def failing(case: object, run: object) -> Row:
        if case.schedule.algorithm == "tree":  # type: ignore[attr-defined]
            raise ZeroDivisionError("by\nnothing")
        return results(case, run)  # type: ignore[arg-type]

    monkeypatch.setattr(collective, "results", failing)
    rows = rows_of(points_of(BROADCAST | {"algorithm": ["eye", "tree", "u-mesh"]}))
    assert [row["status"] for row in rows] == ["done", "failed", "done"]
    assert rows[1]["error"] == r"ZeroDivisionError: by\nnothing"


def test_a_key_tells_every_value_and_only_values() -> None:
    one = points_of(BROADCAST)
    assert one == points_of(BROADCAST | {"words": 16, "on": "model"})
    others = ({"words": 17}, {"timing": "self-timed"}, {"seed": 2}, {"depth": 2}, {"vcs": 1})
    keys = {points_of(BROADCAST | other)[0].key for other in others}
    assert len(keys | {one[0].key}) == 6
    assert points_of(BROADCAST, BROADCAST) == one


def test_graphs_from_files_are_told_by_what_is_in_them(here: Path) -> None:
    ring = '{"kind": "ring", "nodes": %d, "faulty_nodes": [], "faulty_links": []}'
    grid = BROADCAST | {"network": "graph net.json", "algorithm": "tree", "source": "0"}
    found = []
    for nodes in (4, 5):
        (here / "net.json").write_text(ring % nodes)
        found.append(rows_of(points_of(grid))[0])
    assert [row["nodes"] for row in found] == [4, 5]
    assert found[0]["key"] != found[1]["key"]


def test_all_algorithms_and_drawn_sources() -> None:
    grid = {"network": "mesh 3x3", "random_faults": 0.2, "algorithm": "all", "source": "drawn"}
    rows = rows_of(points_of(BROADCAST | grid | {"seed": {"first": 1, "last": 3}}))
    # A tree of circuits needs a network with them.
    assert {row["algorithm"] for row in rows} == set(face.algorithms()) - {"light-tree"}
    roots = {row["seed"]: row["root"] for row in rows if row["status"] == "done"}
    assert len(roots) == 3
    assert {row["root"] for row in rows if row["seed"] == 1} - {None} == {roots[1]}


def test_points_on_hardware_that_may_share_a_simulator_are_together() -> None:
    of_sums = groups_of(points_of(SUMS | {"on": "hardware"}))
    assert [{point.values["operator"] for point in group} for group in of_sums] == [
        {"max"},
        {"xor"},
    ]
    grid = BROADCAST | {"network": ["mesh 2x2", "mesh 2x1"], "words": [1, 2], "depth": [2, 4]}
    groups = groups_of(points_of(grid | {"on": ["hardware", "model"]}))
    assert sorted(map(len, groups)) == [1] * 8 + [2] * 4
    for group in (group for group in groups if len(group) == 2):
        assert len({(point.values["network"], point.values["depth"]) for point in group}) == 1


def test_the_face_writes_a_table_and_returns_its_rows(here: Path) -> None:
    rows = face.sweep(sweep_of(BROADCAST | {"words": [1, 4]}), here / "t.csv")
    small = face.schedule(face.mesh((2, 2)), "eye", source=0, words=4)
    assert rows[1]["cycles"] == face.predict(small).cycles
    lines = (here / "t.csv").read_text().splitlines()
    assert lines[0].split(",") == list(COLUMNS)
    assert len(lines) == 3
    assert face.sweep(sweep_of(BROADCAST))[0]["version"] == face.__version__


def test_parquet(here: Path) -> None:
    parquet = pytest.importorskip("pyarrow.parquet", reason="pip install 'eyecast[sweep]'")
    rows = face.sweep(sweep_of(BROADCAST | {"algorithm": ["eye", "u-torus"]}), here / "t.parquet")
    table = parquet.read_table(here / "t.parquet")
    assert table.to_pylist() == rows
    assert table.schema.metadata[b"format"] == b"eyecast-sweep-table"


def test_the_rows_of_python_are_a_data_frame(monkeypatch: pytest.MonkeyPatch) -> None:
    rows = face.sweep(sweep_of(BROADCAST))
    frame = rows.to_pandas()
    assert list(frame.columns) == list(COLUMNS)
    assert frame["cycles"].tolist() == [row["cycles"] for row in rows]
    monkeypatch.setitem(sys.modules, "pandas", None)
    with pytest.raises(face.InvalidInput, match="pandas must be installed"):
        rows.to_pandas()
