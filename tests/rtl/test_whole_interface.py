"""Every interface follows the tables of docs/router.md, section 22, in every cycle."""

from typing import Any

import pytest
from amaranth.hdl import C
from helpers.interface_bench import Bench
from helpers.own_operator import TWICE
from helpers.whole_interface import RECEIVER, SENDER

from eyecast.model.network.config import NetworkConfig
from eyecast.model.network.operators import BUILT_IN
from eyecast.model.network.topology import line
from eyecast.rtl.parts import operators
from eyecast.rtl.parts.combiner import Combiner

SMALL = {"message_words": 16, "table_words": 64, "steps": 6}
NETWORKS: dict[str, dict[str, Any]] = {
    "plain": {},
    "two-vcs": {"vcs": 2, "depth": 1, "message_words": 13},
    "timed": {"timed_rows": True},
    "contention-free": {"contention_free": True, "streams": True},
    "combining": {"operators": "add,max", "vcs": 2, "message_words": 12},
    "slow-operator": {"operators": ("add", TWICE), "vcs": 2, "streams": True, "message_words": 13},
    "streaming": {"streams": True, "flit_width": 18},
    "all-port": {"all_port": True, "vcs": 2},
    "controlled": {"programs": 1, "steps": 40},
    "tile": {
        "programs": 1,
        "tile_ports": True,
        "operators": tuple(BUILT_IN),
        "parity": True,
        "vcs": 2,
    },
    "tile-streams": {"programs": 1, "tile_ports": True, "streams": True},
    "all": {"all_port": True, "streams": True, "operators": "add", "programs": 1},
}
AHEAD = ("two-vcs", "timed", "contention-free", "streaming", "all-port")
"""Networks whose interface is also tested with look-ahead."""


def bench_of(name: str, *, look_ahead: bool = False) -> Bench:
    config = NetworkConfig(topology=line(3), **SMALL | NETWORKS[name])
    return Bench(config, look_ahead=look_ahead)


@pytest.mark.parametrize("name", ["all", "tile", "slow-operator"])
def test_an_interface_does_what_the_page_says(name: str) -> None:
    bench_of(name).run(0, 1, 2)


@pytest.mark.slow
@pytest.mark.parametrize("name", NETWORKS)
def test_drawn_programs_do_what_the_page_says(name: str) -> None:
    bench_of(name).run(*range(15))


@pytest.mark.parametrize("name", AHEAD[:2])
def test_an_interface_that_fetches_words_ahead(name: str) -> None:
    bench_of(name, look_ahead=True).run(1, 2, 3)


def test_an_update_is_lost_where_two_words_meet(monkeypatch: pytest.MonkeyPatch) -> None:
    """The fault: a stored word is read in the cycle in which it is written."""
    monkeypatch.setattr(Combiner, "_hits", lambda *_: C(0))
    with pytest.raises(AssertionError):
        bench_of("tile").run(0, 1, 2)


def test_a_wrong_operator(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(operators.BUILT_IN, "min-signed", operators.BUILT_IN["min"])
    with pytest.raises(AssertionError):
        bench_of("tile").run(*range(6))


@pytest.mark.slow
@pytest.mark.parametrize("name", AHEAD)
def test_words_that_are_fetched_ahead_change_nothing(name: str) -> None:
    bench_of(name, look_ahead=True).run(*range(12))


@pytest.mark.slow
def test_every_row_of_the_tables_is_taken() -> None:
    seen = set()
    for name in ("all", "controlled", "streaming"):
        bench = bench_of(name)
        bench.run(*range(30))
        seen |= bench.rows_seen
    rows = {
        (state, *row[:2])
        for table in (SENDER, RECEIVER)
        for state, rows in table.items()
        for row in rows
    }
    assert rows - seen == set()
