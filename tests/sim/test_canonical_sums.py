"""Sums in canonical order in the cycle model: the same bits by every schedule.

The numbers are bfloat16, whose sums depend on the order. ``ml_dtypes`` adds them by a recursive
definition of the order, which shares no code with the schedules and their check.
"""

from contextlib import suppress
from typing import Any

import numpy as np
import pytest

import eyecast
from eyecast.model.compare.case import Case
from eyecast.model.network.config import Timing
from eyecast.model.program.certified import compile_certified

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


def sums_in(case: Case) -> list[np.ndarray]:
    """Return the numbers of the message at each node that is owed it, after the predicted run."""
    blocks, memory = case.schedule.blocks, case.predicted.memory
    owed = blocks.owed[0] or tuple(case.schedule.topology.working_nodes.tolist())
    parts = [
        [
            memory[node, begin : begin + int(blocks.words[block])]
            for block in range(len(blocks))
            for begin in [case.payload.layout.address(node, block)]
        ]
        for node in owed
    ]
    return [bits_of(numbers_of(np.concatenate(each))) for each in parts]


@pytest.mark.parametrize("topology", NETWORKS, ids=lambda topology: topology.label)
def test_every_schedule_has_the_same_bits(topology: Any) -> None:
    words, served = 200, 0
    expected = bits_of(added(messages(words)))
    for collective, algorithm, root in ASKED:
        with suppress(eyecast.InvalidInput):
            case = case_of(topology, collective, algorithm, root, words)
            for sums in sums_in(case):
                assert (sums == expected).all()
            served += 1
    assert served >= 5


def test_another_order_has_other_bits() -> None:
    words = 200
    other = eyecast.schedule(
        NETWORKS[0], "ring", collective="all-reduce", words=words, operator=BFLOAT16_ADD
    )
    compiled = compile_certified(other, {"operators": (BFLOAT16_ADD,), "message_words": 4096})
    ring = Case.of(compiled, timing=Timing.BARRIER, seed=0, messages=messages(words))
    assert (sums_in(ring)[0] != bits_of(added(messages(words)))).any()
