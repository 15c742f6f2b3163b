"""MSCCL++ plans: executed by their rules, they write every owed chunk to its output."""

import json
from collections import defaultdict
from pathlib import Path
from typing import Any

import pytest
from helpers.every_schedule import every_schedule
from helpers.plans import Chunk, Executor, Memory

from eyecast.formats.mscclpp import write_mscclpp
from eyecast.model.base.errors import InvalidInput
from eyecast.model.network.topology import Topology, hypercube, mesh, torus
from eyecast.model.schedule.collective import COLLECTIVES
from eyecast.model.schedule.schedule import Schedule


def executed(schedule: Schedule, path: Path) -> tuple[dict[str, Any], list[Memory[Chunk]]]:
    write_mscclpp(schedule, path)
    plan = json.loads(path.read_text())
    memory: list[Memory[Chunk]] = []
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


def output(memory: Memory[Chunk]) -> list[Chunk]:
    return [chunk for (buffer, _), chunk in sorted(memory.items()) if buffer == "o"]


def generated(topology: Topology) -> list[Schedule]:
    copying = (each for each in COLLECTIVES if not each.reduces)
    return [made for each in copying for made in every_schedule(topology, each, words=3)]


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
    memory: list[Memory[Chunk]] = [{("o", 0): (1, 0)} if rank == 1 else {} for rank in range(6)]
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
