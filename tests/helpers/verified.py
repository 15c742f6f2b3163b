"""Runs on the simulated hardware that must agree with their prediction in everything."""

from collections.abc import Callable, Iterator, Sequence
from typing import Any

import pytest

from eyecast.model.compare.case import Case
from eyecast.model.compare.checks import Verification
from eyecast.model.network.config import NetworkConfig
from eyecast.model.run.run import HardwareRun, Run
from eyecast.model.run.signature import signatures
from eyecast.sim import loading
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


def require_same_but_trace(predicted: Run, measured: HardwareRun, config: NetworkConfig) -> None:
    """Require that everything except the trace, which the signatures stand for, is as predicted."""
    assert predicted.finished
    assert measured.finished
    assert measured.cycles == predicted.cycles
    assert not measured.flags.any()
    assert (measured.memory == predicted.memory[:, : measured.memory.shape[1]]).all()
    assert (measured.signature == signatures(predicted.trace, config)).all()
    assert measured.signature.any()


def flip_a_word(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let the hardware get another word than the model in each message memory."""

    def flipping(sound: Callable[..., Any]) -> Callable[..., Any]:
        def flipped(program, loads, **options):
            for _, _, words in loads:
                words[2] ^= 1
            return sound(program, loads, **options)

        return flipped

    for name in ("prepare", "prepare_circuits"):
        monkeypatch.setattr(loading, name, flipping(getattr(loading, name)))
