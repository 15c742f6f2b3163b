"""Links that differ in the cycle model: docs/router.md, section 24, and results known by hand."""

from dataclasses import replace
from itertools import pairwise

import numpy as np
import pytest
from helpers.programs import UP, departures, program, put, simulated
from helpers.router_page import blocks, section

from eyecast.model.base.errors import InvalidInput
from eyecast.model.network.topology import Topology, line, mesh


def with_links(
    topology: Topology, registers: dict[tuple[int, int], int], rates: dict[tuple[int, int], int]
) -> Topology:
    tables = np.full((2, *topology.neighbor.shape), -1)
    for table, values in zip(tables, (registers, rates), strict=True):
        for link, value in values.items():
            table[link] = value
    return replace(topology, link_registers_of=tables[0], link_rate_of=tables[1])


def cycles_of(rows: str) -> dict[tuple[int, int], list[int]]:
    """Cycles of the flits of each output in the drawing of the page."""
    found = {}
    for row in rows.splitlines()[1:]:
        words = row.replace(",", "").split()
        cells = enumerate(words[4:])
        found[int(words[1]), int(words[3])] = [cycle for cycle, cell in cells if cell != ".."]
    return found


def test_the_drawing_of_the_page() -> None:
    page = blocks(section("## 24. Variant: links that differ"))
    drawn = cycles_of(next(block for block in page if block.startswith("cycle")))
    slow = with_links(line(3), {}, {(0, UP): 3})
    run = simulated(program({0: [put(1, (UP, 2), length=2)]}, {2: [1]}, slow), "barrier")
    # The drawing leaves out the control word, which the sender reads first.
    for (node, port), cycles in drawn.items():
        left = [cycle for cycle, *_ in departures(run, node, port)]
        assert left[: len(cycles)] == [1 + cycle for cycle in cycles]
        assert len(cycles) > 1
    # control words + (latencies + L * r + 4) - 2
    assert run.cycles == 1 + (2 + 2 * 3 + 4) - 2
    # A1 and A2 waited for the rate: A1 in the sender or the router, each until its turn.
    assert run.stalled_flits.sum() > 0


@pytest.mark.parametrize(("depth", "rate", "gap"), [(16, 1, 1), (4, 1, 4), (2, 1, 8), (4, 5, 5)])
def test_a_long_link_needs_depth_for_its_rate(depth: int, rate: int, gap: int) -> None:
    """With R = 7 a slot is used again 16 cycles later; a rate of r spares ``depth``."""
    long = with_links(line(2), {(0, UP): 7}, {(0, UP): rate})
    run = simulated(
        program({0: [put(1, (UP, 1), length=31)]}, {1: [1]}, long, depth=depth), "barrier"
    )
    cycles = [cycle for cycle, *_ in departures(run, 0, UP)]
    assert cycles[-1] - cycles[0] >= 31 * gap - 16
    assert cycles[-1] - cycles[0] <= 31 * gap
    arrived = [cycle for cycle, *_ in departures(run, 1, 0)]
    assert [b - a for a, b in zip(cycles, arrived, strict=True)] == [8] * 32


def test_packets_of_two_vcs_share_the_rate_of_a_link() -> None:
    slow = with_links(mesh((3,)), {}, {(1, UP): 4})
    rows = {0: [put(1, (UP, 2, 0), length=3)], 1: [put(1, (UP, 1, 1), length=3)]}
    run = simulated(program(rows, {2: [1]}, slow, vcs=2), "self-timed")
    cycles = [cycle for cycle, *_ in departures(run, 1, UP)]
    assert [b - a for a, b in pairwise(cycles)] == [4] * 6


@pytest.mark.parametrize(("name", "value"), [("link_registers_of", 64), ("link_rate_of", 0)])
def test_a_value_out_of_range_is_refused(name: str, value: int) -> None:
    with pytest.raises(InvalidInput, match=f"{name.replace('_', ' ')} must be .*, not {value}"):
        replace(line(2), **{name: np.full((2, 3), value)})
