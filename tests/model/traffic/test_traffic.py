"""Traffic: patterns, files, and statistics from traces."""

import statistics
from collections import Counter
from dataclasses import replace

import numpy as np
import pytest
from helpers.refusals import refusal_of
from helpers.traffic import traffic_network

from eyecast.model.base.errors import InvalidInput
from eyecast.model.cycle.model import run
from eyecast.model.network.config import Timing
from eyecast.model.network.faults import with_faults
from eyecast.model.network.neighbor_table import graph
from eyecast.model.network.topology import hypercube, line, mesh, ring, torus
from eyecast.model.program.checks import require_table_room
from eyecast.model.program.deadlock import certify
from eyecast.model.program.memory_words import table_words
from eyecast.model.program.payload import empty_memory
from eyecast.model.program.program import Program
from eyecast.model.traffic.measures import measure_traffic
from eyecast.model.traffic.program import deliveries, traffic_program
from eyecast.model.traffic.traffic import Traffic, draw_traffic, read_traffic, write_traffic

SQUARE = mesh((4, 4))
BACKWARDS = (0, 2, 1, 3)


def drawn(topology=SQUARE, pattern="uniform", **changes):
    values = {"rate": 0.4, "flits": 4, "cycles": 500, "seed": 7, **changes}
    return draw_traffic(topology, pattern, **values)


def config(topology=SQUARE, **limits):
    return traffic_network(topology, 16, table_words=1 << 13, **limits)


@pytest.mark.parametrize(
    ("pattern", "target"),
    [
        ("transpose", lambda x, y: (y, x)),
        ("complement", lambda x, y: (3 - x, 3 - y)),
        ("neighbor", lambda x, y: ((x + 1) % 4, (y + 1) % 4)),
        ("tornado", lambda x, y: ((x + 1) % 4, (y + 1) % 4)),
        ("shuffle", lambda x, y: (x * 2 % 4 + y // 2, y * 2 % 4 + x // 2)),
        ("bit-complement", lambda x, y: (3 - x, 3 - y)),
        ("bit-reverse", lambda x, y: (BACKWARDS[y], BACKWARDS[x])),
        ("bit-transpose", lambda x, y: (y, x)),
    ],
)
def test_patterns_send_where_they_say(pattern, target):
    traffic = drawn(pattern=pattern)
    assert len(traffic) > 100
    for source, end in zip(traffic.source.tolist(), traffic.target.tolist(), strict=True):
        x, y = target(source % 4, source // 4)
        assert end == x + 4 * y != source


@pytest.mark.parametrize(
    ("pattern", "topology", "targets"),
    [
        ("tornado", mesh((7, 3)), {0: 3 + 7, 20: 2 + 7 * 0}),
        ("tornado", torus((8,)), {0: 3, 6: 1}),
        ("neighbor", mesh((3, 2, 2)), {0: 1 + 3 + 6, 11: 0}),
        ("shuffle", line(8), {1: 2, 3: 6, 4: 1, 6: 5}),
        ("bit-reverse", line(8), {1: 4, 3: 6, 4: 1, 6: 3}),
        ("bit-complement", hypercube(3), {0: 7, 5: 2}),
    ],
)
def test_patterns_on_other_networks(pattern, topology, targets):
    traffic = drawn(topology, pattern)
    sent = dict(zip(traffic.source.tolist(), traffic.target.tolist(), strict=True))
    assert targets.items() <= sent.items()


def test_patterns_of_bits_leave_switches_out():
    star = graph([[-1, 1, 2, 3, 4], *([-1, 0, -1, -1, -1] for _ in range(4))], switches=[0])
    traffic = drawn(star, "shuffle")
    assert {*zip(traffic.source.tolist(), traffic.target.tolist(), strict=True)} == {(2, 3), (3, 2)}


@pytest.mark.parametrize(
    ("pattern", "topology", "line"),
    [
        ("shuffle", mesh((3, 3)), "one of 2^n nodes, not the 3x3 mesh of 9"),
        ("bit-complement", line(6), "one of 2^n nodes, not the line of 6 of 6"),
        ("bit-transpose", mesh((4, 2)), "one of 4^n nodes, not the 4x2 mesh of 8"),
        ("transpose", mesh((4, 2)), "a grid of equal sides, not 4x2 mesh"),
        ("tornado", graph([[-1, 1], [-1, 0]]), "a grid, not graph of 2"),
    ],
)
def test_a_pattern_refuses_another_network_in_one_line(pattern, topology, line):
    refusal = f"network for the {pattern} pattern must be {line}"
    assert refusal_of(drawn, topology, pattern) == refusal


def test_hot_nodes_may_be_named():
    hits = np.bincount(drawn(pattern="hotspot", cycles=5000, hotspots=[1, 14]).target, minlength=16)
    assert {*np.argsort(hits)[-2:].tolist()} == {1, 14}
    assert 0.8 < hits[1] / hits[14] < 1.25
    with pytest.raises(InvalidInput, match="hotspots must be left out with the uniform pattern"):
        drawn(hotspots=[1])
    with pytest.raises(InvalidInput, match=r"hotspots must be nodes that work, not \(1,0\)"):
        drawn(with_faults(SQUARE, [1], []), "hotspot", hotspots=[1])


@pytest.mark.parametrize(("rate", "burst"), [(0.1, 50), (0.9, 100)])
def test_bursts_keep_the_rate_and_cluster(rate, burst):
    """Counts of flits in windows vary more than those of independent packets, by far."""
    bursts, steady = (drawn(cycles=40_000, rate=rate, burst=each) for each in (burst, 0))
    for traffic in (bursts, steady):
        offered = traffic.flits.sum() / 16 / 40_000
        assert abs(offered - rate) < 0.05 * rate + 0.005
    spread = [
        np.histogram(each.cycle[each.source == 3], np.arange(0, 40_001, 40))[0].var()
        for each in (bursts, steady)
    ]
    assert spread[0] > 1.3 * spread[1]


def test_a_burst_of_the_whole_time_is_steady_traffic():
    assert (drawn(rate=1.0, burst=9).cycle == drawn(rate=1.0).cycle).all()


def test_every_request_is_answered_once_it_can_have_arrived():
    traffic = drawn(mesh((5, 1)), rate=0.02, flits=3, reply_flits=7, cycles=20_000)
    requests, replies = traffic.flits == 3, traffic.flits == 7
    assert requests.sum() == replies.sum() > 10
    offered = traffic.flits.sum() / 5 / 20_000
    assert abs(offered - 0.02) < 0.004
    pairs = Counter(zip(traffic.source[requests], traffic.target[requests], strict=True))
    assert pairs == Counter(zip(traffic.target[replies], traffic.source[replies], strict=True))
    one = Traffic(*(column[requests][:1] for column in columns_of(traffic)))
    network = config(mesh((5, 1)))
    program = traffic_program(one, network, 0)
    arrived = run(program, empty_memory(network), timing=Timing.SELF_TIMED).trace.cycle.max()
    end, back = one.target[0], one.source[0]
    answer = traffic.cycle[replies & (traffic.source == end) & (traffic.target == back)].min()
    assert answer == arrived + 1


def columns_of(traffic):
    return traffic.cycle, traffic.source, traffic.target, traffic.flits


def test_uniform_offers_its_rate_and_never_sends_to_itself():
    traffic = drawn(cycles=20_000)
    assert (traffic.source != traffic.target).all()
    offered = traffic.flits.sum() / 16 / 20_000
    assert abs(offered - 0.4) < 0.01
    pairs = np.bincount(traffic.source * 16 + traffic.target, minlength=256).reshape(16, 16)
    assert pairs[~np.eye(16, dtype=bool)].min() > 0


def test_hotspot_has_one_hot_node():
    hits = np.bincount(drawn(pattern="hotspot", cycles=5000).target, minlength=16)
    assert hits.argmax() == 8
    assert hits[8] > 3 * np.delete(hits, 8).max()


def test_the_same_seed_draws_the_same():
    once, again, other = drawn(), drawn(), drawn(seed=8)
    assert (once.cycle == again.cycle).all()
    assert (once.target == again.target).all()
    assert len(once) != len(other) or (once.target != other.target).any()


def test_files_are_read_back_and_may_be_in_any_order(tmp_path):
    traffic = drawn()
    path = tmp_path / "traffic.csv"
    write_traffic(traffic, path)
    header, *rows = path.read_text().splitlines()
    path.write_text("\n".join([header, *reversed(rows)]) + "\n")
    read = read_traffic(path, SQUARE)
    assert (read.cycle == traffic.cycle).all()
    assert sorted(zip(read.cycle, read.source, read.target, strict=True)) == sorted(
        zip(traffic.cycle, traffic.source, traffic.target, strict=True)
    )


@pytest.mark.parametrize("pattern", ["uniform", "complement", "hotspot"])
def test_faulty_nodes_send_and_get_nothing(pattern):
    # Node 8 would be the hotspot.
    broken = with_faults(SQUARE, [5, 8])
    traffic = drawn(broken, pattern, rate=1.0)
    working = set(range(16)) - {5, 8}
    whole = pattern != "complement"
    assert set(traffic.source.tolist()) == working - (set() if whole else {7, 10})
    assert set(traffic.target.tolist()) == working - (set() if whole else {7, 10})
    if whole:
        # The requested rate, for the 14 working nodes.
        assert abs(len(traffic) - 14 * 500 / 4) < 150


@pytest.mark.parametrize(
    ("packet", "limits", "message"),
    [
        (
            (0, 3, 15, 260),
            {},
            "flits of the packet 3 -> 15 in cycle 0 must be 1 (its header) to 254 (the memory), ",
        ),
        ((-1, 0, 15, 4), {}, "cycle of the packet 0 -> 15 in cycle -1 must be 0 to 4294967294, "),
        ((0, 16, 15, 4), {}, "source must be 0 to 15, not 16"),
        ((0, 0, -1, 4), {}, "target must be 0 to 15, not -1"),
        ((0, 3, 3, 4), {}, "target must be another node than the source, not 3"),
    ],
)
def test_packets_that_have_no_place_are_refused(packet, limits, message):
    one = Traffic.sorted(*(np.array([value]) for value in packet))
    assert refusal_of(traffic_program, one, config(**limits), seed=0).startswith(message)


def test_a_network_without_timed_rows_is_refused():
    with pytest.raises(InvalidInput, match=r"^timed_rows must be given to carry traffic$"):
        traffic_program(drawn(), replace(config(), timed_rows=False), seed=0)


def test_a_header_of_too_many_flits_is_refused():
    # Stairs: every hop turns, and each slot of 10 bits takes a flit of 16 bits.
    stairs = {9 * y + x for y in range(9) for x in (y, y + 1) if x < 9}
    topology = with_faults(mesh((9, 9)), sorted(set(range(81)) - stairs))
    one = Traffic.sorted(*(np.array([value]) for value in (0, 0, 80, 40)))
    assert refusal_of(traffic_program, one, config(topology, vcs=8, flit_width=16), seed=0) == (
        "header flits of the packet 0 -> 80 in cycle 0 must be 1 to 15, not 17"
    )


def test_a_table_memory_that_is_too_small_is_refused_but_for_the_model_alone():
    traffic = drawn()
    words = traffic_program(traffic, config(), seed=1).table_sizes
    most = int(words.max())
    require_table_room(traffic_program(traffic, replace(config(), table_words=most), seed=1))
    program = traffic_program(traffic, replace(config(), table_words=most - 1), seed=1)
    assert refusal_of(require_table_room, program, " (but on the model alone)") == (
        f"table of node {words.argmax()} must be at most {most - 1} words long "
        f"(but on the model alone), not {most}"
    )
    assert run(program, empty_memory(program.config), timing="self-timed").finished


# ---- Programs and tables --------------------------------------------------------------------

ZIGZAG = graph([[-1, 1, 2, -1], [-1, 0, 2, 3], [-1, 1, 0, 3], [-1, 2, -1, 1]])
CARRIERS = {
    "mesh": (SQUARE, {}),
    "mesh of narrow flits": (mesh((4, 5)), {"flit_width": 20, "vcs": 3}),
    "narrowest": (mesh((3, 2, 2)), {"flit_width": 16, "vcs": 8}),
    "line": (line(40), {"flit_width": 17}),
    "torus": (torus((4, 4)), {"vcs": 2}),
    "torus of many VCs": (torus((4, 3, 2)), {"vcs": 8, "flit_width": 24}),
    "torus of one VC": (torus((5, 2)), {}),
    "torus with faults": (with_faults(torus((4, 4)), [5], [(0, 1)]), {"vcs": 5, "flit_width": 21}),
    "cube": (hypercube(5), {"flit_width": 18, "vcs": 2}),
    "ring": (ring(9), {"vcs": 3, "flit_width": 64}),
    "graph": (ZIGZAG, {"flit_width": 18, "vcs": 4}),
}


def carried(name, seed, packets=400):
    """Draw packets of drawn lengths between working nodes, and their network."""
    topology, limits = CARRIERS[name]
    draw = np.random.default_rng(seed)
    there = np.setdiff1d(np.arange(topology.nodes), topology.faulty_nodes)
    source, target = draw.choice(there, (2, packets))
    cycle, flits = draw.integers(0, 500, packets), draw.integers(9, 16, packets)
    sent = source != target
    columns = (column[sent] for column in (cycle, source, target, flits))
    return Traffic.sorted(*columns), config(topology, **limits)


@pytest.mark.parametrize("name", CARRIERS)
@pytest.mark.parametrize("packets", [0, 1, 400])
def test_columns_are_those_of_the_rows(name, packets):
    traffic, network = carried(name, 3, packets)
    program = traffic_program(traffic, network, seed=9)
    nodes = network.topology.nodes
    again = Program.from_rows(
        network, "full-duplex", program.rows, [()] * nodes, awaited=program.awaited.tolist()
    )
    program.check()
    for mine, others in zip(table_words(program), table_words(again), strict=True):
        assert np.array_equal(mine, others)
    assert np.array_equal(program.header, again.header)
    assert program.flit_hops == again.flit_hops
    if packets == 400 and network.flit_width < 32:
        assert program.header_flits.max() > 1


@pytest.mark.parametrize("name", CARRIERS)
def test_all_packets_of_a_stream_take_the_same_way(name):
    traffic, network = carried(name, 5, packets=3000)
    program = traffic_program(traffic, network, seed=9)
    count = network.vcs // (2 if network.topology.wrapped and network.vcs > 1 else 1)
    ways, vc_sets = {}, set()
    for source, rows in enumerate(program.rows):
        targets = traffic.target[traffic.source == source].tolist()
        for target, row in zip(targets, rows, strict=True):
            (vc_set,) = {segment.vc % count for segment in row.route}
            vc_sets.add(vc_set)
            assert ways.setdefault((source, target, vc_set), row.route) == row.route
    assert vc_sets == set(range(count))
    assert len(program.routes) == len(ways)


@pytest.mark.parametrize("dims", [(2,), (5,), (5, 4), (2, 3, 4)])
@pytest.mark.parametrize("vcs", [2, 3, 8])
def test_drawn_classes_of_a_torus_are_free_of_deadlock(dims, vcs):
    network = config(torus(dims), vcs=vcs, flit_width=64)
    for seed in range(2):
        traffic = drawn(network.topology, cycles=1000, seed=seed)
        certify(traffic_program(traffic, network, seed=seed))


@pytest.mark.parametrize("vcs", [2, 4, 8])
def test_traffic_uses_both_classes_of_a_torus(vcs):
    network = config(torus((8, 8)), vcs=vcs)
    rows = traffic_program(drawn(network.topology), network, seed=2).rows
    routes = [row.route for node_rows in rows for row in node_rows]
    hops = Counter()
    for segment in (segment for route in routes for segment in route):
        hops[segment.vc // (vcs // 2)] += segment.hops
    # By the dateline alone, class 1 has 9 % of the hops; packets that cross it begin on class 0.
    assert 0.4 < hops[1] / hops.total() < 0.5


# ---- Statistics from traces -----------------------------------------------------------------


def run_program(traffic, network, seed):
    """Return the program of the traffic, and its trace on the model."""
    program = traffic_program(traffic, network, seed)
    result = run(program, empty_memory(network), timing="self-timed")
    assert result.finished
    return program, result.trace


@pytest.mark.parametrize("topology", [SQUARE, torus((4, 4)), hypercube(3)])
def test_every_packet_is_found_again_with_a_latency_no_less_than_zero_load(topology):
    network = config(topology, vcs=4, depth=4)
    traffic = drawn(topology)
    program, trace = run_program(traffic, network, seed=5)
    delivery = deliveries(traffic, program, trace)
    assert len(delivery.source) == len(traffic)
    assert (delivery.started >= 0).all()
    # A packet of 4 flits over h >= 1 links: 1 cycle to inject, h, 1 to deliver, 3 more flits.
    assert delivery.latency.min() >= 1 + 1 + 3
    sent = np.lexsort((traffic.cycle, traffic.target, traffic.source))
    got = np.lexsort((delivery.started, delivery.target, delivery.source))
    assert (traffic.cycle[sent] == delivery.started[got]).all()
    measures = measure_traffic(traffic, program, trace)
    assert measures["packets_delivered"] == len(traffic)
    assert measures["accepted_throughput"] <= 1


def no_two_alike(topology, rate, seed):
    """Draw traffic in which no two packets from a source to a target are equally long."""
    traffic = drawn(topology, rate=rate, cycles=400, seed=seed)
    seen = Counter()
    flits = []
    for ends in zip(traffic.source.tolist(), traffic.target.tolist(), strict=True):
        flits.append(4 + seen[ends])
        seen[ends] += 1
    return replace(traffic, flits=np.array(flits))


def packets_delivered(trace):
    """Walk through a trace flit by flit: (node, first flit, flits, last cycle) of each packet."""
    begun = {}
    for cycle, node, port, vc, kind, data in trace:
        if port == 0:
            head, flits = begun.pop((node, vc), (data, 0))
            if kind & 2:
                yield node, head, flits + 1, cycle
            else:
                begun[node, vc] = head, flits + 1
    assert not begun


@pytest.mark.parametrize(
    ("topology", "limits", "rate"),
    [
        (SQUARE, {"vcs": 1, "depth": 2}, 0.7),
        (SQUARE, {"vcs": 3, "depth": 3, "flit_width": 22}, 0.3),
        (torus((4, 4)), {"vcs": 2, "depth": 4}, 0.8),
        (torus((4, 4)), {"vcs": 8, "depth": 4, "link_registers": 1}, 0.5),
        (ring(6), {"vcs": 5, "depth": 2}, 0.4),
    ],
)
def test_measures_are_what_a_count_by_hand_says(topology, limits, rate):
    traffic = no_two_alike(topology, rate, seed=11)
    network = replace(config(topology, **limits), message_words=512)
    program, trace = run_program(traffic, network, seed=6)
    nodes = topology.nodes
    header_flits = {}
    for source, rows in enumerate(program.rows):
        sent = np.flatnonzero(traffic.source == source).tolist()
        for packet, row in zip(sent, rows, strict=True):
            key = (source, int(traffic.target[packet]), row.length)
            header_flits.setdefault(key, []).append(packet)
    # With one header length per pair, length and ends identify a packet.
    first, last = (int(traffic.cycle.max()) + 1) // 4, int(traffic.cycle.max()) + 1
    latencies, accepted = [], 0
    address = network.header.port_bits + network.step_bits
    for node, head, flits, cycle in packets_delivered(trace):
        source = head >> address & (1 << network.address_bits) - 1
        (packet,) = header_flits[source, node, flits - 1]
        latencies.append(cycle - int(traffic.cycle[packet]))
        accepted += int(traffic.flits[packet]) if first <= cycle < last else 0
    used = Counter((node, port) for _, node, port, *_ in trace if port)
    links = int((topology.neighbor >= 0).sum())
    cycles = max(flit.cycle for flit in trace) + 1
    latencies.sort()
    # The 99th percentile is at 0.99 of the way from the first index to the last.
    below, share = divmod(99 * (len(latencies) - 1), 100)
    ninety_nine = latencies[below] + share / 100 * (latencies[below + 1] - latencies[below])
    assert measure_traffic(traffic, program, trace) == pytest.approx(
        {
            "packets_delivered": len(traffic),
            "offered_throughput": sum(traffic.flits.tolist()) / nodes / last,
            "accepted_throughput": accepted / nodes / (last - first),
            "mean_latency": statistics.mean(latencies),
            "median_latency": statistics.median(latencies),
            "latency_99th_percentile": ninety_nine,
            "longest_latency": latencies[-1],
            "mean_link_use": used.total() / links / cycles,
            "busiest_link_use": max(used.values()) / cycles,
        },
        rel=1e-12,
    )


def test_a_network_that_keeps_up_accepts_what_is_offered_whatever_its_headers_take():
    network = config(torus((4, 4)), vcs=4, depth=4, flit_width=20)
    traffic = drawn(network.topology, rate=0.1, cycles=20_000, flits=6)
    measures = measure_traffic(traffic, *run_program(traffic, network, seed=1))
    assert measures["accepted_throughput"] == pytest.approx(
        measures["offered_throughput"], rel=0.02
    )


def test_what_a_short_run_accepts_is_counted_to_its_last_delivery():
    """All packets start at once, so that none arrives before the last of them has started."""
    traffic = Traffic.sorted(*np.array([[3, n, (n + 2) % 5, 9] for n in range(5)]).T)
    network = config(ring(5), vcs=2)
    program, trace = run_program(traffic, network, seed=1)
    arrived = max(cycle for *_, cycle in packets_delivered(trace))
    measures = measure_traffic(traffic, program, trace)
    assert measures["accepted_throughput"] == 5 * 9 / 5 / (arrived + 1 - 3)


def test_no_packets_measure_nothing():
    nothing = drawn(rate=0)
    measures = measure_traffic(nothing, *run_program(nothing, config(), seed=1))
    assert measures == {
        "packets_delivered": 0,
        "offered_throughput": 0,
        "accepted_throughput": 0,
        "mean_link_use": 0,
        "busiest_link_use": 0,
    }
