"""GOAL files: messages keep exactly the file's order; written and read again; LogGOPSim."""

import re
from pathlib import Path

import pytest
from helpers.command import Command
from helpers.foreign import file, owners_tool, said
from helpers.generated import generated
from helpers.operations import (
    RANKS,
    carried_out,
    drawn_operations,
    message_rows,
    order_kept,
    require_in_time,
)
from helpers.processes import run_program
from helpers.refusals import refusal_of
from hypothesis import given, settings

from eyecast.formats import operations
from eyecast.formats.format import Setting
from eyecast.formats.goal import read_goal, write_goal
from eyecast.formats.operations import Operation, schedule_of
from eyecast.model.base.files import InputFile
from eyecast.model.network.faults import with_faults
from eyecast.model.network.port_model import PortModel
from eyecast.model.network.topology import Topology, hypercube, mesh, ring
from eyecast.model.schedule.file import read_schedule
from eyecast.model.schedule.schedule import Schedule

LINE = Setting(topology=mesh((4,)))
RELAY = """/* two messages,
the second after the first */ num_ranks 3
rank 0 { // begins
a: send 8b to 1 tag 7
}
rank 1 {
a : recv 8b from 0 tag 7 cpu 1
b: calc 100
c: send 5b to 2
b requires a
c requires b
}
rank 2 { send0: recv 5b from 1 }
"""


def rows(text: str, setting: Setting = LINE) -> list[tuple[int, int, int, int]]:
    schedule = read_goal(file(text), setting)
    schedule.check()
    return message_rows(schedule)


def test_a_relay(caplog: pytest.LogCaptureFixture) -> None:
    assert rows(RELAY) == [(1, 0, 1, 2), (2, 1, 2, 2)]
    assert said(caplog) == [
        "x: passed over, as they take no time on a network: "
        "1 local computations (calc), 100 in all",
        "x: passed over, as a node has one interface: numbers of cpu and nic",
        "x: 1 messages are rounded up to whole words of 4 bytes, at least one",
    ]


def test_a_rank_is_a_node_that_takes_part() -> None:
    broken = Setting(topology=with_faults(ring(5), [1]))
    assert rows(RELAY, broken) == [(1, 0, 2, 2), (2, 2, 3, 2)]


def program(*ranks: str) -> str:
    parts = (f"rank {rank} {{\n{text}\n}}\n" for rank, text in enumerate(ranks))
    return f"num_ranks {len(ranks)}\n" + "".join(parts)


def test_ranks_that_send_before_they_wait_for_each_other() -> None:
    exchange = program(
        "a: send 4b to 1\nb: recv 4b from 1\nb requires a",
        "a: send 4b to 0\nb: recv 4b from 0\nb requires a",
    )
    assert rows(exchange) == [(1, 0, 1, 1), (1, 1, 0, 1)]


def test_a_message_may_be_there_before_it_is_waited_for() -> None:
    """The first rank waits for rank 1 first, but the message of rank 2 arrives before."""
    text = program(
        "a: recv 4b from 1\nb: recv 8b from 2\nb requires a\nc: send 12b to 1\nc requires b",
        "a: recv 4b from 2\nb: send 4b to 0\nb requires a\nc: recv 12b from 0",
        "a: send 8b to 0\nb: send 4b to 1\nb requires a",
    )
    assert rows(text) == [(1, 2, 0, 2), (2, 2, 1, 1), (3, 1, 0, 1), (4, 0, 1, 3)]


def test_irequires_waits_for_the_begin_alone() -> None:
    text = program(
        "a: recv 4b from 1\nb: send 8b to 1\nb irequires a",
        "a: recv 8b from 0\nb: send 4b to 0\nb requires a",
    )
    assert rows(text) == [(1, 0, 1, 2), (2, 1, 0, 1)]


@settings(max_examples=60, deadline=None)
@given(drawn_operations())
def test_every_send_leaves_when_its_time_has_come(operations: list[Operation]) -> None:
    setting = Setting(topology=mesh((RANKS,)), ports=PortModel.ALL_PORT)
    schedule = schedule_of(operations, RANKS, file(""), setting, "drawn")
    schedule.check()
    steps = {words - 1: step for step, _, _, words in message_rows(schedule)}
    assert len(steps) == schedule.sends == sum(each.peer >= 0 for each in operations) // 2
    require_in_time(operations, steps)


def test_messages_of_one_tag_are_matched_in_the_order_in_which_they_begin() -> None:
    text = program(
        "a: send 4b to 1\nb: send 8b to 1\na requires b", "a: recv 8b from 0\nb: recv 4b from 0"
    )
    assert rows(text) == [(1, 0, 1, 2), (2, 0, 1, 1)]


SCHEDULES = {
    "eye": lambda: made("broadcast", "eye", mesh((4, 4)), 0),
    "all ports": lambda: made("broadcast", "nesbt", hypercube(3), 0, all_port=True),
    "ring": lambda: made("all-gather", "ring", ring(6), None),
    "exchange": lambda: made("all-to-all", "sbt", hypercube(3), None),
}


def made(
    collective: str, algorithm: str, topology: Topology, source: int | None, all_port: bool = False
) -> Schedule:
    return generated(collective, algorithm, topology, words=6, source=source, all_port=all_port)


@pytest.mark.parametrize("name", SCHEDULES)
def test_there_and_back(name: str, tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    schedule = SCHEDULES[name]()
    path = tmp_path / "x.goal"
    write_goal(schedule, path)
    back = read_goal(
        InputFile.read(path), Setting(topology=schedule.topology, ports=schedule.port_model)
    )
    back.check()
    assert said(caplog) == []
    assert order_kept(schedule, back)
    if name == "eye":
        assert message_rows(back) == message_rows(schedule)
    text = path.read_text()
    assert carried_out(operations_in(text)) == text.count("send") + text.count("recv")


def operations_in(text: str) -> list[list[tuple[str, int, int, list[int]]]]:
    """Return the operations of each rank in a file written by Eyecast."""
    ranks = []
    for part in text.split("rank ")[1:]:
        lines = re.findall(r"l(\d+): (send|recv) \d+b \w+ (\d+) tag (\d+)", part)
        needs = re.findall(r"l(\d+) requires l(\d+)", part)
        ranks.append(
            [
                (verb, int(peer), int(tag), [int(b) - 1 for a, b in needs if a == label])
                for label, verb, peer, tag in lines
            ]
        )
    return ranks


def test_the_judge_of_what_is_carried_out_sees_a_deadlock() -> None:
    text = "num_ranks 2\nrank 0 {\nl1: recv 4b from 1 tag 1\nl2: send 4b to 1 tag 0\n"
    text += "l2 requires l1\n}\nrank 1 {\nl1: recv 4b from 0 tag 0\nl2: send 4b to 0 tag 1\n"
    assert carried_out(operations_in(text + "l2 requires l1\n}\n")) == 0
    assert carried_out(operations_in(text + "}\n")) == 4


REFUSED = {
    "": "x: must have num_ranks",
    "rank 0 {\n}": "x, line 1: must be num_ranks and a number, not 'rank 0 {'",
    "num_ranks 0": "x, line 1: num_ranks must be 1 to 16777216, not 0",
    "num_ranks 99999999999": "x, line 1: num_ranks must be 1 to 16777216, not 99999999999",
    "num_ranks 5": "ranks of x must be at most 4, the working nodes of the 4 mesh, not 5",
    "num_ranks 2\nrank 2 {}": "x, line 2: rank must be 0 to 1, not 2",
    "num_ranks 2\nrank 0 {}\nrank 0 {}": "x, line 3: rank must be another than before, not 0",
    "num_ranks 1\nrank 0 {}\n/* a\nb": "x, line 3: comment must end with */",
    "num_ranks 2\nrank 0 {": "x, line 2: rank 0 must end with }",
    "num_ranks 2\nrank 0 [": "x, line 2: must be rank, a number and {, not 'rank 0 ['",
    "num_ranks 2\nsend 1b to 1": "x, line 2: must be rank, a number and {, not 'send 1b to 1'",
    program("shout 8b"): "x, line 3: must be send, recv, calc or requires, not 'shout 8b'",
    program("send 8b from 0"): "x, line 3: must be send to or recv from, not 'send 8b from 0'",
    program("send 8b to 1"): "x, line 3: to must be 0 to 0, not 1",
    program("send 8b to 0"): "x, line 3: to must be another rank, not 0 itself",
    program("recv 8b from -1", ""): "x, line 3: from must name a rank: -1 names no message",
    program("recv 8b from 1 tag -1", ""): "x, line 3: tag must be a number: -1 names no message",
    program("send 99999999999b to 1", ""): (
        "x, line 3: bytes must be at most 8589934588, not 99999999999"
    ),
    program("a: calc 1\na: calc 2"): "x, line 4: label must be another than before, not 'a'",
    program("a: calc 1\na requires b"): "x, line 4: label must be one of rank 0, not 'b'",
    program("a: calc 1\na requires a"): "x, line 3: waits for itself",
    program("a: calc 1\nb: calc 1\na requires b\nb irequires a"): (
        "x, line 3: waits for itself, by way of x, line 4"
    ),
    program("a: calc 1\nb: calc 1\nc: calc 1\na requires c\nb requires a\nc requires b"): (
        "x, line 3: waits for itself, by way of x, line 5 and 1 more"
    ),
    program("send 8b to 1", ""): "x, line 3: message 0 -> 1 of tag 0 has no receive",
    program("", "recv 8b from 0 tag 3"): "x, line 6: message 0 -> 1 of tag 3 has no send",
    program("send 8b to 1", "recv 4b from 0"): (
        "x, line 6: message 0 -> 1 of tag 0 must have the 8 bytes that are sent, not 4"
    ),
    program(
        "a: recv 4b from 1\nb: send 4b to 1\nb requires a",
        "a: recv 4b from 0\nb: send 4b to 0\nb requires a",
    ): "x, line 4: waits for itself, by way of x, line 9",
}


@pytest.mark.parametrize("text", REFUSED)
def test_what_cannot_be_read_is_one_line(text: str) -> None:
    assert refusal_of(read_goal, file(text), LINE) == REFUSED[text]


def test_waits_without_end_are_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    count = 100
    receives = [f"r{n}: recv 4b from 1 tag {n}" for n in range(count)]
    chain = [f"r{n} requires r{n - 1}" for n in range(1, count)]
    sends = [f"s{n}: send 4b to 1 tag {n}\ns{n} requires r{count - 1}" for n in range(count)]
    other = [f"send 4b to 0 tag {n}\nrecv 4b from 0 tag {n}" for n in range(count)]
    text = program("\n".join(receives + chain + sends), "\n".join(other))
    assert rows(text)[-1][0] == 2 * count
    monkeypatch.setattr(operations, "LARGEST_SEARCH", 10_000)
    line = refusal_of(read_goal, file(text), LINE)
    assert line.endswith(": has more before it than can be followed")


def test_commands_take_it(eyecast: Command, here: Path) -> None:
    assert eyecast("schedule", "--mesh", "4x4", "--source", "0,0", "-o", "s.json").status == 0
    assert eyecast("convert", "s.json", "s.goal").status == 0
    assert eyecast("convert", "s.goal", "b.json").errors == (
        "eyecast: s.goal names no network: give one, such as --mesh 4x4\n"
    )
    network = ("--mesh", "4x4", "--ports", "half-duplex")
    assert eyecast("convert", "s.goal", "b.json", *network).status == 0
    sent, back = (read_schedule(here / name) for name in ("s.json", "b.json"))
    assert message_rows(back) == message_rows(sent)


@pytest.mark.slow
@pytest.mark.parametrize("name", SCHEDULES)
def test_loggopsim_runs_it_to_its_end(name: str, tmp_path: Path) -> None:
    pack, simulator = (owners_tool(tool, "EYECAST_LOGGOPSIM") for tool in ("txt2bin", "LogGOPSim"))
    schedule = SCHEDULES[name]()
    write_goal(schedule, tmp_path / "x.goal")
    for command in ([pack, "-i", "x.goal", "-o", "x.bin"], [simulator, "-f", "x.bin"]):
        told = run_program(command, cwd=tmp_path, check=True, timeout=60).stdout
    # LogGOPSim counts three events for a message: send, receive and arrival.
    assert int(re.search(r"Events: (\d+)", told)[1]) == 3 * schedule.sends
    times = [int(time) for time in re.findall(r"Host \d+: (\d+)", told)]
    assert not times or len(times) == schedule.topology.nodes
