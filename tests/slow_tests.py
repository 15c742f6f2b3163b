"""A plugin that runs slow tests in a fixed order, until a time limit.

The proofs of boards and of the Verilog come first, and the longest test, which would otherwise run
alone at the end; then all other tests, the shortest first.
"""

import signal
import time
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType

import pytest

FIRST = (
    "boards/test_proof.py",
    "boards/test_boards.py",
    "verilog/test_equivalence.py",
    "verilog/test_sabotaged_passes.py",
    "sim/test_verify.py::test_the_largest_network_32x32",
)
SECONDS = {
    "boards/test_boards.py::test_a_network_that_does_not_fit_is_refused_after_synthesis": 20,
    "boards/test_boards.py::test_a_small_network_becomes_a_bitstream_once": 20,
    "boards/test_serial.py": 1,
    "asic/test_asic.py": 20,
    "report/test_browser.py": 5,
    "chip/test_chip.py": 15,
    "cli/test_fuzz.py": 9,
    "cli/test_options.py": 5,
    "cli/test_show.py": 2,
    "house/test_children.py": 5,
    "house/test_guides.py": 10,
    "house/test_wheel.py": 60,
    "ip/test_cocotb_bench.py": 12,
    "ip/test_package.py": 10,
    "ip/test_package.py::test_each_fault_of_an_engine_is_seen": 30,
    "ip/test_package.py::test_each_planted_fault_is_seen": 60,
    "ip/test_package.py::test_verilator_counts_what_the_bench_reaches": 80,
    "ip/test_package.py::test_verilator_passes_alone": 80,
    "model/cycle/test_operators.py": 20,
    "model/papers/transmit/test_diagonal_mesh.py": 20,
    "model/program/test_drawn_sends.py": 15,
    "model/schedule/test_requests.py": 12,
    "picture/test_places.py": 1,
    "proofs/test_certificate.py": 10,
    "proofs/test_proofs.py": 10,
    "rtl/test_combiner.py": 2,
    "rtl/test_engine_and_model.py": 12,
    "rtl/test_network.py": 5,
    "rtl/test_switches.py": 3,
    "rtl/test_wrong_programs.py": 25,
    "sim/test_circuits.py": 8,
    "sim/test_contention_free.py": 10,
    "boards/test_crossbar_mux.py": 1,
    "model/certificate/test_streams.py": 10,
    "model/papers/costs/test_counts.py": 1,
    "model/network/test_chiplets.py": 12,
    "model/papers/test_items.py": 5,
    "model/collectives/cube/test_collectives.py": 2,
    "model/collectives/test_declarations.py": 1,
    "model/collectives/test_lower_bounds.py": 1,
    "model/collectives/halving/test_eye.py": 3,
    "sim/test_interruption.py": 40,
    "model/collectives/halving/test_minimum.py": 3,
    "model/collectives/halving/test_rectangle.py": 3,
    "sim/test_schedules.py": 15,
    "sim/test_soak.py": 5,
    "sim/test_soak.py::test_a_draw_is_the_same_on_both": 15,
    "model/collectives/tree/test_broadcast.py": 5,
    "buses/test_simulated_buses.py": 12,
    "sim/test_wide_words.py": 12,
    "sweeps/test_cluster.py": 15,
    "sweeps/test_hardware.py": 15,
    "sweeps/test_saturation.py": 15,
    "sweeps/test_workers.py": 10,
    "verilog/test_equivalence.py": 20,
    "verilog/test_sabotaged_passes.py": 2,
    "sim/test_verify.py::test_every_source": 40,
    "sim/test_verify.py::test_the_largest_network_32x32": 450,
}
"""Approximate CPU seconds of slow tests from an empty cache, by function or by file."""
UNKNOWN = 5
LIMIT_MINUTES = 15
"""Minutes for a single test, which may finish after the time for all tests."""


def rank(node: str) -> tuple[bool, float]:
    """Return the sort key of the test with this name."""
    path, _, rest = node.partition("::")
    file = path.removeprefix("tests/")
    known = (f"{file}::{rest.partition('[')[0]}", file)
    return not {*known} & {*FIRST}, next(
        (SECONDS[name] for name in known if name in SECONDS), UNKNOWN
    )


def pytest_addoption(parser: pytest.Parser) -> None:
    explained = "no test is begun after so many minutes; the proofs of boards come first"
    parser.addoption("--slow-minutes", type=float, metavar="MINUTES", help=explained)


def pytest_configure(config: pytest.Config) -> None:
    minutes = config.getoption("slow_minutes")
    if minutes is not None:
        config.pluginmanager.register(Deadline(minutes))


class Deadline:
    """A plugin that sorts tests by rank, and begins none after a time limit in minutes."""

    def __init__(self, minutes: float) -> None:
        self.minutes = minutes
        self.end: float | None = None

    def pytest_collection_modifyitems(self, items: list[pytest.Item]) -> None:
        items.sort(key=lambda item: rank(item.nodeid))

    def pytest_runtest_setup(self) -> None:
        if self.end is None:
            self.end = time.monotonic() + 60 * self.minutes
        elif time.monotonic() > self.end:
            pytest.skip(f"the {self.minutes:g} minutes for slow tests are over")

    @pytest.hookimpl(wrapper=True)
    def pytest_runtest_call(self) -> Iterator[None]:
        with limited(60 * LIMIT_MINUTES):
            return (yield)


@contextmanager
def limited(seconds: float) -> Iterator[None]:
    """Fail a test that takes longer than ``seconds``."""

    def fail(_number: int, _frame: FrameType | None) -> None:
        pytest.fail(f"not over after {seconds:g} seconds")

    before = signal.signal(signal.SIGALRM, fail)
    signal.setitimer(signal.ITIMER_REAL, seconds)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)
