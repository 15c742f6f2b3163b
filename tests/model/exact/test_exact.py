"""Runs by arithmetic equal those of the cycle model, bit for bit, or are declined.

Programs are random, as for the cycle model, or compiled from schedules.
"""

from collections import Counter
from dataclasses import replace
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest
from helpers.all_port_programs import all_port
from helpers.circuits import circuit_program
from helpers.generated import generated
from helpers.programs import DOWN, NORTH, UP, program, put, words
from helpers.refusals import refusal_of
from helpers.soak.operators import with_operator
from helpers.soak.programs import memories, program_networks, programs
from helpers.soak.samples import made, sampled
from hypothesis import strategies as st

import eyecast as package
from eyecast.ip.drawn_circuits import drawn_circuits, with_faults
from eyecast.model.collectives.shown_bounds import schedule_bound
from eyecast.model.cycle import model as cycle_model
from eyecast.model.cycle.circuits import run_circuits
from eyecast.model.cycle.control import Control
from eyecast.model.exact import arithmetic
from eyecast.model.exact.arithmetic import predict, run
from eyecast.model.exact.circuits import closed_run
from eyecast.model.exact.declined import Declined
from eyecast.model.network.config import NetworkConfig, Timing
from eyecast.model.network.edges import Edges
from eyecast.model.network.neighbor_table import graph
from eyecast.model.network.operators import Operator
from eyecast.model.network.topology import hypercube, line, mesh, ring, torus
from eyecast.model.program.certified import compile_certified
from eyecast.model.program.circuits.program import CircuitProgram
from eyecast.model.program.payload import Payload, random_words
from eyecast.model.program.program import Program
from eyecast.model.run.link_flits import link_flits
from eyecast.model.run.run import Prediction

COLUMNS = ("cycles", "flags", "stalled_flits", "step", "arrived", "received", "step_ends", "memory")


def assert_same(made: Prediction, simulated: Prediction) -> None:
    assert made.finished
    assert simulated.finished
    for name in COLUMNS:
        one, other = (np.asarray(getattr(each, name)) for each in (made, simulated))
        assert one.dtype == other.dtype, name
        assert (one == other).all(), name
    assert made.ending == simulated.ending
    for one, other in zip(made.trace.columns, simulated.trace.columns, strict=True):
        assert one.dtype == other.dtype
        assert len(one) == len(other)
        assert (one == other).all()


def compared(made: Program, memory: Any, timing: Timing) -> bool:
    """Compare both runs; return False if the first is declined because a flit waits."""
    simulated = cycle_model.run(made, memory, timing=timing)
    try:
        exact = run(made, memory, timing=timing)
    except Declined:
        return False
    assert_same(exact, simulated)
    topology = made.config.topology
    assert (exact.link_flits(topology) == link_flits(topology, simulated.trace)).all()
    return True


@st.composite
def few_packets(draw: st.DrawFn) -> tuple[Program, npt.NDArray[np.uint64]]:
    """Draw a program of few packets, many of which never meet, and the words of all memories."""
    config = draw(program_networks().flatmap(with_operator))
    config = replace(config, depth=draw(st.integers(2, 11)))
    drawn = draw(programs(config, draw(st.integers(1, 4)), (1, 5)))
    made(drawn.check)
    return drawn, draw(memories(config))


def worked_out(number: int, count: int) -> int:
    drawn = sampled(few_packets(), number, count)
    return sum(compared(*each, timing) for each in drawn for timing in Timing)


def test_what_is_worked_out_of_drawn_programs_is_what_the_cycle_model_says() -> None:
    assert worked_out(0, 30) > 12


@pytest.mark.slow
def test_hundreds_of_drawn_programs_are_worked_out_as_simulated() -> None:
    assert worked_out(1, 700) > 400


@pytest.mark.parametrize(
    ("topology", "collective", "algorithm", "all_ports", "limits"),
    [
        (mesh((5, 4)), "broadcast", "rectangle", False, {"link_registers": 2, "depth": 6}),
        (mesh((4, 4)), "broadcast", "eye", False, {"barrier_registers": 3, "programs": 2}),
        (torus((3, 3)), "all-gather", "ring", False, {"vcs": 2, "flit_width": 20}),
        (hypercube(3), "broadcast", "nesbt", True, {"depth": 4}),
        (hypercube(3), "all-to-all", "sbnt", True, {}),
        (mesh((4, 4)), "all-reduce", "ring", False, {}),
        (mesh((3, 3)), "reduce", "tree", False, {}),
        (
            Edges(3, np.array([(0, 2), (1, 2)]), np.zeros(2, np.bool_), (2,)).topology(),
            "broadcast",
            "tree",
            False,
            {},
        ),
    ],
)
def test_schedules_are_worked_out(
    topology: Any, collective: str, algorithm: str, all_ports: bool, limits: dict[str, int]
) -> None:
    source = 0 if collective in ("broadcast", "reduce") else None
    made = generated(collective, algorithm, topology, words=5, source=source, all_port=all_ports)
    compiled = compile_certified(made, limits)
    memory = Payload.random(compiled, 1).memory(compiled.program.config)
    combines = bool(compiled.program.operator.any() or compiled.program.stream.any())
    for timing in Timing:
        expected = not (combines and timing is Timing.SELF_TIMED)
        assert compared(compiled.program, memory, timing) == expected


def sent_on(fields: dict[str, int], feeds: dict[str, int] | None = None) -> Program:
    """Return a program in which node 0 sends to node 1, which sends words on as they arrive.

    Without a lead and a window, node 2 also sends on the words from node 1, in order.
    """
    rows = {
        0: [put(1, (UP, 1), length=4, **{"target": 16, **(feeds or {})})],
        1: [put(1, (UP, 1), length=4, stream=1, **fields)],
        2: [put(1, (UP, 1), length=4, stream=1)],
    }
    if "lead" in fields or "window" in fields:
        del rows[2]
    return program(rows, {1: [1], 2: [1], 3: [1] if 2 in rows else []}, streams=True)


IN_WINDOW = {"window": 3}


SLOW = [Operator("slow", 2, lambda there, coming, _bits: there + coming)]


@pytest.mark.parametrize("registers", [0, 1])
def test_packets_meet_exactly_if_a_flit_waits(registers: int) -> None:
    """Node 1 sends by the same port before, among, and after the flits of node 0."""
    said = set()
    for length in range(1, 16):
        rows = {
            0: [put(1, (UP, 2), length=6)],
            1: [put(1, (DOWN, 1), target=64, length=length), put(1, (UP, 2), length=2)],
        }
        made = program(rows, {0: [1], 2: [1], 3: [1]}, link_registers=registers, depth=4)
        simulated = cycle_model.run(made, words(made), timing=Timing.BARRIER)
        try:
            run(made, words(made), timing=Timing.BARRIER)
            meets = False
        except Declined as declined:
            meets = "flits meet at node 1" in str(declined)
            assert meets, declined
        assert meets == simulated.stalled_flits.any(), length
        said.add(meets)
    assert said == {False, True}


@pytest.mark.parametrize(
    ("made", "why"),
    [
        (program({0: [put(1, (UP, 2))], 1: [put(1, (UP, 1))]}, {}), "packets come that no node"),
        (program({0: [put(1, (UP, 1))]}, {1: [1]}, depth=1), "flits wait for credits"),
        (
            program({0: [put(1, (UP, 1))]}, {1: [1]}, depth=3, link_registers=1),
            "flits wait for credits",
        ),
        (
            program({0: [put(1, (UP, 2))], 3: [put(1, (DOWN, 1))]}, {2: [1, 2]}),
            "packets come that no node expects, or do not come",
        ),
        (
            program({0: [put(1, (UP, 2), length=9)], 1: [put(1, (UP, 2))]}, {2: [1], 3: [1]}),
            "flits meet at node 1, port 1",
        ),
        (
            program({0: [put(1, (UP, 1), (DOWN, 1))]}, {0: [1]}),
            "a route is one that no router takes",
        ),
        (program({0: [put(1, (NORTH, 1))]}, {}), "port must be 1 to 2"),
        (
            program(
                {0: [put(1, (UP, 1), target=16)], 1: [put(1, (UP, 1), source=16)]}, {1: [1], 2: [1]}
            ),
            "words are written while they may be read",
        ),
        (
            program(
                {0: [put(1, (UP, 1))], 1: [put(1, (UP, 1))]},
                {1: [1], 2: [1]},
                mesh((4,)),
                "half-duplex",
            ),
            "step must be one in which its half-duplex node receives nothing",
        ),
        (
            program(
                {0: [put(1, (UP, 1), continued=1, operator=1), put(1, (UP, 1), operator=1)]},
                {1: [1]},
                operators=SLOW,
            ),
            "several packets are written to the same words",
        ),
        (
            program(
                {0: [put(1, (UP, 1), continued=1, operator=1), put(1, (UP, 1), operator=3)]},
                {1: [1]},
                operators="add,max",
            ),
            "several packets are written to the same words",
        ),
        (
            program(
                {0: [put(1, (UP, 1), continued=1, operator=1), put(1, (UP, 1), operator=1)]},
                {1: [1]},
                operators=["add", *SLOW],
            ),
            "several packets are written to the same words",
        ),
        (
            all_port(
                {1: [put(1, (2, 1), target=9)], 2: [put(1, (1, 1), target=9)]},
                {3: [(1, 1), (1, 2)]},
            ),
            "several packets are written to the same words",
        ),
        (
            # Node 1 sends a word of its own, and waits a while for those of node 0. Node 2 sends
            # them on as they come, and has another row.
            program(
                {
                    0: [put(1, (UP, 1), target=16, length=4)],
                    1: [put(1, (UP, 1), source=15, length=5, stream=1, lead=1)],
                    2: [put(1, (UP, 1), length=5, stream=1), put(1, (DOWN, 2))],
                },
                {0: [1], 1: [1], 2: [1], 3: [1]},
                streams=True,
            ),
            "words that are sent on come with gaps",
        ),
        (
            # Arithmetic knows no timetable.
            program({0: [put(1, (UP, 1), start=3)]}, {}, timed_rows=True),
            "rows are timed",
        ),
        (sent_on({"source": 20}), "words are sent on that another packet brings"),
        (sent_on({"source": 17, "window": 3}, IN_WINDOW), "words are sent on that another packet"),
        (sent_on({"source": 24, "window": 3}, IN_WINDOW), "words are sent on that another packet"),
        (sent_on({"source": 13, "lead": 2}), "words are sent on that another packet brings"),
        (sent_on({"source": 14, "lead": 2, "window": 3}), "words are sent on that another packet"),
        (
            sent_on({"source": 22}, {"target": 22, "window": 3}),
            "words are sent on that another packet brings",
        ),
        (
            sent_on({"source": 22, "window": 4}, {"target": 22, "window": 3}),
            "words are sent on that another packet brings",
        ),
        (
            all_port(
                {
                    1: [put(1, (2, 1), target=9, operator=1)],
                    2: [put(1, (1, 1), target=9, operator=1)],
                    3: [put(1, (1, 1), source=9, target=5, stream=2)],
                },
                {2: [(1, 1)], 3: [(1, 1), (1, 2)]},
                operators="add",
                streams=True,
            ),
            "words are sent on that another packet brings",
        ),
    ],
)
def test_what_waits_or_fails_is_declined(made: Program, why: str) -> None:
    with pytest.raises(Declined, match=why):
        run(made, words(made), timing=Timing.BARRIER)
    # The prediction falls back to the cycle model.
    simulated = cycle_model.run(made, words(made), timing=Timing.BARRIER)
    predicted = predict(made, words(made), timing=Timing.BARRIER)
    assert predicted.cycles == simulated.cycles
    assert (predicted.memory == simulated.memory).all()


@pytest.mark.parametrize(
    ("fields", "feeds"),
    [
        ({"source": 16}, {}),
        ({"source": 14, "lead": 2}, {}),
        ({"source": 16, "window": 3}, IN_WINDOW),
        ({"source": 16, "window": 3}, {}),
        ({"source": 16}, {"window": 4}),
        ({"source": 22, "lead": 2, "window": 3}, IN_WINDOW),
    ],
)
def test_words_that_are_sent_on_in_order_are_worked_out(
    fields: dict[str, int], feeds: dict[str, int]
) -> None:
    made = sent_on(fields, feeds)
    made.check()
    assert compared(made, words(made), Timing.BARRIER)


@pytest.mark.parametrize("words_of_all", [1, 2, 3, 6, 40])
@pytest.mark.parametrize("registers", [0, 2])
@pytest.mark.parametrize("topology", [torus((8, 4)), ring(7)])
def test_rings_of_short_blocks_that_come_in_parts_are_worked_out(
    topology: Any, registers: int, words_of_all: int
) -> None:
    """Each node pauses before each block, unless a block is longer than the way to a neighbor."""
    count = words_of_all * topology.nodes
    made = generated("all-reduce", "stream-ring", topology, words=count)
    compiled = compile_certified(made, {"link_registers": registers, "depth": 14})
    memory = Payload.random(compiled, 1).memory(compiled.program.config)
    assert compared(compiled.program, memory, Timing.BARRIER)


def test_order_free_combinations_of_several_lanes_are_worked_out() -> None:
    made = all_port(
        {1: [put(1, (2, 1), target=9, operator=1)], 2: [put(1, (1, 1), target=9, operator=1)]},
        {3: [(1, 1), (1, 2)]},
        operators="add",
    )
    assert compared(made, words(made), Timing.BARRIER)


def test_memories_are_made_for_words_only() -> None:
    made, asked = program({0: [put(1, (UP, 1), length=4)]}, {1: [1]}), []

    def memory() -> npt.NDArray[np.uint64]:
        asked.append(1)
        return words(made)

    predicted = predict(made, memory, timing=Timing.BARRIER)
    assert predicted.link_flits(made.config.topology).any()
    assert not asked
    assert_same(predicted, cycle_model.run(made, words(made), timing=Timing.BARRIER))
    assert asked == [1]
    waiting = replace(made, config=replace(made.config, depth=1))
    simulated = cycle_model.run(waiting, words(made), timing=Timing.BARRIER)
    assert_same(predict(waiting, memory, timing=Timing.BARRIER), simulated)


def test_long_traces_are_simulated_and_longer_ones_are_refused(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    made = program({0: [put(1, (UP, 2), length=4)]}, {2: [1]})
    simulated = cycle_model.run(made, words(made), timing=Timing.SELF_TIMED)
    monkeypatch.setattr(arithmetic, "MOST_FLITS", made.flit_hops - 1)
    monkeypatch.delattr(arithmetic, "trace_of")
    assert_same(predict(made, words(made), timing=Timing.SELF_TIMED), simulated)
    monkeypatch.setattr(arithmetic, "MOST_SIMULATED", made.flit_hops - 1)
    line = f"must be at most {made.flit_hops - 1} (a smaller network or fewer words help), not "
    line = f"flits of a simulated run at all routers {line}{made.flit_hops}"
    predicted = predict(made, words(made), timing=Timing.BARRIER)
    assert refusal_of(getattr, predicted, "trace") == line


@pytest.mark.slow
def test_an_all_reduce_of_16384_nodes_is_proved_and_worked_out() -> None:
    made = generated("all-reduce", "stream-ring", torus((128, 128)), words=1 << 14)
    made.check()
    compiled, bound = compile_certified(made, {}), schedule_bound(made, None).value

    def memory() -> npt.NDArray[np.uint64]:
        pytest.fail("memories of 2 GB are made")

    found = run(compiled.program, memory, timing=Timing.BARRIER)
    assert bound <= found.cycles <= 1.04 * bound


@pytest.mark.parametrize("timing", Timing)
def test_steps_in_which_nothing_is_sent_pass(timing: Timing) -> None:
    late = program({0: [put(3, (UP, 1))], 1: [put(6, (UP, 2))]}, {1: [3], 3: [6]})
    assert compared(late, words(late), timing)
    assert compared(program({}, {}), words(late), timing)


@pytest.mark.parametrize("timing", Timing)
def test_words_that_are_sent_in_the_step_in_which_others_come_are_declined(timing: Timing) -> None:
    rows = {0: [put(1, (UP, 1))], 1: [put(1, (UP, 1), target=8)]}
    made = program(rows, {1: [1], 2: [1]})
    with pytest.raises(Declined, match="words are written while they may be read"):
        run(made, words(made), timing=timing)


@pytest.mark.parametrize("timing", Timing)
@pytest.mark.parametrize("rows", [1, 2, 3])
def test_the_next_row_is_read_before_a_step_is_over(rows: int, timing: Timing) -> None:
    """A row takes three words of its table here, and only one cycle passes after the last row."""
    sent = [put(step, (UP, 1), target=step) for step in range(1, rows + 1)]
    narrow = program({0: sent}, {1: [*range(1, rows + 1)]}, flit_width=12, message_words=64)
    assert narrow.config.table.control_words == 3
    assert compared(narrow, words(narrow) % 200, timing)


def test_limits_of_a_run_are_heeded() -> None:
    made = program({0: [put(1, (UP, 1))]}, {1: [1]}, programs=1)
    exact = run(made, words(made), timing=Timing.BARRIER)
    for cycles, enough in ((exact.cycles, True), (exact.cycles - 1, False), (0, False)):
        limits: list[dict[str, Any]] = [
            {"cycle_limit": cycles},
            {"control": Control(limit=cycles + 1)},
        ]
        for limit in limits:
            simulated = cycle_model.run(made, words(made), timing=Timing.BARRIER, **limit)
            assert simulated.finished == enough
            if enough:
                assert run(made, words(made), timing=Timing.BARRIER, **limit).cycles == cycles
            else:
                with pytest.raises(Declined, match="longer than its limit"):
                    run(made, words(made), timing=Timing.BARRIER, **limit)


# ---- Circuits ------------------------------------------------------------------------------------


SWITCHES = graph([[-1, 1, 2, 3], [-1, 0, 2, 3], [-1, 0, 1, 3], [-1, 0, 1, 2]], [0])
"""Four nodes, each linked with each other one; node 0 is a switch."""

NETWORKS = (torus((3, 3)), torus((2, 3)), ring(5), hypercube(3), SWITCHES)
"""Networks in which every port has a link: drawn programs also send where none is."""


TASKS: tuple[tuple[str, dict[str, Any]], ...] = (
    ("light-tree", {"source": 0}),
    ("joining-tree", {"collective": "all-reduce"}),
    ("ring", {"collective": "all-reduce"}),
    ("direct", {"collective": "all-to-all"}),
)


def drawn(draw: np.random.Generator, *, all_port: bool = False) -> CircuitProgram:
    """A program of drawn forks and joins, some of which lose words."""
    config = NetworkConfig(
        topology=NETWORKS[draw.integers(len(NETWORKS))],
        circuits=True,
        all_port=all_port,
        operators=("", "add,max")[draw.integers(2)],
        link_registers=int(draw.integers(3)),
        message_words=64,
        table_words=1024,
    )
    made = drawn_circuits(draw, config, cycles=40, sends=0.1 + 0.3 * draw.random())
    # The addresses of a drawn program may lie beyond the memory; here they never do.
    made = replace(
        made, send_address=0 * made.send_address, receive_address=0 * made.receive_address
    )
    port_model = ("full-duplex", "half-duplex")[draw.integers(2)]
    return replace(made, port_model=port_model)


def require_alike(program: CircuitProgram, seen: Counter[str]) -> None:
    """Require that the closed form declines each flag, and otherwise has the run's numbers."""
    config = program.config
    run = run_circuits(program, random_words(config, (program.nodes, config.message_words), 1))
    try:
        found = closed_run(program)
    except Declined:
        seen["flagged" if run.flags.any() else "declined"] += 1
        return
    assert not run.flags.any()
    assert found.cycles == run.cycles
    assert np.array_equal(found.link_flits, run.link_flits(config.topology))
    seen["closed"] += 1


@pytest.mark.parametrize("all_port", [False, True], ids=["one port", "all ports"])
def test_drawn_programs_run_as_in_the_cycle_model(all_port: bool) -> None:
    draw, seen = np.random.default_rng(5), Counter[str]()
    for _ in range(25):
        require_alike(drawn(draw, all_port=all_port), seen)
    assert seen["closed"] > 3
    assert seen["flagged"] > 8
    assert not seen["declined"]


@pytest.mark.parametrize(("algorithm", "asked"), TASKS, ids=[name for name, _ in TASKS])
def test_compiled_programs_run_as_in_the_cycle_model_and_damaged_ones(
    algorithm: str, asked: dict[str, Any]
) -> None:
    draw, seen = np.random.default_rng(6), Counter[str]()
    made = package.schedule(package.torus((3, 2)), algorithm, words=4, **asked)
    program = package.compile(made, circuits=True)
    assert isinstance(program, CircuitProgram)
    require_alike(program, seen)
    assert seen == {"closed": 1}
    for _ in range(40):
        require_alike(with_faults(draw, program, 1), seen)
    assert seen["closed"] > 3
    assert seen["flagged"] > 3
    # A run out of the limits may have no effect, such as an address that no word needs.
    assert seen["declined"] < 20


JOIN = {"first": 1, "second": 3, "operator": 1, "codes": {1: 2}}
SEND, TAKE = {"codes": {1: 1}}, {"codes": {0: 3}}


@pytest.mark.parametrize(
    ("later", "receiver", "port_model", "outcome"),
    [
        ([{}, SEND], [{"duration": 3}, TAKE | {"duration": 2}], "half-duplex", "closed"),
        # The word would leave by output 1 in the cycle of the sum.
        ([SEND], [{"duration": 3}, TAKE], "half-duplex", "flagged"),
        # A word of node 2 is delivered in the cycle in which input register 0 holds one.
        *(
            (
                [{}, {"codes": {1: 1, 0: 2}}],
                [{"duration": 2}, {"codes": {2: 1}}, TAKE | {"duration": 2}],
                model,
                outcome,
            )
            for model, outcome in (("full-duplex", "closed"), ("half-duplex", "flagged"))
        ),
    ],
)
def test_node_1_sends_a_sum_and_then_a_word(
    later: list[dict[str, Any]], receiver: list[dict[str, Any]], port_model: str, outcome: str
) -> None:
    """Node 1 joins a word of node 0 and one of its own in cycle 5, and sends the sum to node 2."""
    config = NetworkConfig(topology=line(3), message_words=8, circuits=True, operators="add")
    seen = Counter[str]()
    tables = [[SEND], [{}, JOIN, *later], receiver]
    require_alike(circuit_program(config, tables, port_model=port_model), seen)
    assert seen == {outcome: 1}


@pytest.mark.parametrize("all_port", [False, True])
def test_a_switch_delivers_nothing(all_port: bool) -> None:
    deliver = {"ejections": {1: 1}} if all_port else {"codes": {0: 2}}
    config = NetworkConfig(
        topology=graph([[-1, 1], [-1, 0]], [1]), message_words=8, circuits=True, all_port=all_port
    )
    seen = Counter[str]()
    require_alike(circuit_program(config, [[SEND], [{}, deliver]]), seen)
    assert seen == {"flagged": 1}
