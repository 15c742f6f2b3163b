"""The programs of a chip's calls do what MPI says, on packets and on circuits, in the model."""

from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pytest
from helpers.processes import needs, run_program
from helpers.refusals import refusal_of
from ml_dtypes import bfloat16

import eyecast
from eyecast.chip.calls import Call, calls_of
from eyecast.chip.chart import chart_of
from eyecast.chip.memory_map import Event
from eyecast.chip.outcome import Outcome
from eyecast.chip.programs import Programs, Run, programs_of
from eyecast.chip.simulation import Line
from eyecast.chip.source import SOURCES, address_map
from eyecast.model.cycle.any_run import run_any
from eyecast.model.network.config import Timing
from eyecast.model.program.payload import empty_memory
from eyecast.model.workload.chart import COMPUTE, WAIT

MESH = eyecast.mesh((3, 2))
NODES = MESH.nodes
CALLS = (
    *("ey__bcast__5__2", "ey__barrier__1", "ey__neighbours__2", "ey__exchange__3__1"),
    *("ey__scatter__2__1", "ey__gather__3__4", "ey__allgather__3", "ey__alltoall__2"),
    *("ey__reduce__4__int__min__3", "ey__allreduce__6__int__sum"),
    *("ey__allreduce__5__float__sum", "ey__allreduce__9__unsigned__max"),
    *("ey__scan__4__int8x4__sum", "ey__exscan__3__uint16x2__max"),
    "ey__allreduce__4__bfloat16x2__sum",
)
TYPES = {
    **{"int": np.int32, "unsigned": np.uint32, "float": np.float32, "bfloat16x2": bfloat16},
    **{"int16x2": np.int16, "uint16x2": np.uint16, "int8x4": np.int8, "uint8x4": np.uint8},
}
UP_AND_DOWN = (1, -1, 3, -3)
"""What a neighbour's number has more, by block, on the mesh of 3x2."""


def expected(name: str, count: int, last: list[str], sent: np.ndarray) -> dict[int, np.ndarray]:
    """Return what each node must get, by MPI's words; sent has shape (nodes, words)."""
    blocks, everyone = sent.reshape(NODES, -1, count), range(NODES)
    root = int(last[-1]) if last and last[-1].isdecimal() else 0
    others = [node for node in everyone if node != root]
    if name in ("reduce", "allreduce", "scan", "exscan"):
        kind, operator = last[:2]
        functions = {"sum": np.add, "min": np.minimum, "max": np.maximum}
        values = sent.astype(np.uint32).view(TYPES[kind])
        if name.endswith("scan"):
            sums = functions[operator].accumulate(values, dtype=values.dtype).view(np.uint32)
            return dict(enumerate(sums)) if name == "scan" else dict(enumerate(sums[:-1], start=1))
        total = functions[operator].reduce(values, dtype=values.dtype).view(np.uint32)
        return dict.fromkeys(everyone if name == "allreduce" else [root], total)
    known: dict[str, dict[int, np.ndarray]] = {
        "barrier": {},
        "bcast": dict.fromkeys(others, sent[root]),
        "gather": {root: np.delete(sent, root, axis=0)},
        "allgather": dict.fromkeys(everyone, sent),
        "exchange": {node: sent[node ^ root] for node in everyone if node ^ root < NODES},
    }
    if name in known:
        return known[name]
    if name == "scatter":
        return {node: blocks[root, node] for node in others}
    if name == "alltoall":
        return {node: np.delete(blocks[:, node], node, axis=0) for node in everyone}
    return {node: np.array([blocks[each] for each in around(node)]) for node in everyone}


def around(node: int) -> list[tuple[int, int]]:
    """Return the neighbours by port, each with the number of the block that it sends here."""
    others = [node + more for more in UP_AND_DOWN]
    linked = MESH.neighbor[node, 1:]
    return [
        (each, UP_AND_DOWN.index(node - each)) for each in others if each in linked[linked >= 0]
    ]


def drawn(name: str, count: int, last: list[str]) -> np.ndarray:
    """Draw what each node sends; floats are small integers, whose sums have one value."""
    each = {"alltoall": NODES, "scatter": NODES, "neighbours": 4}.get(name, 1)
    draw = np.random.default_rng(count)
    if kind := {*last} & {"float", "bfloat16x2"}:
        lanes, most = (1, 999) if "float" in kind else (2, 40)
        numbers = draw.integers(-most, most, (NODES, lanes * count)).astype(TYPES[kind.pop()])
        return numbers.view(np.uint32).astype(np.uint64)
    return draw.integers(0, 1 << 32, (NODES, each * count), dtype=np.uint64)


def words_of(memory: np.ndarray, runs: Sequence[Run]) -> np.ndarray:
    parts = [memory[run.address : run.address + run.words] for run in runs]
    return np.concatenate(parts) if parts else np.zeros(0, np.uint64)


@pytest.fixture(scope="module", params=[False, True], ids=["packets", "circuits"])
def made(request: pytest.FixtureRequest) -> Programs:
    asked = CALLS[::2] if request.param else CALLS
    calls = calls_of(asked, NODES, circuits=request.param)
    return programs_of(calls, MESH, circuits=request.param)


def test_every_call_does_what_mpi_says(made: Programs) -> None:
    for served in made.served:
        name, count, *last = served.call.symbol.removeprefix("ey__").split("__")
        sent, memory = drawn(name, int(count), last), empty_memory(made.config)
        for node, runs in enumerate(served.sent):
            for run in runs:
                words = sent[node, run.offset : run.offset + run.words]
                memory[node, run.address : run.address + run.words] = words
        after = run_any(served.compiled.program, memory, timing=Timing.BARRIER).memory
        wanted = expected(name, int(count), last, sent)
        for node, runs in enumerate(served.received):
            right = wanted.get(node, np.zeros(0)).ravel().tolist()
            assert words_of(after[node], runs).tolist() == right, (served.call.symbol, node)


def test_words_of_programs_are_apart(made: Programs) -> None:
    """What one program does, no other one sees: the places of all have no word in common."""
    used: set[int] = set()
    for served in made.served:
        layout = served.compiled.layout
        begin = min(int(layout.starts[0] - layout.base.max()), layout.size)
        words = {*range(begin, layout.size)}
        assert not used & words
        used |= words


REFUSED = {
    "ey__allreduce__4__float__max": (
        "operator of ey_allreduce in the C program must be sum of float or bfloat16x2, or sum, "
        "min, max, and, or or xor of int, unsigned, int16x2, uint16x2, int8x4 or uint8x4, "
        "not max of float"
    ),
    "ey__bcast__16__6": "root of ey_bcast in the C program must be a number, 0 to 5, not 6",
    "ey__bcast__0__1": "words of ey_bcast in the C program must be a number, at least 1, not 0",
    "ey__gather__n__1": "words of ey_gather in the C program must be a number, at least 1, not n",
    "ey__allreduce__4": (
        "values of ey_allreduce in the C program must be words, type, operator, not 4"
    ),
    "ey__bcast__4__0__1": "values of ey_bcast in the C program must be words, root, not 4 0 1",
    "ey__sum__4": (
        "collective of the C program must be barrier, bcast, reduce, allreduce, scan, exscan, "
        "allgather, alltoall, scatter, gather, neighbours or exchange, not sum"
    ),
    "ey__exchange__4__9": "partner of ey_exchange in the C program must be a number, 0 to 5, not 9",
}


@pytest.mark.parametrize("symbol", REFUSED)
def test_calls_that_no_network_does(symbol: str) -> None:
    assert refusal_of(Call.read, symbol, NODES, circuits=False) == REFUSED[symbol]


C_PROGRAM = """
#include "ey.h"
int main(void) {
    int words[4] = {ey_rank(), ey_size(), 2, (int)ey_wtime()};
    unsigned *place = EY_WORDS(allreduce, 4, EY_INT, EY_AND);
    ey_barrier();
    if (words[0]) ey_allreduce(EY_IN_PLACE, place, 4, EY_INT, EY_AND);
    else ey_exchange(words, 4, EY_INT, words, 1);
    ey_reduce(words, words, 4, EY_INT, EY_XOR, 0);
    return 0;
}
"""


@needs("g++")
@pytest.mark.parametrize("language", ["c99", "c++11"])
def test_the_header_is_c_and_cpp(here: Path, language: str) -> None:
    (here / "map.h").write_text(address_map())
    kind = ["-std=" + language, "-x", language.rstrip("19")]
    strict = ["-Wall", "-Wextra", "-pedantic", "-Werror", f"-I{SOURCES}", "-I."]
    (here / "app.c").write_text(C_PROGRAM)
    run_program(["g++", *kind, *strict, "-c", "app.c"], check=True)
    done = run_program(["nm", "-u", "app.o"], check=True)
    assert set(done.stdout.split()) >= {"ey__barrier__1", "ey__allreduce__4__int__and"}


def test_what_tiles_say_becomes_calls_and_a_chart() -> None:
    lines = [
        Line(5, 0, Event.CALL, 0),
        Line(9, 1, Event.CALL, 0),
        Line(11, 0, Event.RUN, 0),
        Line(20, 1, Event.RETURN, 0),
        Line(22, 0, Event.RETURN, 0),
        *(Line(30, 1, Event.CONSOLE, ord(letter)) for letter in "ok\n?"),
        Line(40, 0, Event.EXIT, 0),
    ]
    outcome = Outcome.read(lines, 2)
    assert [*outcome.console()] == [(1, "ok"), (1, "?")]
    assert (outcome.cycles, outcome.in_calls(0), outcome.in_calls(1)) == (40, 17, 11)
    calls = [Call("ey__allreduce__1__int__sum", "allreduce", 1)]
    computes, waits, name = (COMPUTE, COMPUTE), (WAIT, WAIT), "allreduce 1 int sum"
    found = [(*bar[:3], bar.name, bar.kind) for bar in chart_of(outcome, calls).bars]
    assert found == [
        (0, 0, 5, *computes),
        (0, 5, 11, *waits),
        (0, 11, 22, name, "all-reduce"),
        (0, 22, 40, *computes),
        (1, 0, 9, *computes),
        (1, 9, 11, *waits),
        (1, 11, 20, name, "all-reduce"),
    ]
