"""Certificates of programs on circuits: the checker accepts compiled programs, and no wrong one."""

import json
from collections import Counter
from dataclasses import replace
from hashlib import sha256
from random import Random
from typing import Any

import numpy as np
import pytest
from helpers.certificates import circuit_verdict as verdict
from helpers.circuits import circuit_program

import eyecast as package
from eyecast.model.certificate.circuit_certificate import circuit_certificate
from eyecast.model.certificate.circuit_checker import MalformedError, RefusedError, check
from eyecast.model.cycle.circuits import run_circuits
from eyecast.model.network.config import NetworkConfig
from eyecast.model.network.topology import line
from eyecast.model.program.certified import Room
from eyecast.model.program.circuits.program import CircuitProgram
from eyecast.model.program.compiler import Compiled
from eyecast.model.program.file import program_json
from eyecast.model.program.payload import Payload

TASKS: dict[str, tuple[str, dict[str, Any]]] = {
    "tree": ("light-tree", {"source": 0}),
    "chain": ("chain", {"source": 4}),
    "reduce": ("joining-tree", {"source": 4, "collective": "reduce"}),
    "all-reduce": ("joining-tree", {"collective": "all-reduce", "operator": "max"}),
    "sums in memories": ("ring", {"collective": "all-reduce"}),
    "dissemination": ("dissemination", {"collective": "all-reduce", "operator": "and"}),
    "all-to-all": ("direct", {"collective": "all-to-all"}),
    "all-gather": ("light-ring", {"collective": "all-gather"}),
}
NETWORKS = {
    "mesh": package.mesh((3, 2)),
    "torus": package.torus((3, 2)),
    "ring": package.ring(5),
    "cube": package.hypercube(3),
}


def compiled(
    task: str, network: str, *, words: int = 2, ports: str = "one", link_registers: int = 0
) -> Compiled | None:
    """The program of a task on a network; None where the algorithm has no schedule."""
    algorithm, request = TASKS[task]
    if ports == "all":
        request = request | {"ports": ports}
    try:
        made = package.schedule(NETWORKS[network], algorithm, words=words, **request)
    except package.InvalidInput:
        return None
    room = {"circuits": True, "link_registers": link_registers, "all_port": ports == "all"}
    return Room(room).compile_one(made)


def works(one: Compiled, program: CircuitProgram) -> bool:
    """Whether a run of the cycle model has no flags and delivers every word."""
    payload = Payload.random(one, seed=5)
    run = run_circuits(program, payload.memory(program.config))
    topology = program.config.topology
    served = one.schedule.blocks.served(topology)
    return run.finished and payload.delivered(run.memory, topology).sum() == len(served)


@pytest.mark.parametrize("network", NETWORKS)
@pytest.mark.parametrize("task", TASKS)
def test_the_certificate_of_a_compiled_program_holds(task: str, network: str) -> None:
    cases = ((1, 0), (3, 2)) if network == "mesh" else ((3, 2),)
    for words, link_registers in cases:
        one = compiled(task, network, words=words, link_registers=link_registers)
        if one is None:
            continue
        text = program_json(one.program).encode()
        cycles = check(text, circuit_certificate(one).encode())
        memory = Payload.random(one, seed=1).memory(one.program.config)
        assert cycles == run_circuits(one.program, memory).cycles


@pytest.mark.parametrize("ports", ["one", "all"])
def test_every_damage_is_refused_unless_the_model_sees_none(ports: str) -> None:
    random, seen = Random(7), Counter[str]()
    names = ("duration", "codes", "first", "second", "operator", "receive")
    names += ("send_address", "receive_address", *(("ejections",) if ports == "all" else ()))
    made = {task: compiled(task, "mesh", ports=ports) for task in TASKS}
    served = {task: one for task, one in made.items() if one is not None}
    assert len(served) == (len(TASKS) if ports == "one" else 5)
    for task, one in served.items():
        assert isinstance(one.program, CircuitProgram)
        assert verdict(one, one.program) == "holds"
        for _ in range(64 // len(served)):
            name = random.choice(names)
            column = getattr(one.program, name).copy()
            place = random.randrange(column.size)
            before = column.flat[place]
            column.flat[place] = max(0, before + random.choice((-1, 1, 2)))
            if column.flat[place] == before:
                continue
            damaged = replace(one.program, **{name: column})
            held = verdict(one, damaged) == "holds"
            right = works(one, damaged)
            assert right or not held, (task, name, place, int(column.flat[place]))
            seen["holds" if held else "refused, right" if right else "refused, wrong"] += 1
    assert seen["refused, wrong"] > 20
    # Addresses of idle runs, and words of no block, do not matter.
    assert seen["holds"] > 2


def sabotaged(one: Compiled, name: str, node: int, run: int, value: Any) -> str:
    """What the checker says of a program in which one value of a node's run is another."""
    program = one.program
    assert isinstance(program, CircuitProgram)
    column = getattr(program, name).copy()
    column[program.first_entry[node] + run] = value
    return verdict(one, replace(program, **{name: column}))


def test_named_sabotage_is_refused_with_its_reason() -> None:
    tree, join = compiled("tree", "ring"), compiled("reduce", "ring")
    assert tree is not None
    assert join is not None
    # Node 1 forwards two words from cycle 3 on: run 0 is idle, run 1 takes them from the west.
    assert sabotaged(tree, "duration", 1, 1, 3) == (
        "node 1 in cycle 7 takes a word that is not there"
    )
    assert sabotaged(tree, "codes", 1, 1, [2, 0, 0]) == (
        "node 1 in cycle 5 takes a word that is not there"
    )
    assert sabotaged(tree, "duration", 1, 0, 2) == "node 1 in cycle 5 has a word that nothing takes"
    assert sabotaged(tree, "receive_address", 1, 1, 1).startswith("node 1 lacks the word at")
    joins = np.flatnonzero(join.program.operator)
    node = int(join.program.entry_node[joins[0]])
    run = int(joins[0] - join.program.first_entry[node])
    early = int(join.program.duration[joins[0] - 1]) - 1
    assert "joins a word that is not there" in sabotaged(join, "duration", node, run - 1, early)
    assert "combines" in sabotaged(join, "operator", node, run, 2)


@pytest.mark.parametrize(
    ("gaps", "operator", "why"),
    [
        ([], "add", "holds"),
        ([3], "add", "node 1 in cycle 8 combines a value twice"),
        ([3], "max", "holds"),
        ([1], "max", "node 1 in cycle 6 combines with a word that is being written"),
    ],
)
def test_a_value_is_combined_once(gaps: list[int], operator: str, why: str) -> None:
    config = NetworkConfig(topology=line(2), message_words=8, circuits=True, operators=operator)
    sent: dict[str, Any] = {"codes": {1: 1}}
    added: dict[str, Any] = {"codes": {0: 3}, "receive": 2}
    tables: list[list[dict[str, Any]]] = [[sent], [{}, added]]
    for gap in gaps:
        for table, entry in zip(tables, (sent, added), strict=True):
            table += [*([{"duration": gap - 1}] if gap > 1 else []), entry]
    program = circuit_program(config, tables)
    text, one = program_json(program).encode(), {"address": 0, "words": 1}
    certificate = {
        **{"format": "eyecast-certificate", "version": 2, "cycles": program.cycles},
        "program": sha256(text).hexdigest(),
        "links": [[0, 1, 1, 2], [1, 2, 0, 1]],
        "held": [one | {"node": node, "value": node} for node in (0, 1)],
        "owed": [one | {"node": 1, "values": [0, 1], "operator": 1}],
    }
    try:
        found = "holds" if check(text, json.dumps(certificate).encode()) else ""
    except RefusedError as error:
        found = str(error)
    assert found == why


def test_a_certificate_of_another_form_is_malformed() -> None:
    one = compiled("tree", "mesh")
    assert one is not None
    text, certificate = program_json(one.program).encode(), circuit_certificate(one)
    for wrong in (
        "",
        "[]",
        "{}",
        certificate.replace('"version": 2', '"version": 3'),
        text.decode(),
    ):
        with pytest.raises(MalformedError, match="no program and certificate of version 2: "):
            check(text, wrong.encode())
    changed = json.loads(certificate)
    for name, value, why in (
        ("cycles", 3, "the run takes"),
        ("program", "0", "of another program"),
        ("links", changed["links"][1:], "the links are not those of the network"),
        ("held", [], "receives a word of no value"),
        ("owed", [{**changed["owed"][1], "values": [1 << 64]}], "node 1 lacks the word at 0"),
        ("held", [{**changed["held"][0], "words": 1 << 64}], "holds a value beyond its memory"),
        ("owed", [{**changed["owed"][1], "values": [0, 1]}], "node 1 lacks the word at 0"),
    ):
        with pytest.raises(RefusedError, match=why):
            check(text, json.dumps(changed | {name: value}).encode())


@pytest.mark.parametrize(
    ("place", "why"), [("message_words", "no memory has so many"), ("duration", "too long")]
)
def test_numbers_that_no_network_has_are_refused_at_once(place: str, why: str) -> None:
    one = compiled("tree", "mesh")
    assert one is not None
    changed = json.loads(program_json(one.program))
    runs = next(node["runs"] for node in changed["nodes"] if node["runs"])
    holder = changed["network"] if place == "message_words" else runs[0]
    holder[place] = 1 << 64
    text = json.dumps(changed).encode()
    certificate = json.loads(circuit_certificate(one)) | {"program": sha256(text).hexdigest()}
    with pytest.raises(RefusedError, match=why):
        check(text, json.dumps(certificate).encode())
