"""Networks with ``all_port``, cycle by cycle: docs/router.md, section 14.

Expected cycles are worked out by hand from the page; c is the first cycle of step 1. In a 2-cube
ports 1 and 2 flip bits 0 and 1 of a node's number: port codes take 2 bits, a slot too.
"""

from pathlib import Path

import numpy as np
import pytest
from helpers.all_port_programs import all_port
from helpers.programs import (
    BODY,
    HEAD,
    SINGLE,
    TAIL,
    C,
    departures,
    flags,
    pack,
    program,
    put,
    simulated,
    words,
)

from eyecast.model.cycle.model import cycle_limit
from eyecast.model.network.topology import hypercube
from eyecast.model.program.row import Row
from eyecast.model.run.trace import Flit, Trace, first_difference

# ---- All at once ----------------------------------------------------------------------------


@pytest.mark.parametrize("timing", ["barrier", "self-timed"])
def test_every_node_sends_and_receives_on_both_links_at_once(timing: str) -> None:
    rows = {
        node: [
            put(1, (1, 1), source=0, target=16, length=2),
            put(1, (2, 1), source=8, target=24, length=2),
        ]
        for node in range(4)
    }
    both = all_port(rows, {node: [(1, 1), (1, 2)] for node in range(4)})
    result = simulated(both, timing)
    head = {port: pack((3, 2), (1, 4), (8 + 8 * port, 8)) for port in (1, 2)}
    expected = []
    # The heads are injected in C, the tails in C + 2. Of the flits that leave by ejection ports in
    # the same cycle, that of port 1 comes first.
    for hop, ports in ((0, (1, 2)), (1, (0, 0))):
        for node in range(4):
            for link, port in enumerate(ports, 1):
                sender = node ^ link if port == 0 else node
                word = 1 + 256 * sender + 8 * (link - 1)
                flits = [(HEAD, head[link]), (BODY, word), (TAIL, word + 1)]
                expected += [
                    Flit(C + 1 + hop + place, node, port, 0, *flit)
                    for place, flit in enumerate(flits)
                ]
    expected.sort(key=lambda flit: flit[:3])
    assert list(result.trace) == expected
    assert (result.finished, result.cycles) == (True, C + 1 + 2 + 2)
    assert result.step_ends.tolist() == [C + 5]
    for node in range(4):
        for port in (1, 2):
            there = slice(8 + 8 * port, 10 + 8 * port)
            begin = 1 + 256 * (node ^ port) + 8 * (port - 1)
            assert result.memory[node, there].tolist() == [begin, begin + 1]
    assert not result.flags.any()
    assert not result.stalled_flits.any()
    assert np.argwhere(result.arrived).tolist() == [[*divmod(lane, 2), 1] for lane in range(8)]


def test_trace_with_several_deliveries_survives_its_file(tmp_path: Path) -> None:
    rows = {node: [put(1, (1, 1)), put(1, (2, 1))] for node in range(4)}
    trace = simulated(all_port(rows, {node: [(1, 1), (1, 2)] for node in range(4)})).trace
    trace.write_csv(tmp_path / "trace.csv")
    assert first_difference(trace, Trace.read_csv(tmp_path / "trace.csv")) is None
    assert first_difference(trace, trace.sort()) is None


def test_senders_wait_for_their_own_credits() -> None:
    # Depth 1: flit j is injected in C + 2j, and stalls once, in either sender.
    rows = {0: [put(1, (1, 1), length=5), put(1, (2, 1), length=3)]}
    result = simulated(all_port(rows, {1: [(1, 1)], 2: [(1, 2)]}, depth=1))
    for port, length in ((1, 5), (2, 3)):
        leave = [C + 1 + 2 * flit for flit in range(length + 1)]
        assert [cycle for cycle, *_ in departures(result, 0, port)] == leave
    assert result.stalled_flits.tolist() == [5 + 3, 0, 0, 0]
    assert (result.finished, result.cycles) == (True, C + 1 + 2 * 5 + 2)


@pytest.mark.parametrize("timing", ["barrier", "self-timed"])
def test_empty_tables_end_when_the_first_word_is_read(timing: str) -> None:
    result = simulated(all_port({}, {}, hypercube(3)), timing)
    assert (result.finished, result.cycles, len(result.trace)) == (True, 1, 0)


# ---- Arbitration ----------------------------------------------------------------------------


def test_packets_pass_through_beside_what_is_injected() -> None:
    # Node 0's packet turns at node 1; node 1 begins step 2 in C + 1, so that both heads are at the
    # front in C + 2. The injection port has the turn and holds the VC for three flits.
    rows = {0: [put(1, (1, 1), (2, 1), length=2)], 1: [put(2, (2, 1), length=2)]}
    result = simulated(all_port(rows, {3: [(1, 2), (2, 2)]}))
    kinds = [HEAD, BODY, TAIL]
    assert departures(result, 1, 2) == [(C + 2 + i, 0, kinds[i % 3]) for i in range(6)]
    assert departures(result, 3, 0) == [(C + 3 + i, 0, kinds[i % 3]) for i in range(6)]
    # There is one slot behind the waiting head, so the tail waits at node 0 for its credit.
    assert departures(result, 0, 1) == [(C + 1, 0, HEAD), (C + 2, 0, BODY), (C + 6, 0, TAIL)]
    assert result.stalled_flits.tolist() == [1, 1, 0, 0]
    assert result.step_ends.tolist() == [C + 9, C + 6]
    assert np.argwhere(result.arrived).tolist() == [[3, 1, 1], [3, 1, 2]]
    assert result.finished


def test_injection_port_stands_between_the_places_of_the_links() -> None:
    # Output 3 of node 0 in a 3-cube: its injection port has the numbers 0 and 1, one for each VC,
    # links 1 and 2 have 2 and 4 (VC 0). All ask for VC 0. The order of turns is 2 to 7, 0 and 1,
    # 2 to 7, and begins at 0. So the grants are 0, 2, 4, 2, 0.
    rows = {
        0: [put(1, (3, 1), length=5), put(1, (3, 1), length=1)],
        1: [put(1, (1, 1), (3, 1), length=5), put(1, (1, 1), (3, 1), length=0)],
        2: [put(1, (2, 1), (3, 1), length=1)],
    }
    result = simulated(all_port(rows, {}, hypercube(3), vcs=2), cycle_limit=60)
    # Node 0's first packet leaves from C + 1 on; the others' heads arrive in C + 2. Node 0's second
    # head, whose control word is read in C + 6, arrives in C + 8. Node 1's second packet follows
    # its first.
    heads = [cycle - C for cycle, _, kind in departures(result, 0, 3) if kind in (HEAD, SINGLE)]
    assert heads == [1, 7, 13, 15, 16]
    payload = [f.data for f in result.trace if (f.node, f.port, f.kind) == (0, 3, TAIL)]
    assert payload == [1 + 4, 1 + 256 + 4, 1 + 512, 1 + 0]


def test_two_vcs_of_an_ejection_port_beside_another_one() -> None:
    # Node 0's flits and those of node 2, on VC 1, take turns on the link from 0 to 1, and so at
    # ejection port 1 of node 1. Node 3's flits leave by ejection port 2 without waiting.
    rows = {
        0: [put(1, (1, 1, 0), target=16, length=2)],
        2: [put(2, (2, 1, 1), (1, 1, 1), target=24, length=2)],
        3: [put(1, (2, 1, 0), target=32, length=5)],
    }
    # Node 2 begins step 2 in C + 1.
    result = simulated(all_port(rows, {1: [(1, 1), (2, 1), (1, 2)]}, vcs=2))
    kinds_2 = [HEAD, *[BODY] * 4, TAIL]
    from_0 = [(C + 2, HEAD), (C + 3, BODY), (C + 5, TAIL)]
    from_2 = [(C + 4, HEAD), (C + 6, BODY), (C + 7, TAIL)]
    port_1 = sorted([(cycle, 0, kind) for cycle, kind in from_0] + [(c, 1, k) for c, k in from_2])
    port_2 = [(C + 2 + place, 0, kind) for place, kind in enumerate(kinds_2)]
    # Sorting by the cycle alone keeps the flits of port 1 in front.
    assert departures(result, 1, 0) == sorted(port_1 + port_2, key=lambda flit: flit[0])
    assert result.memory[1, 16:18].tolist() == [1, 2]
    assert result.memory[1, 24:26].tolist() == [513, 514]
    assert result.memory[1, 32:37].tolist() == [769 + word for word in range(5)]
    assert (result.finished, result.cycles) == (True, C + 8)


# ---- Steps ----------------------------------------------------------------------------------


def test_step_is_over_when_every_sender_is_through() -> None:
    # Sender 1 injects in C to C + 5 and reads its end row in C + 6; so sender 2 begins step 2 in
    # C + 8.
    rows = {0: [put(1, (1, 1), length=5), put(2, (2, 1), length=0)]}
    result = simulated(all_port(rows, {1: [(1, 1)], 2: [(2, 2)]}))
    assert departures(result, 0, 2) == [(C + 9, 0, SINGLE)]
    # Node 1 has its packet in C + 8; the other packet is delivered in C + 10.
    assert (result.finished, result.cycles) == (True, C + 11)


def test_barrier_waits_for_every_sender_of_every_node() -> None:
    rows = {0: [put(1, (1, 1), length=5), put(2, (2, 1), length=0)]}
    result = simulated(all_port(rows, {1: [(1, 1)], 2: [(2, 2)]}), "barrier")
    assert (result.finished, result.cycles) == (True, C + (1 + 5 + 4) + (1 + 0 + 4) - 2)


@pytest.mark.parametrize("late", [1, 2])
def test_step_is_over_when_every_port_has_received(late: int) -> None:
    # The late packet's tail is delivered in C + 6 and its arrival seen in C + 7; node 1's row
    # begins in C + 8. The other packet has arrived in C + 3.
    lengths = {late: 4, 3 - late: 0}
    rows = {1 ^ port: [put(1, (port, 1), length=lengths[port])] for port in (1, 2)}
    rows[1] = [put(2, (1, 1), length=0)]
    result = simulated(all_port(rows, {1: [(1, 1), (1, 2)], 0: [(2, 1)]}))
    assert departures(result, 1, 1) == [(C + 9, 0, SINGLE)]
    assert result.finished


@pytest.mark.parametrize("timing", ["barrier", "self-timed"])
@pytest.mark.parametrize("missing", [1, 2])
def test_receive_that_is_missing_at_one_port_never_finishes(timing: str, missing: int) -> None:
    rows = {1 ^ (3 - missing): [put(1, (3 - missing, 1))]}
    waiting = all_port(rows, {1: [(1, 1), (1, 2)]})
    result = simulated(waiting, timing)
    assert (result.finished, result.cycles) == (False, cycle_limit(waiting))
    assert not result.flags.any()


def test_packet_by_another_port_is_unexpected() -> None:
    # Node 2's packet keeps the run going.
    rows = {0: [put(1, (1, 1))], 2: [put(1, (1, 1), length=30)]}
    result = simulated(all_port(rows, {1: [(1, 2)], 3: [(1, 1)]}))
    assert flags(result) == {1: {"unexpected_receive"}}
    assert np.argwhere(result.arrived[1]).tolist() == [[0, 1]]


@pytest.mark.parametrize("port_model", ["half-duplex", "full-duplex"])
@pytest.mark.parametrize("port", [1, 2])
def test_send_and_receive_on_any_ports(port_model: str, port: int) -> None:
    rows = {1 ^ port: [put(1, (port, 1))], 1: [put(1, (1, 1))]}
    result = simulated(all_port(rows, {1: [(1, port)], 0: [(1, 1)]}, port_model=port_model))
    half_duplex = port_model == "half-duplex"
    # On port 1 both ends of a link send and receive.
    wrong = (0, 1) if port == 1 else (1,)
    assert flags(result) == ({node: {"send_and_receive"} for node in wrong} if half_duplex else {})
    assert result.finished != half_duplex


# ---- The message memory ---------------------------------------------------------------------


@pytest.mark.parametrize("port", [1, 2])
@pytest.mark.parametrize(("target", "injected"), [(4, "old"), (5, "new")])
def test_word_is_fetched_before_any_receiver_writes_it(
    port: int, target: int, injected: str
) -> None:
    # As in test_model.py, word i arrives at node 1 in C + 7 + i, and node 1 injects its word a in
    # C + 4 + a. The other receiver writes to distant addresses in the same cycle.
    rows = {
        1 ^ link: [put(5, (link, 1), length=4, target=target if link == port else 64)]
        for link in (1, 2)
    }
    rows[1] = [put(4, (1, 1), (2, 1), length=12)]
    both = all_port(rows, {1: [(5, 1), (5, 2)], 2: [(4, 2)]})
    result = simulated(both)
    assert result.finished
    before = words(both)
    assert result.memory[1, target : target + 4].tolist() == before[1 ^ port, :4].tolist()
    assert result.memory[1, 64:68].tolist() == before[1 ^ (3 - port), :4].tolist()
    expected = result.memory[1, :12] if injected == "new" else before[1, :12]
    assert result.memory[2, :12].tolist() == expected.tolist()


def test_word_that_two_receivers_write_was_fetched_before() -> None:
    rows = {1 ^ link: [put(5, (link, 1), length=4, target=4)] for link in (1, 2)}
    rows[1] = [put(4, (1, 1), (2, 1), length=12)]
    both = all_port(rows, {1: [(5, 1), (5, 2)], 2: [(4, 2)]})
    assert simulated(both).memory[2, :12].tolist() == words(both)[1, :12].tolist()


# ---- Beside a network with one port ---------------------------------------------------------


@pytest.mark.parametrize("timing", ["barrier", "self-timed"])
def test_one_link_needs_no_more_ports(timing: str) -> None:
    rows = {
        0: [put(1, (1, 1), target=9, length=7), put(3, (1, 1), length=2)],
        1: [put(1, (1, 1), length=3), put(2, (1, 1), target=30, length=20)],
    }
    pairs = {0: [(1, 1), (2, 1)], 1: [(1, 1), (3, 1)]}
    ported = all_port(rows, pairs, hypercube(1))
    usual = program(rows, {0: [1, 2], 1: [1, 3]}, hypercube(1))
    one, other = simulated(usual, timing), simulated(ported, timing)
    assert one.finished
    assert first_difference(one.trace, other.trace) is None
    assert (one.memory == other.memory).all()
    assert (one.arrived == other.arrived).all()
    assert one.cycles == other.cycles


@pytest.mark.parametrize(
    ("vcs", "depth", "registers"), [(1, 2, 0), (2, 1, 1), (3, 4, 2), (8, 2, 0)]
)
def test_random_permutations_on_all_links_arrive_whole(
    vcs: int, depth: int, registers: int
) -> None:
    """In each step every node sends once by each port; routes that begin at a port end at one port.

    So each ejection port gets one packet.
    """
    random = np.random.default_rng(vcs)
    topology, steps = hypercube(4), 6
    rows: dict[int, list[Row]] = {node: [] for node in range(16)}
    receives: dict[int, list[tuple[int, int]]] = {node: [] for node in range(16)}
    for step in range(1, steps + 1):
        hops = int(random.integers(1, 3))
        for first in range(1, 5):
            route = [(first + turn - 1) % 4 + 1 for turn in range(hops)]
            for node in range(16):
                segments = [(port, 1, int(random.integers(vcs))) for port in route]
                length = int(random.integers(0, 8))
                place = 32 * (step - 1) + 8 * (first - 1)
                row = put(step, *segments, source=place, target=256 + place, length=length)
                rows[node].append(row)
                target = node
                for port in route:
                    target ^= 1 << port - 1
                receives[target].append((step, route[-1]))
    made = all_port(
        rows, receives, topology, vcs=vcs, depth=depth, link_registers=registers,
        message_words=512, flit_width=64,
    )  # fmt: skip
    result = simulated(made)
    assert result.finished
    assert result.cycles <= cycle_limit(made)
    assert not result.flags.any()
    expected, flit_hops = words(made), 0
    for node in range(16):
        for row in rows[node]:
            target = node
            for segment in row.route:
                target ^= 1 << segment.port - 1
            source = slice(row.source_address, row.source_address + row.length)
            there = slice(row.target_address, row.target_address + row.length)
            expected[target, there] = words(made)[node, source]
            flit_hops += (1 + len(row.route)) * (1 + row.length)
    assert (result.memory == expected).all()
    assert len(result.trace) == flit_hops == made.flit_hops
    on_links = [(f.cycle, f.node, f.port) for f in result.trace if f.port]
    assert len(on_links) == len(set(on_links))
    order = [(f.cycle, f.node, f.port) for f in result.trace]
    assert order == sorted(order)
    # At most one flit per ejection port and cycle, and in some cycles several ports deliver.
    delivered = [place for place in order if place[2] == 0]
    at_once = np.unique(np.array(delivered), axis=0, return_counts=True)[1]
    assert 1 < at_once.max() <= 4
