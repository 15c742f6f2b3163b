"""The example of `examples/bfloat16`: a custom operator adds as `ml_dtypes` does."""

from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from amaranth.hdl import ClockDomain, Module, Signal
from helpers.amaranth_simulation import simulate

import eyecast
from eyecast.model.network.config import NetworkConfig
from eyecast.rtl.parts.operators import combined
from eyecast.sim.build import build_simulator
from eyecast.sim.verilog import own_operators_text

pytest.importorskip("ml_dtypes", reason="pip install 'eyecast[dev]'")

from eyecast.chip.float_adder import BFLOAT16_ADD, FloatAdd
from eyecast.examples.bfloat16.__main__ import all_reduce
from eyecast.examples.bfloat16.sums import bits_of, numbers_of

SPECIAL = [0, 1, 0x7F, 0x80, 0x7F7F, 0x7F80, 0x7F81, 0x7FC0]


def drawn(count: int) -> tuple[np.ndarray, np.ndarray]:
    """Draw words of two numbers: any, of similar size, tiny, and all special values."""
    draw = np.random.default_rng(1)
    there = draw.integers(0, 1 << 16, 4 * count)
    coming = draw.integers(0, 1 << 16, 4 * count)
    near = slice(count, 3 * count)
    coming[near] = there[near] + draw.integers(-1500, 1500, 2 * count) & 0xFFFF
    coming[near][::2] ^= 0x8000
    there[3 * count :] &= 0x81FF
    coming[3 * count :] &= 0x81FF
    special = np.array([sign | each for sign in (0, 0x8000) for each in SPECIAL])
    pairs = np.array(np.meshgrid(special, special)).reshape(2, -1)
    numbers = np.concatenate((np.array([there, coming]), pairs, [there[:count], there[:count]]), 1)
    first, second = numbers.astype(np.uint64)
    return tuple(each[::2] | each[1::2] << np.uint64(16) for each in (first, second))


def by_ml_dtypes(there: np.ndarray, coming: np.ndarray) -> list[int]:
    with np.errstate(over="ignore", invalid="ignore"):
        return bits_of(numbers_of(there) + numbers_of(coming)).view("<u4").tolist()


def test_what_models_add_is_what_ml_dtypes_adds() -> None:
    there, coming = drawn(400)
    assert BFLOAT16_ADD.combine(there, coming, 32).tolist() == by_ml_dtypes(there, coming)


@pytest.mark.parametrize("count", [100, pytest.param(5000, marks=pytest.mark.slow)])
def test_what_the_adder_adds_is_what_ml_dtypes_adds(count: int) -> None:
    there, coming = drawn(count)
    m = Module()
    m.domains.sync = ClockDomain("sync")
    words = Signal(32), Signal(32)
    result = combined(m, "adder", BFLOAT16_ADD, *words)
    results: list[int] = []

    async def testbench(ctx: Any) -> None:
        for first, second in zip([*there.tolist(), 0, 0], [*coming.tolist(), 0, 0], strict=True):
            ctx.set(words[0], first)
            ctx.set(words[1], second)
            await ctx.tick()
            results.append(ctx.get(result))

    simulate(m, testbench)
    assert results[BFLOAT16_ADD.latency - 1 :] == by_ml_dtypes(there, coming)


@pytest.mark.slow
@pytest.mark.parametrize(("algorithm", "flits"), [("eye", 64), ("ring", 61)])
def test_an_all_reduce_adds_in_the_order_of_its_schedule(algorithm: str, flits: int) -> None:
    result, count, right, by_number = all_reduce(2, 2, algorithm, flits)
    assert result.agrees
    assert right == count == 4 * 2 * flits
    # Another order must give some other results, or the test could not detect the order.
    assert by_number < count or algorithm == "ring"


class Truncating(FloatAdd):
    """An adder that truncates instead of rounding, so that last bits differ."""

    def elaborate(self, platform: object) -> Module:
        m = super().elaborate(platform)
        m.d.comb += self.result[0].eq(0)
        return m


WRONG = replace(BFLOAT16_ADD, component=Truncating)


@pytest.mark.slow
def test_a_wrong_adder_is_seen() -> None:
    mesh = eyecast.mesh((2, 2))
    made = eyecast.schedule(mesh, "eye", collective="all-reduce", operator=WRONG)
    result = eyecast.verify(made, operators=[WRONG])
    wrong = {check.name for check in result.checks if not check.agrees}
    assert wrong == {"nodes delivered", "trace rows"}


def test_a_changed_component_is_other_hardware() -> None:
    """A changed component is built anew, although name and latency are the same."""
    texts = {
        own_operators_text(NetworkConfig(topology=eyecast.mesh((2, 2)), operators=[operator]))
        for operator in (BFLOAT16_ADD, WRONG)
    }
    assert len(texts) == 2


def test_an_operator_without_a_component_is_refused_before_anything_is_built() -> None:
    bare = replace(BFLOAT16_ADD, component=None)
    complaint = (
        "operator bfloat16-add:16 must be given with its component, for hardware, not without"
    )
    with pytest.raises(eyecast.InvalidInput, match=complaint):
        build_simulator(NetworkConfig(topology=eyecast.mesh((2, 2)), operators=[bare]))
