"""Invariants of all traffic in the cycle model; traffic as arrays runs like traffic as rows."""

import ast
from collections import Counter, defaultdict
from dataclasses import replace
from functools import cache
from itertools import accumulate, pairwise
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from helpers.programs import DOWN, HEAD, SINGLE, TAIL, UP, pack, program, put, simulated
from helpers.refusals import refusal_of
from helpers.traffic import refusing, timed, traffic, x_first

from eyecast.model.cycle import loop
from eyecast.model.cycle.model import cycle_limit
from eyecast.model.network.config import NetworkConfig
from eyecast.model.network.topology import Topology, mesh
from eyecast.model.program.program import Program
from eyecast.model.program.row import Row
from eyecast.model.run.run import Run


def random_traffic(seed: int, **limits: Any) -> tuple[Program, list[dict[str, Any]]]:
    """Return dimension-order traffic on a 4x3 mesh, and each packet's path and target."""
    random = np.random.default_rng(seed)
    topology = limits.pop("topology", mesh((4, 3)))
    rows: dict[int, list[Row]] = defaultdict(list)
    packets = []
    for number in range(240):
        source, target = number % 12, int(random.integers(12))
        if source == target:
            continue
        place = len(rows[source])
        start, length = 5 * place + int(random.integers(20)), int(random.integers(1, 7))
        route, way = x_first(source, target, limits["vcs"], random)
        rows[source].append(timed(start, *route, length=length, source=6 * place, target=200))
        payload = [1 + 256 * source + 6 * place + word for word in range(length)]
        packets.append({"start": start, "way": way, "payload": payload})
    awaited = Counter(packet["way"][-1][0] for packet in packets)
    return traffic(dict(rows), awaited, topology, **limits), packets


def drawn_links() -> Topology:
    """The mesh with drawn registers and rates of links; of some, nothing is said."""
    draw, whole = np.random.default_rng(5), mesh((4, 3))
    registers, rates = draw.integers(-1, 9, (2, *whole.neighbor.shape))
    return replace(whole, link_registers_of=registers, link_rate_of=np.where(rates, rates, -1))


LIMITS: list[dict[str, Any]] = [
    {"vcs": 1, "depth": 2, "link_registers": 0},
    {"vcs": 2, "depth": 4, "link_registers": 1},
    {"vcs": 3, "depth": 1, "link_registers": 2},
    {"vcs": 8, "depth": 16, "link_registers": 3},
    {"vcs": 2, "depth": 3, "link_registers": 1, "topology": drawn_links()},
]


@pytest.mark.parametrize("pattern", [0, 0b0110111111110111])
@pytest.mark.parametrize("limits", LIMITS)
def test_every_packet_goes_its_way_whole_and_in_order(limits: dict[str, Any], pattern: int) -> None:
    made, packets = random_traffic(1, **limits)
    result = simulated(made, refusal=refusing(pattern, 12))
    assert result.finished
    assert not result.flags.any()
    assert result.received.tolist() == list(made.awaited)
    # A link carries one flit per cycle, and no flit leaves while its node refuses flits.
    order = [(flit.cycle, flit.node, flit.port) for flit in result.trace]
    assert order == sorted(set(order))
    assert not any(pattern >> f.cycle % 16 & 1 for f in result.trace if f.port == 0)
    # On each VC of each link: a head, then the payload of one packet. Cycles by packet and output.
    left: dict[tuple[int, tuple[int, int, int]], list[int]] = {}
    open_packets: dict[tuple[int, int, int], list[Any]] = {}
    for flit in result.trace:
        output = (flit.node, flit.port, flit.vc)
        assert (flit.kind in (HEAD, SINGLE)) == (output not in open_packets)
        open_packets.setdefault(output, []).append(flit)
        if flit.kind in (TAIL, SINGLE):
            whole = open_packets.pop(output)
            key = (whole[1].data, output)
            assert key not in left
            assert [f.data for f in whole[1:]] == [whole[1].data + i for i in range(len(whole) - 1)]
            left[key] = [f.cycle for f in whole]
    assert not open_packets
    check_ways(left, packets, made.config)
    check_rates(result, made.config.topology)


def check_rates(result: Run, topology: Topology) -> None:
    """Require the cycles between two flits of a link, of any VCs."""
    links = {(flit.node, flit.port) for flit in result.trace if flit.port}
    gaps = {}
    for node, port in links:
        cycles = [flit.cycle for flit in result.trace if (flit.node, flit.port) == (node, port)]
        gaps[node, port] = min(b - a for a, b in pairwise(cycles))
    rates = topology.link_rate_of
    least = {link: 1 if rates is None or rates[link] < 0 else int(rates[link]) for link in links}
    assert all(gaps[link] >= least[link] for link in links)


def check_ways(
    left: dict[tuple[int, tuple[int, int, int]], list[int]],
    packets: list[dict[str, Any]],
    config: NetworkConfig,
) -> None:
    given = config.topology.link_registers_of
    usual = np.full(config.topology.neighbor.shape, config.link_registers)
    hops = 1 + (usual if given is None else np.where(given < 0, usual, given))
    used: dict[tuple[int, int, int], Counter[int]] = defaultdict(Counter)
    for packet in packets:
        times = [left.pop((packet["payload"][0], output)) for output in packet["way"]]
        assert {len(time) for time in times} == {len(packet["payload"]) + 1}
        # A flit's slot is used from the cycle in which it leaves until its credit can be back.
        way = [int(hops[node, port]) for node, port, _ in packet["way"][:-1]]
        for hop, output, (time, after) in zip(way, packet["way"], pairwise(times), strict=False):
            assert all(b - a >= hop for a, b in zip(time, after, strict=True))
            used[output].update(time)
            used[output].subtract(cycle + hop for cycle in after)
        least = sum(way) + 1 + len(packet["payload"])
        assert times[-1][-1] - packet["start"] >= least
    assert not left
    for changes in used.values():
        in_use = list(accumulate(change for _, change in sorted(changes.items())))
        assert max(in_use) <= config.depth
        assert in_use[-1] == 0


def test_headers_and_cycles_are_those_of_the_rows() -> None:
    made, _ = random_traffic(2, vcs=2, depth=3, link_registers=1)
    rows = [row for node in made.rows for row in node]
    # A 4x3 mesh: ports 0-5 in 3 bits, 1-3 hops in 2, VCs 0-1 in 1, steps in 4, addresses in 8.
    headers = []
    for row in rows:
        slots = [((s.port, 3), (s.hops - 1, 2), (s.vc, 1)) for s in row.route]
        headers.append(pack(*sum(slots, ()), (5, 3), (0, 4), (row.target_address, 8)))
    assert made.header.tolist() == headers
    assert len(simulated(made).trace) == made.flit_hops


def test_a_header_full_to_the_last_bit_counts_in_the_cycle_limit() -> None:
    # Slots of a line of 4 take 4 bits, 2 of port and 2 of hops: two slots fill a flit of 8 bits,
    # and the delivery of 2 + 1 + 2 bits is in the next flit.
    limits = {"flit_width": 8, "message_words": 4, "steps": 1}
    route = [(UP, 2), (DOWN, 1)]
    made = program({0: [put(1, *route, length=4)]}, {}, **limits)
    full, delivery = pack((UP, 2), (1, 2), (DOWN, 2), (0, 2)), pack((3, 2), (1, 1))
    assert made.header.tolist() == [full, delivery]
    # 2 header flits and 4 words over 3 hops and one ejection.
    assert made.flit_hops == (2 + 4) * (3 + 1)
    # Events: 6 injected flits; 2 control words, and the last word of each of 4 tables; at each
    # node a step that rises, and once more after the last; twice two cycles for the steps.
    events = made.config.table.control_words + 6 + made.flit_hops + 4 * (1 + 1) + 2 * 2
    assert cycle_limit(made) == events


@pytest.mark.parametrize("name", ["first_row", "first_receive"])
@pytest.mark.parametrize(
    "wrong", [(1, 2, 2, 2, 2), (0, 2, 2, 2, 1), (0, 2, 2, 2, 3), (0, 2, 1, 2, 2), (0, 3, 2, 2, 2)]
)
def test_bounds_that_do_not_rise_over_all_rows_are_refused(
    name: str, wrong: tuple[int, ...]
) -> None:
    made = program({0: [put(1, (UP, 1)), put(2, (UP, 1))]}, {1: [1, 2]})
    assert (
        refusal_of(replace, made, **{name: np.array(wrong)})
        == f"program: {name} must be rising from 0 to 2, not {list(wrong)}"
    )


def test_the_first_nine_bounds_are_told() -> None:
    made = program({}, {}, mesh((4, 4)))
    told = refusal_of(replace, made, first_row=np.ones(17, np.int64))
    assert told == f"program: first_row must be rising from 0 to 0, not {[1] * 9}"


# ---- The compiled loop is compiled anew when one of its source files changes --------------------


MODEL = Path(loop.__file__).parents[1]
COMPILED = {"inlined", "compiled_loop", "compiled", "intrinsic"}
"""Decorators of functions that Numba compiles."""


@cache
def origins(module: Path) -> dict[str, Path]:
    """Return, for each name that a module imports, the module of this package that defines it."""
    return {
        name.name: origin
        for node in ast.walk(ast.parse(module.read_text()))
        if isinstance(node, ast.ImportFrom) and node.level and node.module
        for name in node.names
        if (origin := origin_of(module, node.level, node.module, name.name))
    }


def origin_of(module: Path, level: int, source: str, name: str) -> Path | None:
    """Return the module that defines a name, found through modules that only import it."""
    there = module.parents[level - 1].joinpath(*source.split(".")).with_suffix(".py")
    return origins(there).get(name, there) if there.exists() else None


def names_compiled_in(module: Path) -> set[str]:
    """Return the names in a module's compiled functions, their decorators and its constants."""
    parts: list[ast.AST] = []
    for node in ast.parse(module.read_text()).body:
        if isinstance(node, ast.FunctionDef):
            decorators = {each.id for each in node.decorator_list if isinstance(each, ast.Name)}
            if decorators & COMPILED or node.name in COMPILED:
                parts += [*node.decorator_list, *node.body]
        elif isinstance(node, ast.Assign):
            parts.append(node)
    return {each.id for part in parts for each in ast.walk(part) if isinstance(each, ast.Name)}


def test_the_checksum_is_of_all_that_is_compiled_in() -> None:
    """The checksum covers all files of the loop's code except its own file, which Numba checks."""
    itself = Path(loop.__file__)
    found, left = {itself}, [itself]
    while left:
        module = left.pop()
        known = origins(module)
        new = {known[name] for name in names_compiled_in(module) if name in known} - found
        found |= new
        left += new
    parts = {path.relative_to(MODEL).with_suffix("").as_posix() for path in found - {itself}}
    assert set(loop._PARTS) == parts
