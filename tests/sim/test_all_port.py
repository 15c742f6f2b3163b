"""A port for every link, and messages of several rows: programs by hand, on model and hardware.

Expected words come from their routes, expected cycles from docs/router.md, section 5. Every run is
also compared with the cycle model, flit for flit.
"""

import dataclasses
import random

import numpy as np
import pytest
from helpers.all_port_bench import (
    ALL_PORT,
    CUBE,
    CYCLE_LIMIT,
    NETWORKS,
    PROGRAMS,
    carried_out,
    flagged,
    on,
    on_both,
    program_of,
)
from helpers.programs import changed, put, words
from helpers.untimed import ending
from helpers.whole_jobs import whole_job

from eyecast.boards.serial.frame import require_boardable
from eyecast.model.base.errors import InvalidInput
from eyecast.model.compare.waiting import waiting
from eyecast.model.run.trace import HEAD_MARK, TAIL_MARK
from eyecast.rtl.packets.sender import SenderState
from eyecast.rtl.parts.host_map import HostSpace, table_address_bits
from eyecast.sim.build import build_simulator
from eyecast.sim.simulator import simulate

SOME_SLOW = ["cube", pytest.param("mesh", marks=pytest.mark.slow)]
"""The networks with a port for every link; each needs its own simulator."""

ENDED, FAILED = SenderState.ENDED.value, SenderState.FAILED.value


def links_of(topology, node):
    return [p for p in range(1, topology.ports) if topology.neighbor[node, p] >= 0]


def everywhere(config, step, length, *, forwarded=False):
    """Let every node send on every link; with ``forwarded``, the words from that link's step 1."""
    peer = config.topology.peer.item
    return [
        (
            node,
            put(
                step,
                (port, 1, config.vcs - 1),
                source=24 + 5 * port if forwarded else 5 * port,
                target=48 + 3 * port if forwarded else 24 + 5 * peer(node, port),
                length=length,
            ),
        )
        for node in range(config.topology.nodes)
        for port in links_of(config.topology, node)
    ]


@on(*ALL_PORT)
def all_links(config):
    return program_of(config, everywhere(config, 1, 5))


@pytest.mark.parametrize("network", SOME_SLOW)
def test_every_node_sends_on_every_link_in_one_step(network):
    config = NETWORKS[network]
    neighbor, peer = config.topology.neighbor, config.topology.peer
    sent = words(PROGRAMS[network][all_links])
    for measured in carried_out(network, all_links):
        assert measured.cycles == config.table.control_words + config.link_registers + 1 + 5 + 2
        trace = measured.trace
        for node in range(config.topology.nodes):
            tails = (trace.port == 0) & (trace.node == node) & (trace.kind == TAIL_MARK)
            links = links_of(config.topology, node)
            assert trace.cycle[tails].tolist() == [measured.cycles - 1] * len(links)
            # In order of the ejection port, which the words identify.
            last = [sent[neighbor[node, p], 5 * peer[node, p] + 4] for p in links]
            assert trace.data[tails].tolist() == last


@on(*ALL_PORT)
def all_links_and_back(config):
    puts = everywhere(config, 1, 3) + everywhere(config, 2, 3, forwarded=True)
    return program_of(config, puts)


@pytest.mark.parametrize("network", SOME_SLOW)
def test_what_came_on_every_link_goes_back_on_every_link(network):
    config = NETWORKS[network]
    barrier, self_timed = carried_out(network, all_links_and_back)
    step = config.link_registers + 1 + 3 + 4
    assert barrier.cycles == config.table.control_words + 2 * step - 2
    assert self_timed.cycles == barrier.cycles - 1


@on("cube")
def passing(config):
    puts = [
        (0, put(1, (1, 1), (2, 1), target=32, length=6)),
        (1, put(1, (2, 1), (3, 1), target=32, length=6)),
        (1, put(1, (1, 1), target=32, length=6)),
    ]
    return program_of(config, puts)


def test_a_packet_waits_for_a_node_that_sends_by_the_same_link():
    """Node 1's packet has the link first; node 0's packet passes after it."""
    begins = CUBE.table.control_words
    for measured in carried_out("cube", passing):
        assert measured.cycles == begins + 2 * 6 + 4
        trace = measured.trace
        heads = (trace.node == 1) & (trace.port == 2) & (trace.kind == HEAD_MARK)
        assert trace.cycle[heads].tolist() == [begins + 1, begins + 8]
        assert measured.stalled_flits[0] > 0
        assert measured.stalled_flits[1] > 0


def drawn(seed):
    """Draw messages of several hops that often meet; dimension order prevents deadlock."""

    def make(config):
        draw, topology, puts = random.Random(seed), config.topology, []
        for step in (1, 2, 3, config.steps):
            received = set()
            for _ in range(12 * topology.nodes):
                node = draw.randrange(topology.nodes)
                route = drawn_route(draw, config, node)
                end = ending(topology, node, route)
                if route and end not in received:
                    received.add(end)
                    puts += drawn_message(draw, step, node, route, end[1])
        return program_of(config, puts)

    return on(*ALL_PORT)(make)


def drawn_route(draw, config, node):
    """Draw a route: some hops along each axis in turn."""
    topology, route = config.topology, []
    per_axis = (topology.ports - 1) // len(topology.dims)
    for axis, extent in enumerate(topology.dims):
        port, hops = 1 + per_axis * axis + draw.randrange(per_axis), 0
        for _ in range(draw.randrange(extent)):
            if topology.neighbor[node, port] >= 0:
                node, hops = int(topology.neighbor[node, port]), hops + 1
        if hops:
            route.append((port, hops, draw.randrange(config.vcs)))
    return route


def drawn_message(draw, step, node, route, port):
    """Draw a message's rows: from the memory's first half to the link's part of the second half."""
    rows, parts = [], draw.choice([1, 1, 2, 4])
    most = 8 // parts
    for part in range(parts):
        length = draw.randint(most // 2, most)
        addresses = {"source": draw.randrange(32 - length), "target": 24 + 8 * port + most * part}
        rows.append(put(step, *route, **addresses, length=length))
    return [(node, row) for row in going_on(rows)]


def going_on(rows):
    """Return the rows as continued rows of one message."""
    *earlier, last = rows
    return [*(dataclasses.replace(row, continued=True) for row in earlier), last]


DRAWN = [drawn(seed) for seed in range(5)]


@pytest.mark.parametrize("network", SOME_SLOW)
@pytest.mark.parametrize("seed", range(len(DRAWN)))
def test_a_drawn_program(network, seed):
    assert any(row.continued for rows in PROGRAMS[network][DRAWN[seed]].rows for row in rows)
    for measured in carried_out(network, DRAWN[seed]):
        assert measured.stalled_flits.any()


def parted(lengths):
    """Return a message of several rows from node 0 to node 1."""

    def make(config):
        rows = [
            put(1, (1, 1), source=10 * i, target=32 + 10 * i, length=length)
            for i, length in enumerate(lengths)
        ]
        return program_of(config, [(0, row) for row in going_on(rows)])

    return on("mesh", "one port")(make)


PARTED = {lengths: parted(lengths) for lengths in ((4, 2, 3), (0, 0, 1), (2, 0))}


@pytest.mark.parametrize("lengths", PARTED)
@pytest.mark.parametrize("network", [pytest.param("mesh", marks=pytest.mark.slow), "one port"])
def test_rows_of_one_message_arrive_once(network, lengths):
    """A message of many rows has arrived when the last row's packet has arrived."""
    config = NETWORKS[network]
    control, *earlier, last = config.table.control_words, *lengths
    begins = control + sum(1 + length + control for length in earlier)
    for measured in carried_out(network, PARTED[lengths]):
        assert measured.cycles == begins + config.link_registers + 1 + last + 2
        # With all ports, node 1 receives by the lane of port 2, its link from node 0.
        assert np.argwhere(measured.arrived).tolist() == [[1, int(config.all_port), 1]]


def parted_and_awaited(packets):
    def make(config):
        rows = [put(1, (1, 2), length=2, target=target) for target in (60, 70)]
        puts = [(0, row) for row in going_on(rows)]
        return program_of(config, puts, awaited=(0, 0, packets))

    return on("timed")(make)


AWAITED = [parted_and_awaited(packets) for packets in (0, 1, 2)]


def test_packets_of_rows_that_go_on_are_awaited_where_rows_are_timed():
    carried_out("timed", AWAITED[1])
    assert flagged("timed", AWAITED[0])[0] == {2: ["unexpected_receive"]}
    _, runs = on_both("timed", AWAITED[2])
    assert not any(measured.finished or measured.flags.any() for measured in runs)


def test_rows_in_the_table_of_another_link():
    """The tables of senders 1 and 2 of node 0 are exchanged."""
    program = PROGRAMS["cube"][all_links]
    job = whole_job(program, "barrier", CYCLE_LIMIT)
    node, space, address, _ = job.writes.T
    apart = 1 << table_address_bits(CUBE)
    exchanged = (node == 0) & (space == HostSpace.TABLE) & (address < 2 * apart)
    job.writes[exchanged, 2] ^= np.uint64(apart)
    (measured,) = simulate(build_simulator(CUBE), [job])
    assert [measured.flag_names(node) for node in range(8)] == [["bad_row"], *[[]] * 7]
    # The third sender had begun its row when the flag was set.
    assert measured.sender_state[0].tolist() == [FAILED, FAILED, ENDED]
    assert set(measured.trace.port[measured.trace.node == 0].tolist()) == {0, 3}
    lines = waiting(program, measured)
    assert lines[:2] == [
        "node 0 is in step 1, has rows to send by port 1 (sender in failed, 1 rows in its table), "
        "has rows to send by port 2 (sender in failed, 1 rows in its table), has set bad_row",
        "node 1 is in step 1, waits for a receive by port 1 in step 1",
    ]


@on("cube")
def by_another_link(config):
    ports = [() for _ in range(8)]
    ports[1], ports[2] = (1,), (3,)
    puts = [(0, put(1, (2, 1))), (0, put(1, (1, 1)))]
    return program_of(config, puts, receive_ports=tuple(ports))


def test_a_packet_by_another_link_than_expected():
    names, runs = flagged("cube", by_another_link)
    assert names == {2: ["unexpected_receive"]}
    for measured in runs:
        # Both packets have arrived, at their own ports.
        assert np.argwhere(measured.arrived).tolist() == [[1, 0, 1], [2, 1, 1]]


@on("cube")
def both_ways(config):
    return program_of(config, [(0, put(1, (1, 1))), (2, put(1, (2, 1)))], port_model="half-duplex")


def test_a_send_by_one_link_and_a_receive_by_another_in_half_duplex():
    assert flagged("cube", both_ways)[0] == {0: ["send_and_receive"]}


@on("mesh")
def no_link(config):
    program = program_of(config, [(0, put(1, (1, 1))), (4, put(1, (1, 1)))])
    rows = ((*program.rows[0], put(1, (2, 1)), put(2, (1, 1))), *program.rows[1:])
    return changed(program, rows=rows)


@pytest.mark.slow
def test_a_row_for_a_link_that_is_not_there():
    names, runs = flagged("mesh", no_link)
    assert names == {0: ["bad_route"]}
    for measured in runs:
        # The packet under way continues; the next row does not begin.
        assert (measured.trace.node == 0).sum() == 2


@on("cube")
def back(config):
    program = program_of(config, [(0, put(1, (1, 1)))])
    return changed(program, rows=((put(1, (1, 1), (1, 1)),), *program.rows[1:]))


def test_a_route_that_leads_back():
    assert flagged("cube", back)[0] == {1: ["bad_route"]}


@on("cube")
def words_beyond(config):
    last = config.message_words - 2
    puts = [(0, put(1, (port, 1), target=last, length=length)) for port, length in ((1, 3), (2, 2))]
    return program_of(config, puts)


def test_words_beyond_the_message_memory():
    names, runs = flagged("cube", words_beyond)
    assert names == {1: ["bad_write"]}
    for measured in runs:
        assert (
            measured.memory[1, -2:].tolist()
            == words(PROGRAMS["cube"][words_beyond])[0, :2].tolist()
        )


@on("cube")
def lacking(config):
    program = program_of(config, [(0, put(2, (1, 1)))])
    receives, ports = list(program.receives), list(program.receive_ports)
    receives[5], ports[5] = (1, 2), (3, 3)
    return changed(program, receives=receives, receive_ports=ports)


def test_a_packet_that_never_comes():
    program, runs = on_both("cube", lacking)
    ready = "sender in ready, 1 rows in its table"
    for_ever = "node 5 is in step 1, waits for a receive by port 3 in step 1, 2"
    assert [waiting(program, measured) for measured in runs] == [
        [
            f"node 0 is in step 1, has rows to send by port 1 ({ready})",
            "node 1 is in step 1, waits for a receive by port 1 in step 2",
            for_ever,
        ],
        [for_ever],
    ]


def test_no_board_has_a_port_for_every_link():
    with pytest.raises(InvalidInput, match="all_port of a network on a board must be False"):
        require_boardable(CUBE)
