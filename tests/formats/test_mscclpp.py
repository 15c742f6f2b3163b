"""MSCCL++ plans: executed here by their rules, all outputs get what they are owed."""

from __future__ import annotations

import json
from collections import defaultdict, deque
from pathlib import Path
from typing import Any

import pytest

from eyecast.formats.mscclpp import write_mscclpp
from eyecast.model.base.errors import InvalidInput
from eyecast.model.collectives.registry import algorithms_for
from eyecast.model.collectives.request import Request
from eyecast.model.network.topology import Topology, hypercube, mesh, torus
from eyecast.model.schedule.collective import COLLECTIVES, ROOTLESS
from eyecast.model.schedule.schedule import Schedule

Chunk = tuple[int, int]
Memory = dict[tuple[str, int], Chunk]


class Executor:
    """Carries out a plan: operations of threadblocks one by one, as signals and barriers allow."""

    def __init__(self, plan: dict[str, Any], memory: list[Memory]) -> None:
        self.gpus, self.memory = plan["gpus"], memory
        self.signals: defaultdict[tuple[str, int, int], int] = defaultdict(int)
        self.came: defaultdict[tuple[int, int], int] = defaultdict(int)
        self.passed: defaultdict[tuple[int, int], int] = defaultdict(int)
        ready = deque(
            [gpu["id"], block["id"], 0] for gpu in self.gpus for block in gpu["threadblocks"]
        )
        idle = 0
        while ready and idle <= len(ready):
            at = ready.popleft()
            operations = self.gpus[at[0]]["threadblocks"][at[1]]["ops"]
            before = at[2]
            while at[2] < len(operations) and self.carries_out(at[0], at[1], operations[at[2]]):
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
            case "barrier":
                assert operation["num_threadblocks"] == len(gpu["threadblocks"])
                return self.passes(rank, block)
            case other:
                assert other == "nop"
        return True

    def passes(self, rank: int, block: int) -> bool:
        """Tell if all have come as often as this one now has."""
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


def executed(schedule: Schedule, path: Path) -> tuple[dict[str, Any], list[Memory]]:
    write_mscclpp(schedule, path)
    plan = json.loads(path.read_text())
    memory: list[Memory] = []
    root = schedule.root
    for gpu in plan["gpus"]:
        rank, own = gpu["id"], gpu["input_chunks"]
        if plan["collective"] == "allgather":
            memory.append({("o", rank * own + place): (rank, place) for place in range(own)})
        elif plan["collective"] == "broadcast":
            memory.append(
                {("o", each): (rank, each) for each in range(own)} if rank == root else {}
            )
        else:
            memory.append({("i", place): (rank, place) for place in range(own)})
    Executor(plan, memory)
    return plan, memory


def output(memory: Memory) -> list[Chunk]:
    return [chunk for (buffer, _), chunk in sorted(memory.items()) if buffer == "o"]


def generated(topology: Topology) -> list[Schedule]:
    found = []
    for collective in (each for each in COLLECTIVES if not each.reduces):
        root = None if collective in ROOTLESS else 1
        targets = (2,) if collective == "multicast" else None
        for each in algorithms_for(collective):
            request = Request(topology=topology, words=3, source=root, targets=targets)
            try:
                found.append(each.generate(request))
            except InvalidInput:
                continue
    return found


def expected(schedule: Schedule, plan: dict[str, Any], rank: int) -> list[Chunk]:
    ranks, loop = len(plan["gpus"]), plan["gpus"][0]["output_chunks"]
    each = loop // ranks
    match plan["collective"]:
        case "allgather":
            return [(source, place) for source in range(ranks) for place in range(each)]
        case "alltoall":
            places = range(rank * each, (rank + 1) * each)
            return [(source, place) for source in range(ranks) for place in places]
        case "broadcast":
            return [(1, place) for place in range(loop)]
    owner, counts, owed = schedule.blocks.owner.tolist(), defaultdict(int), []
    for block, source in enumerate(owner):
        if rank in (schedule.blocks.owed[block] or ()):
            owed.append((source, counts[source]))
        counts[source] += 1
    return owed


@pytest.mark.parametrize(
    "topology",
    [mesh((2, 2)), mesh((3, 2)), hypercube(3), torus((3, 3))],
    ids=lambda topology: topology.label,
)
def test_all_outputs_get_what_they_are_owed(topology: Topology, tmp_path: Path) -> None:
    made = generated(topology)
    for schedule in made:
        plan, memory = executed(schedule, tmp_path / "plan.json")
        for rank in range(topology.nodes):
            found = output(memory[rank])
            assert found == expected(schedule, plan, rank), (schedule.algorithm, rank)
    assert len(made) > 8


def test_without_its_barriers_a_plan_may_be_wrong(tmp_path: Path) -> None:
    schedule = next(each for each in generated(mesh((3, 2))) if each.algorithm == "ring")
    plan, _ = executed(schedule, tmp_path / "plan.json")
    names = [each["name"] for gpu in plan["gpus"] for b in gpu["threadblocks"] for each in b["ops"]]
    assert names.count("barrier") > 0
    for gpu in plan["gpus"]:
        for block in gpu["threadblocks"]:
            block["ops"] = [each for each in block["ops"] if each["name"] != "barrier"]
    memory: list[Memory] = [{("o", 0): (1, 0)} if rank == 1 else {} for rank in range(6)]
    with pytest.raises(KeyError):
        Executor(plan, memory)


def test_more_operations_than_can_be_executed_are_refused(tmp_path: Path) -> None:
    (each,) = (
        each
        for each in generated(mesh((24,)))
        if (each.collective, each.algorithm) == ("all-gather", "ring")
    )
    with pytest.raises(InvalidInput, match=r"operations of .* of gpu . must be at most 64"):
        write_mscclpp(each, tmp_path / "plan.json")
    assert not (tmp_path / "plan.json").exists()
