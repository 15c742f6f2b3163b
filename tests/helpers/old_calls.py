"""Runs a program of msccl-tools that calls its language as it once was; a script, not a module.

    python old_calls.py PROGRAM [ARGUMENT ...]

In the language as it is, ``chunk`` needs an index, ``reduce`` takes the chunk that is added, and
``copy`` is the name of what was ``send``. Checks of collectives that do not run any more are left
out: nothing here relies on them. A program for 8 GPUs that asks for a network of 4 gets one of 8.
"""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

from msccl import language

chunk, reduce = language.chunk, language.Ref.reduce


def chunk_from_the_first(rank: int, buffer: Any, index: int = 0, size: int = 1) -> Any:
    return chunk(rank, buffer, index, size)


def reduce_onto(self: Any, other: Any, buffer: Any = None, index: int = -1, **where: int) -> Any:
    """Add this chunk to another GPU's; with the new meaning, add a chunk to this one."""
    if isinstance(other, int):
        return reduce(chunk(other, buffer, index, self.size), self, **where)
    return reduce(self, other, **where)


language.chunk = chunk_from_the_first
language.Ref.reduce = reduce_onto
language.Ref.send = language.Ref.copy
language.Check = lambda: True

sys.argv = sys.argv[1:]
text = Path(sys.argv[0]).read_text().replace("fully_connected(4)", "fully_connected(8)")
exec(compile(text, sys.argv[0], "exec"), {"__name__": "__main__"})
