"""Schedules: which node sends which blocks to which node, in which step and by which path."""

from __future__ import annotations

from .checks import check_schedule
from .table import SendTable


class Schedule(SendTable):
    """A table of sends (:class:`~.table.SendTable`) that can prove that it is correct."""

    def check(self) -> None:
        """Prove that the sends carry out the collective, or raise :class:`.ScheduleError`.

        :func:`~.checks.check_schedule` lists the rules in the order in which it tries them.
        """
        check_schedule(self)
