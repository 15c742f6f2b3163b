"""The data in a page, read by a separate reader and compared with the page's run."""

import base64
import hashlib
import html
import random
import re
import zlib
from collections import Counter
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from itertools import islice, product
from pathlib import Path

import numpy as np
import pytest
from helpers.own_operator import TWICE
from helpers.programs import LINE, UP, program, put, simulated
from helpers.report_cases import (
    HOSTILE,
    crowd,
    hostile_case,
    predicted,
    stuck_ring,
    wrong_verification,
)
from helpers.report_page import flits, read_page, trace_text, words

import eyecast
from eyecast import InvalidInput
from eyecast.model.collectives.algorithm import Algorithm
from eyecast.model.collectives.declared.request import Request
from eyecast.model.collectives.halving.eye import eyes
from eyecast.model.collectives.halving.rectangle import rectangle_eyes
from eyecast.model.collectives.registry import ALGORITHMS
from eyecast.model.compare.case import Case
from eyecast.model.compare.recorded import check_recorded
from eyecast.model.compare.traffic_case import TrafficCase
from eyecast.model.network.topology import Topology, hypercube, mesh, torus
from eyecast.model.run.following import NEVER, follow
from eyecast.model.run.hops import expected_hops
from eyecast.model.run.rules import check_packets, check_routes, check_rows
from eyecast.model.run.trace import Trace
from eyecast.model.schedule.collective import REDUCTIONS, Collective
from eyecast.report import contents
from eyecast.report.first_target import first_target
from eyecast.report.packing import Pack
from eyecast.report.page import page_text
from eyecast.report.reports import report_case, report_recorded, report_traffic, report_verification
from eyecast.report.runs import Watched


def page_of(case: Case) -> dict:
    report = report_case(case)
    return read_page(page_text(report.title, report.data))


def test_a_deadlock_names_its_circle_and_what_frees_it() -> None:
    report = stuck_ring()
    (run,) = read_page(page_text(report.title, report.data))["runs"]
    waits = run["deadlock"]["waits"]
    # On the ring of three, node n holds the link out of it and waits for the next node's.
    assert [each["held"] for each in waits] == [[3 * node + 1, 0] for node in range(3)]
    assert [each["wanted"] for each in waits] == [[3 * (node + 1) % 9 + 1, 0] for node in range(3)]
    assert [(each["row"], each["other"]) for each in waits] == [(1, 2), (2, 3), (3, 1)]
    assert {each["why"] for each in waits} == {"holds"}
    assert [each.split(" ", 1)[0] for each in run["deadlock"]["remedies"]] == ["with", "routes"]


def traffic_page(case: TrafficCase) -> dict:
    report = report_traffic(case, np.array([3, 5, 5]), [("mean", 4.3)], None)
    return read_page(page_text(report.title, report.data))


def same_trace(page: dict, trace: Trace, here: Path, run: int = 0) -> bool:
    trace.write_csv(here / "trace.csv")
    return trace_text(page, run) == (here / "trace.csv").read_text()


@dataclass
class Shown:
    """A schedule, its timing and the parameters of its network."""

    make: Callable[[], eyecast.Schedule]
    timing: str = "barrier"
    parameters: dict = None


SCHEDULES = {
    "eye": Shown(lambda: eyecast.schedule(mesh((4, 4)), "eye", source=5, words=5)),
    "long headers": Shown(
        lambda: eyecast.schedule(mesh((9, 2)), "tree", source=0, words=3),
        "self-timed",
        {"flit_width": 16, "depth": 1, "link_registers": 2},
    ),
    "all-gather": Shown(
        lambda: eyecast.schedule(torus((4, 3)), "ring", collective="all-gather", words=2)
    ),
    "all ports": Shown(
        lambda: eyecast.schedule(
            hypercube(3), "sbnt", source=0, collective="scatter", ports="all", words=3
        )
    ),
    "faults": Shown(
        lambda: eyecast.schedule(
            eyecast.with_faults(mesh((4, 4)), [5], [(0, 1)]), "tree", source=0, words=2
        )
    ),
}


@pytest.mark.parametrize("shown", SCHEDULES.values(), ids=SCHEDULES)
def test_every_flit_is_in_the_page_with_its_row(shown: Shown, tmp_path: Path) -> None:
    case = predicted(shown.make(), shown.timing, **(shown.parameters or {}))
    page = page_of(case)
    assert same_trace(page, case.predicted.trace, tmp_path)
    # Every flit of a send crosses the links of its path, and no others.
    schedule, program = case.schedule, case.program
    crossed = Counter((each["row"], each["node"], each["port"] != 0) for each in flits(page))
    expected: Counter[tuple[int, int, bool]] = Counter()
    for row, send in enumerate(program.route.tolist()):
        first, last = schedule.path_offsets[send : send + 2]
        *begins, end = schedule.path_nodes[first:last].tolist()
        expected.update({(row + 1, node, True): int(program.length[row]) for node in begins})
        expected[row + 1, end, False] = int(program.length[row])
    headers = Counter(
        (each["row"], each["node"], each["port"] != 0) for each in flits(page) if each["kind"] & 1
    )
    assert crossed - headers == expected


@pytest.mark.parametrize("shown", SCHEDULES.values(), ids=SCHEDULES)
def test_steps_programs_and_memories_are_those_of_the_run(shown: Shown) -> None:
    case = predicted(shown.make(), shown.timing, **(shown.parameters or {}))
    (run,) = page_of(case)["runs"]
    assert run["steps"]["end"] == case.predicted.step_ends.tolist()
    assert [each["ends"] for each in run["measures"]] == run["steps"]["end"]
    assert run["cycles"] == case.predicted.cycles
    for name in ("step", "source_address", "target_address", "length", "first_row"):
        assert run["program"][name] == getattr(case.program, name).tolist()
    targets = case.schedule.target[case.program.route]
    assert run["program"]["target"] == (targets + 1).tolist()
    size = run["memory"]["size"]
    assert words(run["memory"]) == case.predicted.memory[:, :size].ravel().tolist()
    blocks = case.schedule.blocks
    assert sum(run["held"]) == blocks.words.sum()


REDUCING = {
    each.name: each
    for each in ALGORITHMS
    if each.collective in REDUCTIONS and not (each.circuits or Collective(each.collective).prefix)
}
"""Algorithms of reductions: of each name the one of its last collective."""


@pytest.mark.parametrize("algorithm", REDUCING.values(), ids=REDUCING)
def test_every_reduction_ends_as_predicted_with_all_contributions(algorithm: Algorithm) -> None:
    """A node writes a combined word one cycle after the word's arrival.

    A node that is owed blocks ends with all contributions, any other node with at most all.
    """
    case = predicted(smallest(algorithm))
    (run,) = page_of(case)["runs"]
    assert run["steps"]["end"] == [each["ends"] for each in run["measures"]]
    shown, program = run["contributions"], run["program"]
    has = [float(each) for each in shown["start"]]
    columns = program["target"], program["length"], shown["gained"], shown["words"]
    for target, length, gained, sent in zip(*columns, strict=True):
        has[target - 1] += gained * length / sent
    for got, goal, owed in zip(has, shown["goal"], shown["owed"], strict=True):
        assert got == pytest.approx(goal) if owed else got <= goal


def smallest(algorithm: Algorithm) -> eyecast.Schedule:
    """Return a schedule on the first network, with one port or all, that the algorithm serves."""
    root = 0 if algorithm.collective == Collective.REDUCE else None
    chiplets = eyecast.chiplets((2, 1), (2, 2), latency=2, rate=2)
    networks = (hypercube(2), eyecast.ring(3), eyecast.ring(4), mesh((3, 3)), chiplets)
    for topology, all_port in product(networks, (False, True)):
        words = 1 if algorithm.collective == Collective.BARRIER else 8
        with suppress(InvalidInput):
            return algorithm.generate(
                Request(topology=topology, words=words, source=root, all_port=all_port)
            )
    raise AssertionError(f"{algorithm.name} serves none of them")


def test_a_flit_is_on_a_slow_link_for_the_latency_of_that_link() -> None:
    """A packet that nothing holds up leaves each router as soon as it has crossed the link."""
    chiplets = eyecast.chiplets((3, 1), (1, 1), latency=5, rate=3)
    page = page_of(predicted(eyecast.schedule(chiplets, "tree", source=0, words=1)))
    moving = [each for each in flits(page) if each["port"]]
    heads = [each for each in moving if each["kind"] == 1]
    assert len(heads) >= 2 and {each["stay"] - each["stalled"] for each in heads} == {5}
    left = {(each["cycle"], each["data"]) for each in flits(page)}
    on = [(each["cycle"] + each["stay"], each["data"]) for each in moving if each["kind"] == 2]
    assert on and set(on) <= left
    links = page["network"]["links"]
    assert set(links["registers"]) == {4} and set(links["rate"]) == {3}


def test_steps_end_when_a_slow_operator_has_combined() -> None:
    made = eyecast.schedule(hypercube(2), "sbt", source=0, collective="reduce", operator=TWICE)
    case = predicted(made, operators=(TWICE,))
    (run,) = page_of(case)["runs"]
    assert run["steps"]["end"] == [each["ends"] for each in run["measures"]]
    last = case.predicted.trace.cycle.max()
    assert run["steps"]["end"][-1] == last + 2 + TWICE.latency


def drawn_links(page: dict) -> dict[tuple[int, int], tuple[int, int]]:
    links = page["network"]["links"]
    columns = (links[name] for name in ("from", "port", "to", "faulty"))
    return {(node, port): (to, faulty) for node, port, to, faulty in zip(*columns, strict=True)}


def table_texts(run: dict) -> list[str]:
    """Return the table words of each row in hex, from the data of a page."""
    program, table, rows = run["program"], [], len(run["program"]["step"])
    for change in words(program["table"]):
        table.append(change ^ (table[-1] if table else 0))
    control, header = program["control"], iter(table[program["control"] * rows :])
    return [
        " ".join(
            f"{word:x}"
            for word in (*table[row : control * rows : rows], *islice(header, flits_of_row))
        )
        for row, flits_of_row in enumerate(program["header_flits"])
    ]


WITH_REMARKS = {
    "reduction": Shown(
        lambda: eyecast.schedule(
            hypercube(2), "sbt", source=0, collective="reduce", operator="max", words=2
        ),
        parameters={"operators": ("max",)},
    ),
    "stream": Shown(
        lambda: eyecast.schedule(mesh((3, 3)), "chain", source=0, words=9),
        parameters={"streams": True},
    ),
}


@pytest.mark.parametrize("name", [*SCHEDULES, *WITH_REMARKS])
def test_a_page_has_the_injection_tables(name: str) -> None:
    shown = (SCHEDULES | WITH_REMARKS)[name]
    case = predicted(shown.make(), shown.timing, **(shown.parameters or {}))
    (run,) = page_of(case)["runs"]
    lines = [line for node in range(case.program.nodes) for line in case.program.table(node)]
    assert table_texts(run) == [line.table for line in lines]
    remarks = run["program"]["remarks"]
    assert [remarks[each] for each in run["program"]["remark"]] == [line.remarks for line in lines]
    assert any(remarks) == (name in WITH_REMARKS)


@pytest.mark.parametrize("seed", range(6))
def test_a_damaged_trace_is_shown_as_it_is(seed: int, here: Path) -> None:
    case = predicted(eyecast.schedule(mesh((3, 2)), "tree", source=0, words=3))
    draw, whole = random.Random(seed), list(case.predicted.trace)
    damaged = [flit for flit in whole if draw.random() > 0.1]
    for place in draw.sample(range(len(damaged)), 6):
        change = {"data": draw.getrandbits(32), "kind": draw.randrange(4)}
        name = draw.choice([*change])
        damaged[place] = damaged[place]._replace(**{name: change[name]})
    trace = Trace.from_flits(damaged)
    found = check_recorded(case.program, case.predicted, trace)
    report = report_recorded("damaged", case.program, trace, found, predicted=case.predicted)
    page = read_page(page_text(report.title, report.data))
    assert same_trace(page, trace, here)
    assert same_trace(page, case.predicted.trace, here, run=1)
    assert page["verdict"]["good"] is False


def test_broken_links_are_drawn_as_broken() -> None:
    network = eyecast.with_faults(mesh((4, 4)), [5], [(0, 1)])
    page = page_of(predicted(eyecast.schedule(network, "tree", source=0)))
    found = drawn_links(page)
    assert len(found) == 48
    broken = {key for key, (_, faulty) in found.items() if faulty}
    assert broken == {(0, 1), *((5, p) for p in range(1, 5)), (4, 1), (6, 2), (1, 3), (9, 4)}
    assert page["network"]["faulty_nodes"] == [5]
    works = network.neighbor
    assert all(works[key] == to for key, (to, faulty) in found.items() if not faulty)


def test_a_host_and_links_that_go_round_an_end_are_drawn() -> None:
    page = page_of(predicted(eyecast.schedule(torus((2, 4)), "tree", source=0)))
    # An axis of two nodes has two links in each direction; one of them goes around the end.
    curves = page["network"]["links"]["curves"]
    assert sum(len(curve) == 2 for curve in curves.values()) == 8 + 4
    assert page["network"]["port_names"] == ["node", "east", "west", "south", "north"]


@pytest.mark.parametrize("flit_width", [32, 16])
def test_flits_that_wait_are_those_of_the_rules(flit_width: int, tmp_path: Path) -> None:
    case = crowd(flit_width=flit_width)
    program, trace = case.program, case.predicted.trace
    packets = check_packets(program, trace)
    left = check_routes(program, packets, check_rows(program, packets))
    moving = packets.flits
    expected = {
        (cycle, node, port): end
        for cycle, node, port, end in zip(
            *(column.tolist() for column in (moving.cycle, moving.node, moving.port, left)),
            strict=True,
        )
        if port
    }
    page = traffic_page(case)
    assert same_trace(page, trace, tmp_path)
    found = {
        (each["cycle"], each["node"], each["port"]): each["cycle"] + each["stay"]
        for each in flits(page)
        if each["port"]
    }
    assert found == expected
    stalled = Counter(
        program.config.topology.neighbor[each["node"], each["port"]]
        for each in flits(page)
        if each["stalled"]
    )
    assert stalled.total() > 100
    # The model also counts the node's own flits.
    counted = case.predicted.stalled_flits
    assert all(number <= counted[node] for node, number in stalled.items())


def test_a_packet_that_never_goes_on_waits_to_the_end() -> None:
    report = stuck_ring()
    (shown,) = (page := read_page(page_text(report.title, report.data)))["runs"]
    assert page["verdict"]["good"] is False
    assert shown["cycles"] == 1 + max(each["cycle"] for each in flits(page))
    waiting = [each for each in flits(page) if each["stalled"]]
    assert {(each["node"], each["port"]) for each in waiting} == {(0, 1), (1, 1), (2, 1)}
    # These flits are still in the network at the end.
    assert all(each["cycle"] + each["stay"] == shown["cycles"] + 1 for each in waiting)
    assert page["verdict"]["text"] == "predicted by the model: deadlock"
    assert shown["waiting"][1].startswith("node 0 -> 1 VC 0 holds the packet from 0 to 2, which ")
    assert shown["stalled"] == [3, 3, 3]


def test_too_many_flits_are_counted_and_it_is_said(monkeypatch: pytest.MonkeyPatch) -> None:
    case = predicted(eyecast.schedule(mesh((4, 4)), "eye", source=0, words=9))
    trace = case.predicted.trace
    monkeypatch.setattr(contents, "MOST_FLITS", len(trace) - 1)
    page = page_of(case)
    (shown,) = page["runs"]
    loads, ports = shown["loads"], page["network"]["ports"]
    assert shown["trace"] is None and shown["program"] is None
    assert any(f"The trace has {len(trace)} rows" in note for note in shown["notes"])
    bins, steps = Counter(), Counter()
    ends = case.predicted.step_ends.tolist()
    for cycle, node, port, *_ in trace:
        bins[cycle // loads["width"], node * ports + port] += 1
        steps[sum(end <= cycle for end in ends), node * ports + port] += 1
    places = list(enumerate(loads["lines"]))
    counted = iter(loads["counts"])
    found = {(b, line): next(counted) for b in range(loads["bins"]) for _, line in places}
    assert +Counter(found) == bins
    counted = iter(loads["steps"])
    found = {(step, line): next(counted) for step in range(len(ends)) for _, line in places}
    assert +Counter(found) == steps


def test_flits_of_all_runs_together_are_limited(monkeypatch: pytest.MonkeyPatch) -> None:
    case = crowd()
    rows = len(case.predicted.trace)
    monkeypatch.setattr(contents, "MOST_FLITS", 2 * rows - 1)
    shown = contents.Contents("twice", case.program.config)
    for _ in range(2):
        watched = Watched("model", "twice", "", case.program, case.predicted)
        shown.add(watched, None)
    first, second = read_page(page_text("", shown.report({}).data))["runs"]
    assert first["trace"]["rows"] == second["loads"]["rows"] == rows


def test_bins_of_a_long_run_are_as_long_as_they_must(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(contents, "MOST_FLITS", 0)
    case = crowd()
    (shown,) = traffic_page(case)["runs"]
    loads = shown["loads"]
    assert loads["bins"] <= 256 < shown["cycles"] + 256
    assert (loads["bins"] - 1) * loads["width"] < shown["cycles"] <= loads["bins"] * loads["width"]
    assert sum(loads["counts"]) == len(case.predicted.trace)


def test_hostile_names_are_text_alone() -> None:
    report = report_case(hostile_case())
    text = page_text(report.title, report.data)
    assert text.count("</script>") == 3 and "<img" not in text
    assert "\x1b" not in text and "\u2028" not in text
    assert HOSTILE in read_page(text)["title"]
    (title,) = re.findall("<title>(.*)</title>", text)
    assert "on a 2x2 mesh, algorithm </script><script>alert(1)" in html.unescape(title)


def inflated(text: str) -> str:
    return zlib.decompress(base64.b64decode(text, validate=True)).decode()


def test_the_policy_lets_in_the_pages_own_parts_alone() -> None:
    text = page_text("t", "")
    (policy,) = re.findall(r'Content-Security-Policy" content="([^"]*)"', text)
    rules = dict(rule.split(" ", 1) for rule in policy.split("; "))
    parts = {
        "script-src": [
            *re.findall(r"<script type=\"module\">(.*?)</script>", text, re.DOTALL),
            *(inflated(code) for code in re.findall(r'<script id="code"[^>]*>([^<]*)<', text)),
        ],
        "style-src": re.findall("<style>(.*?)</style>", text, re.DOTALL),
    }
    assert [len(found) for found in parts.values()] == [2, 1]
    for name, found in parts.items():
        digests = [base64.b64encode(hashlib.sha256(part.encode()).digest()) for part in found]
        assert rules.pop(name) == " ".join(f"'sha256-{digest.decode()}'" for digest in digests)
    assert rules == {"default-src": "'none'", "base-uri": "'none'", "form-action": "'none'"}


def test_nothing_in_a_page_comes_from_elsewhere() -> None:
    text = page_text("t", "")
    assert re.findall(r"""(?:src|href)=["']?[^"'#\s>]+|url\(|@import""", text) == []


def test_a_broadcast_on_8x8_takes_little_room() -> None:
    report = report_case(predicted(eyecast.schedule(mesh((8, 8)), "eye", source=0)))
    assert len(page_text(report.title, report.data)) < 65_000


@pytest.mark.parametrize("values", [[-1, 3], [1 << 54]])
def test_a_column_has_numbers_that_a_browser_has(values: list[int]) -> None:
    with pytest.raises(ValueError, match="numbers of a column must be 0 to"):
        Pack().column(values)


def test_a_network_that_is_too_large_to_be_seen_is_refused() -> None:
    case = predicted(eyecast.schedule(eyecast.line(65), "tree", source=0, words=1))
    with pytest.raises(InvalidInput, match="sides of a drawn line must be at most 64, not 65"):
        report_case(case)


def test_a_run_that_differs_is_beside_the_prediction(tmp_path: Path) -> None:
    result = wrong_verification()
    report = report_verification(result)
    page = read_page(page_text(report.title, report.data))
    measured, model = page["runs"]
    assert (measured["name"], model["name"]) == ("hardware", "model")
    assert same_trace(page, result.measured.trace, tmp_path, 0)
    assert same_trace(page, result.case.predicted.trace, tmp_path, 1)
    assert measured["flags"] == {"0": ["bad_route"]} and model["flags"] == {}
    assert any("waits for a receive" in line for line in measured["waiting"])
    difference, index = measured["difference"], result.difference.index
    assert difference["row"] == index
    (line,) = [row for row in difference["rows"] if row[0] == index]
    traces = (result.case.predicted.trace, result.measured.trace)
    assert line[1:] == [str(trace[index]) if index < len(trace) else "" for trace in traces]
    assert page["verdict"]["good"] is False
    checks = measured["tables"][0]
    assert [checks["rows"][number][0] for number in checks["wrong"]] == [
        check.name for check in result.checks if not check.agrees
    ]


@pytest.mark.parametrize("circuits", [False, True], ids=["packets", "circuits"])
@pytest.mark.parametrize("groups", ["rows", "rows+columns"])
def test_groups_have_their_blocks_at_the_same_addresses(groups: str, circuits: bool) -> None:
    """A page knows the owner of each row's words (packets), and all contributions (circuits)."""
    made = eyecast.schedule(mesh((4, 2)), "ring", collective="all-reduce", groups=groups, words=8)
    (run,) = page_of(predicted(made, circuits=circuits))["runs"]
    if circuits:
        shown = run["contributions"]
        marks = np.array(shown["marks"]).reshape(8, shown["size"])
        words = 8 * len(groups.split("+"))
        assert shown["size"] == words
        assert (marks >> 1).sum(axis=1).tolist() == shown["start"] == [words] * 8
        return
    first_row = run["program"]["first_row"]
    node = np.searchsorted(first_row, np.arange(len(run["origins"])), side="right") - 1
    firsts = {(each, each // 4 * 4) for each in range(8)}
    if "columns" in groups:
        firsts |= {(each, each % 4) for each in range(8)}
    assert {*zip(node.tolist(), run["origins"], strict=True)} == firsts


# ---- The line of a page that says to which node a root sends first, and why ---------------------


def test_the_line_of_a_broadcast_from_a_corner() -> None:
    assert first_target(eyecast.schedule(mesh((8, 8)), "eye", source=0)) == (
        "Node (0,0) sends first to node (5,2), the nearest eye of the other half (from an eye, a "
        "broadcast crosses the fewest links). By way of node (5,2) the message reaches 32 nodes, "
        "those from (4,0) to (7,7)."
    )


def test_a_line_without_a_reason_and_without_a_box() -> None:
    line = first_target(eyecast.schedule(eyecast.ring(5), "tree", source=0, words=4))
    said = r"Node 0 sends first to node (\d)\. By way of node \1 the message reaches \d nodes?\."
    assert re.fullmatch(said, line)


@pytest.mark.parametrize(
    "made",
    [
        eyecast.schedule(mesh((4, 4)), "packed-trees", source=0, ports="all"),
        eyecast.schedule(mesh((4, 4)), "best", collective="gather", source=0),
        eyecast.schedule(mesh((4, 4)), "ring", collective="all-reduce"),
        eyecast.schedule(mesh((1, 1)), "tree", source=0),
    ],
    ids=["all ports", "gather", "all-reduce", "one node"],
)
def test_what_has_no_first_target_has_no_line(made: eyecast.Schedule) -> None:
    assert first_target(made) == ""


@pytest.mark.parametrize("network", [mesh((8, 8)), mesh((4, 4, 4)), mesh((7, 6)), mesh((12, 5))])
def test_the_first_target_is_the_nearest_eye_of_the_half_that_it_serves(network: Topology) -> None:
    """The reason that the line gives, by the eyes of a network as large as the half."""
    algorithm = "eye" if len(set(network.dims)) == 1 else "rectangle"
    for source in range(0, network.nodes, 3):
        made = eyecast.schedule(network, algorithm, source=source, words=1)
        first = int(made.target[made.step == 1][0])
        reached = {first}
        for sender, target in zip(made.source.tolist(), made.target.tolist(), strict=True):
            reached |= {target} if sender in reached else set()
        line = first_target(made)
        assert f"first to node {name(network, first)}, the nearest eye of the other half" in line
        assert f"reaches {len(reached)} nodes, those from" in line
        places = network.coordinates(sorted(reached))
        low = places.min(axis=0)
        half = mesh(tuple((places.max(axis=0) - low + 1).tolist()))
        found = half.coordinates(rectangle_eyes(half)) + low
        far = np.abs(found - network.coordinates(source)).sum(axis=1)
        nearest = {tuple(place) for place in found[far == far.min()].tolist()}
        assert tuple(network.coordinates(first).tolist()) in nearest
        if algorithm == "eye":
            assert first in eyes(network)


def name(network: Topology, node: int) -> str:
    return f"({','.join(map(str, network.coordinates(node).tolist()))})"


# ---- The row of each flit and the cycles in which it moves, for hand-drawn programs of one packet


MADE = program({0: [put(1, (UP, 3), length=2)]}, {3: [1]})
"""A packet of three flits from node 0 to node 3, through nodes 1 and 2."""


def test_the_hops_of_a_packet_are_counted_from_its_sender() -> None:
    hops = expected_hops(MADE)
    assert hops.row.tolist() == [0, 0, 0, 0]
    assert hops.hop.tolist() == [0, 1, 2, 3]
    assert hops.channel.tolist() == [node * LINE.ports + UP for node in range(3)] + [3 * LINE.ports]
    assert hops.flits.tolist() == [3, 3, 3, 3]
    assert hops.target.tolist() == [3]


def test_a_flit_leaves_by_the_next_hop_alone() -> None:
    whole = simulated(MADE).trace
    # The flits that leave node 1 are missing: the cycle is unknown, although node 2 sends them.
    trace = Trace(*(column[whole.node != 1] for column in whole.columns))
    followed = follow(MADE, trace, expected_hops(MADE))
    assert followed.row.tolist() == [0] * 9
    assert (followed.left[trace.node == 0] == NEVER).all()
    delivered = trace.cycle[trace.node == 3].tolist()
    assert followed.left[trace.node == 2].tolist() == delivered
    assert followed.left[trace.node == 3].tolist() == [cycle + 1 for cycle in delivered]
