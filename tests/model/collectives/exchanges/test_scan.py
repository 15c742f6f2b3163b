"""Scans: results by NumPy, what their check refuses, bounds, files and formats."""

from dataclasses import replace

import numpy as np
import pytest
from helpers.drawn_reductions import case_of, wrong_nodes
from helpers.generated import generated
from helpers.refusals import refusal_of
from helpers.schedules import Send, build

from eyecast.formats.chunks import in_chunks
from eyecast.formats.format import Setting
from eyecast.formats.rounds import read_rounds
from eyecast.model.base.errors import InvalidInput
from eyecast.model.base.files import InputFile
from eyecast.model.collectives.shown_bounds import schedule_bound
from eyecast.model.network.faults import with_faults
from eyecast.model.network.topology import Topology, hypercube, mesh, ring, torus
from eyecast.model.schedule.blocks import Blocks
from eyecast.model.schedule.file import read_schedule, write_schedule
from eyecast.model.schedule.rules import ScheduleError
from eyecast.model.schedule.schedule import Schedule

NETWORKS = (mesh((4, 3)), torus((3, 3)), hypercube(3), ring(7), with_faults(mesh((4, 4)), [0, 6]))
SCANS = ("scan", "exscan")


@pytest.mark.parametrize("topology", NETWORKS, ids=str)
@pytest.mark.parametrize("collective", SCANS)
@pytest.mark.parametrize("algorithm", ["hillis-steele", "brent-kung", "chain"])
def test_each_node_gets_what_the_nodes_before_it_contribute(
    collective: str, algorithm: str, topology: Topology
) -> None:
    for all_port in (False, True):
        schedule = generated(collective, algorithm, topology, words=5, all_port=all_port)
        schedule.check()
        case = case_of(schedule, 1)
        assert wrong_nodes(case, case.predicted.memory) == []
        served = case.payload.delivered(case.predicted.memory, topology)
        assert served.sum() == len(topology.working_nodes) - (collective == "exscan")


def of_three(prefix: str, *sends: Send, owed: tuple[int, ...] | None = None) -> Schedule:
    """Return the scan of one word on a line of three nodes by ``sends``."""
    blocks = replace(Blocks.reduced_to((owed,), 1, "add"), prefix=(prefix,))
    return replace(build((3,), list(sends), blocks, "custom"), port_model="full-duplex")


TO_1, TO_2 = Send(1, [0, 1], combine=True), Send(2, [1, 2], combine=True)


@pytest.mark.parametrize(
    ("schedule", "complaint"),
    [
        (of_three("inclusive", TO_1, TO_2), None),
        (
            of_three("inclusive", TO_1),
            "node 2 is left out: its block 0 lacks what node 0 contributes",
        ),
        (
            of_three("inclusive", TO_1, TO_2, Send(3, [2, 1])),
            "node 1 must not get what node 2 contributes to block 0",
        ),
        (
            of_three("exclusive", TO_1, TO_2, owed=(1, 2)),
            "node 1 must not get what node 1 contributes to block 0",
        ),
        (of_three("exclusive"), "node 0 is owed block 0, but no contribution to it"),
        (
            replace(of_three("inclusive", TO_1, TO_2), collective="exscan", root=None),
            "collective must be custom, not exscan: block 0 brings each node the contributions up "
            "to its own, not before its own",
        ),
    ],
)
def test_a_value_of_too_few_or_too_many_is_refused(schedule: Schedule, complaint: str) -> None:
    if complaint is None:
        schedule.check()
    else:
        assert refusal_of(schedule.check, kind=ScheduleError) == complaint


def test_no_scan_takes_fewer_cycles_than_its_bound() -> None:
    """The last node of a line needs all words, and the first one's words go to all others."""
    for collective in SCANS:
        for words in (1, 64):
            schedule = generated(collective, "chain", mesh((6,)), words=words)
            bound = schedule_bound(schedule, case_of(schedule, 0).predicted.cycles)
            assert bound.value == 5 + words
    grown = replace(schedule.blocks, owed=((),))
    assert schedule_bound(replace(schedule, blocks=grown)).value == 0


def test_files_keep_a_scan_and_formats_without_one_refuse_it(tmp_path) -> None:
    text = b"collective,scan\nround,source,target,blocks,combine\n1,0,1,0,1\n2,1,2,0,1\n"
    setting = Setting(topology=mesh((3,)), words=4)
    schedule = read_rounds(InputFile("line.csv", text), setting)
    write_schedule(schedule, tmp_path / "line.json")
    back = read_schedule(tmp_path / "line.json")
    back.check()
    assert back.blocks.prefix == schedule.blocks.prefix == ("inclusive",)
    assert refusal_of(in_chunks, schedule, 1, "MSCCL XML") == (
        "collective must be one that MSCCL XML has, or custom without a scan, not scan"
    )
    with pytest.raises(InvalidInput, match="prefix of block 0 must be none, as it has an owner"):
        Blocks(np.zeros(1), (None,), np.ones(1), prefix=("inclusive",))
