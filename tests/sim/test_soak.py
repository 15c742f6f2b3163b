"""The soak's random cases and its comparisons; the last test builds hardware.

They are slow tests, because they guard the soak and not the product.
"""

from dataclasses import fields, replace
from functools import cache
from itertools import permutations, product

import numpy as np
import pytest
from helpers.soak.checks import Drawn, disagreements, memory_check, written_words
from helpers.soak.damage import damaged_words, damaging_verilog
from helpers.soak.operators import with_operator
from helpers.soak.programs import (
    LONGEST_RUN,
    LONGEST_WRONG_WAY,
    _address,
    _Growing,
    program_cases,
    program_networks,
    programs,
)
from helpers.soak.samples import example_of, sampled
from helpers.soak.schedules import (
    MOST_WORDS,
    groups_of,
    requests,
    schedule_networks,
    schedules,
    topologies,
)
from helpers.soak.soak import By, job_of_program, run_draw, simplest
from helpers.soak.traffic import DEFAULT, DrawnTraffic, Longer, traffic, traffic_networks
from hypothesis import strategies as st

from eyecast.model.base.errors import InvalidInput
from eyecast.model.compare.checks import Check
from eyecast.model.cycle.model import run
from eyecast.model.network.config import TIMINGS, NetworkConfig, Timing
from eyecast.model.network.faults import with_faults
from eyecast.model.network.topology import mesh
from eyecast.model.network.topology_file import topology_from_json, topology_to_json
from eyecast.model.program.payload import empty_memory
from eyecast.model.program.row import Row
from eyecast.model.run.run import EndState, HardwareRun, Run
from eyecast.model.run.signature import signatures

pytestmark = pytest.mark.slow

SMALL = mesh((2, 2))
FEW = 15
"""Draws of schedules, most of which do not fit their network."""


def network(**parameters):
    given = {"vcs": 2, "message_words": 256, "table_words": 1024} | parameters
    return NetworkConfig(topology=mesh((3, 2)), **given)


def test_traffic_is_drawn_for_all_kinds_of_networks():
    drawn = sampled(traffic_networks(), 0, 100)
    assert any(config.flit_width < 20 for config in drawn)
    assert any(config.vcs == 1 and config.topology.wrapped for config in drawn)
    assert {config.signature for config in drawn} == {False, True}
    assert {config.barrier_registers for config in drawn} == set(range(8))
    assert {config.link_registers for config in drawn} == set(range(4))
    assert {config.depth for config in drawn} == set(range(1, 17))
    cases = sampled(traffic(drawn[-1]), 0, 150)
    assert {case.burst for case in cases} == {0, 20, 200}
    assert {case.reply_flits for case in cases} == {0, 4, 12}
    assert {case.packet_flits for case in cases} == {*range(4, 13)}
    assert {case.back_pressure for case in cases} == {0, 0.2, 0.5, 0.8}
    assert len({case.pattern for case in cases}) > 2


def test_large_networks_are_fast_and_not_all_alike():
    drawn = sampled(traffic_networks(Longer(large=True)), 0, 60)
    assert {config.topology.label for config in drawn} == {"8x8 mesh", "8x8 torus", "6-cube"}
    assert {(config.vcs, config.depth) for config in drawn} == {*product((1, 2), (2, 3, 4))}
    assert {(config.flit_width, config.link_registers) for config in drawn} == {(32, 0)}


def test_schedules_are_drawn_for_all_kinds_of_networks():
    drawn = sampled(schedule_networks(SMALL), 0, 100)
    assert {(c.programs > 0, c.tile_ports, c.parity) for c in drawn} == {
        (False, False, False),
        *product((True,), (False, True), (False, True)),
    }
    names = ("all_port", "contention_free", "circuits", "timed_rows")
    kinds = {tuple(getattr(config, name) for name in names) for config in drawn}
    assert kinds == {(0, 0, 0, 0), *({*permutations((1, 0, 0, 0))})}
    assert {config.signature for config in drawn} == {False, True}
    assert not any(config.programs for config in drawn if config.timed_rows)
    assert min(config.flit_width for config in drawn) < 14
    made = {
        schedule.collective
        for seed, config in enumerate(drawn[-12:])
        for schedule in example_of(schedules(config, 3 * FEW), seed)
    }
    assert {"broadcast", "scatter", "all-to-all", "all-reduce", "custom"} <= made


def kinds_of_topologies(drawn):
    """Return which of faulty nodes, faulty links, switches and links that differ occur together."""
    return {
        (bool(t.faulty_nodes), bool(t.faulty_links), bool(t.switches), t.links_differ)
        for t in drawn
    }


@pytest.mark.parametrize(
    "strategy",
    [
        program_networks().map(lambda config: config.topology),
        traffic_networks().map(lambda config: config.topology),
        topologies(),
    ],
    ids=["programs", "traffic", "schedules"],
)
def test_faults_switches_and_links_that_differ_are_drawn(strategy):
    drawn = sampled(strategy, 0, 150)
    assert len(kinds_of_topologies(drawn)) >= 12
    assert {t.link_rate_of is not None for t in drawn} == {False, True}
    # A network is read from a file as it was drawn.
    for topology in drawn:
        again = topology_from_json(topology_to_json(topology))
        np.testing.assert_array_equal(again.neighbor, topology.neighbor)
        np.testing.assert_array_equal(again.rates, topology.rates)
        np.testing.assert_array_equal(again.registers_of(1), topology.registers_of(1))


def test_schedules_have_timed_rows_blocks_of_unequal_words_and_nodes_out_of_reach():
    timed, unequal, served = set(), set(), set()
    for rows, faults in product((False, True), ([], [(0, 1), (1, 0), (0, 3), (3, 0)])):
        topology = with_faults(mesh((3, 2)), [], faults)
        drawn = sampled(schedule_networks(topology), 0, 30)
        # Few schedules fit narrower words.
        wide = (each for each in drawn if each.flit_width >= 16)
        config = next(each for each in wide if each.timed_rows == rows)
        for schedule in example_of(schedules(config, 10 * FEW), 2):
            timed.add((config.timed_rows, schedule.timed))
            unequal.add(len({*schedule.blocks.words.tolist()}) > 1)
            served.add(len(schedule.blocks.served(topology)) == topology.nodes)
    assert timed >= {(False, False), (True, False), (True, True)}
    assert unequal == served == {False, True}


def test_blocks_of_each_number_of_words_are_drawn():
    drawn = sampled(requests(SMALL, "broadcast", NetworkConfig(topology=SMALL)), 0, 60)
    assert {request.words for request in drawn} == {*range(1, MOST_WORDS + 1)}


def test_networks_with_links_that_differ_have_neither_circuits_nor_free_routers():
    topology = replace(SMALL, link_rate_of=np.full((4, 5), 2))
    drawn = sampled(schedule_networks(topology), 0, 60)
    assert {(c.all_port, c.contention_free, c.circuits) for c in drawn} == {(0, 0, 0), (1, 0, 0)}
    assert {config.timed_rows for config in drawn} == {False, True}


def test_groups_are_linked_and_have_no_node_in_common():
    topology = mesh((4, 2))
    drawn = sampled(groups_of(topology), 0, 60)
    assert {len(groups) for groups in drawn} == {1, 2, 3}
    for groups in drawn:
        nodes = [node for group in groups for node in group]
        assert len(nodes) == len({*nodes})
        for group in groups:
            assert all({*topology.neighbor[node].tolist()} & {*group} for node in group)
    with pytest.raises(InvalidInput, match="groups"):
        sampled(groups_of(mesh((1,))), 0, 1)


def test_programs_are_drawn_for_all_kinds_of_networks():
    drawn = sampled(program_networks(), 0, 100)
    for name in ("all_port", "streams", "tile_ports", "parity", "differing_links"):
        assert {getattr(config, name) for config in drawn} == {False, True}
    assert {len(config.operators) for config in drawn} == {0, 1, 2, 3}
    assert {config.programs for config in drawn} >= {0, 2, 15}
    ends, flags, first = set(), set(), set()
    for seed, config in enumerate(drawn[-12:]):
        for case in sampled(program_cases(config), seed, 12):
            assert (case.hold is not None) == config.tile_ports
            ends.add(case.predicted.ending.state)
            for node in range(case.program.nodes):
                flags.update(case.predicted.flag_names(node))
            first.add(case.first is not None)
            assert case.first is None or config.programs > 1
    assert ends == {*EndState}
    wrong = {"bad_route", "unexpected_receive", "send_and_receive", "bad_row", "bad_write"}
    assert flags == wrong
    assert first == {False, True}


@pytest.mark.parametrize("streams", [False, True])
@pytest.mark.parametrize("operators", [(), ("add",)])
def test_words_that_are_combined_or_streamed_have_steps_that_all_nodes_begin_together(
    operators, streams
):
    cases = sampled(program_cases(network(operators=operators, streams=streams)), 1, 30)
    timings = {case.timing for case in cases}
    assert timings == ({Timing.BARRIER} if operators or streams else {*TIMINGS})


def test_a_run_that_a_flag_ends_has_no_limit_drawn():
    cases = sampled(program_cases(network(programs=1)), 1, 80)
    flagged = [case.limit for case in cases if case.predicted.flags.any()]
    assert {*flagged} == {LONGEST_RUN} < {case.limit for case in cases}


@pytest.mark.parametrize("all_port", [False, True])
def test_packets_are_sent_on_as_they_come(all_port):
    config = network(streams=True, all_port=all_port)
    streams = set()
    for made in sampled(programs(config, 3, (20, 20)), 1, 5):
        made.check()
        assert {*made.step.tolist()} == {1, 2, 3}
        streams.update(made.stream.tolist())
    # 0 is a row that does not stream; others are lanes.
    assert streams == {*range(config.lanes + 1)}


@pytest.mark.parametrize(
    ("place", "window", "address"),
    [(0, 0, 13), (-6, 0, 7), (4, 0, 17), (0, 3, 13), (-6, 3, 15), (4, 3, 9), (-2, 2, 15)],
)
def test_places_before_and_behind_an_address_stay_in_its_window(place, window, address):
    assert _address(13, place, window) == address


@st.composite
def wrong_rows(draw, kind, length=1):
    return _Growing(draw, network())._wrong(Row(1, (), 0, 0, length), kind)


@pytest.mark.parametrize(("length", "wrong"), [(0, 2), (1, 2), (2, 2), (5, 5)])
def test_a_row_that_reads_beyond_the_memory_sends_its_last_word_and_others(length, wrong):
    row = example_of(wrong_rows(2, length), 1)
    assert (row.source_address, row.length) == (255, wrong)


def test_wrong_routes_go_on_by_each_number_of_hops():
    hops = {len(row.route) for row in sampled(wrong_rows(4), 1, 60)}
    assert hops == {*range(1, LONGEST_WRONG_WAY + 1)}


def test_a_program_goes_on_with_the_words_that_the_first_one_left():
    config = replace(NetworkConfig(topology=mesh((4,)), message_words=256), programs=2, vcs=2)
    cases = [case for case in sampled(program_cases(config), 4, 20) if case.first is not None]
    differ = 0
    for case in cases:
        for begin, run_of in ((case.memory, case.first), (case.first.predicted.memory, case)):
            again = run(run_of.program, begin, timing=case.timing, cycle_limit=1500)
            np.testing.assert_array_equal(again.memory, run_of.predicted.memory)
        differ += bool((case.first.predicted.memory != case.memory).any())
        job = job_of_program(case)
        assert job.first_cycles == case.first.predicted.cycles
        entries = {row[2]: row[3] for row in job.writes.tolist() if row[1] == 2}
        # The second entry of the directory begins where the first one ends.
        assert entries[12] == entries[8] + entries[9]
    assert differ


def test_custom_operators_are_drawn():
    drawn = sampled(program_networks().flatmap(with_operator), 0, 100)
    own = [operator for each in drawn for operator in each.operators if not operator.built_in]
    assert {operator.latency for operator in own} == {*range(5)}
    assert all(operator.component for operator in own)


def test_custom_operators_of_no_cycles_are_drawn_for_schedules_of_all_kinds():
    drawn = set()
    for config in sampled(schedule_networks(SMALL).flatmap(with_operator), 0, 150):
        kind = (config.all_port, config.contention_free, config.circuits)
        drawn.add((*kind, config.operator_latency, bool(config.operators)))
        assert not (config.timed_rows and config.operators)
    assert len({latency for *_, latency, _ in drawn}) > 2
    assert all(latency == 0 for *kind, latency, _ in drawn if any(kind))
    assert {tuple(kind) for *kind, _, has in drawn if has} == {(0, 0, 0), *permutations((1, 0, 0))}


def test_reductions_use_the_custom_operator():
    config = NetworkConfig(topology=SMALL, vcs=2)
    config = next(each for each in sampled(with_operator(config), 2, 20) if each.operators)
    made = example_of(schedules(config, 5 * FEW), 2)
    names = {name or "" for each in made for name in each.blocks.operator}
    assert {config.operators[-1].name, ""} < names


def test_damaged_words_are_drawn_and_flagged_where_they_are_sent():
    drawn = sampled(program_networks().flatmap(damaged_words), 0, 100)
    flagged = queued = 0
    with_words = [(config, word) for config, word in drawn if word is not None]
    assert 4 < len({word for _, word in with_words}) < len(drawn)
    for seed, (config, word) in enumerate(with_words):
        assert config.parity
        for case in sampled(program_cases(config, word), seed, 6):
            assert job_of_program(case).damaged == word
            flagged += any(
                "parity" in case.predicted.flag_names(n) for n in range(len(case.memory))
            )
            queued += case.first is not None
    assert flagged > 5
    assert queued


def test_each_write_port_of_a_message_memory_damages_the_word():
    config = NetworkConfig(topology=mesh((2,)), programs=1, parity=True, all_port=True)
    text = damaging_verilog(config, word=0xABC, trace=True)
    lines = [line for line in text.splitlines() if "32'habc" in line]
    assert len(lines) == config.lanes
    for port, line in enumerate(lines):
        data = f"write_data_{port}"
        assert f"<= {data} ^ {{{data}[31:0] == 32'habc, 32'h0}};" in line


def drawn_run():
    """Return a run of random traffic with signatures, as if the hardware had repeated it."""
    limits = {"vcs": 2, "depth": 2, "flit_width": 32, "signature": True, "link_registers": 0}
    config = replace(example_of(traffic_networks(), 3), topology=SMALL, message_words=64, **limits)
    case = DrawnTraffic(config, "uniform", 0.4, 5, 40, 0, 0, 0, 1).build()
    predicted = case.predicted
    measured = HardwareRun(
        finished=predicted.finished,
        cycles=predicted.cycles,
        flags=predicted.flags,
        step=predicted.step,
        arrived=predicted.arrived,
        sender_state=np.zeros((len(predicted.flags), 1), np.int64),
        seconds=0.0,
        stalled_flits=predicted.stalled_flits,
        trace=predicted.trace,
        signature=signatures(predicted.trace, config),
        memory=predicted.memory.copy(),
    )
    return case, measured


def draw_only(monkeypatch, *cases):
    """Let the soak draw these cases."""
    recipes = [(case, 0) for case in cases]
    monkeypatch.setattr("helpers.soak.soak._recipes", lambda *_: (None, recipes))


def test_a_word_that_is_wrong_in_a_memory_is_seen():
    case, measured = drawn_run()
    config, predicted, loaded = case.program.config, case.predicted, case.words.shape[1]
    assert memory_check(config, predicted, measured, loaded).agrees
    # Words that were neither loaded nor written may have any value.
    written = written_words(config, predicted.trace)
    written[:, :loaded] = True
    assert written.any(axis=1).all()
    assert not written.all(axis=1).any()
    measured.memory[~written] = 9
    assert memory_check(config, predicted, measured, loaded).agrees
    changed = (predicted.memory != empty_memory(config))[:, loaded:].any()
    assert changed
    node, address = np.argwhere(written)[-1]
    measured.memory[node, address] ^= np.uint64(1)
    check = memory_check(config, predicted, measured, loaded)
    assert (check.agrees, check.measured) == (False, 1)


def test_a_signature_that_is_wrong_is_seen():
    case, measured = drawn_run()
    assert disagreements(Drawn("drawn", case), measured) == []
    measured.signature[2] ^= np.uint32(1)
    (wrong,) = disagreements(Drawn("drawn", case), measured)
    assert (wrong.name, wrong.measured) == ("nodes with another signature", [2])


def test_a_flit_that_the_model_forgets_is_seen_by_the_rules(monkeypatch):
    case, _ = drawn_run()
    damaged = replace(case.predicted, trace=case.predicted.trace.first_rows(-1))
    draw_only(monkeypatch, case, replace(case, predicted=damaged))
    sound, wrong = run_draw(3, By.RULES)
    assert (sound.wrong, sound.flits) == ([], len(case.predicted.trace))
    assert [check.name for check in wrong.wrong] == ["trace rules broken"]


def test_the_simplest_case_that_differs_is_found(monkeypatch):
    strategy = st.tuples(traffic(drawn_run()[0].program.config), st.just(0))
    recipes = sampled(strategy, 1, 20)
    monkeypatch.setattr("helpers.soak.soak._recipes", lambda *_: (strategy, recipes))
    assert simplest(1, By.RULES, DEFAULT) is None

    def rules_broken_by_long_runs(_program, measured):
        return Check("rules", 0, 1, len(measured.trace) < 400)

    monkeypatch.setattr("helpers.soak.soak.rules_check", rules_broken_by_long_runs)
    first = next(outcome for outcome in run_draw(1, By.RULES) if outcome.wrong)
    found = simplest(1, By.RULES, DEFAULT)
    assert 400 <= found.flits < min(first.flits, 500)


def test_a_wrong_signature_of_a_run_without_a_trace_is_seen(monkeypatch):
    case, measured = drawn_run()
    draw_only(monkeypatch, case)
    monkeypatch.setattr("helpers.soak.soak.build_simulator", lambda *_, **__: None)
    monkeypatch.setattr("helpers.soak.soak.simulate", lambda *_: iter([measured]))
    (right,) = run_draw(3, By.SIGNATURES)
    assert (right.wrong, right.flits) == ([], len(case.predicted.trace))
    measured.signature[1] ^= np.uint32(1)
    measured = replace(measured, cycles=measured.cycles + 1)
    (outcome,) = run_draw(3, By.SIGNATURES)
    names = [check.name for check in outcome.wrong]
    assert names == ["cycles", "nodes with another signature"]


def test_what_locks_up_must_do_so_on_both():
    case, measured = drawn_run()
    sound = Drawn("drawn", case)
    predicted = replace(case.predicted, finished=False)
    locked = sound._replace(case=replace(case, predicted=predicted))
    assert [check.name for check in disagreements(locked, measured)] == ["cycles"]
    measured = replace(measured, finished=False)
    assert disagreements(locked, measured) == []
    assert [check.name for check in disagreements(sound, measured)] == ["cycles"]


@cache
def drawn_programs():
    networks = sampled(program_networks(signature=True), 0, 40)
    config = next(config for config in networks[20:] if config.programs)
    return config, sampled(program_cases(config), 0, 60)[20:]


def drawn_program_run(state):
    """Return a drawn program whose run ends so, and a run of the hardware that is as predicted."""
    config, cases = drawn_programs()
    case = next(each for each in cases if each.predicted.ending.state is state)
    predicted = case.predicted
    names = [each.name for each in fields(Run)]
    measured = HardwareRun(
        **{name: getattr(predicted, name) for name in names},
        sender_state=np.zeros((len(predicted.flags), config.lanes), np.int64),
        signature=signatures(predicted.trace, config),
        seconds=0.0,
        ending=predicted.ending,
    )
    return Drawn("drawn", case), replace(measured, memory=predicted.memory.copy())


def test_a_program_that_leaves_other_words_is_seen():
    drawn, measured = drawn_program_run(EndState.DONE)
    assert disagreements(drawn, measured) == []
    measured.memory.reshape(-1)[2] ^= np.uint64(1)
    wrong, by_numpy = disagreements(drawn, measured)
    assert (wrong.name, wrong.measured) == ("memory: entries that differ", 1)
    assert len(by_numpy.measured) == 1


def test_words_on_which_model_and_hardware_agree_are_compared_with_numpys():
    drawn, measured = drawn_program_run(EndState.DONE)
    measured.memory.reshape(-1)[2] ^= np.uint64(1)
    predicted = replace(drawn.case.predicted, memory=measured.memory)
    both_wrong = drawn._replace(case=replace(drawn.case, predicted=predicted))
    (wrong,) = disagreements(both_wrong, measured)
    assert (wrong.name, len(wrong.measured)) == ("places with words that are not NumPy's", 1)


@pytest.mark.parametrize(
    ("state", "wrong"),
    [(EndState.DONE, ["nodes with another signature"]), (EndState.TIMED_OUT, [])],
)
def test_signatures_count_until_flits_may_go_on_after_a_limit(monkeypatch, state, wrong):
    drawn, measured = drawn_program_run(state)
    measured.signature[1] ^= np.uint32(1)
    late = replace(measured, ending=measured.ending._replace(cycle=measured.ending.cycle + 1))
    draw_only(monkeypatch, drawn.case)
    monkeypatch.setattr("helpers.soak.soak.build_simulator", lambda *_, **__: None)
    for run_of, names in ((measured, wrong), (late, ["end", *wrong])):
        monkeypatch.setattr("helpers.soak.soak.simulate", lambda *_, run_of=run_of: iter([run_of]))
        (outcome,) = run_draw(1, By.SIGNATURES)
        assert [check.name for check in outcome.wrong] == names


def test_flits_may_go_on_after_the_limit_of_a_run():
    drawn, measured = drawn_program_run(EndState.TIMED_OUT)
    measured.memory.reshape(-1)[2] ^= np.uint64(1)
    assert disagreements(drawn, measured) == []
    late = measured.ending._replace(cycle=measured.ending.cycle + 1)
    wrong = disagreements(drawn, replace(measured, ending=late))
    assert [check.name for check in wrong] == ["end"]


@pytest.mark.parametrize(
    ("number", "by"),
    [
        (18, By.TRACES),
        (22, By.TRACES),
        (43, By.TRACES),
        (73, By.TRACES),
        (115, By.TRACES),
        (2, By.NUMPY),
        (9, By.NUMPY),
    ],
    ids=[
        "controller",
        "sums and streams on all ports",
        "resident programs on switches",
        "damaged words",
        "sums and streams on one port",
        "trees",
        "wide words",
    ],
)
def test_a_draw_is_the_same_on_both(number, by):
    outcomes = list(run_draw(number, by))
    assert outcomes
    assert sum(outcome.flits for outcome in outcomes) > 0
    assert [outcome for outcome in outcomes if outcome.wrong] == []
