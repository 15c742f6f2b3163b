"""Points on a cluster, by Dask: its scheduler hands groups of points to its workers.

Each worker needs this version of Eyecast, from the same sources. A group whose worker dies is
given to another by Dask itself, as often as the scheduler's ``allowed-failures`` says; then its
points are given out once more, one by one, and one that ends workers again gets a row that says so.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Generator, Iterator, Sequence
from typing import Any

from ..model.base.errors import InvalidInput
from .points import Point, sources
from .run import Done, failed_row, run_points

WAITING_PER_THREAD = 4
"""Groups that the scheduler has for each thread of its workers, so that none waits for the next."""

POINTS_PER_TASK = 8
"""Points on the model in one task; those of a worker that dies are run again."""

CONNECT_SECONDS = 10


def run_on_cluster(groups: Sequence[Sequence[Point]], *, scheduler: str) -> Generator[Done]:
    """Carry out groups of points on the workers of a Dask scheduler.

    Raises :class:`.InvalidInput` where Dask is missing, the scheduler does not answer, or a worker
    has another Eyecast.
    """
    distributed = _distributed()
    try:
        client = distributed.Client(scheduler, timeout=CONNECT_SECONDS)
    except (OSError, ValueError) as error:
        allowed = "the address of a Dask scheduler, such as tcp://127.0.0.1:8786"
        raise InvalidInput.of("--scheduler", allowed, repr(scheduler)) from error
    with client:
        yield from _run(distributed, client, groups)


def _run(distributed: Any, client: Any, groups: Sequence[Sequence[Point]]) -> Iterator[Done]:
    """Keep the scheduler supplied with groups, and yield points as groups end."""
    here = sources()
    left = deque(_tasks(groups))
    given: dict[Any, list[Point]] = {}
    alone: set[str] = set()
    ended = distributed.as_completed()
    while left or given:
        threads = max(1, sum(client.nthreads().values()))
        while left and len(given) < WAITING_PER_THREAD * threads:
            points = left.popleft()
            future = client.submit(run_group, points, here, pure=False)
            given[future] = points
            ended.add(future)
        future = next(ended)
        points = given.pop(future)
        error = future.exception()
        if error is None:
            yield from future.result()
        elif not isinstance(error, distributed.KilledWorker):
            raise error
        elif len(points) == 1 and points[0].key in alone:
            yield points[0].key, [failed_row(points[0], error, 0.0)]
        else:
            # Another point of the same worker may have ended it.
            alone.update(point.key for point in points)
            left.extend([point] for point in points)


def _tasks(groups: Sequence[Sequence[Point]]) -> list[list[Point]]:
    """Put single points together: a task takes Dask as long as a short run."""
    tasks = [list(group) for group in groups if len(group) > 1]
    single = [group[0] for group in groups if len(group) == 1]
    starts = range(0, len(single), POINTS_PER_TASK)
    return [*tasks, *(single[start : start + POINTS_PER_TASK] for start in starts)]


def run_group(points: Sequence[Point], expected: str) -> list[Done]:
    """Carry out points on a worker, whose sources must have the digest ``expected``."""
    if sources() != expected:
        raise InvalidInput("workers of the cluster must have the same Eyecast as the command")
    return list(run_points(points, lambda _key: None))


def _distributed() -> Any:
    try:
        import distributed  # noqa: PLC0415 - of an extra
    except ImportError as error:
        allowed = "installed for --scheduler (pip install 'eyecast[sweep]')"
        raise InvalidInput.of("dask", allowed, "missing") from error
    return distributed
