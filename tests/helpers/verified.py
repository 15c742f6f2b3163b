"""Runs on the simulated hardware that must agree with their prediction in everything."""

from collections.abc import Iterator, Sequence
from typing import Any

from eyecast.model.compare.case import Case
from eyecast.model.compare.checks import Verification
from eyecast.sim.verify import verify


def require_agreement(result: Verification) -> None:
    """Require that no check differs; otherwise name the run, and the first different flit."""
    __tracebackhide__ = True
    schedule, wrong = result.case.schedule, [check for check in result.checks if not check.agrees]
    found = "" if result.difference is None else result.difference.describe()
    run = f"{schedule.algorithm} {schedule.collective}, root {schedule.root}, {result.case.timing}"
    assert not wrong, f"{run}: {wrong}\n{found}"


def verified(cases: Sequence[Case], **options: Any) -> Iterator[Verification]:
    """Run cases of one network on the hardware; yield the results, which agree."""
    for result in verify(cases, **options):
        require_agreement(result)
        yield result
