"""Mistakes in sweep files: one line that names the file and the key, before the first run."""

from pathlib import Path
from typing import Any

import pytest
from helpers.sweeps import BROADCAST, SIX_POINTS, points_of

from eyecast.model.base.errors import InvalidInput
from eyecast.sweeps import points
from eyecast.sweeps.sweep import points_in

TRAFFIC = {"kind": "traffic", "network": "mesh 4x4"}
SATURATION = {"kind": "saturation", "network": "mesh 4x4"}


@pytest.mark.parametrize(
    ("grid", "message"),
    [
        (
            {"network": "mash 2x2"},
            "network must be mesh, torus, .* such as mesh 8x8, not 'mash 2x2'",
        ),
        ({"network": "mesh 2xx2"}, "network must be sides such as 8x8, not '2xx2'"),
        ({"network": "mesh 4096x4096"}, "nodes of the 4096x4096 mesh must be at most 1048576"),
        ({"network": "mesh 64x64", "on": "hardware"}, "must be at most 1024 for hardware"),
        ({"network": "graph none.json"}, "none.json: cannot be read"),
        ({"faulty_nodes": "0,0 5,5"}, r"grid\[0\].faulty_nodes must be a node .*, not 5,5"),
        ({"faulty_links": "0,0"}, r"grid\[0\].faulty_links must be two nodes such as"),
        ({"random_faults": [0.1, 1.0]}, r"random_faults must be 0 to less than 1, not 1\.0"),
        ({"seed": -1}, r"grid\[0\].seed must be 0 to 9223372036854775807, not -1"),
        ({"collective": "cast"}, r"grid\[0\].collective must be .*, not cast"),
        ({"algorithm": ["eye", "eyes"]}, "algorithm for broadcast must be .*, not eyes"),
        ({"source": None}, r"\[0\].source must be given with broadcast, such as 0,0 or drawn$"),
        ({"collective": "all-gather", "algorithm": "ring"}, "source must be left out with all-gat"),
        ({"collective": "multicast", "algorithm": "u-mesh"}, "targets must be given with multicas"),
        ({"targets": "1,1"}, "targets must be left out with broadcast"),
        (
            {"source": "2,0"},
            r"grid\[0\].source must be a node of the 2x2 mesh, 0,0 to 1,1, not 2,0",
        ),
        ({"words": [1, 0]}, r"grid\[0\].words must be 1 to 2147483647, not 0"),
        ({"words": []}, r"grid\[0\].words: Expected array of length >= 1"),
        ({"words": "16"}, r"grid\[0\].words: Expected int . (object|array) . .*, got str"),
        ({"words": {"first": 3, "last": 2}}, r"grid\[0\].words.last must be at least 3, not 2"),
        ({"words": {"first": 1, "last": 2, "by": 1}}, "unknown field by"),
        ({"seed": {"first": 1, "last": 2_000_000}}, "points must be at most 100000, not 2000000"),
        ({"seed": {"first": 0, "last": 1 << 50}}, "points must be at most 100000, not 11258"),
        ({"seed": {"first": 0, "last": 1 << 60}}, r"seed.last: Expected int <= 9007199254740992"),
        (
            {"collective": "reduce", "operator": ["max", "fadd"]},
            r"grid\[0\].operator must be add, min, .*, not fadd",
        ),
        ({"operator": "add"}, r"grid\[0\].operator must be left out with broadcast"),
        ({"operators": "add,fadd"}, r"grid\[0\].operators must be add, min, .*, not fadd"),
        ({"depth": 99}, r"grid\[0\].depth must be 1 to 16, not 99"),
        ({"ports": "two"}, "ports must be one, half-duplex, full-duplex or all, not 'two'"),
        ({"timing": "now"}, "timing must be barrier or self-timed, not 'now'"),
        ({"on": "paper"}, "on must be model or hardware, not 'paper'"),
        ({"rate": 0.1}, r"grid\[0\]: Object contains unknown field rate"),
        ({"kind": "broadcast"}, r"grid\[0\].kind: Invalid value 'broadcast'"),
        (TRAFFIC | {"rate": [0.1, 1.5]}, "rate must be 0 to 1 flits per node and cycle, not 1.5"),
        (TRAFFIC | {"rate": float("nan")}, "rate must be 0 to 1 flits per node and cycle, not nan"),
        (TRAFFIC | {"pattern": "spiral"}, "pattern must be uniform, .*, not 'spiral'"),
        (TRAFFIC | {"back_pressure": 1.0}, r"back_pressure must be 0 to less than 1, not 1\.0"),
        (TRAFFIC | {"network": "mesh 64x64"}, "must be at most 1024 for hardware, not 4096"),
        (SATURATION | {"seeds": [1]}, "seeds: Expected array of length >= 2"),
        (SATURATION | {"seeds": {"first": 1, "last": 10**12}}, "number of seeds must be 2 to 1000"),
        (SATURATION | {"seeds": [1, 1]}, "seeds must be different numbers, not one twice"),
        (SATURATION | {"cycles": 10}, "cycles must be 1000 to 250000, not 10"),
        (SATURATION | {"precision": 0.0}, r"precision must be 0\.001 to 0\.5"),
        (SATURATION | {"on": "hardware"}, "unknown field on"),
    ],
)
def test_a_mistake(grid: dict[str, Any], message: str) -> None:
    whole = grid if grid.get("kind") in ("traffic", "saturation") else BROADCAST | grid
    whole = {name: value for name, value in whole.items() if value is not None}
    with pytest.raises(InvalidInput, match=message):
        points_of(whole)


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ('"eyecast-sweep"', '"sweep"', "six.toml: format must be eyecast-sweep, not 'sweep'"),
        ("version = 1", "version = 2", "six.toml: version must be 1, not 2"),
        ("version = 1", "", "six.toml: Object missing required field version"),
        ("rate = [0.1, 0.3]", "rate = [0.1, 3]", r"six.toml: grid\[1\].rate must be 0 to 1"),
        ("[[grid]]", "[[grid", r"six.toml: must be TOML: .*line 5"),
        ("[[grid]]", "x = " + "[" * 10_000, "six.toml: must be TOML that nests less deeply"),
        ("mesh", "m\xe9sh", "six.toml: must be UTF-8"),
        ("version", "#" * (1 << 20) + "\nversion", "six.toml: bytes must be at most 1048576"),
    ],
)
def test_a_file_that_cannot_be_used(here: Path, old: str, new: str, message: str) -> None:
    (here / "six.toml").write_bytes(SIX_POINTS.replace(old, new).encode("latin-1"))
    with pytest.raises(InvalidInput, match=message) as refused:
        points_in("six.toml")
    assert "\n" not in str(refused.value)


def test_a_mistake_in_the_last_grid_is_found_before_any_point_is_made(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(points, "Point", None)
    with pytest.raises(InvalidInput, match=r"grid\[1\].depth"):
        points_of(BROADCAST, BROADCAST | {"depth": 0})
