"""Workloads from Python: compute and collectives of a trace or a table, on a network."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from ..formats.format import WorkloadSetting
from ..formats.workloads import read_workload
from ..model.base.files import InputFile
from ..model.network.topology import Topology
from .annotations import PolicyName
from .arguments import checked

if TYPE_CHECKING:
    from ..model.workload.run import WorkloadRun


@checked
def workload(
    network: Topology,
    path: str | Path,
    *,
    clock: float = 1.0,
    rate: int = 1024,
    word_bytes: int = 4,
    comm_group: str | Path | None = None,
    mapping: str | Path = "rows",
    policy: PolicyName = "first-come",
    circuits: bool = False,
    message_words: int = 8192,
) -> WorkloadRun:
    """Run a workload of compute, collectives and messages on two machines.

    Parameters
    ----------
    network
        The network.
    path
        A table (CSV or JSON), a file of a Chakra trace, or GOAL.
    clock
        Cycles in a nanosecond, for files that count time.
    rate
        Operations that a rank computes in a cycle.
    word_bytes
        Bytes of a word, which a link moves in a cycle: 1 to 8, or a multiple of 8 up to 64. Flits
        have at least 32 bits; reductions of words above 8 bytes act on lanes of 32 bits.
    comm_group
        The file with the ranks of each group of a Chakra trace. None for the trace's NAME.json.
    mapping
        The node of each rank: "rows" in order, "best" with little traffic over distance, or a file
        that lists the nodes.
    policy
        Which of several ready collectives starts first: the one that was ready first, or with
        "urgent" the one with the longest path to the end.
    circuits
        Whether routers have circuits instead of packets.
    message_words
        Words of each message memory; longer messages travel in pieces.

    Returns
    -------
    WorkloadRun
        ``engine`` is the run on one engine, which carries out one program at a time; ``ideal`` is
        the run in which all collectives that share no link run at the same time. Each has its
        ``cycles`` and the cycles of each of its ``ranks``. ``bound`` is the least cycles with any
        algorithm and any order.

    Raises
    ------
    InvalidInput
        If the file is wrong, or the network cannot carry out one of its collectives.
    """
    # Both load the compiled cycle model.
    from ..model.workload.mapping import mapped  # noqa: PLC0415
    from ..model.workload.run import run_workload  # noqa: PLC0415

    setting = WorkloadSetting(clock=clock, rate=rate, word_bytes=word_bytes, comm_group=comm_group)
    read = mapped(read_workload(InputFile.read(path), network, setting), str(mapping))
    return run_workload(read, policy=policy, circuits=circuits, memory_words=message_words)
