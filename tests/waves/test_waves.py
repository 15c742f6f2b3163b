"""Waveforms show the trace, flit for flit, under names that a person knows."""

from pathlib import Path

import pytest
from helpers.waves import Waves, flits_in, read_waves

import eyecast
from eyecast.model.cycle.model import run
from eyecast.model.network.config import NetworkConfig, Timing
from eyecast.model.network.node_names import port_name
from eyecast.model.network.topology import Topology
from eyecast.model.program.payload import empty_memory
from eyecast.model.run.run import Run
from eyecast.model.run.trace import Trace
from eyecast.model.schedule.schedule import Schedule
from eyecast.model.traffic.program import message_words_for, traffic_program
from eyecast.model.traffic.traffic import draw_traffic
from eyecast.waves.file import write_waves
from eyecast.waves.registers import Change, Register, RegisterChanges
from eyecast.waves.view import write_gtkwave, write_surfer

MESH = eyecast.mesh((4, 4))
EYE = eyecast.schedule(MESH, "eye", source=(1, 2), words=4)


def written(folder: Path, config: NetworkConfig, run: Run, **seen: RegisterChanges) -> Waves:
    write_waves(folder / "waves.vcd", config, run.trace, run.cycles, **seen)
    return read_waves(folder / "waves.vcd")


def broadcast(folder: Path, made: Schedule = EYE, **parameters: int) -> tuple[Run, Waves]:
    program = eyecast.compile(made, **parameters)
    predicted = eyecast.predict(made, **parameters)
    return predicted, written(folder, program.config, predicted)


def crowded(topology: Topology, rate: float) -> tuple[NetworkConfig, Run]:
    """Traffic in which flits wait for each other, and packets share links."""
    traffic = draw_traffic(topology, "uniform", rate=rate, flits=5, cycles=60, seed=3)
    room = {"message_words": message_words_for(topology, 5), "table_words": 4096}
    config = NetworkConfig(topology=topology, steps=1, timed_rows=True, vcs=3, depth=4, **room)
    program = traffic_program(traffic, config, 3)
    return config, run(program, empty_memory(config), timing=Timing.BARRIER)


def rows(trace: Trace) -> list[tuple[int, ...]]:
    return sorted(trace)


@pytest.mark.parametrize(
    ("made", "parameters"),
    [
        (EYE, {}),
        (EYE, {"link_registers": 2, "depth": 6, "vcs": 3}),
        (EYE, {"flit_width": 16}),
        (eyecast.schedule(eyecast.ring(5), "ring", collective="all-gather", words=2), {}),
        (eyecast.schedule(eyecast.mesh((2, 2, 2)), "eye", source=0, words=1), {}),
        (
            eyecast.schedule(
                eyecast.hypercube(3), "sbnt", source=0, collective="scatter", ports="all", words=3
            ),
            {},
        ),
        (eyecast.schedule(eyecast.binary_tree(7), "tree", source=2, words=2), {}),
    ],
    ids=lambda value: value.topology.label if isinstance(value, Schedule) else None,
)
def test_the_trace_can_be_read_off_the_waves(made, parameters, tmp_path):
    predicted, waves = broadcast(tmp_path, made, **parameters)
    assert list(flits_in(waves, made.topology))
    assert sorted(flits_in(waves, made.topology)) == rows(predicted.trace)
    assert waves.end == predicted.cycles
    assert waves.values("network.cycle") == list(range(predicted.cycles))


def test_a_switch_has_links_alone(tmp_path):
    # Two leaves with two nodes each, below a root; the nodes come first.
    links = [(0, 4), (1, 4), (2, 5), (3, 5), (4, 6), (5, 6)]
    table = [[-1] + [a + b - node for a, b in links if node in (a, b)] for node in range(7)]
    width = max(map(len, table))
    tree = eyecast.graph([row + [-1] * (width - len(row)) for row in table], switches=(4, 5, 6))
    made = eyecast.schedule(tree, "tree", source=0, words=2)
    predicted, waves = broadcast(tmp_path, made)
    assert sorted(flits_in(waves, tree)) == rows(predicted.trace)
    scopes = {tuple(name.split(".")[1:3]) for name in waves.changes if name.count(".") > 2}
    assert {place for place, part in scopes if part == "interface"} == {
        *("node_0", "node_1", "node_2", "node_3")
    }
    assert ("switch_6", "in_port_2") in scopes
    for node, groups in ((0, 2), (6, 4)):
        write_surfer(tmp_path / "w.sucl", eyecast.compile(made).config, node)
        commands = (tmp_path / "w.sucl").read_text().splitlines()
        names = {tuple(line.split(".")[1:]) for line in commands[1:-1]}
        assert names <= scopes
        assert len(names) == groups + (node == 0)


def test_so_it_can_where_packets_share_links(tmp_path):
    topology = eyecast.torus((3, 3))
    config, predicted = crowded(topology, rate=0.5)
    assert predicted.stalled_flits.sum() > 50
    waves = written(tmp_path, config, predicted)
    assert sorted(flits_in(waves, topology)) == rows(predicted.trace)


def test_both_ends_of_a_link_have_its_waves(tmp_path):
    _, waves = broadcast(tmp_path)
    link = {name: each for name, each in waves.changes.items() if "node_1,2.out_east" in name}
    assert len(link) == 5
    for name, changes in link.items():
        assert waves.changes[name.replace("node_1,2.out_east", "node_2,2.in_west")] == changes
    assert not any("node_3,3.out_east" in name for name in waves.changes)


def test_a_packet_carries_its_step_and_address(tmp_path):
    made = eyecast.schedule(MESH, "ring", collective="all-gather", words=3)
    program = eyecast.compile(made)
    _, waves = broadcast(tmp_path, made)
    shown = []
    for node in range(MESH.nodes):
        x, y = MESH.coordinates(node)
        scope = f"network.node_{x},{y}.interface.delivered.VC_0"
        kind, step, address = (waves.values(f"{scope}.{n}") for n in ("kind", "step", "address"))
        heads = [cycle for cycle, each in enumerate(kind) if each == "head"]
        shown += [(node, step[cycle], address[cycle]) for cycle in heads]
        # A step begins with the head, and stays until the tail.
        assert [step[cycle + 3] for cycle in heads] == [step[cycle] for cycle in heads]
        assert {step[c] for c, each in enumerate(kind) if not each} == {"z"}
        words = waves.values(f"network.node_{x},{y}.interface.words_arrived")
        assert words[-1] + (kind[-1] != "") == 3 * (MESH.nodes - 1)
    rows = [row for rows in program.rows for row in rows]
    assert sorted((s, a) for _, s, a in shown) == sorted((r.step, r.target_address) for r in rows)


@pytest.mark.parametrize("flit_width", [16, 32])
def test_on_its_way_a_packet_has_the_step_that_it_is_sent_in(flit_width, tmp_path):
    """Its delivery is behind the slots of its route, in the same flit or in the next one."""
    made = eyecast.schedule(eyecast.mesh((8, 8)), "eye", source=(0, 0), words=4)
    assert made.distances.max() > 6
    _, waves = broadcast(tmp_path, made, vcs=2, flit_width=flit_width)
    shown = []
    for name in waves.changes:
        if ".out_" in name and name.endswith(".kind"):
            step = waves.values(name.replace(".kind", ".step"))
            heads = [cycle for cycle, kind in enumerate(waves.values(name)) if kind == "head"]
            # A header of two flits is one packet's.
            heads = [cycle for cycle in heads if cycle - 1 not in heads]
            shown += [(name.split(".")[1], step[cycle]) for cycle in heads]
    sent = []
    for place, step in enumerate(made.step.tolist()):
        begin, end = made.path_offsets[place : place + 2]
        nodes = made.topology.coordinates(made.path_nodes[begin : end - 1]).tolist()
        sent += [(f"node_{x},{y}", step) for x, y in nodes]
    assert sorted(shown) == sorted(sent)


def test_registers_are_shown_as_they_were_seen(tmp_path):
    seen = RegisterChanges(
        [
            Register(3, "step"),
            Register(3, "over", is_bit=True),
            Register(0, "sender", words=("a", "b")),
        ],
        [Change(0, 0, 1), Change(0, 2, 1), Change(4, 0, 2), Change(5, 1, 1), Change(6, 2, 7),
         Change(900, 0, 3)],
    )  # fmt: skip
    predicted = eyecast.predict(EYE)
    waves = written(tmp_path, eyecast.compile(EYE).config, predicted, registers=seen)
    own = waves.changes
    assert own["network.node_3,0.interface.step"] == [(0, 1), (4, 2)]
    assert own["network.node_3,0.interface.over"] == [(0, "0"), (5, "1")]
    assert own["network.node_0,0.interface.sender"] == [(0, "b"), (6, "7")]


def test_ports_have_names_that_a_person_knows():
    def names(topology: Topology) -> list[str]:
        return [port_name(topology, port) for port in range(1, topology.ports)]

    assert names(MESH) == ["east", "west", "south", "north"]
    assert names(eyecast.torus((2, 2, 2)))[4:] == ["axis_2_up", "axis_2_down"]
    assert names(eyecast.ring(4)) == ["east", "west"]
    assert names(eyecast.hypercube(3)) == ["axis_0", "axis_1", "axis_2"]
    assert names(eyecast.binary_tree(3)) == ["port_1", "port_2", "port_3"]
    for topology in (MESH, eyecast.hypercube(4)):
        axis = topology.coordinates(topology.neighbor[0, 1]) - topology.coordinates(0)
        assert axis.tolist() == [1] + [0] * (len(topology.dims) - 1)


def test_views_name_what_is_there(tmp_path):
    config = eyecast.compile(EYE, vcs=2).config
    predicted, waves = broadcast(tmp_path, vcs=2)
    node = EYE.root
    write_gtkwave(tmp_path / "w.gtkw", "waves.vcd", config, predicted.trace, node)
    write_surfer(tmp_path / "w.sucl", config, node)
    lines = (tmp_path / "w.gtkw").read_text().splitlines()
    assert '[dumpfile] "waves.vcd"' in lines
    signals = [line.split()[-1] for line in lines if "network." in line]
    names = {name.removesuffix("[31:0]") for name in signals}
    assert names <= set(waves.changes)
    assert {name.split(".")[1] for name in names} == {"cycle", "node_1,2"}
    sides = ("east", "west", "north", "south")
    assert {name.split(".")[2] for name in names if "VC_1" in name} == {
        "interface", *(f"{way}_{side}" for way in ("in", "out") for side in sides)
    }  # fmt: skip
    scopes = {name.rsplit(".", depth)[0] for name in waves.changes for depth in (1, 2)}
    commands = [line.split() for line in (tmp_path / "w.sucl").read_text().splitlines()]
    added = {words[1] for words in commands if words[0] == "scope_add_as_group_recursive"}
    assert len(added) == 9
    assert added <= scopes
    assert [commands[0], *commands[10:]] == [["variable_add", "network.cycle"], ["zoom_fit"]]
    # A group whose link nothing crosses is closed: here those that lead to the source.
    flags = {line: lines[number - 1] for number, line in enumerate(lines) if line[:1] == "-"}
    assert (int(flags["-node 1,2 in east"][1:], 16) >> 22) & 1 == 1


def test_a_large_broadcast_takes_a_small_file(tmp_path):
    made = eyecast.schedule(eyecast.mesh((8, 8)), "eye", source=(2, 2))
    broadcast(tmp_path, made)
    assert (tmp_path / "waves.vcd").stat().st_size < 400_000
