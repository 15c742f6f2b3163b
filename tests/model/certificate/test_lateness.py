"""Guarantees of time: no lateness of tiles makes a run longer than the certificate says."""

from collections.abc import Iterator
from dataclasses import replace
from itertools import chain
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest
from helpers.certificates import drawn
from helpers.command import Command, refusal, result

import eyecast as package
from eyecast.model.certificate.certificate import certificate_json
from eyecast.model.certificate.packet_checker import RefusedError, check
from eyecast.model.cycle.control import Control
from eyecast.model.cycle.lateness import lateness
from eyecast.model.cycle.model import run
from eyecast.model.network.config import Timing
from eyecast.model.program.certified import Room
from eyecast.model.program.compiler import Compiled
from eyecast.model.program.file import program_json
from eyecast.model.program.program import Program
from eyecast.model.run.run import Run

TILES = {"programs": 1, "tile_ports": True}


def parts(one: Compiled, timing: Timing) -> int:
    """The parts of a program that do not move each other, as the checker counts them."""
    texts = program_json(one.program).encode(), certificate_json(one, timing).encode()
    return check(*texts, fixed_order=True)["parts"]


def has_guarantee(one: Compiled, timing: Timing) -> bool:
    try:
        parts(one, timing)
    except RefusedError:
        return False
    return True


def run_held(one: Compiled, timing: Timing, hold: npt.NDArray[np.int64]) -> Run:
    assert isinstance(one.program, Program)
    config = one.program.config
    memory = np.zeros((config.topology.nodes, config.message_words), dtype=np.uint64)
    return run(one.program, memory, timing=timing, control=Control(hold=hold))


def holds(nodes: int, late: int, draw: np.random.Generator) -> npt.NDArray[np.int64]:
    """Lateness of tiles: drawn, or none or the most for each tile, or the most for one tile."""
    drawn_holds = draw.integers(0, late + 1, nodes)
    single = np.arange(nodes) == draw.integers(nodes)
    return (drawn_holds, np.where(drawn_holds > late // 2, late, 0), np.where(single, late, 0))[
        draw.integers(3)
    ]


def require_worst(one: Compiled, timing: Timing, late: int, draw: np.random.Generator) -> None:
    """Compare the guarantee with runs of drawn and of extreme lateness."""
    assert isinstance(one.program, Program)
    found, topology = lateness(one.program, timing, late), one.program.config.topology
    on_time = run_held(one, timing, np.zeros(topology.nodes, np.int64))
    first = int(on_time.trace.cycle.min(initial=late + 2)) - 1
    assert found.worst == on_time.cycles + max(0, late + 1 - first)
    for _ in range(3):
        hold = holds(topology.nodes, late, draw)
        hold[list(topology.switches)] = 0
        assert found.on_time <= run_held(one, timing, hold).cycles <= found.worst


def with_tiles(seed: int) -> Iterator[tuple[Compiled, Timing]]:
    """The drawn programs of a seed, for networks with tiles."""
    for one, timing in drawn(seed):
        assert isinstance(one.program, Program)
        config = one.program.config
        if config.contention_free and one.schedule.pairs_sharing_links:
            continue  # Its flits collide there.
        if config.flit_width >= 32 and not config.timed_rows:  # Which a controller needs.
            config = replace(config, **TILES)
            yield one._replace(program=replace(one.program, config=config)), timing


def test_no_lateness_is_worse_than_all_tiles_late() -> None:
    draw, seen = np.random.default_rng(2), set[tuple[Timing, bool]]()
    for one, timing in chain(*map(with_tiles, (0, 2, 7))):
        guaranteed = has_guarantee(one, timing)
        seen.add((timing, guaranteed))
        if guaranteed:
            require_worst(one, timing, int(draw.integers(0, 60)), draw)
    assert seen == {(Timing.BARRIER, True), (Timing.SELF_TIMED, True), (Timing.SELF_TIMED, False)}


@pytest.mark.parametrize(
    ("algorithm", "asked"),
    [
        ("chain", {"source": 5}),
        ("chain", {"source": 5, "collective": "reduce"}),
        ("packed-trees", {"source": 0, "ports": "all"}),
        ("stream-ring", {"collective": "all-gather"}),
    ],
)
def test_words_that_are_sent_on_as_they_come_are_late_by_no_more(
    algorithm: str, asked: dict[str, Any]
) -> None:
    one = Room(TILES).compile_one(
        package.schedule(package.mesh((4, 3)), algorithm, words=9, **asked)
    )
    assert isinstance(one.program, Program)
    assert one.program.stream.any()
    assert parts(one, Timing.BARRIER) == 1
    draw = np.random.default_rng(7)
    for late in (3, 40):
        require_worst(one, Timing.BARRIER, late, draw)


def test_a_program_whose_packets_pass_each_other_has_no_guarantee() -> None:
    """Some tiles late by at most 50 cycles are worse here than all tiles late by 50."""
    made = package.schedule(package.hypercube(4), "sbt", words=4, collective="all-gather")
    one = Room(TILES).compile_one(made)
    assert isinstance(one.program, Program)
    draw, late = np.random.default_rng(1), lateness(one.program, Timing.SELF_TIMED, 50)
    drawn_holds = [draw.integers(0, 51, 16) for _ in range(10)]
    assert max(run_held(one, Timing.SELF_TIMED, hold).cycles for hold in drawn_holds) > late.worst
    with pytest.raises(RefusedError, match=r"node \d+, row \d+: other packets may take port"):
        parts(one, Timing.SELF_TIMED)
    assert parts(one, Timing.BARRIER) == 1


def test_groups_that_start_by_themselves_do_not_move_each_other() -> None:
    made = package.schedule(
        package.mesh((4, 3)), "ring", words=4, collective="all-gather", groups="rows"
    )
    one = Room(TILES).compile_one(made)
    assert parts(one, Timing.BARRIER) == 1
    assert parts(one, Timing.SELF_TIMED) == 3
    hold = np.zeros(12, np.int64)
    on_time = run_held(one, Timing.SELF_TIMED, hold).trace
    hold[4:8] = [90, 0, 40, 7]
    late = run_held(one, Timing.SELF_TIMED, hold).trace
    for row in range(3):
        flits = [[flit for flit in trace if flit.node // 4 == row] for trace in (on_time, late)]
        assert (flits[0] == flits[1]) == (row != 1)


def test_the_command_says_the_worst(eyecast: Command) -> None:
    options = "--mesh 4x4 --source 0,0 --tile-ports --programs 1 -o p.json --certificate c.json"
    eyecast("program", *options.split())
    command = "certify", "p.json", "c.json", "--late", "100"
    found = result(eyecast(*command, "--json"))
    assert (found["on_time"], found["worst"], found["parts"]) == (87, 186, 1)
    assert "takes 87 cycles, and at most 186 with late tiles" in eyecast(*command).output


def test_lateness_needs_tiles_and_packets(eyecast: Command) -> None:
    for options, why in (
        ("", "--late needs a program for a network with --tile-ports"),
        ("--circuits", "--late needs a program of packets: circuits start with the last tile"),
    ):
        written = "--mesh 4x4 --source 0,0 -o p.json --certificate c.json"
        eyecast("program", *written.split(), *options.split())
        assert eyecast("certify", "p.json", "c.json", "--late", "100") == refusal(why)
