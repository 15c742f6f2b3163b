"""``eyecast algorithms``: the algorithms, their networks, and where each was the fastest."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import groupby
from typing import TYPE_CHECKING

import click

from ..model.base.texts import counted
from ..model.collectives.algorithm import Algorithm
from ..model.collectives.registry import ALGORITHMS, algorithms_for
from ..model.schedule.collective import COLLECTIVES
from .command import command
from .console import print_json, print_table
from .options.output import json_option
from .options.values import complete_words

if TYPE_CHECKING:
    from ..model.collectives.fastest import MeasuredCase

COLUMNS = ("algorithm", "networks", "ports", "steps", "paper", "fastest at")


@command("algorithms", "eyecast algorithms", "eyecast algorithms --collective all-reduce")
@click.option(
    "--collective",
    metavar="NAME",
    shell_complete=complete_words(COLLECTIVES),
    help="List only the algorithms for this collective.",
)
@json_option
def algorithms_command(collective: str | None, as_json: bool) -> None:
    """List the algorithms: networks, ports, steps, paper, and where each was the fastest.

    N is the number of nodes that take part, n the number of nodes of a side. "fastest at" has the
    lengths in words at which an algorithm was the fastest on some measured network; a second table
    names the networks.
    """
    from ..model.collectives.fastest import measured_cases

    cases = measured_cases()
    listed = ALGORITHMS if collective is None else algorithms_for(collective)
    if as_json:
        facts = [_facts(each, cases) for each in listed]
        print_json({"algorithms": facts})
        return
    for name in dict.fromkeys(each.collective for each in listed):
        own = [case for case in cases if case.collective == name]
        print_table(name, COLUMNS, [_row(each, own) for each in listed if each.collective == name])
        lengths = sorted({case.words for case in own})
        columns = ("the fastest", *(counted(length, "word") for length in lengths))
        print_table("", columns, _winners(own))


def _row(algorithm: Algorithm, cases: Sequence[MeasuredCase]) -> tuple[str, ...]:
    """Return the line of ``algorithm`` in the table of its collective."""
    lengths = sorted({case.words for case in cases if algorithm.name in case.algorithms})
    ports, words = ", ".join(algorithm.ports), ", ".join(map(str, lengths))
    return (algorithm.name, algorithm.networks, ports, algorithm.steps, algorithm.paper, words)


def _winners(cases: Sequence[MeasuredCase]) -> list[tuple[str, ...]]:
    """Return a row for each network and ports: the fastest algorithms of each length."""
    return [
        (f"{network} --ports {ports}", *(", ".join(case.algorithms) for case in some))
        for (network, ports), some in groupby(cases, lambda case: (case.network, case.ports))
    ]


def _facts(algorithm: Algorithm, cases: Sequence[MeasuredCase]) -> dict[str, object]:
    """Return the algorithm's description and the cases in which it was the fastest, for JSON."""
    own = [case for case in cases if case.collective == algorithm.collective]
    return {
        "collective": algorithm.collective,
        "name": algorithm.name,
        "networks": algorithm.networks,
        "ports": algorithm.ports,
        "steps": algorithm.steps,
        "paper": algorithm.paper or None,
        "fastest": [
            {name: getattr(case, name) for name in ("network", "ports", "words", "cycles")}
            for case in own
            if algorithm.name in case.algorithms
        ],
    }
