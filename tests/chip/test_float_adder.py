"""The adder of floats adds as NumPy does, with registers and without, in hardware and in models."""

from typing import Any

import numpy as np
import pytest
from amaranth.hdl import ClockDomain, Module
from helpers.amaranth_simulation import simulate

from eyecast.chip.float_adder import AT_ONCE, FLOAT_ADD, NOT_A_NUMBER

SPECIAL = [0, 1, 0x7FFFFF, 0x800000, 0x7F7FFFFF, 0x7F800000, 0x7F800001, 0x7FC00000]


def drawn(count: int) -> tuple[np.ndarray, np.ndarray]:
    """Draw numbers: any, of similar size, tiny, and all pairs of special values."""
    draw = np.random.default_rng(1)
    there, coming = draw.integers(0, 1 << 32, (2, 4 * count))
    near = slice(count, 3 * count)
    coming[near] = there[near] + draw.integers(-1 << 25, 1 << 25, 2 * count) & 0xFFFFFFFF
    coming[near][::2] ^= 1 << 31
    there[3 * count :] &= 0x81FFFFFF
    coming[3 * count :] &= 0x81FFFFFF
    special = np.array([sign | each for sign in (0, 1 << 31) for each in SPECIAL])
    pairs = np.array(np.meshgrid(special, special)).reshape(2, -1)
    first, second = np.concatenate((np.array([there, coming]), pairs), 1).astype(np.uint64)
    return first, second


def by_numpy(there: np.ndarray, coming: np.ndarray) -> list[int]:
    with np.errstate(over="ignore", invalid="ignore"):
        numbers = [each.astype(np.uint32).view(np.float32) for each in (there, coming)]
        total = numbers[0] + numbers[1]
    return np.where(np.isnan(total), NOT_A_NUMBER, total.view(np.uint32)).tolist()


def test_what_models_add_is_what_numpy_adds() -> None:
    there, coming = drawn(400)
    assert FLOAT_ADD.combine(there, coming, 32).tolist() == by_numpy(there, coming)


@pytest.mark.parametrize("operator", [FLOAT_ADD, AT_ONCE[FLOAT_ADD]])
@pytest.mark.parametrize("count", [100, pytest.param(5000, marks=pytest.mark.slow)])
def test_what_the_hardware_adds_is_what_numpy_adds(count: int, operator: Any) -> None:
    there, coming = drawn(count)
    late = operator.latency
    m = Module()
    m.domains.sync = ClockDomain("sync")
    m.submodules.adder = adder = operator.component(32)
    results: list[int] = []

    async def testbench(ctx: Any) -> None:
        more = [0] * late
        for first, second in zip([*there.tolist(), *more], [*coming.tolist(), *more], strict=True):
            ctx.set(adder.there, first)
            ctx.set(adder.coming, second)
            results.append(ctx.get(adder.result))
            await ctx.tick()

    simulate(m, testbench)
    assert results[late:] == by_numpy(there, coming)
