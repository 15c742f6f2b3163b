"""Sums in canonical order on the hardware: the same bits by every schedule.

The numbers are bfloat16, whose sums depend on the order. ``ml_dtypes`` adds them by a recursive
definition of the order, which shares no code with the schedules and their check.
"""

from typing import Any

import numpy as np
import pytest
from helpers.verified import verified

import eyecast
from eyecast.model.compare.case import Case
from eyecast.model.network.config import Timing
from eyecast.model.program.certified import compile_certified
from eyecast.model.program.payload import Payload

pytest.importorskip("ml_dtypes", reason="pip install 'eyecast[dev]'")

from ml_dtypes import bfloat16

from eyecast.chip.float_adder import BFLOAT16_ADD
from eyecast.examples.bfloat16.sums import bits_of, numbers_of

RANKS = 8
NETWORKS = [
    eyecast.mesh((4, 2)),
    eyecast.ring(RANKS),
    eyecast.hypercube(3),
    eyecast.with_faults(eyecast.mesh((3, 3)), faulty_nodes=[4]),
]
"""Networks of eight contributors."""
ASKED = [
    ("all-reduce", "aligned-tree", None),
    ("all-reduce", "aligned-halving", None),
    ("all-reduce", "recursive-doubling", None),
    ("reduce", "aligned-tree", 0),
    ("reduce", "aligned-tree", 6),
    ("all-reduce", "best", None),
]


def messages(words: int) -> np.ndarray:
    """Draw two normal numbers for each word of each rank: shape (RANKS, words)."""
    numbers = np.random.default_rng(8).normal(size=(RANKS, 2 * words)).astype(bfloat16)
    return numbers.view("<u4").astype(np.uint64)


def added(parts: np.ndarray) -> np.ndarray:
    """Add the numbers of all ranks in canonical order, by ``ml_dtypes``."""
    if len(parts) == 1:
        return numbers_of(parts[0])
    half = 1 << (len(parts) - 1).bit_length() - 1
    return added(parts[:half]) + added(parts[half:])


def case_of(topology: Any, collective: str, algorithm: str, root: int | None, words: int) -> Case:
    made = eyecast.schedule(
        topology,
        algorithm,
        collective=collective,
        source=root,
        words=words,
        operator=BFLOAT16_ADD,
        order="canonical",
    )
    parameters = {"operators": (BFLOAT16_ADD,), "message_words": 4096}
    return Case.of(
        compile_certified(made, parameters),
        timing=Timing.BARRIER,
        seed=0,
        messages=messages(words),
    )


def sums_in(payload: Payload, case: Case, memory: np.ndarray) -> list[np.ndarray]:
    """Return the numbers of the message at each node that is owed it."""
    blocks = case.schedule.blocks
    owed = blocks.owed[0] or tuple(case.schedule.topology.working_nodes.tolist())
    parts = [
        [
            memory[node, begin : begin + int(blocks.words[block])]
            for block in range(len(blocks))
            for begin in [payload.layout.address(node, block)]
        ]
        for node in owed
    ]
    return [bits_of(numbers_of(np.concatenate(each))) for each in parts]


@pytest.mark.slow
@pytest.mark.parametrize("topology", NETWORKS[1:], ids=lambda topology: topology.label)
def test_the_hardware_has_the_same_bits_by_every_schedule(topology: Any) -> None:
    words, cases = 1250, []
    for collective, algorithm, root in ASKED:
        try:
            cases.append(case_of(topology, collective, algorithm, root, words))
        except eyecast.InvalidInput:
            assert algorithm == "recursive-doubling"
    expected = bits_of(added(messages(words)))
    for case in cases:
        (result,) = verified([case])
        for sums in sums_in(case.payload, case, result.measured.memory):
            assert (sums == expected).all()


def test_the_model_has_the_same_bits_and_another_order_has_others() -> None:
    topology, words = NETWORKS[0], 200
    expected = bits_of(added(messages(words)))
    case = case_of(topology, "all-reduce", "aligned-halving", None, words)
    for sums in sums_in(case.payload, case, case.predicted.memory):
        assert (sums == expected).all()
    other = eyecast.schedule(
        topology, "ring", collective="all-reduce", words=words, operator=BFLOAT16_ADD
    )
    compiled = compile_certified(other, {"operators": (BFLOAT16_ADD,), "message_words": 4096})
    ring = Case.of(compiled, timing=Timing.BARRIER, seed=0, messages=messages(words))
    assert (sums_in(ring.payload, ring, ring.predicted.memory)[0] != expected).any()
