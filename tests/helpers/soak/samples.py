"""Samples of Hypothesis strategies for benches and tests that run many cases together."""

from collections.abc import Callable
from typing import Any, TypeVar

from hypothesis import HealthCheck, Phase, given, reject, seed, settings
from hypothesis import strategies as st
from hypothesis.internal.conjecture.providers import AVAILABLE_PROVIDERS, HypothesisProvider

from eyecast.model.base.errors import InvalidInput

T = TypeVar("T")


class Uniform(HypothesisProvider):
    """Draws of each integer of a range equally often, and of each example by itself.

    Hypothesis prefers small integers and bounds, and its examples repeat parts of earlier ones.
    """

    def draw_integer(
        self, min_value: int | None = None, max_value: int | None = None, **options: Any
    ) -> int:
        if min_value is None or max_value is None:
            return super().draw_integer(min_value, max_value, **options)
        return self._random.randint(min_value, max_value)


AVAILABLE_PROVIDERS["uniform"] = Uniform


def sampled(strategy: st.SearchStrategy[T], number: int, count: int) -> list[T]:
    """Return ``count`` examples of a strategy, those of the seed ``number``, the simplest first."""
    examples: list[T] = []
    each_of(strategy, number, count, examples.append)
    return examples


def example_of(strategy: st.SearchStrategy[T], number: int) -> T:
    """Return an example of a strategy, that of the seed ``number``, seldom the simplest."""
    return sampled(strategy, number, 2)[-1]


def each_of(
    strategy: st.SearchStrategy[T],
    number: int,
    count: int,
    test: Callable[[T], None],
    *phases: Phase,
) -> None:
    """Call ``test`` with the examples that :func:`sampled` returns.

    Raises what ``test`` raises; with ``Phase.shrink``, for the simplest example found.
    """

    @seed(number)
    @settings(
        max_examples=count,
        backend="uniform",
        database=None,
        deadline=None,
        phases=(Phase.generate, *phases),
        report_multiple_bugs=False,
        suppress_health_check=list(HealthCheck),
    )
    @given(strategy)
    def check(example: T) -> None:
        test(example)

    check()


def made(make: Callable[[], T]) -> T:
    """Return what ``make`` returns; reject the drawn example if ``make`` refuses it."""
    try:
        return make()
    except InvalidInput:
        reject()
