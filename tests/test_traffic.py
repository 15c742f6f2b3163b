"""Traffic: patterns, files, and what a trace says of it."""

import re

import numpy as np
import pytest

from eyecast.model.config import NetworkConfig
from eyecast.model.cycle_model import run
from eyecast.model.errors import InvalidInput
from eyecast.model.measures import measure_traffic
from eyecast.model.payload import empty_memory
from eyecast.model.topology import hypercube, mesh, torus
from eyecast.model.traffic import (
    Traffic,
    draw_refusal,
    draw_traffic,
    read_traffic,
    write_traffic,
)
from eyecast.model.traffic_program import deliveries, message_words_for, traffic_program

SQUARE = mesh((4, 4))


def drawn(topology=SQUARE, pattern="uniform", **changes):
    values = {"rate": 0.4, "flits": 4, "cycles": 500, "seed": 7, **changes}
    return draw_traffic(topology, pattern, **values)


def config(topology=SQUARE, **limits):
    return NetworkConfig(
        topology=topology,
        timed_rows=True,
        steps=1,
        table_words=1 << 13,
        message_words=message_words_for(topology, 16),
        **limits,
    )


@pytest.mark.parametrize(
    ("pattern", "target"),
    [
        ("transpose", lambda x, y: (y, x)),
        ("complement", lambda x, y: (3 - x, 3 - y)),
        ("neighbour", lambda x, y: ((x + 1) % 4, y)),
    ],
)
def test_patterns_send_where_they_say(pattern, target):
    traffic = drawn(pattern=pattern)
    assert len(traffic) > 100
    for source, end in zip(traffic.source.tolist(), traffic.target.tolist(), strict=True):
        x, y = target(source % 4, source // 4)
        assert end == x + 4 * y != source


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


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "line 1 must be cycle,source,target,flits, not 'nothing'"),
        ("a,b\n", "line 1 must be cycle,source,target,flits, not 'a,b'"),
        ("0,0,16,4", "line 2: target must be a node, 0 to 15, not 16"),
        ("0,99,1,4", "line 2: source must be a node, 0 to 15, not 99"),
        ("0,3,3,4", "line 2: target must be another node than the source, not 3"),
        ("0,0,1,0", "line 2: flits must be at least 1, not 0"),
        ("0,0,1,4\n-1,0,1,4", "line 3 must be four numbers, 0 or more, not '-1,0,1,4'"),
        ("0,0,1", "line 2 must be four numbers, 0 or more, not '0,0,1'"),
    ],
)
def test_a_wrong_file_is_one_line(tmp_path, text, message):
    path = tmp_path / "traffic.csv"
    path.write_text(text if not text or "a" in text else f"cycle,source,target,flits\n{text}\n")
    separator = ", " if message.startswith("line") else ""
    with pytest.raises(InvalidInput, match=f"^{re.escape(f'{path}{separator}{message}')}$"):
        read_traffic(path, SQUARE)


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"rate": 1.5}, "rate must be 0 to 1 flits per node and cycle, not 1.5"),
        ({"flits": 0}, "packet flits must be at least 1, not 0"),
        ({"cycles": 0}, "cycles must be at least 1, not 0"),
        ({"pattern": "storm"}, "pattern must be uniform, transpose, complement, "),
        ({"cycles": 10**8}, "packets (nodes x cycles x rate / flits) must be at most 4000000"),
        (
            {"pattern": "transpose", "topology": mesh((4, 3))},
            "network for the transpose pattern must be a grid of equal sides, not 4x3 mesh",
        ),
    ],
)
def test_wrong_drawings_are_one_line(changes, message):
    with pytest.raises(InvalidInput, match=f"^{re.escape(message)}"):
        drawn(**changes)


def test_a_packet_shorter_than_its_header_is_refused():
    narrow = config(flit_width=20)
    short = Traffic.sorted(*(np.array([value]) for value in (0, 0, 15, 1)))
    with pytest.raises(InvalidInput, match=r"^packet flits must be at least 2, its header, not 1$"):
        traffic_program(short, narrow, seed=0)


def test_refusal_leaves_a_cycle_open_and_has_its_share():
    patterns = draw_refusal(mesh((32, 32)), 0.6, seed=1)
    refused = np.array([bin(pattern).count("1") for pattern in patterns])
    assert refused.max() <= 15
    assert abs(refused.mean() / 16 - 0.6 * 15 / 16) < 0.02
    assert not draw_refusal(SQUARE, 0, seed=1).any()


@pytest.mark.parametrize("topology", [SQUARE, torus((4, 4)), hypercube(3)], ids=lambda t: t.label)
def test_every_packet_is_found_again_with_a_latency_no_less_than_zero_load(topology):
    network = config(topology, vcs=4, depth=4)
    traffic = drawn(topology)
    program = traffic_program(traffic, network, seed=5)
    trace = run(program, empty_memory(network), timing="self-timed").trace
    delivery = deliveries(traffic, network, trace, seed=5)
    assert len(delivery.source) == len(traffic)
    assert (delivery.started >= 0).all()
    # A packet over h links of 4 flits: 1 to inject, h, 1 to deliver, 3 more flits; h >= 1.
    assert delivery.latency.min() >= 1 + 1 + 3
    sent = np.lexsort((traffic.cycle, traffic.target, traffic.source))
    got = np.lexsort((delivery.started, delivery.target, delivery.source))
    assert (traffic.cycle[sent] == delivery.started[got]).all()
    measures = measure_traffic(traffic, program, trace, seed=5)
    assert measures["packets delivered"] == len(traffic)
    assert measures["accepted throughput"] <= 1
