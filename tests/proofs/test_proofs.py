"""All proofs, their sabotages, and the checkers of invariants and lemmas themselves."""

from pathlib import Path

import pytest
from amaranth.hdl import C
from helpers.prover import needs_pyosys
from helpers.sabotages import CLAIMS, SABOTAGES

import eyecast as package
from eyecast.proofs.__main__ import BEGIN, END
from eyecast.proofs.circuit import harness_verilog, read_circuit
from eyecast.proofs.confirm import Unconfirmed
from eyecast.proofs.link import loop
from eyecast.proofs.parts import credits
from eyecast.proofs.proof import SECONDS, Proof, Refuted, confirm_file, prove, refutation
from eyecast.proofs.question import Undecided, ask, decide
from eyecast.proofs.registry import all_proofs
from eyecast.proofs.rup import is_refutation

pytestmark = needs_pyosys

PROOFS = all_proofs()
QUICK = [proof for proof in PROOFS if proof.quick]
BY_MAKE = (
    "router-3-ports-4-vcs-depth-2-997b",
    "router-3-ports-2-vcs-depth-2-input-1-8f4a",
    "router-5-ports-2-vcs-depth-2-997b",
    "input-port-3-ports-1-vc-depth-4-input-1-8909",
    "input-port-7-ports-4-vcs-depth-2-input-1-8909",
)
"""The proofs that take longest: `make prove` alone runs them; smaller ones of a component stay."""
BROKEN = [
    (component, configuration, old, new)
    for (component, configuration), changes in SABOTAGES.items()
    for old, new in changes.items()
]


def name_of(proof: Proof) -> str:
    return proof.file(Path()).stem


SLOW = [proof for proof in PROOFS if not (proof.quick or name_of(proof) in BY_MAKE)]


def first_proof(component: str, configuration: str) -> Proof:
    """Return the first proof of a component in a configuration."""
    return next(
        proof
        for proof in PROOFS
        if (proof.component, proof.configuration) == (component, configuration)
    )


def test_each_proof_has_a_name_of_its_own() -> None:
    names = {name_of(proof) for proof in PROOFS}
    assert len(names) == len(PROOFS) and names >= {*BY_MAKE}


def test_two_sabotages_of_each_component_are_listed() -> None:
    two = {component for (component, _), changes in SABOTAGES.items() if len(changes) >= 2}
    assert two == {proof.component for proof in PROOFS}


@pytest.mark.parametrize("proof", QUICK, ids=name_of)
def test_a_small_component_is_proved(proof: Proof, tmp_path: Path) -> None:
    prove(proof, tmp_path)


@pytest.mark.slow
@pytest.mark.parametrize("proof", SLOW, ids=name_of)
def test_a_component_is_proved(proof: Proof, tmp_path: Path) -> None:
    prove(proof, tmp_path)


@pytest.mark.slow
@pytest.mark.parametrize(("component", "configuration", "old", "new"), BROKEN)
def test_a_broken_component_is_refuted(
    component: str, configuration: str, old: str, new: str
) -> None:
    assert refutation(first_proof(component, configuration), old, new) is not None


@pytest.mark.slow
@pytest.mark.parametrize(("component", "configuration"), CLAIMS)
def test_each_assertion_of_a_component_fails_once(
    component: str, configuration: str, tmp_path: Path
) -> None:
    """A planted fault breaks what the component ensures, and free inputs what it requires."""
    proof, broken = first_proof(component, configuration), CLAIMS[component, configuration]
    verilog = harness_verilog(proof.build)
    circuit = read_circuit(verilog, tmp_path)
    own = {name.partition(".")[2]: name for name in circuit.outputs if name.count(".") == 1}
    required = {label for label in own if label.startswith("requires_")}
    assert own.keys() - required == {
        f"ensures_{each}" for each in " ".join(broken.values()).split()
    }
    for label in required:
        assert decide(ask(circuit, [own[label]], []), tmp_path, SECONDS).cycle is not None, label
    assumed = [name for name in circuit.outputs if "assumes_" in name]
    assumed += [own[label] for label in required]
    for (old, new), labels in broken.items():
        assert verilog.count(old) == 1, old
        changed = read_circuit(verilog.replace(old, new), tmp_path)
        for label in labels.split():
            question = ask(changed, [own[f"ensures_{label}"]], assumed)
            assert decide(question, tmp_path, SECONDS).cycle is not None, label


def test_a_broken_credit_counter_is_refuted() -> None:
    change = SABOTAGES["credits", "depth 2"]
    assert refutation(credits(2), *next(iter(change.items()))) is not None


def test_an_invariant_that_is_changed_is_not_confirmed(tmp_path: Path) -> None:
    """Remove a clause, or add one that does not hold at the start."""
    proof = credits(2)
    prove(proof, tmp_path)
    path = proof.file(tmp_path)
    sound = path.read_text()
    head, *clauses = sound.splitlines()
    path.write_text("\n".join([head, *clauses[1:]]))
    with pytest.raises(Unconfirmed):
        confirm_file(proof, path)
    path.write_text(sound + "broken\n")
    with pytest.raises(Unconfirmed, match="start"):
        confirm_file(proof, path)


def test_assumptions_that_contradict_each_other_are_found(tmp_path: Path) -> None:
    sound = credits(2)

    def build(bench) -> None:
        sound.build(bench)
        bench.assumes("nothing", C(0, 1))

    with pytest.raises(Refuted, match="never occurs"):
        prove(Proof("credits", "contradiction", "anything", build), tmp_path)


def test_an_engine_without_an_answer_in_its_time_is_told(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("eyecast.proofs.proof.SECONDS", 1)
    with pytest.raises(Undecided, match="no answer in 1 seconds of CPU time"):
        prove(loop(4, 2), tmp_path)
    assert not list(tmp_path.iterdir())


CONTRADICTION = [[1, 2], [-1, 2], [1, -2], [-1, -2]]


def test_a_lemma_follows_by_unit_propagation() -> None:
    assert is_refutation(CONTRADICTION, [[2], []])
    assert is_refutation([[1], [-1]], [])


def test_a_lemma_that_does_not_follow_is_refused() -> None:
    assert not is_refutation(CONTRADICTION[:3], [[2], []])
    assert not is_refutation([[1, 2, 3], [-1, 2]], [[2], [-2], []])
    assert not is_refutation(CONTRADICTION[1:], [[1], []])


def test_lemmas_without_a_contradiction_are_no_refutation() -> None:
    assert not is_refutation(CONTRADICTION[:3], [[2]])


def test_the_page_has_each_proof() -> None:
    """Its table is written by ``--page``: run that after a proof was added or changed."""
    page = (Path(package.__file__).parent / "docs" / "proofs.md").read_text()
    table = page.split(BEGIN)[1].split(END)[0]
    rows = [line.strip("| ").split(" | ") for line in table.splitlines()[3:]]
    found = {
        (component, configuration, claim)
        for component, configurations, claim, *_ in rows
        for configuration in configurations.split("; ")
    }
    assert found == {(proof.component, proof.configuration, proof.claim) for proof in PROOFS}
    assert {row[-1] for row in rows} == {"yes"}
