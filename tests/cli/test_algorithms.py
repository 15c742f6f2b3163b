"""``eyecast algorithms``: all algorithms, where they were the fastest, and the pages on them."""

import re
from pathlib import Path

import numpy as np
import pytest
from helpers.command import Command, printed_result, refusal, result

from eyecast.model.collectives.fastest import MeasuredCase, measured_cases
from eyecast.model.collectives.registry import ALGORITHMS, SOLVED
from eyecast.model.schedule.collective import COLLECTIVES, ROOTLESS, Collective

ROOT = Path(__file__).parents[2]
QUICK = ("broadcast", "scatter", "all-gather", "all-reduce")
SINGLE = [
    case for case in measured_cases() if case.collective != Collective.MULTICAST and case.algorithms
]


def test_all_are_listed(eyecast: Command) -> None:
    listed = result(eyecast("algorithms", "--json"))["algorithms"]
    assert [(each["collective"], each["name"]) for each in listed] == [
        (each.collective, each.name) for each in (*ALGORITHMS, *SOLVED)
    ]
    assert sum(len(each["fastest"]) for each in listed) == sum(
        len(case.algorithms) for case in measured_cases()
    )


def test_those_of_a_collective(eyecast: Command) -> None:
    table = eyecast("algorithms", "--collective", "all-to-all").output
    names = eyecast("algorithms").output.partition("│ all-to-all")[2].partition("│ reduce")[0]
    for algorithm in ALGORITHMS:
        if algorithm.collective == Collective.ALL_TO_ALL:
            assert f"│ {algorithm.name} " in table
            assert algorithm.networks in table
            assert algorithm.name in names
    assert "greedy" not in table
    refused = eyecast("algorithms", "--collective", "all-to-some")
    assert refused.status == 2
    assert refused.errors.startswith("eyecast: --collective must be broadcast, multicast")


def test_one_is_shown_whole(eyecast: Command) -> None:
    shown = eyecast("algorithms", "sbnt").output
    listed = result(eyecast("algorithms", "sbnt", "--json"))["algorithms"]
    assert [each["collective"] for each in listed] == [
        each.collective for each in ALGORITHMS if each.name == "sbnt"
    ]
    for each in listed:
        assert f"sbnt, {each['collective']}\n  networks  {each['networks']}\n" in shown
        assert f"  steps     {each['steps']}\n" in shown
        for case in each["fastest"]:
            assert f"{case['network']} --ports {case['ports']}: " in shown
    assert eyecast("algorithms", "sbn") == refusal(
        "NAME must be an algorithm that eyecast algorithms lists, not sbn (did you mean sbnt?)"
    )


def best(eyecast: Command, case: MeasuredCase) -> tuple[int, set[str]]:
    """Return the fewest cycles that ``--algorithm best`` finds, and all algorithms with as many."""
    source = () if case.collective in ROOTLESS else ("--source", "0,0")
    if source and "hypercube" in case.network:
        source = ("--source", "0,0,0,0,0,0")
    words = () if case.collective == Collective.BARRIER else ("--words", str(case.words))
    asked = (*case.network.split(), "--collective", case.collective, "--ports", case.ports)
    made = eyecast("schedule", *asked, *source, *words, "--algorithm", "best", "--json")
    cycles = printed_result(made.output)["best"]["cycles"]
    least = min(cycles.values())
    return least, {name for name, count in cycles.items() if count == least}


@pytest.mark.parametrize("collective", QUICK)
def test_the_fastest(eyecast: Command, collective: str) -> None:
    case = next(case for case in SINGLE if case.collective == collective and case.words == 16)
    assert best(eyecast, case) == (case.cycles, set(case.algorithms))


@pytest.mark.slow
@pytest.mark.parametrize("number", np.random.default_rng(1).permutation(len(SINGLE))[:32].tolist())
def test_the_fastest_of_drawn_cases(eyecast: Command, number: int) -> None:
    case = SINGLE[number]
    assert best(eyecast, case) == (case.cycles, set(case.algorithms))


def table_rows(page: str, head: str) -> list[list[str]]:
    """Return the cells of the table with this head."""
    _, _, text = (ROOT / page).read_text().partition(f"| {head} |\n")
    lines = text.partition("\n\n")[0].splitlines()[1:]
    return [[cell.strip() for cell in line.strip("|").split(" | ")] for line in lines]


def test_the_guide_to_streams() -> None:
    rows = table_rows("docs/guides/fast.md", "algorithm | collectives | ports | how")
    assert len(rows) > 10
    for cell, what, ports, how in rows:
        name, collectives = cell.strip("`"), what.split(", ")
        own = [a for a in ALGORITHMS if a.name == name and a.collective in collectives]
        assert (name, [a.collective for a in own]) == (name, collectives)
        assert {(name, ", ".join(a.ports)) for a in own} == {(name, ports)}
        if "any network" in how:
            assert {a.networks for a in own} == {"any network"}


def test_the_guide_to_reductions() -> None:
    names = {a.name for a in ALGORITHMS if a.collective == Collective.ALL_REDUCE}
    rows = table_rows("docs/guides/reductions.md", "algorithms | how | for")
    assert len(rows) > 10
    for cell, _, _ in rows:
        assert {*re.findall("`(.+?)`", cell)} - {"NAME-rooted"} <= names


def test_the_readme_lists_all_collectives() -> None:
    listed = re.findall(
        r"^\| collectives \| (.+?);", (ROOT / "README.md").read_text(), re.MULTILINE
    )
    assert listed == [", ".join(COLLECTIVES)]
