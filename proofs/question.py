"""The question whether a circuit can break a claim, and the engine that answers it."""

import resource
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

from .circuit import Circuit
from .engines import FOUND, PROVED, run_abc

Clause = tuple[int, ...]
"""Numbers of registers, counted from 1; negative: the register is 0. One of them holds."""


class Undecided(Exception):
    """The engine found no answer in its time."""


@dataclass(frozen=True)
class Question:
    """A search for a run in which a claim fails while all assumptions hold.

    Attributes
    ----------
    circuit
        The circuit, with a further register: 1 after a cycle in which an assumption did not hold.
    answer
        The literal that is true in such a cycle.

    """

    circuit: Circuit
    answer: int


def ask(circuit: Circuit, claims: Iterable[str], assumptions: Iterable[str]) -> Question:
    """Return the question whether a claim can be broken while the assumptions hold."""
    gates, number = list(circuit.gates), circuit.variables + 1
    broken = 2 * number
    number += 1

    def all_of(literals: list[int]) -> int:
        nonlocal number
        result = literals[0]
        for literal in literals[1:]:
            gates.append((number, result, literal))
            result, number = 2 * number, number + 1
        return result

    sound = all_of([broken ^ 1, *(circuit.outputs[name] for name in assumptions)])
    kept = all_of([1, *(circuit.outputs[name] for name in claims)])
    answer = all_of([sound, kept ^ 1])
    latches = [*circuit.latches, (broken // 2, sound ^ 1)]
    names = [*circuit.names, "broken"]
    return Question(Circuit(circuit.inputs, latches, gates, names, circuit.outputs), answer)


def write_aiger(question: Question, path: Path) -> None:
    """Write a question as AIGER, with one output."""
    circuit = question.circuit
    numbers = {0: 0}
    order = [*circuit.inputs, *(latch for latch, _ in circuit.latches)]
    order += [gate for gate, _, _ in circuit.gates]
    for place, variable in enumerate(order):
        numbers[variable] = place + 1

    def renumbered(literal: int) -> int:
        return 2 * numbers[literal // 2] + literal % 2

    gates = circuit.gates
    counts = (len(order), len(circuit.inputs), len(circuit.latches), 1, len(gates))
    data = [f"aig {' '.join(map(str, counts))}\n".encode()]
    data += [f"{renumbered(following)}\n".encode() for _, following in circuit.latches]
    data.append(f"{renumbered(question.answer)}\n".encode())
    for gate, *inputs in gates:
        high, low = sorted(map(renumbered, inputs), reverse=True)
        data += [_difference(2 * numbers[gate] - high), _difference(high - low)]
    path.write_bytes(b"".join(data))


def _difference(number: int) -> bytes:
    """Return a number as AIGER codes it: 7 bits a byte, the lowest first."""
    found = bytearray()
    while number > 127:
        found.append(number & 127 | 128)
        number >>= 7
    return bytes([*found, number])


@dataclass(frozen=True)
class Verdict:
    """The engine's answer.

    Attributes
    ----------
    cycle
        The first cycle in which the answer is true; None if it never is.
    invariant
        Clauses that hold in every cycle, if there is no such cycle.
    seconds
        CPU time of the engine.

    """

    cycle: int | None
    invariant: list[Clause]
    seconds: float


def decide(question: Question, folder: Path, seconds: int) -> Verdict:
    """Let ABC answer a question by property directed reachability.

    Raises :class:`Undecided` if the engine finds no answer in this many seconds of CPU time.
    """
    write_aiger(question, folder / "question.aig")
    begun = resource.getrusage(resource.RUSAGE_CHILDREN).ru_utime
    try:
        search = "read_aiger question.aig; pdr -d -I invariant.pla"
        said = run_abc(search, folder, seconds=seconds)
    except TimeoutError as error:
        raise Undecided(str(error)) from error
    spent = resource.getrusage(resource.RUSAGE_CHILDREN).ru_utime - begun
    if PROVED in said:
        return Verdict(None, _read_clauses(folder / "invariant.pla"), spent)
    cycle = FOUND.search(said)
    if not cycle:
        raise Undecided(said.strip().splitlines()[-1])
    return Verdict(int(cycle[1]), [], spent)


def _read_clauses(path: Path) -> list[Clause]:
    """Read an invariant: a line for each cube of registers that no reachable state is in."""
    places: list[int] = []
    clauses = []
    for line in path.read_text().splitlines():
        words = line.split()
        if line.startswith(".ilb"):
            places = [int(word.removeprefix("lo")) + 1 for word in words[1:]]
        elif words and set(words[0]) <= set("01-"):
            cube = zip(places, words[0], strict=True)
            clauses.append(tuple(-p if bit == "1" else p for p, bit in cube if bit != "-"))
    return clauses
