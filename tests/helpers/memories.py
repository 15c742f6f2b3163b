"""The memories of simulated hardware, so that a test can flip their bits."""

from typing import Any

import pytest
from amaranth.lib.memory import Memory

from eyecast.rtl.circuits import run_table
from eyecast.rtl.parts import shared_memory, table


class Memories:
    """The memories of an engine in the order of their creation: node by node.

    ``tables`` are those of senders, or with circuits the run tables.
    """

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.tables: list[Memory] = []
        self.messages: list[Memory] = []
        kinds = ((table, self.tables), (run_table, self.tables), (shared_memory, self.messages))
        for module, made in kinds:
            monkeypatch.setattr(module, "Memory", self._recorded(made))

    def _recorded(self, made: list[Memory]) -> Any:
        def memory(**options: Any) -> Memory:
            made.append(Memory(**options))
            return made[-1]

        return memory

    def flip(self, ctx: Any, memory: Memory, address: int, bit: int) -> None:
        word = memory.data[address]
        ctx.set(word, ctx.get(word) ^ 1 << bit)
