"""``eyecast algorithms``: the algorithms, their networks, and where each was the fastest."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import groupby
from typing import TYPE_CHECKING

import click

from ..model.base.errors import InvalidInput, like
from ..model.base.texts import counted
from ..model.collectives.algorithm import Algorithm
from ..model.collectives.registry import ALGORITHMS, SOLVED
from ..model.schedule.collective import COLLECTIVES
from .command import command
from .console import print_json, print_table, say
from .options.output import json_option
from .options.values import complete_words

if TYPE_CHECKING:
    from ..model.collectives.fastest import MeasuredCase

COLUMNS = ("algorithm", "networks", "ports", "steps", "paper", "fastest at")

LISTED = (*ALGORITHMS, *SOLVED)
NAMES = tuple(dict.fromkeys(each.name for each in LISTED))


@command(
    "algorithms",
    "eyecast algorithms --collective all-reduce",
    "eyecast algorithms chain",
)
@click.argument("name", required=False, metavar="[NAME]", shell_complete=complete_words(NAMES))
@click.option(
    "--collective",
    metavar="NAME",
    shell_complete=complete_words(COLLECTIVES),
    help="List only the algorithms for this collective, such as broadcast.",
)
@json_option
def algorithms_command(name: str | None, collective: str | None, as_json: bool) -> None:
    """List the algorithms; with NAME or --collective also networks, ports, steps and paper.

    In the table, N is the number of nodes that take part, and n the number of nodes on a side. The
    column "fastest at" has the lengths (in words) at which an algorithm was the fastest on some
    measured network.
    """
    from ..model.collectives.fastest import measured_cases

    if name is not None and name not in NAMES:
        raise InvalidInput.of(
            "NAME", "an algorithm that eyecast algorithms lists", like(name, NAMES)
        )
    cases = measured_cases()
    if collective not in (None, *COLLECTIVES):
        raise InvalidInput.unknown("collective", COLLECTIVES, collective)
    listed = [
        each
        for each in LISTED
        if collective in (None, each.collective) and name in (None, each.name)
    ]
    if as_json:
        facts = [_facts(each, cases) for each in listed]
        print_json({"algorithms": facts})
    elif name is not None:
        for each in listed:
            say(*_lines(each, cases))
    elif collective is not None:
        own = [case for case in cases if case.collective == collective]
        print_table(collective, COLUMNS, [_row(each, own) for each in listed])
        if own:
            print_table("", ("network", "the fastest, by words"), _winners(own))
    else:
        names = [
            (each, ", ".join(found.name for found in LISTED if found.collective == each))
            for each in COLLECTIVES
        ]
        print_table("", ("collective", "algorithms"), names, width=80)
        say("more: eyecast algorithms --collective NAME, or eyecast algorithms NAME")


def _lines(algorithm: Algorithm, cases: Sequence[MeasuredCase]) -> list[str]:
    """Return all that is known of ``algorithm`` for one collective, as lines."""
    facts = {
        "networks": algorithm.networks,
        "ports": ", ".join(algorithm.ports),
        "steps": algorithm.steps,
        "paper": algorithm.paper,
    }
    own = [
        case
        for case in cases
        if case.collective == algorithm.collective and algorithm.name in case.algorithms
    ]
    fastest = []
    for (network, ports), some in groupby(own, lambda case: (case.network, case.ports)):
        *less, most = (case.words for case in some)
        lengths = ", ".join([*(f"{words:,}" for words in less), counted(most, "word")])
        fastest.append(f"{network} --ports {ports}: {lengths}")
    return [
        f"{algorithm.name}, {algorithm.collective}",
        *(f"  {fact:8}  {text}" for fact, text in facts.items() if text),
        *(f"  {'' if number else 'fastest':8}  {each}" for number, each in enumerate(fastest)),
    ]


def _row(algorithm: Algorithm, cases: Sequence[MeasuredCase]) -> tuple[str, ...]:
    """Return the line of ``algorithm`` in the table of its collective."""
    lengths = sorted({case.words for case in cases if algorithm.name in case.algorithms})
    ports, words = ", ".join(algorithm.ports), ", ".join(f"{length:,}" for length in lengths)
    return (algorithm.name, algorithm.networks, ports, algorithm.steps, algorithm.paper, words)


def _winners(cases: Sequence[MeasuredCase]) -> list[tuple[str, str]]:
    """Return a row for each network and ports: the fastest algorithms of each length."""
    return [
        (
            f"{network} --ports {ports}",
            "; ".join(f"{', '.join(case.algorithms) or 'none'} at {case.words:,}" for case in some),
        )
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
