"""Simulation of cases, each compared with its prediction as it ends."""

from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

from ..model.base.errors import InvalidInput
from ..model.compare.case import Case
from ..model.compare.checks import Verification, compare
from ..model.compare.traffic_case import TrafficCase, TrafficResult, compare_traffic
from ..model.network.config import NetworkConfig
from ..model.network.config_file import network_to_json
from .build import build_simulator
from .loading import job_of, job_of_traffic
from .simulator import simulate


def verify(
    cases: Sequence[Case],
    *,
    waves_file: Path | None = None,
    on_build: Callable[[], None] = lambda: None,
    verilog: Callable[[NetworkConfig], str] | None = None,
) -> Iterator[Verification]:
    """Run ``cases``, all on one network, on the simulated hardware; compare each as it ends.

    See :func:`build_simulator` for ``on_build`` and ``verilog``, :func:`simulate` for
    ``waves_file``. Raises :class:`.InvalidInput` for cases of different networks.
    """
    config = _only_network(cases)
    simulator = build_simulator(
        config, waves=waves_file is not None, on_build=on_build, verilog=verilog
    )
    results = simulate(simulator, [job_of(case) for case in cases], waves_file=waves_file)
    for case, measured in zip(cases, results, strict=True):
        yield compare(case, measured)


def run_traffic(
    cases: Sequence[TrafficCase],
    *,
    on_build: Callable[[], None] = lambda: None,
    read_memories: bool = False,
) -> Iterator[TrafficResult]:
    """Run ``cases``, all on one network, on the simulated hardware; compare each as it ends.

    Each trace is also checked by the rules that need no model. ``read_memories`` reads and checks
    the message memories after each run. Raises :class:`.InvalidInput` as :func:`verify` does.
    """
    simulator = build_simulator(_only_network(cases), on_build=on_build)
    jobs = [job_of_traffic(case, read_memories=read_memories) for case in cases]
    for case, measured in zip(cases, simulate(simulator, jobs), strict=True):
        yield compare_traffic(case, measured)


def _only_network(cases: Sequence[Case | TrafficCase]) -> NetworkConfig:
    """Return the network of all ``cases``; raise :class:`.InvalidInput` if they have several."""
    first = network_to_json(cases[0].program.config)
    for number, case in enumerate(cases):
        given = network_to_json(case.program.config)
        other = sorted(name for name in first | given if first.get(name) != given.get(name))
        if other:
            words = f"one with another {' and '.join(other)}"
            raise InvalidInput.of(f"network of case {number}", "that of case 0", words)
    return cases[0].program.config
