"""All-reduces as MSCCL XML: read, written and read again."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from helpers.algorithms import algorithm, read, step, threadblock
from helpers.every_schedule import every_schedule
from helpers.generated import generated
from lxml import etree

from eyecast.formats import msccl_writer
from eyecast.formats.msccl_writer import write_msccl
from eyecast.model.base.errors import InvalidInput
from eyecast.model.network.topology import Topology, line, mesh, ring, torus
from eyecast.model.schedule.schedule import Schedule


def exchange(scratch: bool = False) -> str:
    """Write an all-reduce: two GPUs exchange their chunk, and each adds the received one."""
    gpus = []
    for rank in range(2):
        other = 1 - rank
        send = threadblock(0, other, -1, 0, step(0, "s", "i0", "o0", hasdep=1))
        waits = {"depid": 0, "deps": 0}
        heard = [step(0, "rrc", "i0", "o0", **waits)]
        if scratch:
            heard = [step(0, "r", "i0", "s0"), step(1, "re", "s0", "o0", **waits)]
        gpus.append([send, threadblock(1, -1, other, 0, *heard)])
    text = algorithm("allreduce", gpus, "1 1 1" if scratch else "1 1 0", 1)
    return text.replace('inplace="0"', 'inplace="1"')


@pytest.mark.parametrize("scratch", [False, True], ids=["at once", "from scratch"])
def test_an_exchange_is_one_step_in_which_both_combine(scratch: bool) -> None:
    schedule = read(exchange(scratch=scratch), line(2))
    assert (schedule.collective, schedule.steps, schedule.sends) == ("all-reduce", 1, 2)
    assert schedule.combine.all()
    assert schedule.blocks.operator == ("add",)
    assert schedule.blocks.words.tolist() == [3]


def test_the_file_may_name_the_operator() -> None:
    named = exchange().replace("<algo ", '<algo redop="max" ')
    assert read(named, line(2)).blocks.operator == ("max",)


def test_a_part_of_a_network_is_custom() -> None:
    schedule = read(exchange(), mesh((2, 2)))
    assert schedule.collective == "custom"
    assert (schedule.blocks.contributors, schedule.blocks.owed) == (((0, 1),), ((0, 1),))


def test_a_named_operator_may_combine_a_contribution_twice(tmp_path: Path) -> None:
    schedule = generated("all-reduce", "dissemination", ring(5), words=4, operator="max")
    write_msccl(schedule, tmp_path / "out.xml")
    text = (tmp_path / "out.xml").read_text()
    with pytest.raises(InvalidInput, match="must reduce each chunk once, not that of"):
        read(text, ring(5))
    back = read(text.replace("<algo ", '<algo redop="max" '), ring(5))
    assert (back.collective, back.blocks.operator) == ("all-reduce", ("max",))
    assert combined(back) == combined(schedule)


def combined(schedule: Schedule) -> int:
    """Count the blocks that are combined, over all sends."""
    return int(np.diff(schedule.block_offsets)[schedule.combine].sum())


def round_trips(topology: Topology, tmp_path: Path) -> list[str]:
    """Write and read every all-reduce that is made on a network, and prove it again."""
    names = []
    for schedule in every_schedule(topology, "all-reduce", words=2 * topology.nodes):
        write_msccl(schedule, tmp_path / "out.xml")
        back = read((tmp_path / "out.xml").read_text(), topology)
        assert (back.collective, len(back.blocks)) == ("all-reduce", len(schedule.blocks))
        assert combined(back) == combined(schedule)
        names.append(schedule.algorithm)
    return names


def test_what_is_written_is_right_when_it_is_read(tmp_path: Path) -> None:
    names = round_trips(mesh((2, 2)), tmp_path)
    assert {"ring", "eye", "recursive-doubling", "circulant"} <= set(names)


def threadblocks(schedule: Schedule, path: Path) -> list[tuple[int, dict[str, int], list[Any]]]:
    """Write a schedule; return each threadblock's GPU, its attributes and its steps."""
    write_msccl(schedule, path)
    return [
        (rank, {name: int(value) for name, value in block.items()}, list(block))
        for rank, gpu in enumerate(etree.parse(path).getroot())
        for block in gpu
    ]


def test_a_threadblock_waits_once_for_each_step_and_never_for_itself(tmp_path: Path) -> None:
    waits = 0
    for schedule in every_schedule(mesh((2, 2)), "all-reduce", words=8):
        for _, block, steps in threadblocks(schedule, tmp_path / "out.xml"):
            last: dict[str, int] = {}
            for awaited, place in ((each.get("depid"), int(each.get("deps"))) for each in steps):
                if awaited != "-1":
                    assert awaited != str(block["id"])
                    assert place > last.get(awaited, -1)
                    last[awaited] = place
                    waits += 1
    assert waits > 100


@pytest.mark.parametrize(("collective", "side"), [("scatter", "send"), ("gather", "recv")])
def test_a_gpu_has_few_peers_on_a_channel(
    collective: str, side: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(msccl_writer, "MOST_PEERS", 2)
    schedule = generated(collective, "direct", mesh((3, 2)), words=3, source=0)
    blocks = threadblocks(schedule, tmp_path / "out.xml")
    channels = [block["chan"] for rank, block, _ in blocks if rank == 0 and block[side] >= 0]
    # Node 0 serves five others.
    assert sorted(channels) == [0, 0, 1, 1, 2]


@pytest.mark.slow
def test_larger_ones_too(tmp_path: Path) -> None:
    assert "swing-whole" in round_trips(torus((4, 4)), tmp_path)
