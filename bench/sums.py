"""Floating-point sums by algorithm, length and network: how many change with the order.

    python bench/sums.py

Every network has 16 contributors. Each gives the same bfloat16 numbers, drawn by a kept seed, to
every schedule. A cell has the numbers of one node that differ from the canonical sums, of all: by
default, and with ``--order canonical``. A dash: the algorithm adds in another order there, and is
refused. The sums are those of the cycle model with the adder of ``examples/bfloat16``.
"""

import numpy as np
from ml_dtypes import bfloat16

import eyecast
from eyecast.chip.float_adder import BFLOAT16_ADD
from eyecast.examples.bfloat16.sums import bits_of, numbers_of
from eyecast.model.compare.case import Case
from eyecast.model.network.config import Timing
from eyecast.model.network.topology import Topology
from eyecast.model.program.certified import compile_certified

NETWORKS = {
    "4x4 mesh": eyecast.mesh((4, 4)),
    "ring of 16": eyecast.ring(16),
    "6x3 mesh, 2 faults": eyecast.with_faults(eyecast.mesh((6, 3)), faulty_nodes=[7, 10]),
}
LENGTHS = (8, 100, 1000)
ALGORITHMS = (
    "ring", "tree", "chain", "circulant", "recursive-halving", "recursive-doubling",
    "aligned-tree", "aligned-halving",
)  # fmt: skip


def drawn(ranks: int, words: int) -> np.ndarray:
    """Return two normal numbers for each word of each rank: shape (ranks, words)."""
    numbers = np.random.default_rng(0).normal(size=(ranks, 2 * words)).astype(bfloat16)
    return numbers.view("<u4").astype(np.uint64)


def canonical(parts: np.ndarray) -> np.ndarray:
    """Add the numbers of a power of two of ranks in canonical order, by ``ml_dtypes``."""
    sums = [numbers_of(part) for part in parts]
    while len(sums) > 1:
        sums = [one + other for one, other in zip(sums[::2], sums[1::2], strict=True)]
    return bits_of(sums[0])


def changed(topology: Topology, algorithm: str, words: int, order: str | None) -> int | None:
    """Return the sums at the first node that are not the canonical ones; None if refused."""
    messages = drawn(topology.working_nodes.size, words)
    try:
        made = eyecast.schedule(
            topology, algorithm, collective="all-reduce", words=words, operator=BFLOAT16_ADD,
            order=order,
        )  # fmt: skip
    except eyecast.InvalidInput:
        return None
    compiled = compile_certified(made, {"operators": (BFLOAT16_ADD,)})
    case = Case.of(compiled, timing=Timing.BARRIER, seed=0, messages=messages)
    places = enumerate(made.blocks.words.tolist())
    held = [
        case.predicted.memory[0, begin : begin + length]
        for block, length in places
        for begin in [case.payload.layout.address(0, block)]
    ]
    sums = bits_of(numbers_of(np.concatenate(held)))
    return int((sums != canonical(messages)).sum())


def main() -> None:
    """Print a row for each algorithm, and a column for each network and length."""
    columns = [(name, words) for name in NETWORKS for words in LENGTHS]
    print("| algorithm |", " | ".join(f"{name}, {2 * words:,}" for name, words in columns), "|")
    print("|---" * (len(columns) + 1) + "|")
    for algorithm in ALGORITHMS:
        cells = []
        for name, words in columns:
            before, after = (
                changed(NETWORKS[name], algorithm, words, order) for order in (None, "canonical")
            )
            cells.append(" / ".join("–" if each is None else str(each) for each in (before, after)))
        print(f"| {algorithm} |", " | ".join(cells), "|", flush=True)


if __name__ == "__main__":
    main()
