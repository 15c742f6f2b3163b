"""Numba, and who is told when it compiles.

Numba compiles a function when it is first called, and keeps the result for later runs. That may
take ten seconds, in which it calls a compiler that no exception of Python's gets through.
"""

from __future__ import annotations

from collections.abc import Callable
from contextlib import ExitStack
from typing import Any, TypeVar

from numba import njit
from numba.core import event

from . import notices

Function = TypeVar("Function", bound=Callable[..., Any])


def compiled(function: Function, **options: Any) -> Function:
    """Compile ``function`` when it is first called, and keep the machine code for later runs."""
    result: Function = njit(cache=True, error_model="numpy", **options)(function)
    return result


class _Compilations(event.Listener):  # type: ignore[misc]
    """Enters the context of those who wait for each compilation; one may be within another."""

    def __init__(self) -> None:
        self._depth = 0
        self._contexts = ExitStack()

    def on_start(self, _event: Any) -> None:
        if self._depth == 0:
            self._contexts.enter_context(notices.compiling())
        self._depth += 1

    def on_end(self, _event: Any) -> None:
        self._depth -= 1
        if self._depth == 0:
            self._contexts.close()


event.register("numba:compile", _Compilations())
