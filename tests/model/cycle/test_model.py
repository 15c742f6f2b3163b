"""The cycle model, cycle by cycle.

Expected cycles are computed by hand from docs/router.md; c is the first cycle of step 1.
"""

import numpy as np
import pytest
from helpers.programs import (
    BODY,
    DOWN,
    HEAD,
    NORTH,
    SINGLE,
    TAIL,
    UP,
    C,
    departures,
    pack,
    program,
    put,
    simulated,
    words,
)
from helpers.traffic import x_first

from eyecast.model.cycle import model as cycle_model
from eyecast.model.cycle.model import cycle_limit, run
from eyecast.model.network.topology import Topology, mesh
from eyecast.model.program.program import Program
from eyecast.model.program.row import Row
from eyecast.model.run.trace import Flit, first_difference

# ---- One packet alone -----------------------------------------------------------------------


def test_single_packet_flit_by_flit() -> None:
    # 4x3 mesh: port codes 0-5 in 3 bits, 1-3 hops in 2, VCs 0-1 in 1, steps in 4, addresses in 8.
    row = put(1, (UP, 2, 1), (NORTH, 1, 0), source=3, target=130, length=3)
    result = simulated(program({0: [row]}, {6: [1]}, mesh((4, 3)), vcs=2), "barrier")
    up_1, north = ((UP, 3), (0, 2), (1, 1)), ((NORTH, 3), (0, 2), (0, 1))
    delivery = ((5, 3), (1, 4), (130, 8))
    assert program({}, {}, mesh((4, 3)), vcs=2).config.table.control_words == C
    # (node, port, VC, the head flit as it leaves); the packet is injected in cycle C.
    places = [
        (0, UP, 1, pack(*up_1, *north, *delivery)),
        (1, UP, 1, pack(*north, *delivery)),
        (2, NORTH, 0, pack(*delivery)),
        (6, 0, 0, pack(*delivery)),
    ]
    expected = []
    for hop, (node, port, vc, head) in enumerate(places):
        expected.append(Flit(C + 1 + hop, node, port, vc, HEAD, head))
        for payload in range(3):
            kind = TAIL if payload == 2 else BODY
            expected.append(Flit(C + 2 + hop + payload, node, port, vc, kind, 1 + 3 + payload))
    assert sorted(expected) == list(result.trace)
    assert result.finished
    assert result.cycles == C + (3 + 3 + 4) - 2
    assert result.step_ends.tolist() == [result.cycles - 1 + 1]
    assert result.memory[6, 130:133].tolist() == [4, 5, 6]
    assert (result.memory != words(program({}, {}, mesh((4, 3))))).sum() == 3
    assert not result.flags.any()
    assert not result.stalled_flits.any()
    assert np.argwhere(result.arrived).tolist() == [[6, 0, 1]]


@pytest.mark.parametrize("timing", ["barrier", "self-timed"])
@pytest.mark.parametrize(("hops", "depth"), [(1, 16), (7, 2)])
@pytest.mark.parametrize("length", [0, 1, 40])
def test_packet_takes_hops_plus_length(timing: str, hops: int, length: int, depth: int) -> None:
    one = program({0: [put(1, (UP, hops), length=length)]}, {hops: [1]}, mesh((8,)), depth=depth)
    result = simulated(one, timing)
    assert (result.finished, result.cycles) == (True, C + hops + length + 2)
    kinds = [kind for *_, kind in departures(result, hops, 0)]
    assert kinds == ([HEAD] + [BODY] * (length - 1) + [TAIL] if length else [SINGLE])
    assert len(result.trace) == (hops + 1) * (length + 1)
    assert not result.stalled_flits.any()


def test_used_up_header_flits_are_dropped() -> None:
    # 16-bit flits: two slots of 6 bits fill the first header flit, the third stands in the second,
    # and the delivery (3 + 4 + 6 bits) in the last.
    limits = {"vcs": 2, "flit_width": 16, "message_words": 64}
    route = ((UP, 1, 1), (NORTH, 1, 0), (UP, 1, 1))
    stairs = program({0: [put(1, *route, target=9)]}, {6: [1]}, mesh((4, 3)), **limits)
    c = 2  # step, header_flits and source_address (4 + 4 + 6 bits), then length (7 bits).
    assert stairs.config.table.control_words == c
    result = simulated(stairs, "barrier")
    slot, last = pack((NORTH, 3), (0, 2), (0, 1)), pack((UP, 3), (0, 2), (1, 1))
    delivery = pack((5, 3), (1, 4), (9, 6))
    assert list(result.trace) == sorted(
        [
            Flit(c + 1, 0, UP, 1, HEAD, slot),
            Flit(c + 2, 0, UP, 1, HEAD, last),
            Flit(c + 3, 0, UP, 1, HEAD, delivery),
            Flit(c + 4, 0, UP, 1, TAIL, 1),
            Flit(c + 2, 1, NORTH, 0, HEAD, 0),  # Dropped at node 5 in c + 3.
            Flit(c + 3, 1, NORTH, 0, HEAD, last),
            Flit(c + 4, 1, NORTH, 0, HEAD, delivery),
            Flit(c + 5, 1, NORTH, 0, TAIL, 1),
            Flit(c + 4, 5, UP, 1, HEAD, 0),  # Dropped at node 6 in c + 5.
            Flit(c + 5, 5, UP, 1, HEAD, delivery),
            Flit(c + 6, 5, UP, 1, TAIL, 1),
            Flit(c + 6, 6, 0, 1, HEAD, delivery),
            Flit(c + 7, 6, 0, 1, TAIL, 1),
        ]
    )
    assert (result.finished, result.cycles) == (True, c + 8)
    assert result.memory[6, 9] == 1
    assert not result.stalled_flits.any()


def test_depth_1_halves_the_rate() -> None:
    # Flit j is injected in c + 2j: its slot is free two cycles after the flit before it.
    length = 5
    result = simulated(program({0: [put(1, (UP, 2), length=length)]}, {2: [1]}, depth=1))
    assert [cycle for cycle, *_ in departures(result, 0, UP)] == [C + 1 + 2 * j for j in range(6)]
    assert [cycle for cycle, *_ in departures(result, 2, 0)] == [C + 3 + 2 * j for j in range(6)]
    assert result.cycles == C + 3 + 2 * length + 1
    # Every flit except the first waited in the sender; no flit waited in a router.
    assert result.stalled_flits.tolist() == [length, 0, 0, 0]


# ---- Steps ----------------------------------------------------------------------------------


@pytest.mark.parametrize("nodes", [1, 5])
@pytest.mark.parametrize("timing", ["barrier", "self-timed"])
def test_empty_tables_end_when_the_first_word_is_read(nodes: int, timing: str) -> None:
    result = simulated(program({}, {}, mesh((nodes, 1))), timing)
    assert (result.finished, result.cycles, len(result.trace)) == (True, 1, 0)
    assert result.step_ends.tolist() == []
    assert result.step.tolist() == [1] * nodes


def test_barrier_steps_take_hops_plus_length_plus_4() -> None:
    # Step 2 has two sends; the longer one counts.
    rows = {
        0: [put(1, (UP, 3), length=2), put(3, (UP, 1), length=9)],
        3: [put(2, (DOWN, 2), length=5)],
        1: [put(2, (DOWN, 1), length=1), put(4, (UP, 2), length=0)],
    }
    receives = {3: [1, 4], 1: [2, 3], 0: [2]}
    result = simulated(program(rows, receives), "barrier")
    costs = [3 + 2 + 4, 2 + 5 + 4, 1 + 9 + 4, 2 + 0 + 4]
    assert (result.finished, result.cycles) == (True, C + sum(costs) - 2)
    starts = C + np.cumsum([0, *costs[:3]])
    assert result.step_ends.tolist() == (starts + costs - 2).tolist()
    assert [f.cycle for f in result.trace if f.kind in (HEAD, SINGLE) and f.port == 0] == [
        starts[0] + 4, starts[1] + 2, starts[1] + 3, starts[2] + 2, starts[3] + 3,
    ]  # fmt: skip
    assert result.step.tolist() == [4] * 4
    assert not result.flags.any()


def test_barrier_goes_through_steps_in_which_nothing_is_sent() -> None:
    # Steps 1 and 2 are over at once: advance is 1 in C + 1 and C + 3, so step 3 begins in C + 4.
    result = simulated(program({0: [put(3, (UP, 1))]}, {1: [3]}), "barrier")
    assert result.cycles == C + 4 + (1 + 1 + 2)
    assert result.step_ends.tolist() == [0, 0, result.cycles]


def test_barrier_waits_for_the_control_words() -> None:
    # 16-bit flits: 4 + 4, 9 and 10 bits take three control words, slot and delivery (2 and 15 bits)
    # two header flits.
    rows = {0: [put(1, (UP, 1), length=1), put(2, (UP, 1), length=1)]}
    two = program(rows, {1: [1, 2]}, mesh((2,)), flit_width=16, message_words=512, steps=15)
    c = 3
    assert two.config.table.control_words == c
    result = simulated(two, "barrier")
    # Injected in c to c + 2, arrival seen in c + 5; but the next row is ready in c + 6. So advance
    # is 1 in c + 7 and step 2 begins in c + 8.
    assert result.step_ends.tolist() == [c + 5, c + 8 + 5]
    assert result.cycles == c + 8 + 5


def test_self_timed_relay_passes_on_after_hops_plus_length_plus_3() -> None:
    hops, length = 2, 4
    rows = {2 * k: [put(k + 1, (UP, hops), length=length)] for k in range(3)}
    receives = {2: [1], 4: [2], 6: [3]}
    result = simulated(program(rows, receives, mesh((7,))))
    period = hops + length + 3
    assert [departures(result, 2 * k, UP)[0][0] for k in range(3)] == [
        C + k * period + 1 for k in range(3)
    ]
    assert (result.finished, result.cycles) == (True, C + 2 * period + hops + length + 2)
    assert result.memory[6, :length].tolist() == [1, 2, 3, 4]
    assert result.step.tolist() == [1, 1, 2, 1, 3, 1, 3]


def test_rows_of_one_step_follow_each_other_at_the_control_words() -> None:
    rows = {0: [put(1, (UP, 1), length=2), put(1, (UP, 2), length=0)]}
    result = simulated(program(rows, {1: [1], 2: [1]}))
    # Injected in C, C+1, C+2; the next row is read in C+3 and injected in C+4.
    assert [cycle for cycle, *_ in departures(result, 0, UP)] == [C + 1, C + 2, C + 3, C + 5]


@pytest.mark.parametrize(("target", "injected"), [(4, "old"), (5, "new")])
def test_word_is_fetched_one_cycle_before_it_is_injected(target: int, injected: str) -> None:
    # Node 0 begins step 5 in C + 4: its word i is written at node 1 in C + 7 + i. Node 1 begins
    # step 4 in C + 3 and injects its word a in C + 4 + a: one cycle after the write of the word
    # i = a - target where the target is 4, two cycles after where it is 5.
    rows = {0: [put(5, (UP, 1), length=4, target=target)], 1: [put(4, (UP, 1), length=12)]}
    result = simulated(program(rows, {1: [5], 2: [4]}))
    assert result.finished
    before = words(program(rows, {}))
    assert result.memory[1, target : target + 4].tolist() == before[0, :4].tolist()
    expected = result.memory[1, :12] if injected == "new" else before[1, :12]
    assert result.memory[2, :12].tolist() == expected.tolist()


# ---- Contention -----------------------------------------------------------------------------


def test_output_vc_is_held_until_the_tail() -> None:
    # Both heads are at router 1 in C + 2; port 0 has the turn and holds the VC for three flits.
    rows = {0: [put(1, (UP, 2), length=2)], 1: [put(2, (UP, 1), length=2)]}
    result = simulated(program(rows, {2: [1, 2]}))
    assert departures(result, 1, UP) == [
        (C + 2, 0, HEAD), (C + 3, 0, BODY), (C + 4, 0, TAIL),
        (C + 5, 0, HEAD), (C + 6, 0, BODY), (C + 7, 0, TAIL),
    ]  # fmt: skip
    # Router 1 has one slot behind the waiting head, and the tail waits in router 0 for the credit
    # that goes back in C + 5.
    assert departures(result, 0, UP) == [(C + 1, 0, HEAD), (C + 2, 0, BODY), (C + 6, 0, TAIL)]
    assert result.stalled_flits.tolist() == [1, 1, 0, 0]
    assert result.step_ends.tolist() == [C + 9, C + 6]
    assert (result.finished, result.cycles) == (True, C + 9)


def test_outputs_are_granted_in_turn() -> None:
    # Node 1 of a 3x2 mesh sends packets north: from the west (port 2), its own, from the east (1).
    rows = {
        0: [put(1, (UP, 1), (NORTH, 1), length=1)],
        1: [put(2, (NORTH, 1), length=1), put(4, (NORTH, 1), length=1)],
        2: [put(3, (DOWN, 1), (NORTH, 1), length=3)],
    }
    result = simulated(program(rows, {4: [1, 2, 3, 4]}, mesh((3, 2))))
    # The heads from the west and node 1 arrive in C + 2, from the east in C + 4, node 1's second in
    # C + 7. The turns: 0 (node 1), 1 (east, although west has waited), 2 (west, although port 0
    # asks too), 3.
    heads = [f for f in result.trace if (f.node, f.port, f.kind) == (1, NORTH, HEAD)]
    # The head that leaves is the delivery: port in 3 bits, then the step, which identifies the
    # packet.
    assert [(f.cycle - C, f.data >> 3 & 15) for f in heads] == [(2, 2), (4, 3), (8, 1), (10, 4)]
    assert result.finished


def test_two_vcs_share_a_link_flit_by_flit() -> None:
    rows = {0: [put(1, (UP, 2, 1), length=2)], 1: [put(2, (UP, 1, 0), length=2)]}
    result = simulated(program(rows, {2: [1, 2]}, vcs=2))
    shared = [(0, HEAD), (1, HEAD), (0, BODY), (1, BODY), (0, TAIL), (1, TAIL)]
    assert departures(result, 1, UP) == [(C + 2 + i, *flit) for i, flit in enumerate(shared)]
    assert departures(result, 2, 0) == [(C + 3 + i, *flit) for i, flit in enumerate(shared)]
    # In router 1 all flits but the first of VC 0 wait one cycle; the tail on VC 1 has waited in
    # router 0 too, for the credit of the head that leaves in C + 3.
    assert result.stalled_flits.tolist() == [1, 5, 0, 0]


def test_vcs_that_are_ready_take_turns() -> None:
    # At router 1 node 1's long packet is on VC 2 from C + 2 on. Packets from node 0 are on VC 0
    # (seven flits, from C + 2 on) and VC 1 (two flits, from C + 12 on).
    rows = {
        0: [put(1, (UP, 2, 0), length=6), put(3, (UP, 2, 1), length=1)],
        1: [put(2, (UP, 1, 2), length=20)],
    }
    result = simulated(program(rows, {2: [1, 2, 3]}, vcs=3, depth=8))
    # VC 0 begins; from C + 12 on all three VCs take turns.
    vcs = [0, 2] * 5 + [0, 1, 2, 0, 1]
    vcs += [2] * (21 - vcs.count(2))
    assert (vcs.count(0), vcs.count(1)) == (7, 2)
    assert [(cycle - C, vc) for cycle, vc, _ in departures(result, 1, UP)] == [
        (2 + place, vc) for place, vc in enumerate(vcs)
    ]


@pytest.mark.parametrize("vcs", [1, 2])
def test_what_is_under_way_has_two_turns_where_there_are_vcs(vcs: int) -> None:
    # Node 1's first packet takes 40 cycles. Meanwhile node 0's packets fill their buffers at
    # router 1, on VC 0 and, if it exists, VC 1. All continue to node 2 on VC 0.
    ways = [((UP, 1, number % vcs), (UP, 1, 0)) for number in range(8)]
    rows = {
        0: [put(1, *way, length=2, source=8 * number) for number, way in enumerate(ways)],
        1: [put(1, (UP, 1, 0), length=40), *[put(1, (UP, 1, 0), length=2)] * 2],
    }
    result = simulated(program(rows, {}, vcs=vcs, depth=16), cycle_limit=200)
    sent = [f for f in result.trace if (f.node, f.port, f.kind) == (1, UP, TAIL)]
    # The words of node 1 begin at 257, those of node 0's packets at 1, 9, 17, ...
    names = ["own" if f.data > 256 else (f.data - 2) // 8 for f in sent]
    own = 4 if vcs == 2 else 1
    assert names == ["own", *range(own), "own", *range(own, 2 * own), "own", *range(2 * own, 8)]


def test_two_vcs_of_an_input_leave_in_one_cycle() -> None:
    # At node 1 of a 3x2 mesh, node 1's packet holds VC 0 of the north output from C + 2 to C + 8.
    # So node 0's first packet, which arrives in C + 2, goes north in C + 9 and C + 10, on VC 0. Its
    # second packet, which follows on the link, goes straight on from C + 5 to C + 11, on VC 1.
    rows = {
        0: [put(1, (UP, 1, 0), (NORTH, 1, 0), length=1), put(1, (UP, 2, 1), length=6)],
        1: [put(2, (NORTH, 1, 0), length=6)],
    }
    result = simulated(program(rows, {4: [1, 2], 2: [1]}, mesh((3, 2)), vcs=2))
    seven = [HEAD, *[BODY] * 5, TAIL]
    north = [(C + 2 + place, 0, kind) for place, kind in enumerate(seven)]
    assert departures(result, 1, NORTH) == [*north, (C + 9, 0, HEAD), (C + 10, 0, TAIL)]
    # A depth of 2 is just enough for one flit per cycle: every credit comes back at once, although
    # two go back over one link in C + 9 and C + 10.
    straight = [(C + 5 + place, 1, kind) for place, kind in enumerate(seven)]
    assert departures(result, 1, UP) == straight
    assert result.stalled_flits.tolist() == [0, 1, 0, 0, 0, 0]
    assert (result.finished, result.cycles) == (True, C + 13)


def test_ring_of_waiting_packets_never_finishes() -> None:
    nodes = np.arange(4, dtype=np.int32)
    neighbor = np.stack([nodes - nodes - 1, (nodes + 1) % 4, (nodes - 1) % 4], axis=1)
    peer = np.broadcast_to(np.array([-1, DOWN, UP], dtype=np.int32), (4, 3)).copy()
    ring = Topology("ring", (4,), neighbor.astype(np.int32), peer)
    around = {node: [put(1, (UP, 2), length=8)] for node in range(4)}
    result = simulated(program(around, {node: [1] for node in range(4)}, ring), cycle_limit=10**12)
    assert (result.finished, result.cycles) == (False, 10**12)
    # Each head takes its first link, and one more flit follows it.
    assert [(f.cycle, f.port) for f in result.trace] == [(C + 1, UP)] * 4 + [(C + 2, UP)] * 4
    assert not result.flags.any()
    assert not result.arrived.any()
    # With a dateline, VC 1 after node 0, the same packets get through.
    for node in (2, 3):
        around[node] = [put(1, (UP, 4 - node, 0), (UP, node - 2, 1), length=8)]
    assert simulated(program(around, {node: [1] for node in range(4)}, ring, vcs=2)).finished


# ---- Invariants -----------------------------------------------------------------------------


def permutations(
    seed: int, vcs: int, depth: int
) -> tuple[Program, list[list[tuple[int, int, int]]]]:
    """Return eight permutations on a 4x4 mesh, and each flit's outputs (node, port, VC)."""
    random = np.random.default_rng(seed)
    rows: dict[int, list[Row]] = {node: [] for node in range(16)}
    receives: dict[int, list[int]] = {node: [] for node in range(16)}
    ways = []
    for step in range(1, 9):
        for source, target in enumerate(random.permutation(16).tolist()):
            if source == target:
                continue
            route, way = x_first(source, target, vcs, random)
            length = int(random.integers(0, 8))
            addresses = {"source": 8 * step, "target": 128 + 8 * step}
            rows[source].append(put(step, *route, length=length, **addresses))
            receives[target].append(step)
            ways += [way] * (length + 1)
    return program(rows, receives, mesh((4, 4)), vcs=vcs, depth=depth, flit_width=64), ways


@pytest.mark.parametrize("timing", ["barrier", "self-timed"])
@pytest.mark.parametrize(("seed", "vcs", "depth"), [(1, 1, 2), (2, 2, 1), (3, 3, 4), (4, 8, 16)])
def test_random_traffic_arrives_whole(timing: str, seed: int, vcs: int, depth: int) -> None:
    traffic, ways = permutations(seed, vcs, depth)
    before = words(traffic)
    result = run(traffic, before, timing=timing)
    assert result.finished
    assert result.cycles <= cycle_limit(traffic)
    assert not result.flags.any()
    assert (before == words(traffic)).all()
    # Every word is at its row's target address, and no other word has changed.
    expected = before.copy()
    for node, rows in enumerate(traffic.rows):
        for row in rows:
            x = node % 4 + sum(s.hops * {1: 1, 2: -1}.get(s.port, 0) for s in row.route)
            y = node // 4 + sum(s.hops * {3: 1, 4: -1}.get(s.port, 0) for s in row.route)
            source = slice(row.source_address, row.source_address + row.length)
            target = slice(row.target_address, row.target_address + row.length)
            expected[x + 4 * y, target] = before[node, source]
    assert (result.memory == expected).all()
    # Sorted, and at most one flit per output and cycle.
    order = [(f.cycle, f.node, f.port) for f in result.trace]
    assert order == sorted(set(order))
    # Every flit leaves once by each output on its path.
    outputs = sorted((f.node, f.port, f.vc) for f in result.trace)
    assert outputs == sorted(output for way in ways for output in way)
    # Packets on a VC are not mixed: a head, then payload, up to the tail.
    packet: dict[tuple[int, int, int], bool] = {}
    for flit in result.trace:
        output = (flit.node, flit.port, flit.vc)
        assert packet.get(output, False) != (flit.kind in (HEAD, SINGLE))
        packet[output] = flit.kind in (HEAD, BODY)
    assert not any(packet.values())


def test_trace_is_the_same_in_small_pieces(monkeypatch: pytest.MonkeyPatch) -> None:
    traffic, _ = permutations(5, 2, 2)
    whole = simulated(traffic)
    monkeypatch.setattr(cycle_model, "_MOST_ROWS", 1)
    pieces = simulated(traffic)
    assert first_difference(whole.trace, pieces.trace) is None
    silent = simulated(traffic, record_trace=False)
    assert len(silent.trace) == 0
    assert silent.cycles == pieces.cycles == whole.cycles
    assert (silent.memory == whole.memory).all()
    assert (silent.stalled_flits == whole.stalled_flits).all()


def test_cycle_limit_gives_the_beginning_of_the_run() -> None:
    traffic, _ = permutations(6, 1, 2)
    whole = simulated(traffic)
    assert simulated(traffic, cycle_limit=whole.cycles).finished
    short = simulated(traffic, cycle_limit=whole.cycles - 1)
    assert (short.finished, short.cycles) == (False, whole.cycles - 1)
    half = simulated(traffic, cycle_limit=whole.cycles // 2)
    rows = int((whole.trace.cycle < whole.cycles // 2).sum())
    assert first_difference(half.trace, whole.trace.first_rows(rows)) is None
