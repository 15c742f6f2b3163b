"""Compilation by Numba, announced to users who wait for it.

Numba compiles a function at its first call and keeps the result for later runs. Compiling may take
ten seconds, during which no Python exception (such as an interrupt) gets through.
"""

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
    """A listener that opens the context ``notices.compiling``, once for nested compilations."""

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
