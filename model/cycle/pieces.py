"""Runs of wide words, predicted piece by piece: docs/router.md, section 25.

No rule of a run looks at payload. So a run of wide words has the timing of a run with any other
words of the same program. Without operators, words only move: a run in which each word is the
number of its place in the memories tells where every word comes from. With operators, one run for
each piece makes the words.
"""

from collections.abc import Callable
from dataclasses import replace
from functools import update_wrapper
from typing import Concatenate, ParamSpec, TypeVar

import numpy as np

from ..base.arrays import Words
from ..base.errors import InvalidInput
from ..network.config import NetworkConfig
from ..program.any_program import AnyProgram
from ..run.run import Prediction
from ..run.trace import HEAD_MARK, Trace

AProgram = TypeVar("AProgram", bound=AnyProgram)
Settings = ParamSpec("Settings")
RunOne = Callable[[Words], Prediction]


def with_pieces(
    run_narrow: Callable[Concatenate[AProgram, Words, Settings], Prediction],
) -> Callable[Concatenate[AProgram, Words, Settings], Prediction]:
    """Let a function that runs a program with words of one piece run it with wide ones, too.

    Raises :class:`InvalidInput` for memories whose words the network cannot hold.
    """

    def run(
        program: AProgram, memory: Words, /, *further: Settings.args, **settings: Settings.kwargs
    ) -> Prediction:
        config = program.config
        _require_memory(config, memory)
        if not config.further_pieces:
            return run_narrow(program, memory, *further, **settings)

        def run_one(words: Words) -> Prediction:
            return run_narrow(program, words, *further, **settings)

        return _by_piece(run_one, memory) if config.operators else _by_origin(run_one, memory)

    update_wrapper(run, run_narrow)
    return run


def _require_memory(config: NetworkConfig, memory: Words) -> None:
    """Raise :class:`InvalidInput` unless ``memory`` has the form of the message memories."""
    shape = config.words_shape(config.topology.nodes, config.message_words)
    if memory.shape != shape or memory.dtype != np.uint64:
        raise InvalidInput.of(
            "memory", f"uint64 of shape {shape}", f"{memory.dtype} of shape {memory.shape}"
        )
    for switch in () if config.circuits else config.topology.switches:
        if memory[switch].any():
            raise InvalidInput.of(f"memory of switch {switch}", "0 in every word", "another value")
    largest = int(memory.max(initial=0))
    if largest >> config.narrow_width:
        raise InvalidInput.of(
            "a word of memory", f"at most {config.narrow_width} bits wide", hex(largest)
        )


def _by_origin(run_one: RunOne, memory: Words) -> Prediction:
    """Run the numbers of all places, and put the words of the places in their stead."""
    nodes, places, pieces = memory.shape
    words = memory.reshape(-1, pieces)
    run = run_one(np.arange(nodes * places, dtype=np.uint64).reshape(nodes, places))
    header = run.trace.kind & HEAD_MARK != 0
    data = words[np.where(header, 0, run.trace.data)]
    data[header] = 0
    data[header, 0] = run.trace.data[header]
    return replace(run, memory=words[run.memory], trace=replace(run.trace, data=data))


def _by_piece(run_one: RunOne, memory: Words) -> Prediction:
    """Run each piece of all words; the headers, which every run has, are in the lowest piece."""
    runs = [run_one(np.ascontiguousarray(piece)) for piece in np.moveaxis(memory, -1, 0)]
    data = np.stack([run.trace.data for run in runs], axis=-1)
    trace: Trace = runs[0].trace
    data[trace.kind & HEAD_MARK != 0, 1:] = 0
    memories = np.stack([run.memory for run in runs], axis=-1)
    return replace(runs[0], memory=memories, trace=replace(trace, data=data))
