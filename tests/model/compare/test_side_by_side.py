"""Measures of algorithms side by side."""

from types import SimpleNamespace
from typing import Any

import pytest
from helpers.generated import generated

from eyecast.model.compare.side_by_side import Entry, SideBySide
from eyecast.model.network.topology import mesh


@pytest.mark.parametrize(("sides", "busiest"), [((1, 1), 0), ((2, 2), 1)])
def test_the_busiest_link_of_a_network_without_links_carries_nothing(
    sides: tuple[int, int], busiest: int
) -> None:
    schedule = generated("broadcast", "eye", mesh(sides), words=2, source=0)
    assert Entry(schedule).busiest_link == busiest


def test_the_winners_are_the_fastest_of_those_that_serve_most_nodes() -> None:
    unserved = {"slow": [3], "fast": [3], "as fast": [3], "less": [2, 3], "refused": [3]}
    cycles: dict[str, dict[str, int]] = {
        "slow": {"barrier": 30, "self-timed": 21},
        "fast": {"barrier": 25, "self-timed": 20},
        "as fast": {"barrier": 20},
        "less": {"barrier": 10},
        "refused": {},
    }
    schedules: dict[str, Any] = {
        name: SimpleNamespace(algorithm=name, unserved=nodes, topology=mesh((2, 2)))
        for name, nodes in unserved.items()
    }
    entries = [Entry(schedules[name], cycles=cycles[name]) for name in unserved]
    task: Any = None
    assert SideBySide(task, entries, {}).winners == ["fast, 3 of 4 nodes", "as fast, 3 of 4 nodes"]
