"""The scoreboard detects each kind of error in the cycle in which a monitor reports it."""

from collections.abc import Iterator
from dataclasses import replace

import pytest
from helpers.programs import program, put, words

from eyecast.model.base.arrays import as_integers
from eyecast.model.cycle.model import run
from eyecast.model.network.config import Timing
from eyecast.model.program.payload import random_words
from eyecast.model.run.run import Prediction
from eyecast.model.run.trace import HEAD_MARK, Flit, Trace, first_difference
from eyecast.testbench.monitor import Packet, Recording, packets_in
from eyecast.testbench.packet_headers import delivery_of
from eyecast.testbench.scoreboard import Scoreboard, ScoreboardError

UP = 1
PROGRAM = program(
    {0: [put(1, (UP, 1), length=2, target=8)], 1: [put(2, (UP, 2), length=1, source=8)]},
    {1: [1], 3: [2]},
)
"""Node 0 sends two words to node 1 in step 1; node 1 sends one of them to node 3 in step 2."""

PREDICTED = run(PROGRAM, words(PROGRAM), timing=Timing.BARRIER)


def all_packets() -> Iterator[Packet]:
    return packets_in(PROGRAM.config, PREDICTED.trace)


def watched(trace: Trace, predicted: Prediction = PREDICTED) -> Scoreboard:
    """Return a scoreboard that has seen all of ``trace``, cycle by cycle."""
    scoreboard = Scoreboard(PROGRAM, words(PROGRAM), predicted=predicted)
    flits, ended = list(trace), list(packets_in(PROGRAM.config, trace))
    for cycle in range(PREDICTED.cycles + 5):
        for flit in flits:
            if flit.cycle == cycle:
                scoreboard.flit(flit)
        for packet in ended:
            if packet.end == cycle:
                scoreboard.packet(packet)
        scoreboard.end_of_cycle(cycle)
    return scoreboard


def changed(place: int, **columns: int) -> Trace:
    """Return the predicted trace with one flit changed."""
    flits: list[Flit] = list(PREDICTED.trace)
    flits[place] = flits[place]._replace(**columns)
    return Trace.from_flits(flits)


def test_a_run_as_predicted_passes() -> None:
    scoreboard = watched(PREDICTED.trace)
    scoreboard.check_done(PREDICTED.cycles)
    scoreboard.check_memory(1, PREDICTED.memory[1].tolist())
    assert (scoreboard.steps, scoreboard.most_on_a_link) == (2, 1)
    assert scoreboard.delivered == {(1, 1, 8, 2): 1, (3, 2, 0, 1): 1}


def test_a_wrong_word_is_found_in_its_cycle() -> None:
    cycle = int(PREDICTED.trace.cycle[1])
    line = rf"flit: cycle {cycle}, node 0, port 1, VC 0: the hardware sends .* the model sends .*"
    with pytest.raises(ScoreboardError, match=line) as error:
        watched(changed(1, data=7))
    assert error.value.rule == "flit"


def test_a_lost_flit_is_found_at_the_end_of_its_cycle() -> None:
    lost = Trace.from_flits([flit for number, flit in enumerate(PREDICTED.trace) if number != 4])
    flit = PREDICTED.trace[4]
    with pytest.raises(ScoreboardError, match=rf"cycle {flit.cycle}, .* the hardware not"):
        watched(lost)


def test_a_wide_word_is_checked_in_all_its_pieces() -> None:
    config = replace(PROGRAM.config, flit_width=128)
    made = replace(PROGRAM, config=config)
    memory = random_words(config, (config.topology.nodes, config.message_words), 1)
    scoreboard = Scoreboard(made, memory, timing=Timing.BARRIER)
    recording = Recording(config.pieces)
    recording.flits += scoreboard.predicted.trace
    assert first_difference(scoreboard.predicted.trace, recording.trace()) is None
    held = as_integers(scoreboard.predicted.memory[1])
    scoreboard.check_memory(1, held)
    held[9] ^= 1 << 100
    with pytest.raises(ScoreboardError, match="memory: node 1, address 9: "):
        scoreboard.check_memory(1, held)


def without_flits() -> Prediction:
    """Return a prediction without flits, so that only the rules of packets are checked."""
    return replace(PREDICTED, trace=Trace.empty())


def silent(trace: Trace) -> Scoreboard:
    """Return a scoreboard that has seen the packets of ``trace``, but no flits."""
    scoreboard = Scoreboard(PROGRAM, words(PROGRAM), predicted=without_flits())
    for packet in packets_in(PROGRAM.config, trace):
        scoreboard.packet(packet)
    return scoreboard


def twice(packet: Packet) -> Scoreboard:
    scoreboard = silent(PREDICTED.trace)
    scoreboard.packet(packet)
    return scoreboard


def test_a_packet_that_is_delivered_twice() -> None:
    (*_, last) = (packet for packet in all_packets() if packet.port == 0)
    with pytest.raises(ScoreboardError, match=r"delivery: .*node 3.*step 2, 1 words.*, again"):
        twice(last)


def test_a_packet_that_no_row_sends() -> None:
    (first, *_) = (packet for packet in all_packets() if packet.port == 0)
    with pytest.raises(ScoreboardError, match=r"delivery: .*node 2.*which no row sends"):
        twice(replace(first, node=2))


def test_two_packets_of_a_step_on_a_link() -> None:
    (first, *_) = (packet for packet in all_packets() if packet.port)
    with pytest.raises(ScoreboardError, match=r"link: .*node 0, port 1.*packet 2 of step 1"):
        twice(first)


def test_a_step_that_the_program_has_not() -> None:
    (first, *_) = (packet for packet in all_packets() if packet.port == 0)
    config = PROGRAM.config
    header = (int(config.header.delivery(5, 8)),)
    with pytest.raises(ScoreboardError, match=r"step: .*step 5, but the program has 2"):
        twice(replace(first, header=header))


def test_a_packet_that_never_comes_and_a_cycle_too_many() -> None:
    first = Trace.from_flits([flit for flit in PREDICTED.trace if flit.cycle < 6])
    with pytest.raises(ScoreboardError, match=r"delivery: node 3 never got its packet \(step 2"):
        silent(first).check_done()
    with pytest.raises(ScoreboardError, match=rf"end: 99 cycles, not {PREDICTED.cycles}"):
        silent(PREDICTED.trace).check_done(99)


def test_a_wrong_word_in_a_memory() -> None:
    memory = PREDICTED.memory[1].tolist()
    memory[8] ^= 1
    with pytest.raises(ScoreboardError, match=r"memory: node 1, address 8: "):
        silent(PREDICTED.trace).check_memory(1, memory)


def test_a_delivery_is_read_at_any_place_of_a_header() -> None:
    header = PROGRAM.config.header
    for flit in PREDICTED.trace:
        if flit.kind & HEAD_MARK:
            assert delivery_of(header, [flit.data]) in ((1, 8), (2, 0))
    delivery = int(header.delivery(3, 4))
    assert delivery_of(header, [0, delivery]) == (3, 4)
    with pytest.raises(ValueError, match="a header must have a delivery, not 0 0"):
        delivery_of(header, [0, 0])
