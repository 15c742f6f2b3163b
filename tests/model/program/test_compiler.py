"""Schedules of many blocks as tables: memory layout, continued rows and receiving ports."""

from collections import Counter
from collections.abc import Callable
from dataclasses import replace
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from helpers.refusals import refusal_of
from helpers.untimed import carried_out

from eyecast.model.base.errors import InvalidInput
from eyecast.model.collectives.halving.eye import eye_broadcast
from eyecast.model.cycle.model import run
from eyecast.model.network.config import NetworkConfig, Timing
from eyecast.model.network.segment import Segment
from eyecast.model.network.topology import Topology, hypercube, line, mesh, ring, torus
from eyecast.model.program import compiler as compiler_module
from eyecast.model.program.checks import require_held
from eyecast.model.program.compiler import Compiled, compile_schedule, fit, make_room
from eyecast.model.program.deadlock import certify
from eyecast.model.program.file import read_program, write_program
from eyecast.model.program.memory import layout as layout_module
from eyecast.model.program.memory.layout import Layout, held_words
from eyecast.model.program.payload import Payload
from eyecast.model.program.program import Program
from eyecast.model.program.row import Row
from eyecast.model.schedule.blocks import Blocks
from eyecast.model.schedule.builder import path_columns
from eyecast.model.schedule.schedule import Schedule

Send = tuple[int, list[int], list[int]]
"""Step, path, blocks."""


def schedule_of(topology: Topology, sends: list[Send], blocks: Blocks, port_model: str) -> Schedule:
    return Schedule(
        topology=topology,
        collective="all-to-all",
        algorithm="by hand",
        port_model=port_model,
        root=None,
        blocks=blocks,
        step=np.array([step for step, _, _ in sends]),
        **path_columns([path for _, path, _ in sends], [carried for _, _, carried in sends]),
    )


def exchange(dimension: int, words: int) -> Schedule:
    """Return an all-to-all by exchanges across one bit after another, from the highest bit.

    Block s*N + d goes from node s to node d.
    """
    nodes = 1 << dimension
    pairs = [(s, d) for s in range(nodes) for d in range(nodes)]
    held = {node: [pair for pair in pairs if pair[0] == node] for node in range(nodes)}
    sends: list[Send] = []
    for step, bit in enumerate(reversed(range(dimension)), 1):
        leaving = {
            node: [pair for pair in held[node] if (pair[1] ^ node) >> bit & 1] for node in held
        }
        for node, moved in leaving.items():
            sends.append((step, [node, node ^ 1 << bit], [s * nodes + d for s, d in sorted(moved)]))
        held = {
            node: [*(set(pairs) - set(leaving[node])), *leaving[node ^ 1 << bit]]
            for node, pairs in held.items()
        }
    owner = np.array([s for s, _ in pairs])
    blocks = Blocks(owner, tuple((d,) for _, d in pairs), np.full(len(pairs), words))
    schedule = schedule_of(hypercube(dimension), sends, blocks, "exchange")
    schedule.check()
    return schedule


@pytest.mark.parametrize("message_words", [1024, 128])
def test_every_word_lands_in_its_place(message_words: int) -> None:
    schedule = exchange(3, 4)
    config = NetworkConfig(
        topology=schedule.topology, message_words=message_words, table_words=1024
    )
    layout = Layout.of(schedule, message_words)
    # All 64 blocks of 4 words, or a node's own 8 blocks and the 4 that arrive in each of 3 steps.
    aligned = message_words > 256
    assert (layout.packed is None, layout.size) == (aligned, 256 if aligned else 80)
    program = compile_schedule(schedule, config)
    payload = Payload.random(Compiled.of(schedule, config), seed=3)
    assert not payload.delivered(payload.memory(config), schedule.topology).any()
    after = carried_out(program, payload.memory(config), seed=1)
    assert after is not None
    assert payload.delivered(after, schedule.topology).all()
    # Random words are practically never 0, so other words show the blocks that a node has had.
    assert ((after[:, : layout.size] != 0) == held_words(schedule, layout)).all()


def test_memories_too_small_for_what_a_node_has_are_refused() -> None:
    schedule = exchange(3, 4)
    config = NetworkConfig(topology=schedule.topology, message_words=79)
    with pytest.raises(InvalidInput, match="words must be at most 79, the message memory, not 80"):
        compile_schedule(schedule, config)


def test_packed_runs_stay_together() -> None:
    """With the highest bit first, step j of the exchange takes 2^(j-1) rows: N - 1 in all."""
    schedule = exchange(4, 1)
    config = NetworkConfig(topology=schedule.topology, message_words=64, table_words=256)
    program = compile_schedule(schedule, config)
    for rows in program.rows:
        assert [row.step for row in rows] == [1] + [2] * 2 + [3] * 4 + [4] * 8


def test_rows_of_one_send_are_continued_but_for_the_last() -> None:
    schedule = exchange(3, 1)
    config = NetworkConfig(topology=schedule.topology, table_words=128)
    program = compile_schedule(schedule, config)
    delivered = config.header.step(program.deliveries)
    assert (delivered == np.where(program.continued, 0, program.step)).all()
    for rows in program.rows:
        for row, following in pairwise([*rows, None]):
            assert row is not None
            goes_on = following is not None and following.step == row.step
            assert row.continued == goes_on


def test_a_network_with_timed_rows_awaits_continued_packets() -> None:
    """Their headers carry step 0, as those of timed rows do, and a node counts all of them."""
    schedule = exchange(3, 1)
    config = NetworkConfig(topology=schedule.topology, table_words=128, timed_rows=True)
    one = Compiled.of(schedule, config)
    memory = Payload.random(one, seed=1).memory(config)
    found = run(one.program, memory, timing=Timing.BARRIER, cycle_limit=1000)
    assert found.finished
    assert not found.flags.any()
    assert one.program.awaited.tolist() == [4] * 8


@pytest.mark.parametrize(("words", "room"), [(15, 16), (16, 16), (17, 32)])
def test_room_for_a_message_is_the_least_power_of_two(words: int, room: int) -> None:
    blocks = Blocks(np.zeros(1, int), ((1,),), np.array([words]))
    schedule = schedule_of(hypercube(1), [(1, [0, 1], [0])], blocks, "exchange")
    for there, given in ((2, room), (room, room), (64, 64)):
        config = NetworkConfig(topology=schedule.topology, message_words=there)
        assert make_room(config, [schedule])[0].message_words == given


@pytest.mark.parametrize(("sends", "room"), [(7, 16), (8, 32)])
def test_room_for_a_table_is_the_least_power_of_two(sends: int, room: int) -> None:
    """A table has a control word and a header flit for each send, and the end row."""
    blocks = Blocks(np.zeros(sends, int), ((1,),) * sends, np.ones(sends, int))
    ones = [(step + 1, [0, 1], [step]) for step in range(sends)]
    schedule = schedule_of(hypercube(1), ones, blocks, "exchange")
    config, (one,) = fit(NetworkConfig(topology=schedule.topology, table_words=2), [schedule])
    assert (config.table_words, one.program.config) == (room, config)
    one.program.check()


def test_schedules_that_are_fitted_are_laid_out_and_compiled_once(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    counts: Counter[str] = Counter()

    def count(name: str, function: Callable[..., Any]) -> Callable[..., Any]:
        def counted(*values: Any) -> Any:
            counts[name] += 1
            return function(*values)

        return counted

    for module, name in ((layout_module, "_pack"), (compiler_module, "compile_schedule")):
        monkeypatch.setattr(module, name, count(name, getattr(module, name)))
    schedules = [exchange(3, 1), exchange(3, 4), exchange(3, 6)]
    config, compiled = fit(NetworkConfig(topology=hypercube(3), message_words=16), schedules)
    # A node has 8 + 3 * 4 blocks, 20, 80 and 120 words; all 64 blocks are 64, 256 and 384 words.
    assert counts == {"_pack": 3, "compile_schedule": 3}
    assert config.message_words == 128
    assert [one.layout.packed is None for one in compiled] == [True, False, False]
    for schedule, one in zip(schedules, compiled, strict=True):
        alone = Layout.of(schedule, config.message_words)
        assert (one.layout.packed, one.layout.size) == (alone.packed, alone.size)
        assert one.program.config == config
        one.program.check()


def test_what_is_fixed_does_not_grow() -> None:
    schedule = exchange(3, 4)
    config = NetworkConfig(topology=schedule.topology, message_words=64, table_words=8, steps=1)
    with pytest.raises(InvalidInput, match="words must be at most 64, the message memory, not 80"):
        fit(config, [schedule], fixed=("message_words",))
    with pytest.raises(InvalidInput, match="table of node 0 must be at most 8 words long"):
        fit(config, [schedule], fixed=("table_words",))
    with pytest.raises(InvalidInput, match="steps must be at least 3 for this schedule, not 1"):
        fit(config, [schedule], fixed=("steps",))


@pytest.mark.parametrize("k", [7, pytest.param(10, marks=pytest.mark.slow)])
def test_a_broadcast_to_up_to_a_million_nodes_is_compiled_and_certified(k: int) -> None:
    topology = mesh((1 << k, 1 << k))
    schedule = eye_broadcast(topology, 0, 16)
    config, (compiled,) = fit(NetworkConfig(topology=topology), [schedule])
    program = compiled.program
    assert program.steps == 2 * k <= config.steps
    assert len(program.step) == topology.nodes - 1
    assert program.row_hops.sum() == schedule.tcd
    assert (np.diff(program.first_receive) == (np.arange(topology.nodes) > 0)).all()
    certify(program)


def test_the_first_row_with_a_wrong_segment_is_named() -> None:
    config = NetworkConfig(topology=mesh((4, 4)))
    rows = [[Row(1, (Segment(1, 1, 0), Segment(3, 1, vc)), 0, 0, 1)] for vc in (0, 2, 1, 2)]
    program = Program.from_rows(config, "full-duplex", [*rows, *[()] * 12], [()] * 16)
    with pytest.raises(InvalidInput, match=r"^node 1, row 0: vc must be 0 to 0, not 2$"):
        program.check()


@pytest.mark.parametrize("all_port", [False, True])
def test_a_row_that_leads_nowhere_is_refused(all_port: bool) -> None:
    config = NetworkConfig(topology=hypercube(1), all_port=all_port)
    for route in ((), (Segment(1, 0, 0),)):
        program = Program.from_rows(config, "exchange", ((Row(1, route, 0, 0, 1),), ()), ((), ()))
        assert (
            refusal_of(program.check)
            == "node 0, row 0: hops of the route must be at least 1, not 0"
        )


def test_a_segment_of_no_hops_is_refused_before_a_route_is_followed() -> None:
    # Followed hop by hop, such a route would go around this ring for ever.
    config = NetworkConfig(topology=ring(4), streams=True)
    up, none = Segment(1, 1, 0), Segment(1, 0, 0)
    rows = [Row(1, (up,), 0, 0, 2), Row(1, (none, up), 0, 8, 2, stream=1)]
    program = Program.from_rows(config, "full-duplex", [rows[:1], rows[1:], (), ()], [()] * 4)
    with pytest.raises(InvalidInput, match=r"^node 1, row 0: hops must be at least 1, not 0$"):
        program.check()


@pytest.mark.parametrize("steps", [(2, 1), (1, 2), (1, 1)])
def test_rows_of_a_sender_are_in_order_of_step(steps: tuple[int, int], tmp_path: Path) -> None:
    config = NetworkConfig(topology=line(3))
    rows = [Row(step, (Segment(1, 1, 0),), 0, 0, 1) for step in steps]
    made = Program.from_rows(config, "full-duplex", ((), rows, ()), ((), (), sorted(steps)))
    write_program(made, tmp_path / "program.json")
    for check in (made.check, lambda: read_program(tmp_path / "program.json")):
        if steps != (2, 1):
            check()
            continue
        assert refusal_of(check).endswith(
            "node 1, row 1: step must be at least 2, the step of its sender's row before, not 1"
        )


def test_a_table_holds_a_packet_of_step_0_and_no_network_carries_it_out() -> None:
    config = NetworkConfig(topology=line(2))
    row = Row(0, (Segment(1, 1, 0),), 0, 0, 1)
    made = Program.from_rows(config, "full-duplex", ((row,), ()), ((), (0,)))
    require_held(made)
    assert refusal_of(made.check) == f"node 0, row 0: step must be 1 to {config.steps}, not 0"


@pytest.mark.parametrize("ports", ["half-duplex", "full-duplex"])
@pytest.mark.parametrize("sent", [1, 2])
def test_a_half_duplex_node_does_not_send_in_a_step_in_which_it_receives(
    sent: int, ports: str
) -> None:
    config = NetworkConfig(topology=line(3))
    first, second = (Row(step, (Segment(1, 1, 0),), 0, 0, 1) for step in (1, sent))
    made = Program.from_rows(config, ports, ((first,), (second,), ()), ((), (1,), (sent,)))
    if (sent, ports) == (1, "half-duplex"):
        allowed = "one in which its half-duplex node receives nothing"
        assert refusal_of(made.check) == f"node 1, row 0: step must be {allowed}, not 1"
    else:
        made.check()


def test_rows_of_several_senders_of_a_node_are_in_any_order(tmp_path: Path) -> None:
    config = NetworkConfig(topology=line(3), all_port=True)
    rows = [Row(3 - port, (Segment(port, 1, 0),), 0, 0, 1) for port in (1, 2)]
    receives, ports = [(1,), (), (2,)], [(1,), (), (2,)]
    made = Program.from_rows(config, "all-port", ((), rows, ()), receives, receive_ports=ports)
    made.check()
    write_program(made, tmp_path / "program.json")
    assert read_program(tmp_path / "program.json").rows == made.rows


@pytest.mark.parametrize("name", ["length", "continued", "first_row", "receive_port", "awaited"])
def test_columns_have_shapes_and_types(name: str) -> None:
    config = NetworkConfig(topology=line(3))
    row = Row(1, (Segment(1, 1, 0),), 0, 0, 1)
    made = Program.from_rows(config, "full-duplex", ((row,), (), ()), ((), (1,), ()))
    column = getattr(made, name)
    for wrong in (column[:-1], column.astype(np.int8)):
        told = refusal_of(replace, made, **{name: wrong})
        assert told.startswith(f"program: {name} must be {column.dtype} of shape {column.shape}, ")
        assert told.endswith(f"not {wrong.dtype} of shape {wrong.shape}")


def test_a_continued_row_needs_another_like_it() -> None:
    config = NetworkConfig(topology=hypercube(1))
    row = Row(1, (Segment(1, 1, 0),), 0, 0, 1, continued=True)
    with pytest.raises(InvalidInput, match="continued row of node 0, step 1"):
        Program.from_rows(config, "exchange", ((row,), ()), ((), (1,))).check()


# ---- All ports ----------------------------------------------------------------------------------


def both_ways() -> Schedule:
    """Return sends over both links from node 0 to node 1 of an axis of two, and one send back."""
    blocks = Blocks(np.array([0, 1]), ((1,), (0,)), np.array([2, 2]))
    sends = [(1, [0, 1], [0]), (1, [1, 0], [1])]
    return schedule_of(torus((2, 1)), sends, blocks, "all-port")


def test_the_port_that_receives_is_that_of_the_link(tmp_path) -> None:
    schedule = both_ways()
    config = NetworkConfig(topology=schedule.topology, all_port=True)
    program = compile_schedule(schedule, config)
    # Port 1, which leads up, leads into port 2, even from the last node of a ring.
    assert program.receives == ((1,), (1,))
    assert program.receive_ports == ((2,), (2,))
    assert [row.route[0].port for rows in program.rows for row in rows] == [1, 1]
    write_program(program, tmp_path / "program.json")
    again = read_program(tmp_path / "program.json")
    assert (again.rows, again.receives, again.receive_ports) == (
        program.rows,
        program.receives,
        program.receive_ports,
    )
    assert again.config.all_port


def test_each_injection_port_has_its_rows() -> None:
    schedule = exchange(3, 1)
    config = NetworkConfig(topology=schedule.topology, all_port=True, table_words=128)
    program = compile_schedule(schedule, config)
    senders = [program.sender == 5 * 3 + lane for lane in range(3)]
    assert [{*program.step[rows].tolist()} for rows in senders] == [{3}, {2}, {1}]
    assert sum(int(rows.sum()) for rows in senders) == len(program.rows[5])
    receivers = [program.receiver == 5 * 3 + lane for lane in range(3)]
    assert [program.receive_step[those].tolist() for those in receivers] == [[3], [2], [1]]
    assert (program.table_sizes < 128).all()


def two_to_one(links: int) -> Schedule:
    """Return two sends to node 3 of a square: by two links from 1 and 2, or by one link from 1."""
    first, second = (1, 2) if links == 2 else (1, 1)
    blocks = Blocks(np.array([first, second]), ((3,), (3,)), np.array([2, 2]))
    sends = [(1, [first, 3], [0]), (1, [second, 3], [1])]
    return schedule_of(hypercube(2), sends, blocks, "all-port")


def test_a_node_receives_once_a_step_by_each_port_that_it_has() -> None:
    square = hypercube(2)
    all_port, one_port = (NetworkConfig(topology=square, all_port=each) for each in (True, False))
    program = compile_schedule(two_to_one(links=2), all_port)
    assert program.receives == ((), (), (), (1, 1))
    assert program.receive_ports == ((), (), (), (1, 2))
    told = refusal_of(compile_schedule, two_to_one(links=1), all_port)
    where = "receives of node 3 in step 1"
    assert told == f"{where} by port 2 must be at most 1, not 2"
    assert (
        refusal_of(
            compile_schedule, replace(two_to_one(links=2), port_model="full-duplex"), one_port
        )
        == f"{where} must be at most 1, not 2"
    )


def test_all_ports_at_once_need_such_a_network() -> None:
    schedule = both_ways()
    with pytest.raises(InvalidInput, match="ports must be all, which an all-port schedule needs"):
        compile_schedule(schedule, NetworkConfig(topology=schedule.topology))


def test_all_port_networks_have_no_signatures() -> None:
    with pytest.raises(InvalidInput, match="signature must be left out of an all-port network"):
        NetworkConfig(topology=hypercube(2), all_port=True, signature=True)
