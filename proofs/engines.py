"""Yosys and ABC, from the wheel of the extra ``prove``."""

import re
import resource
import signal
import sys
from collections.abc import Sequence
from importlib.util import find_spec
from pathlib import Path

from ..model.base import processes

WHEEL = find_spec("pyosys")
"""The wheel, not imported here: Matplotlib cannot be imported after it."""

PROVED = "Property proved"
FOUND = re.compile(r"was asserted in frame (\d+)")


def run_yosys(commands: Sequence[str], folder: Path) -> None:
    """Run commands of Yosys in ``folder``, in a process of their own, because an error ends it.

    Raises :class:`RuntimeError` with the messages of Yosys if a command fails.
    """
    (folder / "script.ys").write_text("\n".join(commands))
    run = "from pyosys import libyosys; libyosys.run_pass('script script.ys')"
    done = processes.ask([sys.executable, "-c", run], folder=folder)
    if done.returncode:
        raise RuntimeError(done.stderr or done.stdout)


def run_abc(commands: str, folder: Path, *, seconds: int | None = None) -> str:
    """Return the output of ABC for some commands, run in ``folder``.

    Raises :class:`TimeoutError` after this many ``seconds`` of CPU time. ABC's own limits count the
    seconds of a clock, so that on a busy machine it would find less.
    """
    assert WHEEL and WHEEL.origin
    prover = Path(WHEEL.origin).parent / "yosys-abc"

    def limit() -> None:
        if seconds is not None:
            resource.setrlimit(resource.RLIMIT_CPU, (seconds, seconds + 1))

    done = processes.ask([str(prover), "-c", commands], folder=folder, limit=limit)
    if done.returncode == -signal.SIGXCPU:
        raise TimeoutError(f"no answer in {seconds} seconds of CPU time")
    done.check_returncode()
    return done.stdout


def first_assertion(circuit: Path) -> int | None:
    """Return a cycle in which the output of a circuit can be 1, or None if it is always 0.

    Raises :class:`RuntimeError` if ABC finds no answer.
    """
    answer = run_abc(f"read_aiger {circuit.name}; pdr", circuit.parent)
    if PROVED in answer:
        return None
    found = FOUND.search(answer)
    if not found:
        raise RuntimeError(answer)
    return int(found[1])
