"""Algorithms: each is one way to carry out a collective, and refuses requests it does not serve."""

from __future__ import annotations

from dataclasses import dataclass, replace

from ..base.errors import InvalidInput
from ..schedule.canonical import CANONICAL
from ..schedule.collective import REDUCTIONS
from ..schedule.reduction import check_reductions
from ..schedule.rules import ScheduleError
from ..schedule.schedule import Schedule
from .declared.algorithm import ALL, Declared
from .declared.block_words import longest, require_block_words, with_block_words
from .declared.request import Request
from .limits import require_size


@dataclass(frozen=True)
class Algorithm(Declared):
    """One way to carry out a collective, with checks of the request."""

    @classmethod
    def of(cls, declared: Declared) -> Algorithm:
        """Return the algorithm of the declaration ``declared``."""
        return cls(**vars(declared))

    def generate(self, request: Request) -> Schedule:
        """Return a schedule that carries its request, so that ``check()`` can compare both.

        An algorithm with one port model serves only requests for that model. Raises
        :class:`InvalidInput` for a part of the request that the algorithm does not support.
        """
        if request.duplex is not None and "duplex" not in self.takes:
            made = self.generate(replace(request, duplex=None))
            if made.port_model != request.duplex:
                allowed, about = f"one or {made.port_model}", f" for {self.name} {self.collective}"
                raise InvalidInput.of("ports", allowed, request.duplex, about=about)
            return made
        ordered = request.order is not None and "order" not in self.takes
        canonical = self.collective in REDUCTIONS and (ordered or request.order == CANONICAL)
        if canonical:
            if request.order != CANONICAL:
                allowed = f"{CANONICAL}, or levels with hierarchy"
                raise InvalidInput.of("order", allowed, request.order, about=" of a reduction")
            request = replace(request, order=None)
        for name, (parameter, setting, unset) in CHOICES.items():
            if getattr(request, name) != unset and name not in self.takes:
                beside = f"with {self.name} {self.collective}"
                raise InvalidInput.must_be(parameter, "left out", beside, setting)
        if self.ports == (ALL,) and not request.all_port:
            raise InvalidInput.of("ports", "all", "one", about=f" for {self.name}")
        require_size(self, request)
        made = self._made(request)
        partial = request.partial or (self.leaves_out != "" and "partial" not in self.takes)
        requested = replace(
            request.of(self.collective), partial=partial, copies=self.copies, canonical=canonical
        )
        made = replace(made, requests=(requested,))
        if canonical:
            self._require_canonical(made)
        return made

    def _require_canonical(self, made: Schedule) -> None:
        """Raise :class:`InvalidInput` if some sum of ``made`` is not in the canonical order."""
        try:
            check_reductions(made)
        except ScheduleError as error:
            allowed = (
                "one that adds in the canonical order, as aligned-tree and aligned-halving do on "
                "any network"
            )
            raise InvalidInput.of("algorithm", allowed, f"{self.name}: {error}") from error

    def _made(self, request: Request) -> Schedule:
        """Return the schedule, with equal blocks or with the words of each block from a table."""
        words = request.block_words
        if words is None:
            return self.make(request)
        require_block_words(words, self.collective, request.topology)
        if request.packet is not None:
            raise InvalidInput.must_be("packet", "left out", "with block words")
        return with_block_words(self.make(replace(request, words=longest(words))), words)


CHOICES: dict[str, tuple[str, str | None, object]] = {
    "partial": ("partial", None, False),
    "all_port": ("ports", "all", False),
    "duplex": ("ports", "half-duplex or full-duplex", None),
    "order": ("order", None, None),
    "packet": ("packet", None, None),
    "operator": ("operator", None, None),
}
"""Parts of a request that only some algorithms support: parameter, setting, value when unset."""
