"""MSCCL XML and msccl-tools (microsoft/msccl-tools), if ``msccl`` is installed.

Eyecast reads the files that MSCCLang writes. MSCCLang carries out the files that Eyecast writes,
and checks the collective.
"""

import contextlib
import io
from collections import defaultdict, deque
from itertools import starmap
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import pytest
from helpers.algorithms import promises

from eyecast.formats.format import Setting
from eyecast.formats.msccl_reader import read_msccl
from eyecast.formats.msccl_writer import write_msccl
from eyecast.model.base.files import InputFile
from eyecast.model.collectives.declared.request import Request
from eyecast.model.collectives.registry import algorithms_for
from eyecast.model.network.topology import Topology, hypercube, mesh
from eyecast.model.schedule.schedule import Schedule

language = pytest.importorskip("msccl.language", reason="msccl (microsoft/msccl-tools) is missing")
pytestmark = pytest.mark.slow


def read(text: str, topology: Topology) -> Schedule:
    schedule = read_msccl(InputFile("a.xml", text.encode()), Setting(topology=topology, words=2))
    schedule.check()
    return schedule


def theirs(ranks: int) -> Any:
    from msccl.topologies import fully_connected

    return fully_connected(ranks)


@pytest.mark.parametrize("inplace", [False, True])
def test_a_program_of_their_language_is_read(inplace: bool) -> None:
    from msccl.language import Buffer, MSCCLProgram, chunk
    from msccl.language.collectives import AllGather

    written = io.StringIO()
    with (
        contextlib.redirect_stdout(written),
        MSCCLProgram("star", theirs(4), AllGather(4, 1, inplace), 1),
    ):
        for source in range(4):
            for target in range(4):
                if not inplace or target != source:
                    chunk(source, Buffer.input, 0).copy(target, Buffer.output, source)
        assert language.Check()
        language.XML()
    schedule = read(written.getvalue(), mesh((2, 2)))
    assert (schedule.collective, schedule.sends) == ("all-gather", 12)
    assert promises(schedule) == [(n, tuple(m for m in range(4) if m != n)) for n in range(4)]


class Replay:
    """Execution of Eyecast's XML in MSCCLang, in an order that the steps allow."""

    def __init__(self, root: ElementTree.Element) -> None:
        from msccl.language import Buffer

        self.buffers = {"i": Buffer.input, "o": Buffer.output, "s": "scratch"}
        self.blocks = {
            (int(gpu.attrib["id"]), int(block.attrib["id"])): block for gpu in root for block in gpu
        }
        self.done = dict.fromkeys(self.blocks, 0)
        self.underway: defaultdict[tuple[int, int, str], deque[Any]]
        self.underway = defaultdict(deque)
        while any([*starmap(self.advances, self.blocks)]):
            pass
        assert all(self.done[key] == len(block) for key, block in self.blocks.items())

    def advances(self, rank: int, number: int) -> bool:
        block, begin = self.blocks[rank, number], self.done[rank, number]
        for step in list(block)[begin:]:
            awaited = (rank, int(step.attrib["depid"]))
            if awaited in self.done and self.done[awaited] <= int(step.attrib["deps"]):
                break
            if not self.carries_out(rank, block, step):
                break
            self.done[rank, number] += 1
        return self.done[rank, number] > begin

    def carries_out(self, rank: int, block: Any, step: Any) -> bool:
        kind, channel = step.attrib["type"], block.attrib["chan"]
        if kind == "s":
            target = int(block.attrib["send"])
            # MSCCLang has one order for all ranks, so a sent chunk is kept as it was when sent.
            held = self.chunks(rank, step, "src").copy(target, f"from {rank}")
            self.underway[rank, target, channel].append(held)
        elif kind == "cpy":
            self.copies(self.chunks(rank, step, "src"), rank, step)
        elif kind in ("r", "rrc"):
            waiting = self.underway[int(block.attrib["recv"]), rank, channel]
            if not waiting:
                return False
            if kind == "r":
                self.copies(waiting.popleft(), rank, step)
            else:
                self.chunks(rank, step, "dst").reduce(waiting.popleft())
        return True

    def chunks(self, rank: int, step: Any, side: str) -> Any:
        buffer, offset = self.buffers[step.attrib[f"{side}buf"]], int(step.attrib[f"{side}off"])
        return language.chunk(rank, buffer, offset, int(step.attrib["cnt"]))

    def copies(self, held: Any, rank: int, step: Any) -> None:
        held.copy(rank, self.buffers[step.attrib["dstbuf"]], int(step.attrib["dstoff"]))


@pytest.mark.parametrize("topology", [mesh((4, 2)), hypercube(3)], ids=["mesh", "cube"])
@pytest.mark.parametrize("collective", ["all-gather", "all-to-all", "all-reduce", "reduce-scatter"])
def test_ours_keeps_the_promise_by_their_checks(
    topology: Topology, collective: str, tmp_path: Path
) -> None:
    from msccl.language import MSCCLProgram
    from msccl.language.collectives import AllGather, AllReduce, AllToAll, ReduceScatter

    kinds = {
        "all-gather": AllGather,
        "all-to-all": AllToAll,
        "all-reduce": AllReduce,
        "reduce-scatter": ReduceScatter,
    }
    ranks = topology.nodes
    for each in algorithms_for(collective, circuits=False):
        try:
            # A multiple of every algorithm's number of pieces, so that all blocks are equally long.
            schedule = each.generate(Request(topology=topology, words=840))
            write_msccl(schedule, tmp_path / "a.xml")
        except ValueError:
            continue
        root = ElementTree.parse(tmp_path / "a.xml").getroot()
        factor = int(root.attrib["nchunksperloop"]) // (1 if collective == "all-reduce" else ranks)
        promised = kinds[collective](ranks, factor, root.attrib["inplace"] == "1")
        with MSCCLProgram(each.name, theirs(ranks), promised, 1):
            Replay(root)
            assert language.Check(), each.name
