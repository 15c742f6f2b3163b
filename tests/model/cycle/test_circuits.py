"""The cycle model of circuits, held to the page and to tables whose result is known by hand."""

from typing import Any

import numpy as np
import pytest
from helpers.circuits import circuit_program, example
from helpers.router_page import section
from helpers.tree_networks import graph_of

from eyecast.model.base.errors import InvalidInput
from eyecast.model.collectives.circuits.light_trees import light_broadcast
from eyecast.model.cycle import circuits
from eyecast.model.cycle.circuits import run_circuits
from eyecast.model.cycle.control import Control
from eyecast.model.network.config import NetworkConfig
from eyecast.model.network.operators import Operator
from eyecast.model.network.topology import line, mesh, ring
from eyecast.model.program.certified import Room
from eyecast.model.program.circuits.program import CircuitProgram
from eyecast.model.program.payload import empty_memory
from eyecast.model.run.run import Ending, EndState, Prediction

HUB = graph_of(4, [(0, leaf) for leaf in (1, 2, 3)], switches=(0,))
"""Three leaves around a switch, node 0."""

FROM_OWN, UP, DOWN = 1, 2, 3
"""Codes of the inputs of a line's node: its own, from the node above, from the node below."""


def run(
    *tables: list[dict[str, Any]],
    memory: list[list[int]] | None = None,
    port_model: str = "full-duplex",
    control: Control | None = None,
    **settings: Any,
) -> Prediction:
    """Run these tables on a line; without a ``memory``, node n has word 10 + n at address 0."""
    nodes = len(tables)
    given = {"message_words": 4, "table_words": 4, "circuits": True} | settings
    config = NetworkConfig(topology=line(nodes), **given)
    words = np.zeros((nodes, config.message_words), np.uint64)
    for node, row in enumerate(memory or [[10 + node] for node in range(nodes)]):
        words[node, : len(row)] = row
    program = circuit_program(config, tables, port_model=port_model)
    return run_circuits(program, words, control=control)


@pytest.mark.parametrize("all_port", [False, True])
def test_the_loop_is_compiled_once(all_port: bool) -> None:
    """Numba would compile it again for arrays of another layout."""
    made = light_broadcast(mesh((2, 2)), 0, 4, all_port=all_port)
    program = Room({"circuits": True}).compile_one(made).program
    assert isinstance(program, CircuitProgram)
    run_circuits(program, empty_memory(program.config))
    assert len(circuits._simulate.signatures) == 1


def test_the_example_of_the_page() -> None:
    program = example()
    memory = np.zeros((3, 8), np.uint64)
    memory[0, :2] = 0xA1, 0xA2
    run = run_circuits(program, memory)
    assert run.finished
    assert run.cycles == 9
    assert not run.flags.any()
    shown = "".join(f"    {flit}\n" for flit in run.trace)
    assert shown in section("### Cycles")
    assert len(run.trace) == 8
    assert run.memory[:, :2].tolist() == [[0xA1, 0xA2]] * 3


@pytest.mark.parametrize("registers", [0, 1, 3])
def test_a_router_joins_what_comes_from_two_sides(registers: int) -> None:
    idle = {"duration": 1 + registers}
    send = {"codes": {1: FROM_OWN}}
    join = {"operator": 1, "first": UP, "second": DOWN, "codes": {0: 1}, "receive": 2}
    done = run(
        [send], [idle, join], [{"codes": {2: FROM_OWN}}],
        operators=("add",), link_registers=registers,
    )  # fmt: skip
    # The sum leaves one cycle after its words came, and is added to the word at address 0.
    assert [(flit.cycle, flit.node, flit.port, flit.data) for flit in done.trace] == [
        (4, 0, 1, 10),
        (4, 2, 2, 12),
        (6 + registers, 1, 0, 22),
    ]
    assert done.memory[1, 0] == 33
    assert done.finished
    # The end entry is current from cycle 4 + R on.
    assert done.cycles == 4 + registers + 5


def test_first_is_x_and_second_is_y() -> None:
    less = Operator("less", latency=0, meaning=lambda x, y, _bits: x - y)
    join = {"operator": 1, "first": UP, "second": DOWN, "codes": {0: 1}, "receive": 1}
    done = run(
        [{"codes": {1: FROM_OWN}}], [{}, join], [{"codes": {2: FROM_OWN}}], operators=(less,)
    )
    assert done.memory[1, 0] == 2


@pytest.mark.parametrize(("gap", "total"), [(0, 11), (1, 11), (2, 22), (3, 22)])
def test_words_combined_at_one_address_need_two_cycles_between_them(gap: int, total: int) -> None:
    wait = [{"duration": gap}] if gap else []
    send = {"codes": {1: FROM_OWN}, "send_address": 1}
    take = {"codes": {0: DOWN}, "receive": 2}
    done = run(
        [send, *wait, send], [{}, take, *wait, take],
        memory=[[0, 11], [0]], operators=("add",), table_words=8,
    )  # fmt: skip
    assert done.finished
    assert done.memory[1, 0] == total


@pytest.mark.parametrize(("operators", "idle", "sent"), [
    ((), 2, 11), ((), 3, 10), (("add",), 3, 11), (("add",), 4, 10),
])  # fmt: skip
def test_a_word_can_be_sent_on_from_the_cycle_of_the_page(
    operators: tuple[str, ...], idle: int, sent: int
) -> None:
    send: dict[str, Any] = {"codes": {1: FROM_OWN}}
    take: dict[str, Any] = {"codes": {0: DOWN}, "receive": 1}
    relay: list[dict[str, Any]] = [{}, take, {"duration": idle}, send]
    # Node 2 takes the word one link and ``idle`` cycles later.
    last: list[dict[str, Any]] = [{"duration": 3 + idle}, take]
    done = run([send], relay, last, operators=operators, table_words=8)
    assert done.finished
    assert done.memory[2, 0] == sent


SEND: dict[str, Any] = {"codes": {1: FROM_OWN}}
TAKE: dict[str, Any] = {"codes": {0: DOWN}, "receive": 1}
JOIN: dict[str, Any] = {
    "operator": 1,
    "first": FROM_OWN,
    "second": DOWN,
    "codes": {0: 1},
    "receive": 1,
}


@pytest.mark.parametrize(
    ("first", "second", "flags"),
    [
        ([SEND], [{}, TAKE], []),
        ([SEND], [], ["lost_word"]),
        ([], [TAKE], ["missing_word"]),
        ([SEND], [TAKE], ["lost_word", "missing_word"]),
        ([], [{"codes": {2: 4}}], ["bad_route"]),
        ([], [{"codes": {0: 1}}], ["bad_route"]),
        ([SEND], [{}, {"operator": 2, **TAKE}], ["bad_route"]),
        ([SEND, SEND], [{}, JOIN, TAKE], ["bad_route"]),
        ([SEND], [{}, TAKE | {"receive_address": 3}], ["bad_write"]),
        ([SEND], [{}, TAKE | {"receive": 3}], ["bad_write"]),
        ([], [{"codes": {2: FROM_OWN}, "send_address": 3}], ["missing_word", "bad_row"]),
        ([], [{}] * 16, ["bad_row"]),
        ([SEND], [{}, TAKE | {"codes": {0: DOWN, 2: FROM_OWN}}], ["send_and_receive"]),
    ],
)
def test_flags(first: list[Any], second: list[Any], flags: list[str]) -> None:
    settings = {"message_words": 3, "table_words": 16, "operators": ("add",)}
    done = run(first, second, memory=[[1], [2]], port_model="half-duplex", **settings)
    assert done.flag_names(1) == flags
    assert done.finished == (flags == [])


def test_a_memory_or_a_table_of_another_size_is_refused() -> None:
    program = example()
    with pytest.raises(InvalidInput, match=r"memory must be uint64 of shape \(3, 8\)"):
        run_circuits(program, np.zeros((3, 4), np.uint64))


def test_an_entry_may_use_every_output() -> None:
    both = {"duration": 2}
    take = {"receive": 1, "receive_address": 2} | both
    busy = {"codes": {0: DOWN, 1: FROM_OWN, 2: FROM_OWN}} | take
    done = run(
        [SEND | both, {"codes": {0: UP}} | take],
        [{}, busy],
        [both, {"codes": {0: DOWN}} | take],
        memory=[[10, 11], [20, 21], [30]],
    )
    assert done.finished
    assert not done.flags.any()
    assert done.memory[:, 2:].tolist() == [[20, 21], [10, 11], [20, 21]]


def test_the_first_entry_of_a_table_may_use_every_output() -> None:
    # No word can arrive so early, so that output 0 lacks one.
    done = run([], [{"codes": {0: DOWN, 1: FROM_OWN, 2: FROM_OWN}}], [])
    assert [(flit.node, flit.port) for flit in done.trace] == [(1, 1), (1, 2)]
    assert [done.flag_names(node) for node in range(3)] == [
        ["lost_word"],
        ["missing_word"],
        ["lost_word"],
    ]


def test_on_a_ring_all_nodes_send_and_receive_by_all_ports_in_all_cycles() -> None:
    words, nodes = 5, 4
    config = NetworkConfig(topology=ring(nodes), circuits=True, all_port=True, message_words=16)
    sends, takes = {"codes": {1: 1, 2: 1}}, {"ejections": {1: 1, 2: 1}}
    table = [sends, {"duration": words} | sends | takes, takes]
    done = run_circuits(circuit_program(config, [table] * nodes), np.zeros((nodes, 16), np.uint64))
    assert done.finished
    # Each node sends two words and takes two words in each cycle.
    assert len(done.trace) == nodes * (words + 1) * 4


def test_an_entry_without_an_operator_joins_nothing() -> None:
    done = run([], [{"first": FROM_OWN, "second": DOWN}], operators=("add",))
    assert not done.flags.any()


def test_a_lane_feeds_its_own_output_and_takes_its_own_input() -> None:
    """All ports: node 1 sends different words both ways, and each neighbor one word back."""
    done = run(
        [{"codes": {1: 1}}, {"ejections": {1: 1}, "receive": 1, "receive_address": 2}],
        [
            {"codes": {1: 1, 2: 1}, "send_address": {1: 2, 2: 3}},
            {"ejections": {1: 1, 2: 1}, "receive": {1: 1, 2: 1}, "receive_address": {1: 0, 2: 1}},
        ],
        [{"codes": {2: 1}, "send_address": {2: 0}},
         {"ejections": {2: 1}, "receive": {2: 1}, "receive_address": {2: 2}}],
        memory=[[10], [0, 0, 20, 21], [30]], all_port=True,
    )  # fmt: skip
    # Rows of deliveries have port 0, in the order of the lanes, before the links.
    assert [(flit.cycle, flit.node, flit.port, flit.data) for flit in done.trace] == [
        (4, 0, 1, 10),
        (4, 1, 1, 20),
        (4, 1, 2, 21),
        (4, 2, 2, 30),
        (5, 0, 0, 21),
        (5, 1, 0, 30),
        (5, 1, 0, 10),
        (5, 2, 0, 20),
    ]
    assert done.memory.tolist() == [[10, 0, 21, 0], [30, 10, 20, 21], [30, 0, 20, 0]]
    assert done.finished
    assert done.cycles == 4 + 3


def test_all_ports_join_the_words_of_the_first_lane_into_any_output_or_ejection() -> None:
    """Node 1 sends the sum of its own word and the one from below up, and keeps it too."""
    join = {"operator": 1, "first": 1, "second": DOWN, "codes": {1: 2}}
    done = run(
        [{"codes": {1: 1}}],
        [{}, join | {"ejections": {2: 2}, "receive": {2: 2}, "receive_address": {2: 1}}],
        [{"duration": 3}, {"ejections": {2: 1}, "receive": {2: 1}}],
        memory=[[10], [11, 5], []], operators=("add",), all_port=True,
    )  # fmt: skip
    assert [(flit.cycle, flit.node, flit.port, flit.data) for flit in done.trace] == [
        (4, 0, 1, 10),
        (6, 1, 0, 21),
        (6, 1, 1, 21),
        (7, 2, 0, 21),
    ]
    assert (done.memory[1, 1], done.memory[2, 0]) == (26, 21)
    assert done.finished


@pytest.mark.parametrize(
    ("first", "second", "flags"),
    [
        ([SEND], [{}, {"ejections": {2: 1}}], []),
        # Lane 1 of node 1 has no link, so nothing comes by it.
        ([SEND], [{}, {"ejections": {1: 1}}], ["lost_word", "missing_word"]),
        # Ejection 2 of node 0 has no link either, and output 1 takes its own lane only.
        ([SEND], [{}, {"ejections": {2: 3}}], ["lost_word", "bad_route"]),
        ([], [{"ejections": {2: 2}}], ["bad_route"]),
        ([], [{"codes": {2: 4}}], ["bad_route"]),
        ([SEND, SEND], [{}, JOIN | {"codes": {}, "ejections": {2: 2}}, {"ejections": {2: 1}}],
         ["bad_route"]),
        ([SEND], [{}, {"ejections": {2: 1}, "receive": {2: 3}}], ["bad_write"]),
        ([], [{"codes": {2: 1}, "send_address": {2: 3}}], ["missing_word", "bad_row"]),
        ([SEND], [{}, {"ejections": {2: 1}, "codes": {2: 1}}], ["send_and_receive"]),
    ],
)  # fmt: skip
def test_flags_of_all_ports(first: list[Any], second: list[Any], flags: list[str]) -> None:
    settings = {"message_words": 3, "table_words": 16, "operators": ("add",), "all_port": True}
    back = [{"duration": 3}, {"ejections": {1: 1}}] if any("codes" in e for e in second[:1]) else []
    done = run(first or back, second, memory=[[1], [2]], port_model="half-duplex", **settings)
    assert done.flag_names(1) == flags


@pytest.mark.parametrize("all_port", [False, True])
def test_a_switch_joins_and_forks_and_has_no_memory(all_port: bool) -> None:
    """Leaves 1 and 2 of a star send, and the switch sends the sum to leaf 3 and back to leaf 1."""
    taken = {"ejections": {1: 1}} if all_port else {"codes": {0: 2}}
    take = [{"duration": 3}, taken | {"receive": 1, "receive_address": 1}]
    config = NetworkConfig(
        topology=HUB, message_words=4, circuits=True, operators=("add",), all_port=all_port
    )
    send = {"codes": {1: 1}}
    join = {"operator": 1, "first": 2, "second": 3, "codes": {1: 2, 3: 4}}
    tables = [[{}, join], [send, {"duration": 2}, take[1]], [send], take]
    memory = np.array([[0] * 4, [7, 0, 0, 0], [8, 0, 0, 0], [0] * 4], np.uint64)
    done = run_circuits(circuit_program(config, tables), memory)
    assert done.finished
    assert done.memory.tolist() == [[0] * 4, [7, 15, 0, 0], [8, 0, 0, 0], [0, 15, 0, 0]]


@pytest.mark.parametrize(
    ("entry", "flags"),
    [
        ({"codes": {1: 1}}, ["missing_word"]),
        ({"codes": {0: 3}}, ["bad_route"]),
        ({"codes": {0: 1}}, ["bad_route"]),
        ({"operator": 1, "first": 1, "second": 2, "codes": {3: 4}}, ["missing_word"]),
        ({"send_address": 9, "receive_address": 9, "receive": 3, "codes": {2: 1}},
         ["missing_word"]),
    ],
)  # fmt: skip
def test_flags_of_a_switch(entry: dict[str, Any], flags: list[str]) -> None:
    config = NetworkConfig(topology=HUB, message_words=4, circuits=True, operators=("add",))
    program = circuit_program(config, [[entry], [], [], []])
    done = run_circuits(program, np.zeros((4, 4), np.uint64))
    assert done.flag_names(0) == flags


@pytest.mark.parametrize(
    ("control", "ending"),
    [
        (Control(), Ending(EndState.DONE, 7, None)),
        (Control(limit=8), Ending(EndState.DONE, 7, None)),
        (Control(limit=7), Ending(EndState.TIMED_OUT, 6, 1)),
        # The controller of K = 3 sees the hold up to cycle h + 2 of *starting*, and K + 1 + 20 of
        # them are too many.
        (Control(limit=20, hold=np.array([0, 21, 0])), Ending(EndState.DONE, 7, None)),
        (Control(limit=20, hold=np.array([0, 21, 22])), Ending(EndState.TIMED_OUT, 0, 2)),
        # Node 1 has two entries and the end entry.
        (Control(slot_words=3), Ending(EndState.DONE, 7, None)),
        (Control(slot_words=2), Ending(EndState.FAILED, 5, 1)),
    ],
)
def test_ends_that_a_controller_sees(control: Control, ending: Ending) -> None:
    settings = {"programs": 1, "tile_ports": True, "barrier_registers": 3}
    done = run([SEND], [{}, TAKE], [], control=control, **settings)
    assert done.ending == ending
    assert done.finished == (ending.state == EndState.DONE)
    assert done.memory[1, 0] == 10 or not done.finished


def test_a_hold_needs_tile_ports() -> None:
    with pytest.raises(InvalidInput, match="hold must be left out in a network without tile ports"):
        run([], [], control=Control(hold=np.zeros(2, np.int64)))
