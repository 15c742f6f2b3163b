"""``python -m examples.bfloat16``: an all-reduce of bfloat16 numbers, beside ``ml_dtypes``."""

import argparse
from typing import Any

import numpy as np

import eyecast
from eyecast.chip.float_adder import BFLOAT16_ADD

from .sums import bits_of, numbers_of, summed


def all_reduce(width: int, height: int, algorithm: str, flits: int) -> tuple[Any, int, int, int]:
    """Run an all-reduce on the simulated hardware of a mesh.

    Return the result of ``verify``; the count of numbers in the final memories; how many equal
    those of ``ml_dtypes``, added in the order of the schedule; and how many equal those added in
    the order of the nodes.
    """
    mesh = eyecast.mesh((width, height))
    schedule = eyecast.schedule(
        mesh, algorithm, collective="all-reduce", words=flits, operator=BFLOAT16_ADD
    )
    result = eyecast.verify(schedule, operators=[BFLOAT16_ADD])
    payload, memory = result.case.payload, result.measured.memory
    expected = summed(schedule, payload.contributions)
    count = right = by_number = 0
    for (node, block), numbers in expected.items():
        begin = payload.layout.address(node, block)
        held = bits_of(numbers_of(memory[node, begin : begin + len(numbers) // 2]))
        with np.errstate(over="ignore", invalid="ignore"):
            other = sum(
                map(numbers_of, payload.contributions[block][1:]),
                start=numbers_of(payload.contributions[block][0]),
            )
        count += len(held)
        right += int((held == bits_of(numbers)).sum())
        by_number += int((held == bits_of(other)).sum())
    return result, count, right, by_number


def main() -> None:
    """Print whether the hardware's sums are right, and whether the order matters."""
    parser = argparse.ArgumentParser(prog="python -m examples.bfloat16")
    parser.add_argument("--mesh", default="2x2", help="the nodes (default 2x2)")
    parser.add_argument("--algorithm", default="eye", help="of an all-reduce (default eye)")
    parser.add_argument("--words", type=int, default=64, help="words, of two numbers each")
    given = parser.parse_args()
    width, height = (int(side) for side in given.mesh.split("x"))
    result, count, right, by_number = all_reduce(width, height, given.algorithm, given.words)
    print(f"{count} bfloat16 numbers, {result.measured.cycles} cycles")
    print(f"as predicted, flit for flit: {'yes' if result.agrees else 'NO'}")
    print(f"as ml_dtypes adds, in the order of the schedule: {right}")
    print(f"as ml_dtypes adds, in the order of the nodes: {by_number}")
    raise SystemExit(not (result.agrees and right == count))


if __name__ == "__main__":
    main()
