"""MSCCL++ plans, executed by their rules, for tests."""

from collections import defaultdict, deque
from random import Random
from typing import Any, Generic, TypeVar, cast

Chunk = tuple[int, int]
"""A chunk: its rank and its index."""

Held = TypeVar("Held", bound=tuple[Any, ...])

Memory = dict[tuple[str, int], Held]
"""The content of a rank's (buffer, index) slots; tuples, because "+" joins sums."""


class Executor(Generic[Held]):
    """An executor of a plan, one operation at a time, as signals and barriers allow.

    With ``turns``, the next threadblock is drawn. A threadblock must not combine a chunk that
    another one has combined since their last barrier.
    """

    def __init__(
        self, plan: dict[str, Any], memory: list[Memory[Held]], turns: Random | None = None
    ) -> None:
        self.gpus, self.memory = plan["gpus"], memory
        self.signals: defaultdict[tuple[str, int, int], int] = defaultdict(int)
        self.came: defaultdict[tuple[int, int], int] = defaultdict(int)
        self.passed: defaultdict[tuple[int, int], int] = defaultdict(int)
        self.combined: dict[tuple[int, str, int], tuple[int, int]] = {}
        ready = deque(
            [gpu["id"], block["id"], 0] for gpu in self.gpus for block in gpu["threadblocks"]
        )
        idle = 0
        while ready and idle <= (20 * len(ready) if turns else len(ready)):
            if turns:
                ready.rotate(turns.randrange(len(ready)))
            at = ready.popleft()
            operations = self.gpus[at[0]]["threadblocks"][at[1]]["ops"]
            before = at[2]
            end = before + 1 if turns else len(operations)
            while at[2] < min(end, len(operations)) and self.carries_out(
                at[0], at[1], operations[at[2]]
            ):
                at[2] += 1
            idle = idle + 1 if at[2] == before < len(operations) else 0
            if at[2] < len(operations):
                ready.append(at)
        assert not ready, "threadblocks wait for ever"

    def carries_out(self, rank: int, block: int, operation: dict[str, Any]) -> bool:
        gpu = self.gpus[rank]
        threadblock = gpu["threadblocks"][block]
        match operation["name"]:
            case "signal" | "rlxsignal" | "wait" | "rlxwait":
                (channel,) = threadblock["channels"][0]["channel_ids"]
                peer = gpu["channels"][0]["connected_to"][channel]
                kind = "hello" if operation["name"].startswith("rlx") else "signal"
                if operation["name"].endswith("signal"):
                    self.signals[kind, rank, peer] += 1
                elif not self.signals[kind, peer, rank]:
                    return False
                else:
                    self.signals[kind, peer, rank] -= 1
            case "put":
                (target,) = operation["dst_buff"]
                (references,) = threadblock["remote_buffer_refs"]
                remote = gpu["remote_buffers"][references["remote_buffer_ids"][target["buffer_id"]]]
                self.copies(rank, operation, remote["rank"], remote["type"])
            case "copy":
                self.copies(rank, operation, rank, operation["dst_buff"][0]["type"])
            case "re":
                self.reduces(rank, block, operation)
            case "barrier":
                assert operation["num_threadblocks"] == len(gpu["threadblocks"])
                return self.passes(rank, block)
            case other:
                assert other == "nop"
        return True

    def passes(self, rank: int, block: int) -> bool:
        """Tell whether all threadblocks have arrived as often as this one."""
        self.came[rank, block] = self.passed[rank, block] + 1
        blocks = self.gpus[rank]["threadblocks"]
        if any(self.came[rank, each["id"]] < self.came[rank, block] for each in blocks):
            return False
        self.passed[rank, block] += 1
        return True

    def copies(self, rank: int, operation: dict[str, Any], other: int, buffer: str) -> None:
        (begin,), (end,) = operation["src_buff"], operation["dst_buff"]
        assert begin["size"] == end["size"]
        for place in range(begin["size"]):
            chunk = self.memory[rank][begin["type"], begin["index"] + place]
            self.memory[other][buffer, end["index"] + place] = chunk

    def reduces(self, rank: int, block: int, operation: dict[str, Any]) -> None:
        """Combine chunks of the same GPU."""
        (end,), sources = operation["dst_buff"], operation["src_buff"]
        assert operation["reduce_op"] == "sum"
        for place in range(end["size"]):
            now, slot = (block, self.passed[rank, block]), (rank, end["type"], end["index"] + place)
            last, met = self.combined.get(slot, now)
            assert last == block or met < now[1], "two combine at once"
            self.combined[slot] = now
            assert all(each["size"] == end["size"] for each in sources)
            first, *rest = [
                self.memory[rank][each["type"], each["index"] + place] for each in sources
            ]
            for more in rest:
                first = cast(Held, first + more)
            self.memory[rank][end["type"], end["index"] + place] = first
