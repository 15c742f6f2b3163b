"""The items of the papers: which printed values are wrong, and what the other columns say."""

import re
from collections import defaultdict
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import numpy as np
import pytest

from eyecast.model.network.named_graphs import star_tree
from eyecast.model.network.topology import hypercube, line, mesh
from eyecast.model.papers.items.ho_hsu_sung import cost_text
from eyecast.model.papers.items.item import Item, Maps, Row, Setting, Trees
from eyecast.model.papers.items.papers import PAPERS
from eyecast.model.papers.transmit.schemes import transmit

ERRATA = Path(__file__).parents[3] / "docs" / "errata.md"
SLOW = {
    *(("ho-hsu-sung-1996", name) for name in ("algorithm-ta", "figure-3", "figure-4")),
    ("cang-wu-3d", "figure-7"),
}
"""Items that take half a second and more."""

EVERY = [(paper, item) for paper in PAPERS for item in PAPERS[paper].items]

ROOTS = "B_opt and T_min with square roots (sections 1 and 4, Tables 4, 5, 19)"
STIRLING = "B_opt of the SBT, nRSBT, nESBT, SBnT rows with binomials (Tables 9, 14)"
BALANCED = "SBnT, one-port: Tables 7, 8 (upper bounds), 11, 15 (≈)"
WRONG = {
    "cang-wu-1998": {
        "section-2": {"section 2, example of 80": 1},
        "figure-2": {"Theorem 2": 6, "section 2": 2},
        "figure-8": {"Theorem 2, proof, Fig. 8": 5},
    },
    "cang-wu-3d": {
        "figure-3": {"section 3.1, example": 1},
        "figure-5": {"Theorem 3": 2},
        "equations": {"Eq. 12": 1},
    },
    "jiang-wu": {"theorems-1-2": {"Theorem 1": 1, "Theorem 2": 1}, "contention": {"Theorem 5": 1}},
    "ho-hsu-sung-1996": {
        "theorem-1": {"Theorem 1, Corollary 1": 10},
        "theorems-3-4": {"Theorem 4": 2, "Theorem 4, equality": 2},
        "table-1": {
            "Table I, n = 8 and 11, 147, 156": 4,
            "Table I, n = 27, 31": 2,
            "Table I, n = 36, 41": 2,
            "Table I, m": 16,
        },
        "algorithm-ta": {"section 5, step (5) of TA": 1},
        "theorem-6": {"Alon's result, as quoted": 1},
    },
    "johnsson-ho-1986": {
        "figure-18": {BALANCED: 5},
        "figure-19": {BALANCED: 5},
        "table-4": {ROOTS: 6},
        "table-5": {ROOTS: 6},
        "table-6": {"Table 6, nRSBT, one-port, B_opt, τn ≫ Mt_c": 1},
        "table-7": {"Table 7, TCBT, one-port": 1, BALANCED: 1},
        "table-8": {"Table 8, SBnT": 2},
        "table-9": {STIRLING: 3},
        "table-14": {STIRLING: 4},
        "table-15": {"Table 15, nESBT": 1},
        "table-16": {"Table 16, nESBT, one-port": 1},
        "table-19": {"Table 19 and section 4": 2, "Table 19, last row": 1},
    },
}
"""The number of wrong printed values by paper, item and entry of ``docs/errata.md``."""


@cache
def item_of(paper: str, name: str) -> Item:
    return PAPERS[paper].items[name](Setting())


def entries(heading: str) -> set[str]:
    """Return the first cells of the tables of a paper in ``docs/errata.md``."""
    section = ERRATA.read_text().split(f"\n## {heading}\n")[1].split("\n## ")[0]
    return {line.split("|")[1].strip() for line in section.splitlines() if line.startswith("|")}


@pytest.mark.parametrize(
    ("paper", "name"),
    [
        pytest.param(*each, marks=pytest.mark.slow if each in SLOW else (), id="-".join(each))
        for each in EVERY
    ],
)
def test_values_that_are_wrong_in_the_paper_have_an_erratum(paper: str, name: str) -> None:
    marks: dict[str, int] = defaultdict(int)
    for row in item_of(paper, name).rows:
        assert len(row.labels) == len(item_of(paper, name).labels)
        if row.printed not in (None, row.ours) and row.ours is not None:
            marks[row.mark] += 1
    assert marks == WRONG[paper].get(name, {})
    assert {*marks} <= entries(PAPERS[paper].heading)


HOSTS = {
    "Theorem 1, Corollary 1": (r"n = (\d+): ", line),
    "Alon's result, as quoted": (r"n = (\d+): ", hypercube),
    "Theorem 4": (r"(\d+) arms of (\d+): claimed \(\d+, \d+\), best ", star_tree),
    "Theorem 4, equality": (r"(\d+) arms of (\d+): ", star_tree),
}
"""Networks in entries of Ho, Hsu & Sung; the best (t, s) of a host follows each."""


def test_one_best_plan_in_the_errata_the_items_and_transmit() -> None:
    section = ERRATA.read_text().split("\n## Ho, Hsu & Sung 1996\n")[1].split("\n## ")[0]
    names = ("theorem-1", "figure-1", "theorems-3-4", "theorem-6")
    items = {row.labels[0]: row for row in rows_of("ho-hsu-sung-1996", *names)}
    found = 0
    for entry, (pattern, network) in HOSTS.items():
        (text,) = (row for row in section.splitlines() if row.startswith(f"| {entry} |"))
        for *sizes, cost in re.findall(pattern + r"(\(\d+, \d+\))", text):
            findings = transmit(network(*map(int, sizes)))
            assert findings.proved
            label = findings.best.topology.label
            assert cost == cost_text(findings.best.cost) == items[label].ours
            found += 1
    assert found == 6


CANG_WU, STARS = "cang-wu-1998", "ho-hsu-sung-1996"
QUOTED: list[tuple[str, str, Setting, str, str]] = [
    (CANG_WU, "section-2", Setting(), "(5,0) (0,5) (5,4)", "a TCD of {p[0]} |"),
    (CANG_WU, "section-2", Setting(), "(5,0) (0,5) (5,4)", "Algorithm 1 it is {o[0]},"),
    (CANG_WU, "figure-2", Setting(), "8x8 mesh, best sources", "{o[0]} sources on 8x8 and"),
    (CANG_WU, "figure-2", Setting(), "16x16 mesh, best sources", "{o[0]} sources on 8x8 and 16x16"),
    (CANG_WU, "figure-2", Setting(mesh((32, 32))), "32x32 mesh, best sources", "{o[0]} on 32x32"),
    ("cang-wu-3d", "equations", Setting(), "MD_1 of Eq. 12", "(E_1) = {p[0]} | {o[0]}: {p[0]}"),
    *(
        (STARS, "theorems-3-4", Setting(), f"star tree 3x{n}", text)
        for n, text in ((3, "3: claimed ({p[0]}, {p[1]})"), (4, "4: claimed ({p[0]}, {p[1]})"))
    ),
    *(
        (STARS, "table-1", Setting(), f"{n}", text)
        for n, text in (
            (27, "m = {p[1]} | {o[1]} by the text"),
            (31, "m = {p[1]} | {o[1]} by the text"),
            (36, "{p[2]}, {p[3]} and"),
            (36, "| {o[2]}, {o[3]} and"),
            (41, "and {p[2]}, {p[3]} |"),
            (41, "and {o[2]}, {o[3]} |"),
            (156, '"{p[0]} + {p[1]}" beside "{p[4]} + {p[5]}"'),
        )
    ),
    *(
        ("johnsson-ho-1986", item, Setting(None, *setting), labels, text)
        for item, setting, labels, text in (
            ("table-7", (4, 8, 2), "tcbt, one-port, T", "116, 60, 60, {p[0]}, 128; counted"),
            ("table-7", (4, 8, 2), "tcbt, one-port, T", "counted: 116, 60, 60, {o[0]}, 72"),
            ("table-7", (4, 8, 2), "sbnt, one-port, T", "88, {p[0]}; counted"),
            ("table-7", (4, 8, 2), "sbnt, one-port, T", "92, {o[0]} |"),
            ("table-7", (2, 1, 1), "tcbt, one-port, T", "{p[0]} start-ups for {p[1]} words"),
            ("table-7", (2, 3, 4), "brg, one-port, T", "B = 4: {p[0]}, counted {o[0]}"),
            ("table-8", (2, 1), "sbnt, one-port, B_opt", "2 nodes, not {p[0]}/{p[1]}"),
            ("table-9", (4, 1), "sbt, n-port, B_opt", "n = 4: {p[0]:.2f}M, exactly {o[0]}M"),
            ("table-16", (2, 2), "nesbt, one-port, B_opt", "M = 2: {p[0]}, where T needs"),
            ("table-16", (2, 2), "nesbt, one-port, B_opt", "12 start-ups; {o[0]}, where"),
            ("table-4", (4, 1, 4, 100, 1), "nesbt, one-port, B_opt", "B_opt = {p[0]}, T_min = 4"),
            (
                "table-4",
                (4, 1, 4, 100, 1),
                "nesbt, one-port, T_min",
                "= {p[0]}; the least is {o[0]},",
            ),
            ("table-4", (4, 8, 4, 1000, 1), "nesbt, one-port, B_opt", "B_opt = {p[0]:.0f}, T_min"),
            (
                "table-4",
                (4, 8, 4, 1000, 1),
                "nesbt, one-port, T_min",
                "= {p[0]}; one packet takes {o[0]} |",
            ),
            ("table-5", (4, 1, 4, 1, 1), "nrsbt, n-port, T_min", "t_c = 1: T_min = {p[0]}, no"),
            (
                "table-19",
                (2, 2, 4, 1, 1),
                "broadcast, one-port, M > 1",
                "t_c: {o[0]}, nESBT {p[0]}",
            ),
            ("table-19", (2, 4, 4, 1, 1), "broadcast, n-port, M > n", "= 4: {o[0]}, nESBT {p[0]}"),
        )
    ),
]
"""Numbers of errata that items compute: p and o are the numbers of the values printed and ours."""


@pytest.mark.parametrize(("paper", "name", "setting", "labels", "text"), QUOTED)
def test_a_number_of_the_errata_is_that_of_the_item(
    paper: str, name: str, setting: Setting, labels: str, text: str
) -> None:
    rows = PAPERS[paper].items[name](setting).rows
    (row, *_) = (row for row in rows if ", ".join(map(str, row.labels)).startswith(labels))
    p, o = (
        [float(each) if "." in each else int(each) for each in re.findall(r"[\d.]+", str(value))]
        for value in (row.printed, row.ours)
    )
    section = ERRATA.read_text().split(f"\n## {PAPERS[paper].heading}\n")[1].split("\n## ")[0]
    assert text.format(p=p, o=o) in section


def test_the_errata_name_the_rows_of_table_i() -> None:
    listed: dict[str, set[int]] = defaultdict(set)
    for row in rows_of(STARS, "table-1"):
        listed[row.mark].add(row.labels[0])
    found = re.findall(r"\| (Table I, [^|]*) \|([^|]*)\|([^|]*)\|", ERRATA.read_text())
    for entry, _, ours in found:
        text = ours if entry == "Table I, m" else entry
        pairs = re.findall(r"(\d+)(?: to (\d+))?", text.split(": ", 1)[-1])
        numbers = {n for low, high in pairs for n in range(int(low), int(high or low) + 1)}
        assert numbers == listed[entry]


def rows_of(paper: str, *names: str) -> Iterator[Row]:
    for name in names:
        yield from item_of(paper, name).rows


def test_closed_forms_are_what_schedules_cost() -> None:
    """Eqs. 1 to 3, 8 to 10 of 1998; 1 to 6, 12, 13, 15, 16 of 3-D; 1 to 5 of Jiang & Wu."""
    found = 0
    for paper in ("cang-wu-1998", "cang-wu-3d", "jiang-wu"):
        for row in rows_of(paper, "equations"):
            by_formula = re.findall(r": (\d+)", str(row.labels[2]))
            assert by_formula
            assert {int(value) for value in by_formula} == {row.ours}
            found += len(by_formula)
    assert found == 116


@pytest.mark.slow
def test_regions_and_first_steps_are_what_schedules_cost() -> None:
    """1998, Eq. 5 (Fig. 6); 3-D, Theorem 1, Eqs. 7 and 11 (Figs. 4 and 7), Appendix A."""
    for row in (*rows_of("cang-wu-1998", "figure-6"), *rows_of("cang-wu-3d", "figure-7")):
        assert {*row.labels[2:]} == {row.ours}
    assert sum(row.labels[1] for row in rows_of("cang-wu-3d", "figure-7")) == 8**3
    steps = list(rows_of("cang-wu-3d", "figure-6"))
    assert len(steps) == 9
    assert [row.labels[2] for row in steps] == [row.ours for row in steps]


def test_the_source_of_a_large_mesh_uses_a_link_in_several_steps() -> None:
    """3-D, section 1: depth contention is unavoidable for k > 2."""
    for paper, links in (("cang-wu-1998", 4), ("cang-wu-3d", 6)):
        for row in rows_of(paper, "contention"):
            _, steps, own, ports, several, most = row.labels
            assert own == steps
            assert (own > ports) <= (several > 0)
            assert (several > 0) == (most > 1)
            assert ports <= links


def test_the_bounds_of_jiang_and_wu() -> None:
    """Theorem 3: ED is at most OD_k, and equal for 8x8; Theorem 6."""
    *meshes, all_meshes = rows_of("jiang-wu", "theorem-3")
    for row in meshes:
        assert row.labels[2] == row.ours <= row.labels[1]
    assert ("8x8 mesh", 69, 69, "1.00") in [row.labels for row in meshes]
    assert all_meshes.ours == 64 * 64
    assert all(row.ours <= row.labels[2] for row in rows_of("jiang-wu", "theorem-6"))


def test_the_ratio_of_theorem_5() -> None:
    """It holds: 1.1006 at n = 10^5 and at n = 10^6, and (4/3)^(1/3) is 1.1006."""
    ratios = {row.labels[0]: row.ours for row in rows_of("ho-hsu-sung-1996", "theorem-5")}
    assert (ratios[10**5], ratios[10**6]) == ("1.1006", "1.1006")
    assert item_of("ho-hsu-sung-1996", "theorem-5").note.endswith("= 1.1006")


def test_trees_for_two_words_on_a_4_cube() -> None:
    """Johnsson & Ho, section 5.1.4: rotations 0 and 2, or a rotation and its reflection."""
    two = [row for row in rows_of("johnsson-ho-1986", "section-5-1-4") if row.labels[0] == 2]
    assert [(row.printed, row.ours) for row in two] == [(None, 10), ("10", "10"), ("9", "9")]
    picture = item_of("johnsson-ho-1986", "section-5-1-4").pictures["2-words"]
    assert isinstance(picture, Trees)
    parents = [tree.parent.tolist() for tree in picture.graph.trees]
    reverse = [int(f"{node:04b}"[::-1], 2) for node in range(16)]
    assert [parents[1][reverse[node]] for node in range(1, 16)] == [
        reverse[parent] for parent in parents[0][1:]
    ]
    for tree in picture.graph.trees:
        for node, below in enumerate(tree.children.tolist()):
            children = {node ^ 1 << d for d in range(4) if below >> d & 1}
            assert children == {*np.flatnonzero(tree.parent == node).tolist()}


def test_reflections_are_not_better_where_all_trees_have_a_word() -> None:
    """For k = 4 of 8 rotations: 85 and 102 by the formulas of section 5.1.4, and counted."""
    rows = PAPERS["johnsson-ho-1986"].items["section-5-1-4"](Setting(dimension=8)).rows
    four = [(row.printed, row.ours) for row in rows if row.labels[0] == 4]
    assert [printed for printed, _ in four[1:]] == [ours for _, ours in four[1:]]


@pytest.mark.parametrize("setting", [Setting(), Setting(dimension=3, words=9, packet=2)])
def test_schedules_cost_what_the_tables_say(setting: Setting) -> None:
    """Every T of Tables 4 to 17 is counted, words with packets that divide M."""
    counted = 0
    for number in (4, 5, 7, 11, 13, 15, 17):
        for row in PAPERS["johnsson-ho-1986"].items[f"table-{number}"](setting).rows:
            if row.labels[2] == "T" and row.labels[0] != "lower bound":
                start_ups = [str(text).split(" + ")[0] for text in (row.labels[4], row.ours)]
                assert start_ups[0] == start_ups[1]
                assert setting.words % setting.packet or row.labels[4] == row.ours
                counted += 1
    assert counted == 41


def test_tables_of_other_cubes_differ_only_where_the_errata_say() -> None:
    for setting in (Setting(dimension=2, words=3, packet=5), Setting(dimension=7, tau=0, tc=1)):
        for name, make in PAPERS["johnsson-ho-1986"].items.items():
            if name.startswith("table"):
                for row in make(setting).rows:
                    assert row.printed in (None, row.ours) or row.ours is None or row.mark, row


def test_a_chosen_mesh_is_mapped() -> None:
    """On 32x32 the least saves 5232 links in all, and 28 sources are best (1998, Fig. 2)."""
    item = PAPERS["cang-wu-1998"].items["figure-2"](Setting(mesh((32, 32))))
    values = {row.labels[1]: row for row in item.rows}
    together = values["TCD from all sources together"]
    assert together.labels[2] - together.ours == 5232
    assert values["best sources"].ours == 28
    picture = item.pictures["32x32"]
    assert isinstance(picture, Maps)
    assert (len(picture.best["least"]), len(picture.eyes["the paper's algorithm"])) == (28, 4)
