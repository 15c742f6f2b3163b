"""MSCCL++ plans: executed by their rules, all owed chunks and sums are in the outputs."""

import json
from collections import defaultdict
from dataclasses import replace
from pathlib import Path
from random import Random
from typing import Any

import pytest
from helpers.every_schedule import every_schedule
from helpers.plans import Chunk, Executor, Memory
from helpers.schedules import Send, build

from eyecast.formats.mscclpp import write_mscclpp
from eyecast.model.base.errors import InvalidInput
from eyecast.model.network.topology import Topology, hypercube, mesh, torus
from eyecast.model.schedule.blocks import Blocks
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
    "topology", [mesh((2, 2)), mesh((3, 2)), torus((3, 3))], ids=lambda topology: topology.label
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


# ---- Reductions: all sums are right in every order of threadblocks -------------------------------


Sum = tuple[Chunk, ...]
"""A sum, as the tuple of its chunks; a chunk that is added twice is in it twice."""


def reductions(topology: Topology, collective: str, **more: Any) -> list[Schedule]:
    return [*every_schedule(topology, collective, words=2 * topology.nodes, **more)]


def written(schedule: Schedule, path: Path) -> dict[str, Any]:
    write_mscclpp(schedule, path)
    plan: dict[str, Any] = json.loads(path.read_text())
    return plan


def start(plan: dict[str, Any]) -> list[Memory[Sum]]:
    """Return each rank's memory at the start: its own chunk at every index of its input."""
    buffer = "i" if plan["collective"] == "reducescatter" else "o"
    return [
        {(buffer, place): ((gpu["id"], place),) for place in range(gpu["input_chunks"])}
        for gpu in plan["gpus"]
    ]


def wrong_sums(schedule: Schedule, plan: dict[str, Any], memory: list[Memory[Sum]]) -> list[str]:
    """Return the names of the sums that the collective owes and the memories lack."""
    ranks = range(len(plan["gpus"]))
    found = []
    for rank, gpu in enumerate(plan["gpus"]):
        if schedule.collective == "reduce" and rank != schedule.root:
            continue
        chunks = gpu["output_chunks"]
        first, buffer = 0, "o"
        if schedule.collective == "reduce-scatter":
            first, buffer = rank * chunks, "i"
        for place in range(first, first + chunks):
            if sorted(memory[rank][buffer, place]) != [(other, place) for other in ranks]:
                found.append(f"place {place} of gpu {rank}")
    return found


@pytest.mark.parametrize("collective", ["reduce", "reduce-scatter", "all-reduce"])
@pytest.mark.parametrize("topology", [mesh((3, 2)), hypercube(3)], ids=str)
def test_all_sums_are_right_whatever_the_order(
    topology: Topology, collective: str, tmp_path: Path
) -> None:
    made = 0
    for schedule in reductions(topology, collective):
        try:
            plan = written(schedule, tmp_path / "plan.json")
        except InvalidInput as error:
            assert str(error).startswith(("operations of", "blocks for")), schedule.algorithm
            continue
        for seed in range(2):
            memory = start(plan)
            Executor(plan, memory, Random(seed))
            assert not wrong_sums(schedule, plan, memory), (schedule.algorithm, seed)
        made += 1
    assert made > 1


def by_hand(port_model: str, root: int, *sends: Send) -> Schedule:
    """Return a reduce of one block by three nodes in a line."""
    blocks = Blocks.reduced_to(((root,),), 1, "add")
    schedule = replace(build((3,), list(sends), blocks, "reduce", port_model), root=root)
    schedule.check()
    return schedule


BY_HAND = {
    "a chunk leaves while another is added to it": by_hand(
        "full-duplex",
        0,
        Send(1, [1, 0], combine=True),
        Send(1, [2, 1], combine=True),
        Send(2, [2, 1, 0], combine=True),
    ),
    "two are added to one chunk at once": by_hand(
        "all-port", 1, Send(1, [0, 1], combine=True), Send(1, [2, 1], combine=True)
    ),
}


@pytest.mark.parametrize("schedule", BY_HAND.values(), ids=BY_HAND)
def test_what_meets_in_one_step_is_right_in_any_order(schedule: Schedule, tmp_path: Path) -> None:
    plan = written(schedule, tmp_path / "plan.json")
    for seed in range(20):
        memory = start(plan)
        Executor(plan, memory, Random(seed))
        assert not wrong_sums(schedule, plan, memory), seed


def all_reduce(tmp_path: Path) -> tuple[Schedule, dict[str, Any]]:
    (schedule,) = [
        each
        for each in reductions(hypercube(2), "all-reduce")
        if each.algorithm == "recursive-doubling"
    ]
    return schedule, written(schedule, tmp_path / "plan.json")


def test_without_its_barriers_two_combine_at_once(tmp_path: Path) -> None:
    _, plan = all_reduce(tmp_path)
    for gpu in plan["gpus"]:
        for block in gpu["threadblocks"]:
            assert any(each["name"] == "barrier" for each in block["ops"])
            block["ops"] = [each for each in block["ops"] if each["name"] != "barrier"]
    with pytest.raises(AssertionError, match=r"^two combine at once"):
        Executor(plan, start(plan))


@pytest.mark.parametrize("mistake", ["twice", "left out", "copied"])
def test_the_judge_sees_a_wrong_sum(mistake: str, tmp_path: Path) -> None:
    schedule, plan = all_reduce(tmp_path)
    operations = plan["gpus"][2]["threadblocks"][0]["ops"]
    (first, *_) = [place for place, each in enumerate(operations) if each["name"] == "re"]
    match mistake:
        case "twice":
            operations.insert(first, operations[first])
        case "left out":
            del operations[first]
        case "copied":
            operations[first]["name"] = "copy"
            del operations[first]["src_buff"][0]
    memory = start(plan)
    Executor(plan, memory)
    assert wrong_sums(schedule, plan, memory)


def test_another_operator_is_refused(tmp_path: Path) -> None:
    schedule = reductions(mesh((2, 2)), "all-reduce", operator="max")[0]
    with pytest.raises(
        InvalidInput, match=r"^operator must be add, in an MSCCL\+\+ plan, not max$"
    ):
        write_mscclpp(schedule, tmp_path / "plan.json")
    assert not list(tmp_path.iterdir())
