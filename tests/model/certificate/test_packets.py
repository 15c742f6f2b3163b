"""Certificates of packets and of timed rows: compiled programs are accepted, and no wrong ones."""

import ast
import json
import re
import sys
from collections.abc import Iterator
from dataclasses import replace
from hashlib import sha256
from itertools import product
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np
import pytest
from helpers.certificates import by_hand, compare_damaged, compiled, damaged, drawn, verdict
from helpers.command import Command
from helpers.programs import UP, program, put, simulated

import eyecast as package
from eyecast.model.certificate import circuit_checker, packet_checker
from eyecast.model.certificate.certificate import certificate_json
from eyecast.model.certificate.contributions import links_of
from eyecast.model.certificate.packet_checker import MalformedError, RefusedError, check, lengths
from eyecast.model.cycle.model import run
from eyecast.model.network.attached_host import with_host
from eyecast.model.network.config import TIMINGS, NetworkConfig, Timing
from eyecast.model.network.faults import with_faults
from eyecast.model.program.certified import Room
from eyecast.model.program.compiler import Compiled, fit
from eyecast.model.program.deadlock import DeadlockError
from eyecast.model.program.file import program_json
from eyecast.model.program.payload import Payload
from eyecast.model.program.program import Program

TO_1 = [[0, 1, 0], [1, 0, 0]]
"""Channels of a line: the link from node 0, and the delivery at node 1."""
TO_1_AND_2 = [[0, 1, 0], [1, 1, 0], [1, 0, 0], [2, 0, 0]]


def test_damaged_programs_are_refused_unless_they_work() -> None:
    tasks = (
        ("eye", {"source": 0}),
        ("recursive-doubling", {"collective": "all-reduce"}),
        ("dissemination", {"collective": "all-reduce", "operator": "max"}),
        ("ring", {"collective": "reduce-scatter", "words": 16}),
    )
    seen = compare_damaged([(compiled(*task), Timing.BARRIER) for task in tasks], 10)
    assert seen["refused, wrong"] > 20
    assert seen["holds"] > 1


def test_many_drawn_programs_hold_and_damaged_ones_do_not() -> None:
    seen = compare_damaged((each for seed in (0, 2) for each in drawn(seed)), 3)
    assert seen["good"] > 8
    assert seen["refused, wrong"] > 11


@pytest.mark.parametrize(
    ("name", "change", "why"),
    [
        ("program", lambda _: "0", "the certificate is of another program"),
        ("channel_order", lambda order: order[::-1], "node 0, row 0: the channels do not rise"),
        ("channel_order", lambda order: order[1:], "the channels do not rise"),
        ("channel_order", lambda order: [*order, order[0]], "a channel is in the order twice"),
        ("held", lambda _: [], "node 0 lacks the word at 0"),
        ("owed", lambda owed: [owed[1] | {"values": [0, 1]}], "node 1 lacks the word at 0"),
        ("owed", lambda owed: [owed[1] | {"values": [1 << 64]}], "node 1 lacks the word at 0"),
        ("owed", lambda owed: [owed[1] | {"operator": 1}], "node 1 lacks the word at 0"),
    ],
)
def test_a_changed_certificate_is_refused(name: str, change: Any, why: str) -> None:
    one = compiled()
    text, certificate = program_json(one.program).encode(), certificate_json(one, Timing.BARRIER)
    check(text, certificate.encode())
    changed = json.loads(certificate)
    changed[name] = change(changed[name])
    with pytest.raises(RefusedError, match=why):
        check(text, json.dumps(changed).encode())


def test_a_certificate_of_another_form_is_malformed() -> None:
    one = compiled()
    text, certificate = program_json(one.program).encode(), certificate_json(one, Timing.BARRIER)
    timing = certificate.replace("barrier", "never")
    for wrong in ("", "[]", "{}", certificate.replace('"version": 1', '"version": 2'), timing):
        with pytest.raises(MalformedError, match="no program and certificate of version 1: "):
            check(text, wrong.encode())


@pytest.mark.parametrize(("step", "timings"), [(1, ()), (2, ("barrier",))])
def test_no_word_is_read_while_it_may_be_written(step: int, timings: tuple[str, ...]) -> None:
    """Node 1 sends word 0 in step 1; node 0 replaces that word in step 1, or in step 2."""
    rows = {0: [put(step, (UP, 1), length=1)], 1: [put(1, (UP, 1), length=1)]}
    made = program(rows, {1: [step], 2: [1]}, steps=2)
    one: dict[str, Any] = {"address": 0, "words": 1}
    held = [one | {"node": node, "value": node} for node in (0, 1)]
    certificate = by_hand(TO_1_AND_2, held, [one | {"node": 2, "values": [1], "operator": 0}])
    for timing in TIMINGS:
        said = verdict(made, certificate | {"timing": timing})
        refused = "node 1 may read word 0 while it is written"
        assert said == ("holds" if timing in timings else refused)


@pytest.mark.parametrize(
    ("topology", "request_of", "sender"),
    [
        (package.mesh((1, 6)), {"collective": "scatter", "source": 0}, 0),
        (package.ring(7), {"collective": "all-gather"}, 1),
    ],
)
def test_no_word_is_replaced_by_itself_while_it_may_be_read(
    topology: package.Topology, request_of: dict[str, Any], sender: int
) -> None:
    """A longer message brings, once more, words that its target sends in the same step."""
    made = package.schedule(topology, "ring", words=4, **request_of)
    one = Room().compile_one(made)
    assert isinstance(one.program, Program)
    certificate = json.loads(certificate_json(one, Timing.BARRIER))
    length = one.program.length.copy()
    length[(one.program.step == 2) & (one.program.row_node == sender)] += 1
    said = verdict(replace(one.program, length=length), certificate)
    assert re.fullmatch(r"node \d+ may read word \d+ while it is written", said)


def test_a_node_of_half_duplex_ports_does_not_send_in_a_step_in_which_it_receives() -> None:
    """Node 1 receives in step 1; such a program hangs if node 1 sends in that step, too."""
    for step, model, finished in (
        (1, "half-duplex", False),
        (2, "half-duplex", True),
        (1, "full-duplex", True),
    ):
        rows = {0: [put(1, (UP, 1))], 1: [put(step, (UP, 1), source=1)]}
        made = program(rows, {1: [1], 2: [step]}, port_model=model, steps=2)
        assert simulated(made, "barrier").finished == finished
        refused = "node 1, row 0: its node receives in the same step"
        assert verdict(made, by_hand(TO_1_AND_2, [], [])) == ("holds" if finished else refused)


def test_a_segment_of_no_hops_is_refused() -> None:
    made = program({0: [put(1, (UP, 0), (UP, 1), length=1)]}, {1: [1]})
    assert verdict(made, by_hand(TO_1, [], [])) == "node 0, row 0: a segment has no hops"


@pytest.mark.parametrize(
    ("steps", "why"),
    [
        ((1, 2), "the next row does not continue its message"),
        ((1,), "no row continues its message"),
    ],
)
def test_a_continued_message_goes_on_in_the_next_row(steps: tuple[int, ...], why: str) -> None:
    rows = [put(step, (UP, 1), length=1) for step in steps]
    rows[0] = replace(rows[0], continued=True)
    made = program({0: rows}, {1: [2]} if len(rows) > 1 else {}, steps=2)
    assert verdict(made, by_hand(TO_1, [], [])) == f"node 0, row 0: {why}"


def test_an_operator_that_the_network_lacks_is_refused() -> None:
    one = compiled()
    assert isinstance(one.program, Program)
    wrong = replace(one.program, operator=np.ones_like(one.program.operator))
    certificate = json.loads(certificate_json(one, Timing.BARRIER))
    assert verdict(wrong, certificate) == "node 0, row 0: its operator does not exist"


def test_packets_in_a_circle_have_no_certificate() -> None:
    made = package.schedule(package.ring(5), "direct", words=16, collective="all-to-all")
    one = Room().compile_one(made)
    assert isinstance(one.program, Program)
    routes = replace(one.program.routes, vc=np.zeros_like(one.program.routes.vc))
    one = one._replace(program=replace(one.program, routes=routes))
    with pytest.raises(DeadlockError):
        certificate_json(one, Timing.BARRIER)


@pytest.mark.parametrize(
    ("place", "why"),
    [("message_words", "no memory has so many words"), ("route", "the channels do not rise")],
)
def test_numbers_that_no_network_has_are_refused_at_once(place: str, why: str) -> None:
    one = Room().compile_one(package.schedule(package.ring(5), "chain", source=0, words=4))
    changed = json.loads(program_json(one.program))
    if place == "route":
        changed["nodes"][0]["rows"][0]["route"][0][1] = 1 << 64
    else:
        changed["network"][place] = 1 << 64
    text = json.dumps(changed).encode()
    certificate = json.loads(certificate_json(one, Timing.BARRIER))
    certificate["program"] = sha256(text).hexdigest()
    with pytest.raises(RefusedError, match=why):
        check(text, json.dumps(certificate).encode())


# ---- The checkers of certificates share no code with the project, nor with each other -----------


@pytest.mark.parametrize("checker", [circuit_checker, packet_checker], ids=lambda it: it.__name__)
def test_the_checker_shares_no_code_with_the_project(checker: ModuleType) -> None:
    tree = ast.parse(Path(checker.__file__).read_text())
    froms = [node for node in ast.walk(tree) if isinstance(node, ast.ImportFrom)]
    plain = [node for node in ast.walk(tree) if isinstance(node, ast.Import)]
    names = {node.module for node in froms} | {each.name for node in plain for each in node.names}
    assert all(node.level == 0 for node in froms)
    assert names <= {*sys.stdlib_module_names, "collections.abc"}


# ---- Timed rows: no two flits want an output in one cycle ----------------------------------------


TOPOLOGIES = {
    "mesh": package.mesh((2, 3)),
    "torus": package.torus((3, 3)),
    "ring": package.ring(5),
    "hypercube": package.hypercube(3),
    "graph": package.graph(package.mesh((5, 2)).neighbor.tolist()),
    "binary tree": package.binary_tree(7),
    "star tree": package.star_tree(3, 2),
    "diagonal mesh": package.diagonal_mesh(3),
    "de Bruijn": package.de_bruijn(2, 3),
    "host": with_host(package.mesh((2, 2)), [0, 3]),
    "faulty tree": with_faults(package.binary_tree(9), [8]),
}
"""One of each kind of network; the links of the last ones are listed in the certificate."""


ROW_WORDS = 2
"""Control words of a timed row with flits of 32 bits."""


def timed_programs(kind: str) -> Iterator[tuple[Program, Compiled]]:
    """Timed programs of a network, with header flits of several numbers and with link registers."""
    for width, registers, flits in ((16, 0, 4), (16, 1, 1), (32, 1, 4)):
        topology = TOPOLOGIES[kind]
        made = package.schedule(topology, "direct", words=flits, collective="all-to-all")
        config = NetworkConfig(
            topology=topology,
            flit_width=width,
            depth=4,
            link_registers=registers,
            timed_rows=True,
            message_words=128,
            table_words=256,
            vcs=2,
        )
        one = fit(config, [made], fixed=("flit_width", "link_registers"))[1][0]
        assert isinstance(one.program, Program)
        yield one.program, one


def word_of_node_0(targets: tuple[int, ...]) -> dict[str, Any]:
    """Return the certificate of a program that brings word 0 of node 0 to these nodes of a line."""
    one = {"address": 0, "words": 1}
    owed = [one | {"node": node, "values": [0], "operator": 0} for node in targets]
    channels = [[0, 1, 0], [1, 1, 0], [1, 0, 0], [2, 0, 0]]
    return by_hand(channels, [one | {"node": 0, "value": 0}], owed, "self-timed")


def cycles_of(one: Compiled, changed: Program) -> int:
    """The cycles of a run of the cycle model; 0 if it does not deliver all words."""
    payload, topology = Payload.random(one, seed=5), changed.config.topology
    memory = payload.memory(changed.config)
    found = run(changed, memory, timing=Timing.SELF_TIMED, cycle_limit=5000)
    delivered = payload.delivered(found.memory, topology).sum()
    right = delivered == len(one.schedule.blocks.served(topology))
    return found.cycles if right and found.finished and not found.flags.any() else 0


@pytest.mark.parametrize("kind", TOPOLOGIES)
def test_timed_programs_hold_and_take_the_cycles_of_a_run(kind: str) -> None:
    for made, one in timed_programs(kind):
        certificate = certificate_json(one, Timing.SELF_TIMED).encode()
        found = check(program_json(made).encode(), certificate)
        assert found["words"]
        assert found["cycles"] == cycles_of(one, made)


def test_damaged_timed_programs_are_refused_unless_they_work_in_the_said_cycles() -> None:
    draw, said = np.random.default_rng(3), []
    for made, one in (each for kind in ("mesh", "torus") for each in timed_programs(kind)):
        certificate = json.loads(certificate_json(one, Timing.SELF_TIMED))
        for _ in range(12):
            changed = damaged(made, draw)
            text = program_json(changed).encode()
            certificate["program"] = sha256(text).hexdigest()
            try:
                found = check(text, json.dumps(certificate).encode())
                said.append("holds")
            except RefusedError as error:
                said.append(str(error))
            else:
                assert found["cycles"] == cycles_of(one, changed)
    assert said.count("holds") > 2
    for why in ("flits meet", "is not ready", "lacks the word", "does not await"):
        assert any(why in each for each in said), why


@pytest.mark.parametrize(
    ("change", "why"),
    [
        ({"depth": 1}, "flits of timed rows wait for credits"),
        ({"link_registers": 1}, "flits of timed rows wait for credits"),
    ],
)
def test_a_network_in_which_flits_wait_is_refused(change: dict[str, int], why: str) -> None:
    one = compiled("direct", {"collective": "all-to-all", "words": 1})
    certificate = json.loads(certificate_json(one, Timing.SELF_TIMED))
    assert isinstance(one.program, Program)
    config = replace(one.program.config, **change)
    assert verdict(replace(one.program, config=config), certificate) == why


@pytest.mark.parametrize("mixed", [False, True])
def test_a_row_without_a_start_is_refused_only_among_timed_rows(mixed: bool) -> None:
    rows = {0: [put(1, (UP, 1), length=1)]}
    if mixed:
        rows[1] = [put(1, (UP, 1), length=1, start=ROW_WORDS)]
    made = program(rows, {1: [1]}, timed_rows=True, awaited={2: 1} if mixed else {})
    certificate = word_of_node_0((1,))
    why = "node 0, row 0: the row is not timed" if mixed else "holds"
    assert verdict(made, certificate) == why
    memory = np.arange(4 * made.config.message_words, dtype=np.uint64).reshape(4, -1)
    for timing in Timing:
        assert run(made, memory, timing=timing).memory[1, 0] == memory[0, 0]


@pytest.mark.parametrize("kind", ["mesh", "hypercube", "star tree", "de Bruijn", "host"])
def test_lengths_of_packets_and_rows_are_those_of_the_program(kind: str) -> None:
    topology = TOPOLOGIES[kind]
    made = package.schedule(topology, "direct", words=1, collective="all-to-all")
    for width, vcs, steps in product((16, 17, 23, 24, 31, 32, 33, 64), (2, 5), (1, 15)):
        config = NetworkConfig(
            topology=topology, flit_width=width, vcs=vcs, steps=steps, timed_rows=True
        )
        one = fit(config, [made], fixed=("flit_width",))[1][0].program
        assert isinstance(one, Program)
        file = json.loads(program_json(one))
        listed = links_of(topology.without_faults or topology)
        control_words, flits_of = lengths(file["network"], listed)
        rows = [row for node in file["nodes"] for row in node["rows"]]
        assert control_words == one.config.table.control_words
        assert [flits_of(row) for row in rows] == (one.header_flits + one.length).tolist()


@pytest.mark.parametrize(("start", "why"), [(6, "holds"), (5, "node 2 lacks the word at 0")])
def test_a_word_is_sent_on_from_the_cycle_after_it_was_written(start: int, why: str) -> None:
    """Node 1 receives a word in cycle 5, and fetches it in the cycle in which its row begins."""
    first, then = (put(1, (UP, 1), length=1, start=cycle) for cycle in (ROW_WORDS, start))
    made = program({0: [first], 1: [then]}, {}, timed_rows=True, awaited={1: 1, 2: 1})
    certificate = word_of_node_0((1, 2))
    assert verdict(made, certificate) == why
    memory = np.arange(4 * made.config.message_words, dtype=np.uint64)
    memory = memory.reshape(4, -1)
    found = run(made, memory, timing=Timing.SELF_TIMED)
    assert (found.memory[2, 0] == memory[0, 0]) == (why == "holds")


def test_in_a_network_with_a_port_that_no_link_shows_no_words_are_owed() -> None:
    tree = package.binary_tree(2)
    made = package.schedule(tree, "direct", words=1, collective="all-to-all")
    one = fit(NetworkConfig(topology=tree, timed_rows=True), [made])[1][0]
    assert isinstance(one.program, Program)
    text = program_json(one.program).encode()
    found = check(text, certificate_json(one, Timing.SELF_TIMED).encode())
    assert found == {"channels": 4, "packets": 2, "words": 0}


@pytest.mark.usefixtures("here")
def test_the_command_prints_the_cycles_of_the_page(eyecast: Command) -> None:
    page = (Path(package.__file__).parent / "docs" / "proofs.md").read_text()
    typed = page.split("    eyecast program --mesh 4x4 --algorithm direct")[1].split("\n\n")[0]
    made, checked = f"program --mesh 4x4 --algorithm direct{typed}".split("    eyecast ")
    assert eyecast(*made.replace("\\\n", "").split()).status == 0
    answer = eyecast(*checked.split())
    printed = "no two flits want an output in one cycle, and the run takes 87 cycles"
    assert printed in page
    assert printed in answer.output
