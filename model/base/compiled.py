"""Compilation by Numba, announced to users who wait for it.

Numba compiles a function at its first call and keeps the result for later runs. Compiling may take
ten seconds, during which no Python exception (such as an interrupt) gets through.
"""

from collections.abc import Callable
from contextlib import ExitStack
from pathlib import Path
from typing import Any, TypeVar, cast

from numba import njit
from numba.core import event
from numba.core.caching import FunctionCache
from numba.core.runtime import rtsys

from . import notices

Function = TypeVar("Function", bound=Callable[..., Any])


def compiled(function: Function, **options: Any) -> Function:
    """Compile ``function`` when it is first called, and keep the machine code for later runs."""
    result = njit(error_model="numpy", **options)(function)
    # What `cache=True` would put there is an ordinary FunctionCache.
    result._cache = _KeptCode(function)
    return cast(Function, result)


def is_kept(function: Any) -> bool:
    """Tell whether machine code of ``function`` is kept, perhaps that of older sources."""
    return any(Path(function._cache.cache_path).glob(f"*{function.__name__}-*.nbi"))


class _KeptCode(FunctionCache):  # type: ignore[misc]
    """Machine code that is loaded without what only the compiler needs.

    Numba imports everything that it can compile before it looks for kept code: a third of a warm
    ``eyecast verify``. The compiler imports it by itself, if there is no kept code.
    """

    def load_overload(self, signature: Any, target_context: Any) -> Any:
        """Return the kept code for a signature of argument types, or None."""
        rtsys.initialize(target_context)
        with self._guard_against_spurious_io_errors():
            return self._load_overload(signature, target_context)


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
