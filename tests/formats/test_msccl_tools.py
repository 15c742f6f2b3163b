"""MSCCL XML and the tools of its owners, where ``msccl`` (microsoft/msccl-tools) is installed.

What their language writes is read; what we write is carried out in their language, whose checks of
collectives judge the result. With ``MSCCL_EXAMPLES`` set to their folder ``examples/mscclang``,
their own programs are run and read as well.
"""

from __future__ import annotations

import contextlib
import io
import os
import re
import subprocess
import sys
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
from eyecast.model.collectives.registry import algorithms_for
from eyecast.model.collectives.request import Request
from eyecast.model.network.topology import Topology, hypercube, line, mesh
from eyecast.model.schedule.schedule import Schedule

language = pytest.importorskip("msccl.language", reason="msccl (microsoft/msccl-tools) is missing")
pytestmark = pytest.mark.slow

EXAMPLES = {
    "alltoall_allpairs": ("8", "2"),
    "allgather_allpairs": ("8", "2"),
    "allgather_recursive_doubling": ("16", "1"),
    "allgather_a100_pcie": ("4", "2"),
    "allgather_ring": ("16", "2", "2"),
    "alltoall_a100_two_step": ("2", "8"),
    "alltoall_a100_three_step": ("2", "8", "1"),
    "alltonext_forward": ("2", "1"),
    "alltonext_backward": ("2", "1"),
}


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
    """Carries out the steps of our XML as copies of their language, in an order that they allow."""

    def __init__(self, root: ElementTree.Element) -> None:
        from msccl.language import Buffer

        self.buffers = {"i": Buffer.input, "o": Buffer.output, "s": "scratch"}
        self.blocks = {
            (int(gpu.attrib["id"]), int(block.attrib["id"])): block for gpu in root for block in gpu
        }
        self.done = dict.fromkeys(self.blocks, 0)
        self.underway: defaultdict[tuple[int, int, str], deque[tuple[int, Any]]]
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
            self.underway[rank, int(block.attrib["send"]), channel].append((rank, step))
        elif kind == "cpy":
            self.copies(rank, step, rank, step)
        elif kind == "r":
            waiting = self.underway[int(block.attrib["recv"]), rank, channel]
            if not waiting:
                return False
            self.copies(*waiting.popleft(), rank, step)
        return True

    def copies(self, source: int, send: Any, target: int, receive: Any) -> None:
        begin, end = send.attrib, receive.attrib
        held = language.chunk(
            source, self.buffers[begin["srcbuf"]], int(begin["srcoff"]), int(begin["cnt"])
        )
        held.copy(target, self.buffers[end["dstbuf"]], int(end["dstoff"]))


@pytest.mark.parametrize("topology", [mesh((4, 2)), hypercube(3)], ids=["mesh", "cube"])
@pytest.mark.parametrize("collective", ["all-gather", "all-to-all"])
def test_ours_keeps_the_promise_by_their_checks(
    topology: Topology, collective: str, tmp_path: Path
) -> None:
    from msccl.language import MSCCLProgram
    from msccl.language.collectives import AllGather, AllToAll

    ranks = topology.nodes
    for each in algorithms_for(collective):
        try:
            schedule = each.generate(Request(topology=topology, words=2))
        except ValueError:
            continue
        write_msccl(schedule, tmp_path / "a.xml")
        root = ElementTree.parse(tmp_path / "a.xml").getroot()
        factor = int(root.attrib["nchunksperloop"]) // ranks
        kind = AllGather if collective == "all-gather" else AllToAll
        promised = kind(ranks, factor, root.attrib["inplace"] == "1")
        with MSCCLProgram(each.name, theirs(ranks), promised, 1):
            Replay(root)
            assert language.Check(), each.name


@pytest.mark.skipif("MSCCL_EXAMPLES" not in os.environ, reason="MSCCL_EXAMPLES names no folder")
@pytest.mark.parametrize("name", EXAMPLES)
def test_their_programs_are_read(name: str) -> None:
    program = Path(os.environ["MSCCL_EXAMPLES"]) / f"{name}.py"
    done = subprocess.run(
        [sys.executable, program, *EXAMPLES[name]], capture_output=True, text=True, check=True
    )
    (text,) = re.findall(r"<algo .*?</algo>", done.stdout, re.DOTALL)
    ranks = int(re.findall(r'ngpus="(\d+)"', text)[0])
    schedule = read(text, line(ranks))
    collective = name.partition("_")[0]
    expected = {"allgather": "all-gather", "alltoall": "all-to-all"}.get(collective, "custom")
    assert schedule.collective == expected
