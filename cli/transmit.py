"""``eyecast transmit``: the fastest plan of a host, with the fewest sends."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from ..model.base.errors import InvalidInput, one_of
from ..model.compare.answer import Answer
from ..model.network.network_text import SizeLimit
from .command import command
from .console import busy, print_json, print_table, say, say_written
from .options.collective import require_words, schedule_facts, words_option
from .options.network import NetworkOptions, network_options
from .options.output import json_option, output_option, require_output_files
from .options.values import file_option, float_option

if TYPE_CHECKING:
    from ..model.papers.transmit.plan import Plan
    from ..model.papers.transmit.schemes import Findings

PLANS = ("best", "paper")
"""Plans that can be written and drawn."""


@command(
    "transmit",
    "eyecast transmit --diagonal-mesh 45 --picture cover.svg",
    "eyecast transmit --star-tree 3x12 --faulty-node 0",
)
@network_options
@words_option
@float_option("--seconds", 30, "Seconds for the search for a better plan and a proof.")
@click.option(
    "--plan",
    "which",
    default="best",
    show_default=True,
    metavar="best|paper",
    help="The plan that the command writes and draws.",
)
@file_option("--picture", help="Draw when each node gets the message, as .svg, .pdf or .png.")
@output_option("the schedule (JSON)")
@json_option
def transmit_command(
    network: NetworkOptions,
    words: int,
    seconds: float,
    which: str,
    picture: str | None,
    output: str | None,
    as_json: bool,
) -> None:
    """Find when and where a host should send, so that all nodes have its message soonest.

    In each step the host sends to one node or rests, and every node with the message passes it on
    to all its neighbours. The table has the steps t and the host's sends s of the plan in the paper
    (Ho, Hsu & Sung 1996) and of the best plan found. This problem is also known as graph burning.
    """
    from ..model.papers.transmit.schedule import transmit_schedule
    from ..model.papers.transmit.schemes import SCHEMES, transmit
    from ..model.schedule.file import write_schedule

    if picture is not None:
        from ..model.papers.items.ho_hsu_sung import is_covering, plan_picture
        from ..picture.file import require_picture_suffix, save_picture
        from ..picture.papers import draw_picture
        from ..picture.places import require_drawable

    if which not in PLANS:
        raise InvalidInput.of("--plan", one_of(PLANS), which)
    if not 0 <= seconds <= _MOST_SECONDS:
        raise InvalidInput.of("--seconds", f"0 to {_MOST_SECONDS}", seconds)
    if picture is not None:
        require_picture_suffix(picture)
    require_output_files(output, picture)
    require_words(words)
    # The network of a file is known only after it is read.
    known = network.kind in (*SCHEMES, "graph")
    topology = network.topology(SizeLimit.SCHEDULE if known else SizeLimit.SEARCH)
    if picture is not None and not is_covering(topology):
        require_drawable(topology)
    with busy("searching"):
        findings = transmit(topology, seconds)
        plan = findings.best if which == "best" else _of_paper(findings)
        schedule = transmit_schedule(plan, words)
        schedule.check()
        figure = None if picture is None else draw_picture(plan_picture(plan))
    if output is not None:
        write_schedule(schedule, output)
    if picture is not None and figure is not None:
        save_picture(figure, picture)
    if as_json:
        found = {**schedule_facts(Answer(schedule)), **_to_json(findings)}
        print_json(found, **network.facts(topology))
        return
    _print(findings)
    say_written(output, picture)


_MOST_SECONDS = 1_000_000


def _of_paper(findings: Findings) -> Plan:
    """Return the plan that a paper describes."""
    for plan in findings.plans:
        if plan.claim is not None:
            return plan
    why = f": {findings.refusals[0]}" if findings.refusals else ""
    raise InvalidInput(f"--plan must be best, as the paper has no plan for this network{why}")


def _print(findings: Findings) -> None:
    """Print the plans and the bound as a table, then a line with the proved result."""
    time, work = findings.bound
    rows: list[tuple[object, ...]] = [("lower bound", time, work, None)]
    for plan in findings.plans:
        claim = plan.claim and ", ".join("?" if part is None else str(part) for part in plan.claim)
        rows.append((plan.scheme, *plan.cost, claim))
    topology = findings.best.topology
    title = f"{topology.label}, {topology.nodes} nodes, from a host"
    print_table(title, ("", "steps t", "sends s", "paper says"), rows)
    for refusal in findings.refusals:
        say(f"a plan is missing: {refusal}")
    say(_verdict(findings))


def _verdict(findings: Findings) -> str:
    """Describe in one line the proved result, and whether by cases or by counting."""
    time, work = findings.bound
    cost = f"t = {findings.best.time}, s = {findings.best.work}"
    cases = " and ".join(f"{len(proof.entries)}" for proof in findings.certificates)
    how = f"by cases, {cases} of them, checked" if findings.certificates else "by counting"
    if findings.proved:
        return f"{cost} is optimal: proved {how}"
    least = f"t is at least {time}"
    if findings.best.time == time:
        least = f"t = {time} is the least, and s at least {work}"
    return f"{cost} is not proved to be optimal: {least}"


def _to_json(findings: Findings) -> dict[str, object]:
    time, work = findings.bound
    return {
        "least": {"t": time, "s": work},
        "proved": findings.proved,
        "plans": [
            {
                "scheme": plan.scheme,
                "t": plan.time,
                "s": plan.work,
                "claim": plan.claim,
                "sends": plan.sends,
            }
            for plan in findings.plans
        ],
        "refusals": findings.refusals,
        "certificates": [
            {"t": proof.time, "s": proof.sends, "entries": proof.entries}
            for proof in findings.certificates
        ],
    }
