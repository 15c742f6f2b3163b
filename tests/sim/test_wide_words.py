"""Networks with wide words in the compiled simulator: programs and words by hand.

docs/router.md, section 25: such a network moves piece i of every word as a network with words of 64
bits moves words that are the pieces i.
"""

from collections.abc import Callable
from dataclasses import replace
from functools import partial
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest
from helpers.programs import DOWN, UP, program, put
from helpers.run_entries import Entry, table_writes

from eyecast.model.network.config import NetworkConfig
from eyecast.model.network.topology import line
from eyecast.model.run.run import HardwareRun
from eyecast.model.run.trace import HEAD_MARK
from eyecast.rtl.parts.host_map import HostSpace, status_words
from eyecast.sim.build import build_simulator
from eyecast.sim.job import Job
from eyecast.sim.loading import prepare
from eyecast.sim.simulator import simulate
from eyecast.sim.verilog import fast_verilog

WORDS, SLOW = 8, pytest.mark.slow
LIMITS: dict[str, Any] = {"operators": "add:16", "signature": True, "message_words": WORDS}
TRACED = partial(fast_verilog, trace=True)
"""Writes the Verilog of tiles together, even for a small network."""
Pieces = npt.NDArray[np.uint64]
"""Message memories: shape (nodes, words, pieces)."""


def packets(flit_width: int, **more: Any) -> tuple[NetworkConfig, Job]:
    """Node 2 adds words 0 and 1 of node 0 to its words 4 and 5, and sends the sums back."""
    rows = {
        0: [put(1, (UP, 2), length=2, target=4, operator=1)],
        2: [put(2, (DOWN, 2), length=2, source=4, target=2)],
    }
    made = program(rows, {2: [1], 0: [2]}, line(3), flit_width=flit_width, **LIMITS, **more)
    return made.config, prepare(made, [], timing="barrier", read_words=WORDS, cycle_limit=60)


controlled = partial(packets, programs=1, parity=True)


def after_packets(memory: Pieces) -> None:
    memory[2, 4:6] = added(memory[2, 4:6], memory[0, :2])
    memory[0, 2:4] = memory[2, 4:6]


def circuits(flit_width: int) -> tuple[NetworkConfig, Job]:
    """Node 1 adds its words 4 and 5 to words 0 and 1 of node 0, and node 2 adds the sums."""
    config = NetworkConfig(topology=line(3), flit_width=flit_width, circuits=True, **LIMITS)
    joined = {"first": 1, "second": 3, "operator": 1, "send_address": 4}
    combined = {"receive": 2, "receive_address": 6}
    tables: list[list[Entry]] = [
        [{"duration": 2, "codes": {1: 1}}],
        [{"duration": 1}, {"duration": 2, "codes": {1: 2}, **joined}],
        [{"duration": 3}, {"duration": 2, "codes": {0: 3}, **combined}],
    ]
    writes = [row for node, table in enumerate(tables) for row in table_writes(config, node, table)]
    job = Job(
        writes=np.array(writes, dtype=np.uint64),
        nodes=3,
        flit_width=flit_width,
        step_numbers=0,
        mask_words=0,
        lanes=1,
        message_space=HostSpace.MESSAGE,
        read_words=WORDS,
        status_space=HostSpace.STATUS,
        status_words=status_words(config),
        barrier=False,
        half_duplex=False,
        cycle_limit=60,
        barrier_registers=0,
        circuits=True,
    )
    return config, job


def after_circuits(memory: Pieces) -> None:
    memory[2, 6:8] = added(memory[2, 6:8], added(memory[0, :2], memory[1, 4:6]))


def added(first: Pieces, second: Pieces) -> Pieces:
    """Add words in lanes of 16 bits."""
    lanes = [np.ascontiguousarray(words, "<u8").view("<u2") for words in (first, second)]
    return (lanes[0] + lanes[1]).view("<u8").astype(np.uint64)


def runs(
    config: NetworkConfig, job: Job, memories: list[Pieces], *, together: bool
) -> list[HardwareRun]:
    """Run a job once from each of the memories, whose words a host writes in pieces."""
    simulator = build_simulator(config, verilog=TRACED if together else None)
    jobs = []
    for memory in memories:
        node, word, piece = (column.ravel() for column in np.indices(memory.shape))
        apart = 1 << (memory.shape[2] - 1).bit_length()
        columns = node, HostSpace.MESSAGE + 0 * node, word * apart + piece, memory.ravel()
        loads = np.stack(columns, axis=1, dtype=np.uint64, casting="unsafe")
        jobs.append(replace(job, writes=np.concatenate((job.writes, loads))))
    return list(simulate(simulator, jobs))


@pytest.mark.parametrize(
    ("pieces", "made", "after", "cycles", "together"),
    [
        (3, packets, after_packets, 17, False),
        (3, circuits, after_circuits, 12, False),
        pytest.param(3, packets, after_packets, 17, True, marks=SLOW),
        *(pytest.param(3, controlled, after_packets, 18, way, marks=SLOW) for way in (False, True)),
        pytest.param(8, circuits, after_circuits, 12, False, marks=SLOW),
    ],
)
def test_pieces_move_as_words_of_64_bits(
    pieces: int,
    made: Callable[[int], tuple[NetworkConfig, Job]],
    after: Callable[[Pieces], None],
    cycles: int,
    together: bool,
) -> None:
    draw = np.random.default_rng(pieces)
    memory = draw.integers(0, 1 << 64, (3, WORDS, pieces), dtype=np.uint64)
    (wide,) = runs(*made(64 * pieces), [memory], together=together)
    narrow = runs(*made(64), list(np.split(memory, pieces, axis=2)), together=together)
    after(memory)
    assert wide.finished
    assert wide.cycles == cycles
    assert not wide.flags.any()
    assert (wide.memory == memory).all()
    is_head = wide.trace.kind & HEAD_MARK != 0
    for piece, run in enumerate(narrow):
        assert run.finished
        assert (run.memory == memory[:, :, piece]).all()
        *others, data = run.trace.columns
        for shown, column in zip(wide.trace.columns[:-1], others, strict=True):
            assert (shown == column).all()
        headers = data[is_head] if not piece else 0
        assert (wide.trace.data[is_head, piece] == headers).all()
        assert (wide.trace.data[~is_head, piece] == data[~is_head]).all()


def test_a_job_loads_wide_words_piece_by_piece() -> None:
    made = program({}, {}, line(2), flit_width=192)
    loads = [(1, 3, np.arange(10, 16, dtype=np.uint64).reshape(2, 3))]
    job = prepare(made, loads, timing="barrier", read_words=2, cycle_limit=60)
    written = [row[2:] for row in job.writes.tolist() if row[:2] == [1, HostSpace.MESSAGE]]
    assert written == [[12, 10], [13, 11], [14, 12], [16, 13], [17, 14], [18, 15]]
    assert job.message_addresses() == [0, 1, 2, 4, 5, 6]
