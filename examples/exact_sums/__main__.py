"""``python -m examples.exact_sums``: sums of 8-bit numbers, the same bits by every schedule."""

import argparse

import numpy as np

import eyecast
from eyecast.model.compare.case import Case
from eyecast.model.network.config import Timing
from eyecast.model.program.certified import compile_certified
from eyecast.sim.verify import verify

from .numbers import FORMATS, Format


def drawn(form: Format, nodes: int, count: int) -> np.ndarray:
    """Return random finite numbers, as codes: shape (nodes, count)."""
    codes = np.random.default_rng(0).integers(0, 256, (nodes, count), dtype=np.uint8)
    finite = np.isfinite(codes.view(form.dtype).astype(np.float64))
    return np.where(finite, codes, np.uint8(0))


def all_reduced(topology: eyecast.Topology, algorithm: str, form: Format, codes: np.ndarray):
    """Run an all-reduce of ``codes`` on the hardware; return the sums, and whether it agrees."""
    count = codes.shape[1]
    made = eyecast.schedule(topology, algorithm, collective="all-reduce", words=count)
    compiled = compile_certified(made, {"flit_width": form.width})
    words = form.to_fixed(codes.ravel()).reshape(codes.shape)
    case = Case.of(compiled, timing=Timing.BARRIER, seed=0, messages=words)
    (result,) = verify([case])
    payload, memory = case.payload, result.measured.memory
    held = [
        memory[0, begin : begin + int(length)]
        for block, length in enumerate(made.blocks.words)
        for begin in [payload.layout.address(0, block)]
    ]
    return form.from_fixed(np.concatenate(held)), result.agrees


def main() -> None:
    """Print how many sums of three algorithms are the exact ones."""
    parser = argparse.ArgumentParser(prog="python -m examples.exact_sums")
    parser.add_argument("--format", default="E4M3", choices=FORMATS, help="default E4M3")
    parser.add_argument("--numbers", type=int, default=1000, help="of each node (default 1000)")
    given = parser.parse_args()
    form, topology = FORMATS[given.format], eyecast.mesh((2, 2))
    codes = drawn(form, topology.nodes, given.numbers)
    # Sums of few such numbers are exact in float64, so this is rounded once.
    exact = codes.view(form.dtype).astype(np.float64).sum(axis=0).astype(form.dtype).view(np.uint8)
    right = True
    for algorithm in ("eye", "ring", "aligned-tree"):
        sums, agrees = all_reduced(topology, algorithm, form, codes)
        same = int((sums == exact).sum())
        right &= agrees and same == exact.size
        print(f"{algorithm}: {same} of {exact.size} sums are the exact sum, rounded once")
    raise SystemExit(not right)


if __name__ == "__main__":
    main()
