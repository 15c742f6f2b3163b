"""A proof: what is claimed about a component, and its answer, kept as a file and confirmed."""

import hashlib
import re
import tempfile
import time
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from ..model.base.files import write_atomically
from .circuit import Circuit, harness_verilog, read_circuit
from .confirm import confirm
from .harness import Build
from .question import Clause, Question, ask, decide

SECONDS = 300
"""Limit of the engine's CPU time for one proof."""


@dataclass(frozen=True)
class Proof:
    """A claim about a component in one configuration.

    Attributes
    ----------
    component, configuration
        Names of both.
    claim
        What is claimed, in the words of docs/router.md.
    build
        The harness.
    quick
        Whether the default tests prove it.
    parts
        Whether what the parts inside require is claimed, too.

    """

    component: str
    configuration: str
    claim: str
    build: Build
    quick: bool = False
    parts: bool = True

    @property
    def name(self) -> str:
        """The component, the configuration and the claim in one line."""
        return f"{self.component}, {self.configuration}: {self.claim}"

    def file(self, folder: Path) -> Path:
        """Return the file of the proof's invariant."""
        words = re.sub(r"[^0-9a-z]+", "-", f"{self.component} {self.configuration}".lower())
        claim = hashlib.sha256(self.claim.encode()).hexdigest()[:4]
        return folder / f"{words}-{claim}.invariant"


class Refuted(Exception):
    """A claim that does not hold, or a case that never occurs."""


@dataclass(frozen=True)
class Answer:
    """The outcome of a proof.

    Attributes
    ----------
    seconds
        Time of the engine.
    confirming
        Time of Yosys and of the confirmation.
    clauses, lemmas
        Size of the invariant, and of the confirmation's proofs.

    """

    seconds: float
    confirming: float
    clauses: int
    lemmas: int


def prove(proof: Proof, folder: Path) -> Answer:
    """Prove a claim, write its invariant into ``folder``, and confirm that file.

    Raises :class:`Refuted`, :class:`.Undecided` or :class:`.Unconfirmed`.
    """
    with tempfile.TemporaryDirectory() as work:
        circuit = read_circuit(harness_verilog(proof.build), Path(work))
        question = claims_of(circuit, parts=proof.parts)
        verdict = decide(question, Path(work), SECONDS)
        if verdict.cycle is not None:
            raise Refuted(f"{proof.name}: a claim is broken in cycle {verdict.cycle}")
        for name, case in cases_of(circuit).items():
            if decide(case, Path(work), SECONDS).cycle is None:
                raise Refuted(f"{proof.name}: {name} never occurs")
    path = proof.file(folder)
    write_atomically(str(path), _to_text(proof, question.circuit.names, verdict.invariant))
    begun = time.monotonic()
    clauses, lemmas = confirm_file(proof, path)
    return Answer(verdict.seconds, time.monotonic() - begun, clauses, lemmas)


def confirm_file(proof: Proof, path: Path) -> tuple[int, int]:
    """Confirm the invariant of a file, from the Verilog; return its clauses and the lemmas.

    Raises :class:`.Unconfirmed`.
    """
    with tempfile.TemporaryDirectory() as work:
        circuit = read_circuit(harness_verilog(proof.build), Path(work))
    question = claims_of(circuit, parts=proof.parts)
    clauses = _from_text(path.read_text(), question.circuit.names)
    return len(clauses), confirm(question, clauses)


def refutation(proof: Proof, old: str, new: str) -> int | None:
    """Return a cycle in which a claim is broken if ``new`` replaces ``old`` in the Verilog.

    Return None if there is no such cycle.

    Raises :class:`ValueError` if the text to change does not occur once.
    """
    verilog = harness_verilog(proof.build)
    if verilog.count(old) != 1:
        raise ValueError(f"{old!r} occurs {verilog.count(old)} times in {proof.name}")
    with tempfile.TemporaryDirectory() as work:
        circuit = read_circuit(verilog.replace(old, new), Path(work))
        question = claims_of(circuit, parts=proof.parts)
        return decide(question, Path(work), SECONDS).cycle


def claims_of(circuit: Circuit, *, parts: bool) -> Question:
    """Return the question whether a claim can be broken.

    What components further inside ensure is left to their own proofs; what they require is a claim.
    """
    claims = [
        name
        for name in circuit.outputs
        if (_kind(name) == "requires" and parts)
        or (_kind(name) == "ensures" and name.count(".") < 2)
    ]
    assumptions = _assumptions(circuit)
    return ask(circuit, [name for name in claims if name not in assumptions], assumptions)


def cases_of(circuit: Circuit) -> dict[str, Question]:
    """Return, for each case that must occur, the question whether it does."""
    assumptions = _assumptions(circuit)
    cases = {}
    for name, literal in circuit.outputs.items():
        if _kind(name) == "covers":
            never = replace(circuit, outputs={**circuit.outputs, name: literal ^ 1})
            cases[name] = ask(never, [name], assumptions)
    return cases


def _kind(name: str) -> str:
    return name.rpartition(".")[2].partition("_")[0]


def _assumptions(circuit: Circuit) -> list[str]:
    """Return what is assumed: by the harness, and what components with users outside require."""
    return [
        name
        for name in circuit.outputs
        if _kind(name) == "assumes"
        or (name.startswith("dut") and name.count(".") == 1 and _kind(name) == "requires")
    ]


def _to_text(proof: Proof, names: Sequence[str], clauses: Iterable[Clause]) -> str:
    """Return a file: a line for each clause, its registers that are 1 or, after a minus, 0.

    Yosys writes an exclamation mark before a register that it inverted, so that it starts with 0.
    """
    head = f"# {proof.name}\n"
    lines = (
        " ".join(f"{'' if each > 0 else '-'}{names[abs(each) - 1]}" for each in clause)
        for clause in clauses
    )
    return head + "".join(f"{line}\n" for line in sorted(lines))


def _from_text(text: str, names: Sequence[str]) -> list[Clause]:
    places = {name: place for place, name in enumerate(names, 1)}
    return [
        tuple(-places[word[1:]] if word[0] == "-" else places[word] for word in line.split())
        for line in text.splitlines()
        if not line.startswith("#")
    ]
