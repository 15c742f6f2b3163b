"""Compilation by Numba, announced to users who wait for it.

Numba compiles a function at its first call and keeps the result for later runs. Compiling may take
ten seconds, during which no Python exception (such as an interrupt) gets through.
"""

import os
import pkgutil
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager, suppress
from functools import cache
from pathlib import Path
from typing import Any, TypeVar, cast

import numba
from numba import njit
from numba.core import event

from . import notices
from .files import OTHERS

Function = TypeVar("Function", bound=Callable[..., Any])

PRIVATE = (
    "numba.core.caching:FunctionCache._load_overload",
    "numba.core.caching:FunctionCache._guard_against_spurious_io_errors",
    "numba.core.runtime:rtsys.initialize",
)
"""Parts of Numba that no release promises to keep."""


def compiled(function: Function, **options: Any) -> Function:
    """Compile ``function`` when it is first called, and keep the machine code for later runs."""
    result = njit(error_model="numpy", **options)(function)
    if (kept := _kept_code()) is None:
        result.enable_caching()
    else:
        # What `cache=True` would put there is an ordinary FunctionCache.
        result._cache = kept(function)
    return cast(Function, result)


def is_kept(function: Any) -> bool:
    """Tell whether machine code of ``function`` is kept, perhaps that of older sources."""
    return any(Path(function.stats.cache_path).glob(f"*{function.__name__}-*.nbi"))


def moved_parts() -> list[str]:
    """Return the parts of :data:`PRIVATE` that this release of Numba does not have."""
    moved = list(PRIVATE)
    for name in PRIVATE:
        with suppress(ImportError, AttributeError):
            pkgutil.resolve_name(name)
            moved.remove(name)
    return moved


@cache
def _kept_code() -> Any:
    """Return the class that keeps a function's code; None if Numba has moved what it needs."""
    if moved := moved_parts():
        notices.LOG.warning(
            "Numba %s has moved %s: its own cache is used, and commands start later",
            numba.__version__,
            ", ".join(moved),
        )
        return None
    from numba.core.caching import FunctionCache  # noqa: PLC0415 - may have moved
    from numba.core.runtime import rtsys  # noqa: PLC0415 - may have moved

    class KeptCode(FunctionCache):  # type: ignore[misc]
        """Machine code that is loaded without what only the compiler needs.

        Numba imports everything that it can compile before it looks for kept code: a third of a
        warm ``eyecast verify``. The compiler imports it by itself, if there is no kept code.
        """

        def __init__(self, function: Callable[..., Any]) -> None:
            with _closed_to_others():
                super().__init__(function)
            self._source = function.__code__.co_filename

        def load_overload(self, signature: Any, target_context: Any) -> Any:
            """Return the kept code for a signature of argument types, or None."""
            rtsys.initialize(target_context)
            if not _is_as_safe(self.cache_path, self._source):
                return None
            with self._guard_against_spurious_io_errors():
                return self._load_overload(signature, target_context)

        def save_overload(self, signature: Any, data: Any) -> None:
            """Keep the code of a signature."""
            with _closed_to_others():
                super().save_overload(signature, data)

    return KeptCode


@contextmanager
def _closed_to_others() -> Iterator[None]:
    """Make files that other users cannot write, whatever the umask is."""
    before = os.umask(OTHERS)
    os.umask(before | OTHERS)
    try:
        yield
    finally:
        os.umask(before)


@cache
def _is_as_safe(folder: str, source: str) -> bool:
    """Tell whether only users who can write to a source can write to the folder of its code."""
    owners, open_to = {0, os.geteuid()}, 0
    with suppress(OSError):
        of_source = Path(source).stat()
        owners, open_to = {*owners, of_source.st_uid}, of_source.st_mode & OTHERS
    try:
        found = Path(folder).stat()
    except OSError:
        return True
    if found.st_uid in owners and not found.st_mode & OTHERS & ~open_to:
        return True
    notices.LOG.warning("machine code in %s is not used: other users can write there", folder)
    return False


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
