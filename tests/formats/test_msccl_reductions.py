"""Reductions as MSCCL XML: read, written and read again, with sums of all kinds."""

from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from helpers import algorithms
from helpers.algorithms import (
    algorithm,
    all_to_all_reduce,
    chain_reduce,
    dissemination,
    read,
    refusal,
    ring_all_reduce,
    ring_reduce_scatter,
    step,
    threadblock,
    two_sums,
)
from helpers.drawn_reductions import case_of, wrong_nodes
from helpers.every_schedule import every_schedule
from helpers.generated import generated
from lxml import etree

from eyecast.formats import msccl_writer
from eyecast.formats.msccl_writer import write_msccl
from eyecast.model.base.errors import InvalidInput
from eyecast.model.network.port_model import PortModel
from eyecast.model.network.topology import Topology, line, mesh, ring, torus
from eyecast.model.schedule.rules import ScheduleError
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


# ---- Sums of several kinds -----------------------------------------------------------------------


read_sums = partial(algorithms.read, words=2)


def shape(schedule: Schedule) -> tuple[str, int | None, int, tuple[tuple[int, ...] | None, ...]]:
    return schedule.collective, schedule.root, schedule.sends, schedule.blocks.owed


KINDS = {
    "reduce-scatter": (
        ring_reduce_scatter(4),
        ("reduce-scatter", None, 12, ((0,), (1,), (2,), (3,))),
    ),
    "reduce-scatter in place": (
        ring_reduce_scatter(4, inplace=True),
        ("reduce-scatter", None, 12, ((0,), (1,), (2,), (3,))),
    ),
    "all-reduce": (ring_all_reduce(4), ("all-reduce", None, 24, (None,) * 4)),
    "reduce": (chain_reduce(4), ("reduce", 0, 3, ((0,),))),
    "custom": (two_sums(), ("custom", None, 3, ((0, 3), (1,)))),
}


@pytest.mark.parametrize(("text", "expected"), KINDS.values(), ids=KINDS)
def test_all_kinds_and_steps_give_right_sums(
    text: str, expected: tuple[str, int | None, int, tuple[tuple[int, ...] | None, ...]]
) -> None:
    schedule = read_sums(text, mesh((2, 2)))
    assert shape(schedule) == expected
    case = case_of(schedule, seed=3)
    assert case.predicted.finished
    assert wrong_nodes(case, case.predicted.memory) == []


def late_relay() -> str:
    """Let GPU 1 send its own chunks to GPU 2 before it passes on GPU 0's, which GPU 2 adds."""
    first = [threadblock(0, 1, -1, 1, step(0, "s", "i0", "s0"))]
    second = [
        threadblock(0, 2, -1, 0, step(0, "s", "i1", "o1"), step(1, "s", "i0", "o0")),
        threadblock(1, 2, 0, 1, step(0, "rcs", "s0", "s0")),
    ]
    third = [
        threadblock(0, -1, 1, 0, step(0, "rrc", "i1", "o1"), step(1, "rrc", "i0", "o0", hasdep=1)),
        threadblock(1, -1, 1, 1, step(0, "rrc", "o0", "o0", depid=0, deps=1)),
    ]
    return algorithm("custom", [first, second, third], "2 2 1", 2)


def test_what_replaces_comes_after_all_that_was_sent() -> None:
    schedule = read_sums(late_relay(), line(3))
    assert shape(schedule) == ("custom", None, 4, ((2,), (2,)))
    assert schedule.combine.tolist().count(False) == 1
    case = case_of(schedule, seed=3)
    assert wrong_nodes(case, case.predicted.memory) == []


def relayed_after() -> str:
    """Let GPU 1 finish its sum before it passes on one of the summed chunks, GPU 0's, to GPU 2."""
    first = [
        threadblock(0, 1, -1, 0, step(0, "s", "i0", "o0")),
        threadblock(1, 1, -1, 1, step(0, "s", "i0", "s0")),
    ]
    waits = step(0, "nop", "i0", "o0", depid=1, deps=0)
    second = [
        threadblock(0, 2, -1, 0, step(0, "s", "i0", "o0")),
        threadblock(1, -1, 0, 0, step(0, "rrc", "i0", "o0", hasdep=1)),
        threadblock(2, 2, 0, 1, waits, step(1, "rcs", "s0", "s0")),
    ]
    third = [
        threadblock(0, -1, 1, 0, step(0, "r", "i0", "o0", hasdep=1)),
        threadblock(1, -1, 1, 1, step(0, "rrc", "o0", "o0", depid=0, deps=0)),
    ]
    return algorithm("custom", [first, second, third], "1 1 1", 1)


def test_a_part_that_passes_a_node_which_has_its_sum_is_kept_apart() -> None:
    schedule = read_sums(relayed_after(), line(3))
    assert shape(schedule) == ("custom", None, 4, ((1,), (2,)))
    case = case_of(schedule, seed=3)
    assert wrong_nodes(case, case.predicted.memory) == []


def test_two_sums_have_other_contributors() -> None:
    blocks = read_sums(two_sums(), mesh((2, 2))).blocks
    assert blocks.contributors == ((2, 3), (0, 1))
    assert blocks.operator == ("add", "add")


def test_all_to_all_sums_are_kept_apart(caplog: pytest.LogCaptureFixture) -> None:
    schedule = read_sums(all_to_all_reduce(4), mesh((2, 2)))
    assert shape(schedule) == ("custom", None, 12, ((0,), (1,), (2,), (3,)))
    assert schedule.blocks.contributors == (None,) * 4
    (line_of_notice,) = caplog.messages
    assert line_of_notice.startswith("a.xml: GPUs send what they had at first while they add")
    assert "4 blocks in place of 1, as a custom collective" in line_of_notice
    case = case_of(schedule, seed=3)
    assert wrong_nodes(case, case.predicted.memory) == []


def test_an_exchange_is_kept_apart_where_ports_forbid_it() -> None:
    text = all_to_all_reduce(2)
    assert shape(read_sums(text, line(2))) == ("all-reduce", None, 2, (None,))
    half = read_sums(text, line(2), ports=PortModel.HALF_DUPLEX)
    assert shape(half) == ("custom", None, 2, ((0,), (1,)))
    assert half.steps == 2


def test_sums_are_not_exchanged_where_ports_forbid_it() -> None:
    text = ring_all_reduce(2)
    assert read_sums(text, line(2)).sends == 4
    assert shape(read_sums(dissemination(8), line(8))) == ("all-reduce", None, 24, (None,))
    with pytest.raises(InvalidInput, match="in a circle, with half-duplex ports"):
        read_sums(dissemination(4), line(4), ports=PortModel.HALF_DUPLEX)


def test_where_no_gpu_has_an_output_sums_end_in_inputs() -> None:
    text = ring_all_reduce(4).replace("allreduce", "custom").replace('o_chunks="4"', 'o_chunks="0"')
    schedule = read_sums(text, mesh((2, 2)))
    assert shape(schedule) == ("custom", None, 24, (None,) * 4)
    text = chain_reduce(4).replace('"reduce"', '"custom"').replace('dstbuf="o"', 'dstbuf="i"')
    schedule = read_sums(text.replace('o_chunks="1"', 'o_chunks="0"'), mesh((2, 2)))
    assert shape(schedule) == ("custom", None, 3, ((0,),))


def scan() -> str:
    """Give GPU 1 the sum of two chunks and GPU 2 of three: the second result needs the first."""
    first = [threadblock(0, 1, -1, 0, step(0, "s", "i0", "o0"))]
    second = [threadblock(0, 2, 0, 0, step(0, "rrcs", "i0", "o0"))]
    third = [threadblock(0, -1, 1, 0, step(0, "rrc", "i0", "o0"))]
    return algorithm("custom", [first, second, third], "1 1 0", 1)


def relayed_part() -> str:
    """Let GPU 1 pass on GPU 0's chunk, get it back summed with GPU 2's, and add its own."""
    first = [threadblock(0, 1, -1, 0, step(0, "s", "i0", "s0"))]
    second = [
        threadblock(0, 2, 0, 0, step(0, "rcs", "s0", "s0")),
        threadblock(1, -1, 2, 0, step(0, "rrc", "i0", "o0")),
    ]
    third = [threadblock(0, 1, 1, 0, step(0, "rrs", "i0", "o0"))]
    return algorithm("custom", [first, second, third], "1 1 1", 1)


def unused() -> str:
    """Let GPU 0 send its chunk to GPU 1 a second time, to a scratch buffer."""
    first = [threadblock(0, 1, -1, 0, step(0, "s", "i0", "o0"), step(1, "s", "i0", "s0"))]
    second = [threadblock(0, -1, 0, 0, step(0, "rrc", "i0", "o0"), step(1, "r", "i0", "s0"))]
    return algorithm("custom", [first, second], "1 1 1", 1)


def two_of_one() -> str:
    """Let GPU 1 add two chunks of GPU 0."""
    first = [threadblock(0, 1, -1, 0, step(0, "s", "i0", "o0"), step(1, "s", "i1", "o0"))]
    heard = [step(0, "rrc", "i0", "o0"), step(1, "rrc", "o0", "o0")]
    return algorithm("custom", [first, [threadblock(0, -1, 0, 0, *heard)]], "2 2 0", 2)


WRONG = {
    "a contribution twice": (
        all_to_all_reduce(4).replace('"re" srcbuf="s" srcoff="2"', '"re" srcbuf="s" srcoff="1"', 1),
        "<step>: must reduce each chunk once, not that of 1",
    ),
    "a contribution left out": (
        all_to_all_reduce(4).replace('type="re"', 'type="nop"', 1),
        "<algo>: allreduce: o[0] of gpu 0 must end as the sum of all i[0]",
    ),
    "replaced, not combined": (
        ring_all_reduce(4).replace('type="rrs"', 'type="rcs"', 1),
        "<algo>: allreduce: o[2] of gpu 0 must end as the sum of all i[2]",
    ),
    "sent on before it is combined": (
        ring_reduce_scatter(3).replace(
            '"rrs" srcbuf="i" srcoff="1"', '"rcs" srcbuf="i" srcoff="1"'
        ),
        "<algo>: reduce_scatter: o[0] of gpu 1 must end as the sum of all i[1]",
    ),
    "sent before it is added to, or after, as luck has it": (
        all_to_all_reduce(3).replace('depid="1" deps="0"', 'depid="-1" deps="-1"', 1),
        "<step>: must wait for line 4, which reads o[0] of gpu 0",
    ),
    "no root": (
        chain_reduce(3).replace('type="rrc"', 'type="r"'),
        "<algo>: reduce: o[0] of one gpu must end as the sum of all i[0]",
    ),
    "two chunks of one gpu": (
        two_of_one(),
        "<step>: must reduce one chunk of each gpu, not two of gpu 0",
    ),
    "two results": (
        scan(),
        "<step>: must send what is in one result, not in two of different chunks",
    ),
    "two parts": (
        relayed_part(),
        "<step>: must send the one part of a result that its gpu has, not another one that it had",
    ),
    "for nothing": (unused(), "<step>: must send what is used for an output"),
    "uneven parts": (
        ring_reduce_scatter(3).replace('nchunksperloop="3"', 'nchunksperloop="4"'),
        "<algo>: nchunksperloop must be a multiple of ngpus, 3, not 4",
    ),
}


@pytest.mark.parametrize(("text", "said"), WRONG.values(), ids=WRONG)
def test_what_is_no_right_sum_is_refused(text: str, said: str) -> None:
    assert refusal(text, mesh((4, 2))).endswith(said)


@pytest.mark.parametrize("send", range(6))
def test_the_proof_refuses_what_a_wrong_reader_would_make(send: int) -> None:
    schedule = read_sums(ring_reduce_scatter(3), line(3))
    combine = schedule.combine.copy()
    combine[send] = ~combine[send]
    with pytest.raises(ScheduleError):
        replace(schedule, combine=combine).check()


def test_the_proof_refuses_the_sends_in_another_order() -> None:
    schedule = read_sums(ring_all_reduce(3), line(3))
    backwards = np.asarray(1 + schedule.steps - schedule.step, np.int32)
    with pytest.raises(ScheduleError):
        replace(schedule, step=backwards).check()
