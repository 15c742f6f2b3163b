"""Schedules without their streams are proved again, step by step."""

import numpy as np
import pytest

import eyecast
from eyecast.model.schedule.unrolled import unrolled


@pytest.mark.parametrize("flits", [4, 64])
@pytest.mark.parametrize(
    ("collective", "algorithm"),
    [
        ("broadcast", "chain"),
        ("all-gather", "stream-ring"),
        ("reduce", "chain"),
        ("reduce-scatter", "stream-ring"),
        ("all-reduce", "combs"),
    ],
)
def test_unrolled_schedules_are_right(collective: str, algorithm: str, flits: int) -> None:
    options = {"source": (0, 0)} if collective in ("broadcast", "reduce") else {}
    if algorithm == "combs":
        options = {"ports": "all"}
    network = eyecast.mesh((4, 4))
    streamed = eyecast.schedule(network, algorithm, collective=collective, words=flits, **options)
    assert streamed.stream.any()
    plain = unrolled(streamed)
    plain.check()
    assert not plain.stream.any()
    assert plain.steps > streamed.steps
    carried = [np.bincount(each.block_ids).tolist() for each in (streamed, plain)]
    assert carried[0] == carried[1]
