"""The example of `examples/exact_sums`: no order of adding changes a sum of 8-bit numbers."""

from typing import Any

import numpy as np
import pytest
from amaranth.hdl import ClockDomain, Module
from helpers.amaranth_simulation import simulate

import eyecast

pytest.importorskip("ml_dtypes", reason="pip install 'eyecast[dev]'")

from eyecast.examples.exact_sums.__main__ import all_reduced, drawn
from eyecast.examples.exact_sums.numbers import E4M3, E5M2, Format, FromFixed, ToFixed


def outputs(component: Any, given: Any, result: Any, values: list[int]) -> list[int]:
    """Return ``result`` of a component without registers for each of the ``values``."""
    m, found = Module(), []
    m.domains.sync = ClockDomain("sync")
    m.submodules.component = component

    async def testbench(ctx: Any) -> None:
        for value in values:
            ctx.set(given, value)
            await ctx.tick()
            found.append(ctx.get(result))

    simulate(m, testbench)
    return found


@pytest.mark.parametrize("form", [E4M3, E5M2], ids=lambda form: form.name)
def test_every_number_becomes_its_word(form: Format) -> None:
    codes = np.arange(256, dtype=np.uint8)
    codes = codes[np.isfinite(codes.view(form.dtype).astype(np.float64))]
    part = ToFixed(form)
    words = outputs(part, part.code, part.word, codes.tolist())
    assert words == form.to_fixed(codes).tolist()


def codes_of(numbers: Any) -> list[int]:
    return numbers.view(np.uint8).tolist()


@pytest.mark.parametrize("form", [E4M3, E5M2], ids=lambda form: form.name)
def test_every_sum_is_rounded_as_ml_dtypes_rounds(form: Format) -> None:
    draw = np.random.default_rng(0)
    sizes = draw.integers(0, 1 << draw.integers(1, min(form.width - 1, 50), 800))
    # All small sums, and those in the middle between two numbers, with their neighbours.
    shifts = np.arange(form.mantissa + 1, min(form.width - 2, 40))
    middles = [(2 * odd + 1) << shift >> 1 for shift in shifts for odd in range(9)]
    near = [middle + step for middle in middles for step in (-1, 0, 1)]
    sums = np.concatenate((np.arange(100), sizes, near)).astype(np.int64)
    sums = np.concatenate((sums, -sums))
    words = sums.astype(np.uint64) & np.uint64((1 << form.width) - 1)
    part = FromFixed(form)
    codes = outputs(part, part.word, part.code, words.tolist())
    rounded = form.from_fixed(words)
    assert codes == rounded.tolist()
    # Half-way sums make ml_dtypes round twice; all sums of 24 bits are exact in float32.
    short = np.abs(sums) < 1 << 24
    numbers = (sums[short] * form.unit).astype(form.dtype)
    assert codes_of(numbers) == rounded[short].tolist()


def test_infinity_is_refused() -> None:
    with pytest.raises(eyecast.InvalidInput, match="E5M2 number must be finite, not code 7c"):
        E5M2.to_fixed(np.array([0x7C], np.uint8))


@pytest.mark.slow
def test_all_orders_have_the_exact_sums() -> None:
    topology = eyecast.mesh((2, 2))
    codes = drawn(E4M3, topology.nodes, 2500)
    exact = codes.view(E4M3.dtype).astype(np.float64).sum(axis=0).astype(E4M3.dtype)
    for algorithm in ("eye", "ring", "aligned-halving", "tree"):
        sums, agrees = all_reduced(topology, algorithm, E4M3, codes)
        assert agrees
        assert (sums == exact.view(np.uint8)).all()
