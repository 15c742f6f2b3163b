"""Fixtures that several test files share."""

import pytest

from eyecast.model import schedule_checks


@pytest.fixture(params=[schedule_checks.LARGEST_PAIR_TABLE, 0], ids=["whole", "sparse"])
def _pair_table(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    """Both ways in which check() keeps who has which block."""
    monkeypatch.setattr(schedule_checks, "LARGEST_PAIR_TABLE", request.param)
