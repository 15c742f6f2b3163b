"""``eyecast sweep`` on the command line."""

import csv
from pathlib import Path

import pytest
from helpers.command import Command, refusal
from helpers.sweeps import SIX_POINTS

from eyecast import api
from eyecast.sweeps import sweep
from eyecast.sweeps.sweep import points_in

EXAMPLES = sorted((Path(api.__file__).parents[1] / "bench" / "sweeps").glob("*.toml"))


@pytest.fixture
def six(here: Path) -> Path:
    (here / "six.toml").write_text(SIX_POINTS)
    return here


def test_a_sweep_writes_its_table_and_says_what_became_of_the_points(
    eyecast: Command, six: Path
) -> None:
    answer = eyecast("sweep", "six.toml", "-o", "t.csv", "--jobs", "1", "--plot", "cycles", "c.svg")
    assert (answer.status, answer.errors) == (0, "")
    assert "6 points" in answer.output
    assert "2 refused: network for u-torus must be " in answer.output
    assert answer.output.endswith("wrote t.csv\nwrote c.svg\n")
    with (six / "t.csv").open(newline="") as file:
        rows = list(csv.DictReader(file))
    assert [row["status"] for row in rows] == ["done"] * 2 + ["refused"] * 2 + ["done"] * 2
    again = eyecast("sweep", "six.toml", "-o", "t.csv", "--jobs", "1", "--plot", "cycles", "c.svg")
    assert again == answer


def test_an_interruption_says_how_much_is_kept(
    eyecast: Command, six: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    run_here = sweep.run_here

    def interrupted(groups: object) -> object:
        for number, done in enumerate(run_here(groups)):  # type: ignore[arg-type]
            if number == 4:
                raise KeyboardInterrupt
            yield done

    monkeypatch.setattr(sweep, "run_here", interrupted)
    answer = eyecast("sweep", "six.toml", "-o", "t.csv", "--jobs", "1")
    assert answer.status == 130
    assert answer.errors == (
        "eyecast: 4 of 6 points are kept; the same command goes on\neyecast: interrupted\n"
    )
    assert sorted(path.name for path in six.iterdir()) == ["six.toml", "t.csv.parts"]


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ((), "-o must be given, such as -o table.parquet"),
        (("-o", "t.txt"), "suffix of table t.txt must be .parquet or .csv, not .txt"),
        (("-o", "no/t.csv"), "output folder no must be an existing folder, not missing"),
        (("-o", "t.csv", "--jobs", "0"), "--jobs must be 1 to 1024, not 0"),
        (
            ("-o", "t.csv", "--jobs", "2", "--scheduler", "tcp://127.0.0.1:1"),
            "--jobs must be left out with --scheduler: a cluster has workers of its own",
        ),
        (
            ("-o", "t.csv", "--plot", "pie", "p.svg"),
            "--plot must be latency, cycles, exposed or pareto, not 'pie'",
        ),
        (
            ("-o", "t.csv", "--plot", "cycles", "p.gif"),
            "suffix of picture p.gif must be .svg, .pdf or .png, not .gif",
        ),
    ],
)
def test_what_cannot_be_used_is_refused_before_the_first_run(
    eyecast: Command, six: Path, arguments: tuple[str, ...], message: str
) -> None:
    assert eyecast("sweep", "six.toml", *arguments) == refusal(message)
    assert [path.name for path in six.iterdir()] == ["six.toml"]


def test_parquet_without_its_library_is_refused(
    eyecast: Command, six: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(__import__("sys").modules, "pyarrow", None)
    assert eyecast("sweep", "six.toml", "-o", "t.parquet") == refusal(
        "pyarrow must be installed for .parquet (pip install 'eyecast[sweep]'; .csv needs "
        "nothing), not missing"
    )


@pytest.mark.parametrize("path", EXAMPLES, ids=lambda path: path.stem)
def test_the_examples_have_no_mistake(path: Path) -> None:
    if 'kind = "saturation"' in path.read_text():
        pytest.importorskip("scipy", reason="pip install 'eyecast[sweep]'")
    points = points_in(path)
    assert points
    assert path.stem != "drawn" or len(points) == 1000
