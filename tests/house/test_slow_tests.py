"""The order and the time limit of slow tests, tried on a generated test file."""

import os
import re
import sys
import textwrap
import time
import tomllib
from pathlib import Path

import pytest
from helpers.processes import run_program
from slow_tests import FIRST, SECONDS, UNKNOWN, limited, rank

TESTS = """
    import time
    import pytest

    @pytest.mark.parametrize("number", range(3))
    def test_of_a_second(number):
        time.sleep(1)
"""


def test_proofs_come_first_and_then_what_is_short() -> None:
    known, seconds = max(SECONDS.items(), key=lambda item: (item[0] not in FIRST, item[1]))
    assert seconds > UNKNOWN
    dear, unknown = f"tests/{known}[8-1]", "tests/test_of_tomorrow.py::test_it"
    proof = f"tests/{FIRST[0]}::test_it[a/b::c]"
    assert sorted([dear, unknown, proof], key=rank) == [proof, unknown, dear]


def test_every_test_whose_seconds_are_known_is_there() -> None:
    here = Path(__file__).parents[1]
    for name in (*SECONDS, *FIRST):
        file, _, function = name.partition("::")
        text = (here / file).read_text()
        assert not function or f"def {function}(" in text, name


def packages(requirements: list[str]) -> set[str]:
    return {re.split(r"[^\w-]", each)[0] for each in requirements}


def test_what_tests_need_is_installed_for_the_slow_ones() -> None:
    root = Path(__file__).parents[2]
    extras = tomllib.loads((root / "pyproject.toml").read_text())["project"][
        "optional-dependencies"
    ]
    rule = (root / "Makefile").read_text().partition("$(CHECKS_READY):")[2].partition("@touch")[0]
    (installed,) = re.findall(r"\.\[([\w,]+)\]", rule)
    there = set().union(*(packages(extras[name]) for name in ["boards", *installed.split(",")]))
    for path in (root / "tests").rglob("*.py"):
        text = path.read_text()
        for name in re.findall(r"pip install '(?:\.|eyecast)\[(\w+)\]'", text):
            assert packages(extras[name]) <= there, f"{path}: {name}"
        if path != Path(__file__):
            assert not re.findall(r"importorskip\([^,()]*\)", text), (
                f"{path} skips without a reason"
            )


def test_a_test_that_takes_too_long_fails() -> None:
    with pytest.raises(pytest.fail.Exception, match=r"not over after 0\.05 seconds"), limited(0.05):
        time.sleep(5)


def test_none_begins_when_the_time_is_over(tmp_path: Path) -> None:
    (tmp_path / "test_drawn.py").write_text(textwrap.dedent(TESTS))
    done = run_program(
        [sys.executable, "-m", "pytest", "-rs", "-p", "slow_tests", "--slow-minutes", "0.01"],
        cwd=tmp_path,
        env={**os.environ, "PYTHONPATH": str(Path(__file__).parents[1])},
    )
    assert "1 passed, 2 skipped" in done.stdout
    assert "the 0.01 minutes for slow tests are over" in done.stdout
