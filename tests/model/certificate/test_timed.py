"""Certificates of timed rows: no two flits want an output in one cycle, and the words arrive."""

import json
from collections.abc import Iterator
from dataclasses import replace
from hashlib import sha256
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from helpers.certificates import by_hand, compiled, damaged, verdict
from helpers.command import Command
from helpers.programs import UP, program, put

import eyecast as package
from eyecast.model.certificate.certificate import certificate_json
from eyecast.model.certificate.contributions import links_of
from eyecast.model.certificate.packet_checker import RefusedError, check, lengths
from eyecast.model.cycle.model import run
from eyecast.model.network.attached_host import with_host
from eyecast.model.network.config import NetworkConfig, Timing
from eyecast.model.network.faults import with_faults
from eyecast.model.program.compiler import Compiled, fit
from eyecast.model.program.file import program_json
from eyecast.model.program.payload import Payload
from eyecast.model.program.program import Program

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


def drawn(kind: str) -> Iterator[tuple[Program, Compiled]]:
    """Timed programs of a network, with header flits of several numbers and with link registers."""
    for width, registers, flits in product((16, 32), (0, 1), (1, 4)):
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
    for made, one in drawn(kind):
        certificate = certificate_json(one, Timing.SELF_TIMED).encode()
        found = check(program_json(made).encode(), certificate)
        assert found["words"]
        assert found["cycles"] == cycles_of(one, made)


def test_damaged_timed_programs_are_refused_unless_they_work_in_the_said_cycles() -> None:
    draw, said = np.random.default_rng(3), []
    for made, one in (each for kind in ("mesh", "torus") for each in drawn(kind)):
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
    assert said.count("holds") > 5
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


@pytest.mark.parametrize("kind", TOPOLOGIES)
def test_lengths_of_packets_and_rows_are_those_of_the_program(kind: str) -> None:
    topology = TOPOLOGIES[kind]
    made = package.schedule(topology, "direct", words=1, collective="all-to-all")
    for width, vcs, steps in product((16, 17, 19, 23, 24, 31, 32, 33, 39, 48, 64), (2, 5), (1, 15)):
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
