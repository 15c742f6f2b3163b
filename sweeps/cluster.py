"""Points on a cluster: Dask's scheduler hands groups of points to its workers.

Each worker needs this version of Eyecast, from the same sources. If a worker dies, Dask gives its
group to another one, as often as the scheduler's ``allowed-failures`` says. Then the points run
once more, one by one; a point that kills workers again gets a row that says so.
"""

from collections import deque
from collections.abc import Generator, Iterator, Sequence
from typing import Any

from ..model.base.errors import InvalidInput
from .points import Point, sources
from .run import Done, failed_row, run_points

WAITING_PER_THREAD = 4
"""Groups at the scheduler for each worker thread, so that no thread waits for work."""

POINTS_PER_TASK = 8
"""Model points in one task; if a worker dies, its task runs again."""

CONNECT_SECONDS = 10


def run_on_cluster(groups: Sequence[Sequence[Point]], *, scheduler: str) -> Generator[Done]:
    """Run groups of points on the workers of a Dask scheduler.

    Raises :class:`.InvalidInput` if Dask is missing, the scheduler does not answer, or a worker has
    another Eyecast.
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
            # Another point on the same worker may have ended it.
            alone.update(point.key for point in points)
            left.extend([point] for point in points)


def _tasks(groups: Sequence[Sequence[Point]]) -> list[list[Point]]:
    """Join single points into tasks, because Dask needs as long for a task as for a short run."""
    tasks = [list(group) for group in groups if len(group) > 1]
    single = [group[0] for group in groups if len(group) == 1]
    starts = range(0, len(single), POINTS_PER_TASK)
    return [*tasks, *(single[start : start + POINTS_PER_TASK] for start in starts)]


def run_group(points: Sequence[Point], expected: str) -> list[Done]:
    """Run points on a worker, whose sources must have the digest ``expected``."""
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
