"""Wide words (docs/router.md, section 25): no timing depends on payload, and pieces move alike."""

from collections.abc import Iterator
from dataclasses import replace
from itertools import product
from typing import Any

import numpy as np
import pytest
from helpers.drawn_requests import draw_network
from helpers.own_operator import twice

import eyecast
from eyecast.model.base.arrays import as_integers
from eyecast.model.base.errors import InvalidInput
from eyecast.model.compare.case import Case
from eyecast.model.cycle.any_run import run_any
from eyecast.model.cycle.control import Control
from eyecast.model.cycle.model import run as simulate
from eyecast.model.exact.arithmetic import predict
from eyecast.model.network.config import Timing
from eyecast.model.program.any_program import AnyProgram
from eyecast.model.program.certified import compile_certified
from eyecast.model.program.payload import random_words
from eyecast.model.run.run import Prediction
from eyecast.model.run.trace import HEAD_MARK, Trace

EACH = 1
"""Programs of each kind."""
PLACES = ("cycle", "node", "port", "vc", "kind")


def drawn_programs(seed: int) -> Iterator[AnyProgram]:
    """Compile drawn collectives for packets and for circuits, with words of 128 to 512 bits."""
    draw = np.random.default_rng(seed)
    for reduces, circuits in product((False, True), repeat=2):
        made = 0
        while made < EACH:
            network, width = draw_network(draw), int(64 * draw.integers(2, 9))
            asked: dict[str, Any] = {"words": int(draw.integers(1, 12)), "collective": "all-gather"}
            if reduces:
                lane = 8 << int(draw.integers(4))
                asked["operator"] = f"{draw.choice(['add', 'max-signed', 'xor'])}:{lane}"
                asked["collective"] = str(draw.choice(["all-reduce", "reduce-scatter", "scan"]))
            try:
                schedule = eyecast.schedule(network=network, **asked)
                yield eyecast.compile(schedule, flit_width=width, circuits=circuits)
            except InvalidInput:
                continue
            made += 1


def drawn_memory(program: AnyProgram, seed: int) -> Any:
    config = program.config
    memory = random_words(config, (config.topology.nodes, config.message_words), seed)
    memory[list(config.topology.switches)] = 0
    return memory


def same_places(one: Trace, other: Trace) -> bool:
    return all(np.array_equal(getattr(one, name), getattr(other, name)) for name in PLACES)


def payload(run: Prediction) -> Any:
    return run.trace.data[run.trace.kind & HEAD_MARK == 0]


def test_each_piece_moves_as_a_network_of_64_bits_moves_words() -> None:
    for number, program in enumerate(drawn_programs(0)):
        memory = drawn_memory(program, number)
        wide = predict(program, memory, timing=Timing.BARRIER)
        simulated = run_any(program, memory, timing=Timing.BARRIER)
        assert np.array_equal(wide.memory, simulated.memory)
        assert same_places(wide.trace, simulated.trace)
        assert np.array_equal(wide.trace.data, simulated.trace.data)
        require_pieces(program, memory, wide)


def require_pieces(program: AnyProgram, memory: Any, wide: Prediction) -> None:
    """Compare a run with the runs of its pieces."""
    config = program.config
    # The contract fixes the rows of a program of 64 bits, whatever the width of its words.
    narrow = replace(program, config=replace(config, flit_width=64))
    heads = wide.trace.kind & HEAD_MARK != 0
    for piece in range(config.pieces):
        alone = run_any(narrow, memory[..., piece].copy(), timing=Timing.BARRIER)
        assert (alone.cycles, alone.flags.tolist()) == (wide.cycles, wide.flags.tolist())
        assert same_places(alone.trace, wide.trace)
        assert np.array_equal(alone.memory, wide.memory[..., piece])
        assert np.array_equal(payload(alone), payload(wide)[:, piece])
        header = wide.trace.data[heads, piece]
        assert np.array_equal(header, 0 * header if piece else alone.trace.data[heads])


def spoiled(program: AnyProgram, draw: np.random.Generator) -> AnyProgram:
    """Put drawn numbers into some fields of a program."""
    names = ("codes", "operator", "first", "second", "receive", "send_address", "duration")
    changed = {}
    for name in names if program.config.circuits else ("source_address", "target_address"):
        changed[name] = getattr(program, name).copy()
        chosen = draw.random(changed[name].shape) < 1 / len(names)
        changed[name][chosen] = draw.permutation(changed[name][chosen])
    return replace(program, **changed)


def test_pieces_of_wrong_programs_move_alike() -> None:
    """Words that are missing, or lie elsewhere, are combined as in a network of 64 bits."""
    flagged = 0
    for number, program in enumerate(drawn_programs(3)):
        memory, draw = drawn_memory(program, number), np.random.default_rng(number)
        for wrong in (spoiled(program, draw) for _ in range(EACH)):
            wide = run_any(wrong, memory, timing=Timing.BARRIER)
            require_pieces(wrong, memory, wide)
            flagged += bool(wide.flags.any())
    assert flagged > EACH


def test_pieces_are_combined_by_an_operator_of_ones_own() -> None:
    own = eyecast.Operator("twice:16", latency=3, meaning=twice)
    asked: dict[str, Any] = {"collective": "all-reduce", "words": 3, "operator": own}
    program = eyecast.compile(
        eyecast.schedule(eyecast.mesh((2, 3)), "ring", **asked), flit_width=192, operators=[own]
    )
    memory = drawn_memory(program, 1)
    require_pieces(program, memory, run_any(program, memory, timing=Timing.BARRIER))


def test_no_departure_depends_on_payload() -> None:
    for number, program in enumerate(drawn_programs(2)):
        one, other = (
            run_any(program, drawn_memory(program, seed), timing=Timing.SELF_TIMED)
            for seed in (number, number + 100)
        )
        assert same_places(one.trace, other.trace)
        assert (one.cycles, one.flags.tolist()) == (other.cycles, other.flags.tolist())
        assert not np.array_equal(one.trace.data, other.trace.data)


def test_a_damaged_word_is_known_by_all_its_pieces() -> None:
    """A wide word that differs in its last piece alone is another word."""
    schedule = eyecast.schedule(eyecast.line(3), "tree", source=0, words=4)
    program = eyecast.compile(schedule, flit_width=128, programs=1, parity=True)
    memory = drawn_memory(program, 1)
    memory[0, 2:4] = [[5, 7], [5, 8]]
    for word, flagged in (((8 << 64) + 5, True), ((9 << 64) + 5, False)):
        run = simulate(program, memory, timing=Timing.BARRIER, control=Control(damaged=word))
        assert (run.finished, bool(run.flags[0])) == (not flagged, flagged)


def summed(one: int, other: int, width: int, lane: int) -> int:
    """Add two words lane by lane."""
    lanes = range(0, width, lane)
    return sum(((one >> low) + (other >> low)) % (1 << lane) << low for low in lanes)


@pytest.mark.parametrize(
    ("width", "lane", "circuits"),
    [
        *((32, 8, False), (48, 16, True), (64, 64, False)),
        *((192, 8, False), (192, 8, True), (128, 32, True)),
    ],
)
def test_a_sum_is_lane_by_lane_what_integers_say(width: int, lane: int, circuits: bool) -> None:
    schedule = eyecast.schedule(
        eyecast.mesh((2, 3)), collective="all-reduce", words=3, operator=f"add:{lane}"
    )
    compiled = compile_certified(schedule, {"flit_width": width, "circuits": circuits})
    case = Case.of(compiled, timing=Timing.BARRIER, seed=width, simulated=True)
    for block, own in case.payload.contributions.items():
        *values, first = (as_integers(words) for words in own)
        for words in values:
            pairs = zip(first, words, strict=True)
            first = [summed(one, other, width, lane) for one, other in pairs]
        assert first == as_integers(
            case.payload.words[slice(*case.payload.layout.starts[block : block + 2])]
        )
    assert case.payload.delivered(case.predicted.memory, schedule.topology).all()
