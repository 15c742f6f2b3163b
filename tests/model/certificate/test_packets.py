"""Certificates of packet programs: the checker accepts compiled programs, and no wrong one."""

import ast
import json
import re
import sys
from dataclasses import replace
from hashlib import sha256
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np
import pytest
from helpers.certificates import by_hand, compare_damaged, compiled, drawn, verdict
from helpers.programs import UP, program, put, simulated

import eyecast as package
from eyecast.model.certificate import circuit_checker, packet_checker
from eyecast.model.certificate.certificate import certificate_json
from eyecast.model.certificate.packet_checker import MalformedError, RefusedError, check
from eyecast.model.network.config import TIMINGS, Timing
from eyecast.model.program.certified import Room
from eyecast.model.program.deadlock import DeadlockError
from eyecast.model.program.file import program_json
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
    seen = compare_damaged([(compiled(*task), Timing.BARRIER) for task in tasks], 20)
    assert seen["refused, wrong"] > 40
    assert seen["holds"] > 1


def test_many_drawn_programs_hold_and_damaged_ones_do_not() -> None:
    seen = compare_damaged((each for seed in (0, 2, 4) for each in drawn(seed)), 3)
    assert seen["good"] > 13
    assert seen["refused, wrong"] > 17


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
