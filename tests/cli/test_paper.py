"""``eyecast paper``: its tables, pictures and refusals."""

from pathlib import Path

import pytest
from helpers.command import Command, refusal, result

from eyecast.model.papers.items.item import Setting
from eyecast.model.papers.items.papers import PAPERS


def test_the_papers_are_listed(eyecast: Command) -> None:
    listed = result(eyecast("paper", "--json"))["papers"]
    assert {paper["paper"]: paper["items"] for paper in listed} == {
        name: list(paper.items) for name, paper in PAPERS.items()
    }
    output = eyecast("paper").output
    assert all(f"{name}: {paper.citation}" in output for name, paper in PAPERS.items())


def test_an_item_as_table_and_as_json(eyecast: Command) -> None:
    options = ("paper", "johnsson-ho-1986", "table-4", "--dimension", "3", "--words", "6")
    found = result(eyecast(*options, "--json"))
    (item,) = found["items"]
    rows = PAPERS["johnsson-ho-1986"].items["table-4"](Setting(dimension=3, words=6)).rows
    assert item["rows"] == [
        {
            "labels": list(row.labels),
            "printed": row.printed,
            "ours": row.ours,
            "erratum": row.mark or None,
        }
        for row in rows
    ]
    assert (found["paper"], item["item"]) == ("johnsson-ho-1986", "table-4")
    cells = [
        [cell.strip() for cell in line.split("│")[1:-1]]
        for line in eyecast(*options).output.splitlines()
        if line.startswith("│")
    ]
    assert [line[-3:] for line in cells] == [
        [str("" if value is None else value) for value in (row.printed, row.ours, row.mark)]
        for row in rows
    ]


def test_pictures_and_a_chosen_mesh(eyecast: Command, here: Path) -> None:
    options = ("paper", "cang-wu-1998", "figure-2", "section-2", "--mesh", "8x8", "-o", "drawn")
    answer = eyecast(*options)
    assert answer.output.splitlines()[-1] == "wrote drawn/figure-2-8x8.svg"
    assert [path.name for path in (here / "drawn").iterdir()] == ["figure-2-8x8.svg"]
    assert 'id="marks-0"' in (here / "drawn" / "figure-2-8x8.svg").read_text()
    assert "sources with a cheaper broadcast" in answer.output


BAD = {
    "cang": f"PAPER must be {', '.join(PAPERS)}, not cang",
    "cang-wu-199": f"PAPER must be {', '.join(PAPERS)}, not cang-wu-199 "
    "(did you mean cang-wu-1998?)",
    "cang-wu-3d figure-9": f"ITEM must be {', '.join(PAPERS['cang-wu-3d'].items)}, not figure-9 "
    "(did you mean figure-7?)",
    "jiang-wu --dimension 4": "--dimension must be left out with jiang-wu: it has no hypercubes",
    "johnsson-ho-1986 --mesh 4x4": (
        "--mesh must be left out with johnsson-ho-1986: it has no maps of TCDs"
    ),
    "johnsson-ho-1986 table-1 --dimension 11": "dimension must be 2 to 10, not 11",
    "johnsson-ho-1986 --dimension 1": "--dimension must be 2 to 16, not 1",
    "johnsson-ho-1986 --words 0": "--words must be 1 to 2147483648, not 0",
    "johnsson-ho-1986 --packet 0": "--packet must be 1 to 2147483648, not 0",
    "johnsson-ho-1986 --tc 1e-320": "--tc must be 0, or 1e-100 to 1e+09, not 1e-320",
    "johnsson-ho-1986 --tau -1": "--tau must be 0, or 1e-100 to 1e+09, not -1.0",
    "johnsson-ho-1986 --tc inf": "--tc must be a number, not 'inf'",
    "cang-wu-1998 figure-2 --mesh 8x4": (
        "mesh to compare with the eye must be of equal sides that are powers of two, not 8x4 mesh"
    ),
    "cang-wu-1998 figure-2 --mesh 2x2x2x2": (
        "mesh of a map must be of 2 or 3 dimensions, not a 2x2x2x2 mesh"
    ),
    "cang-wu-3d figure-5 --mesh 16x16x16": (
        "picture must be at most 40 maps of at most 1024 nodes a side, not 48 maps of 16 x 16"
    ),
}


@pytest.mark.parametrize(("arguments", "line"), BAD.items(), ids=BAD)
def test_bad_options(eyecast: Command, here: Path, arguments: str, line: str) -> None:
    answer = eyecast("paper", *arguments.split(), "-o", "figures")
    assert answer == refusal(line)
    assert list(here.iterdir()) == []
