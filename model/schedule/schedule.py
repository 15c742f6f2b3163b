"""Schedules: tables of sends that prove themselves."""

from .checks import check_schedule
from .table import SendTable


class Schedule(SendTable):
    """The sends of a collective. ``check()`` proves that they carry it out.

    The columns are those of :class:`.SendTable`.
    """

    def check(self) -> None:
        """Prove that the sends carry out the collective, or raise :class:`.ScheduleError`.

        :func:`~.checks.check_schedule` lists the rules in the order in which it tries them.
        """
        check_schedule(self)
