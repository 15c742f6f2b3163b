"""The checker of certificates that Coq proved, beside the one in Python."""

import json
import subprocess
from collections import Counter
from pathlib import Path
from shutil import which

import numpy as np
import pytest
from helpers.certificates import compiled, damaged, verdict
from helpers.processes import run_program

from eyecast.model.certificate.certificate import certificate_json
from eyecast.model.network.config import Timing
from eyecast.model.program.file import program_json
from eyecast.model.program.program import Program

PROOFS = Path(__file__).parents[2] / "proofs"
TASKS = (
    ("eye", {"source": 0}),
    ("tree", {"source": 5}),
    ("recursive-doubling", {"collective": "all-reduce"}),
    ("ring", {"collective": "reduce-scatter", "words": 16}),
)
ROUTES = ("no link leaves", "the channels do not rise", "the route has no hop")
"""What the Python checker says of routes that the theorem is about."""


@pytest.fixture(scope="module")
def proved(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, str]:
    """The extracted checker, built, and what Coq printed."""
    for tool in ("coqc", "ocamlopt"):
        if which(tool) is None:
            pytest.skip(f"{tool} is not installed (apt-get install coq ocaml-nox)")
    folder = tmp_path_factory.mktemp("coq")
    proof = ("coqc", "-o", folder / "certificate.vo", PROOFS / "certificate.v")
    said = run_program(proof, cwd=folder, check=True).stdout
    source = folder / "check_certificate.ml"
    source.write_text((PROOFS / source.name).read_text())
    parts = ("checker.mli", "checker.ml", source.name)
    subprocess.run(("ocamlopt", *parts, "-o", "check"), cwd=folder, check=True)
    return folder / "check", said


@pytest.mark.slow
def test_the_proof_assumes_nothing(proved: tuple[Path, str]) -> None:
    lines = proved[1].splitlines()
    assert lines == ["Closed under the global context"] * 6


@pytest.mark.slow
def test_the_proved_checker_agrees_with_the_other_one(
    proved: tuple[Path, str], tmp_path: Path
) -> None:
    draw, seen = np.random.default_rng(3), Counter[str]()
    files = tmp_path / "p.json", tmp_path / "c.json"
    for task in TASKS:
        one = compiled(*task)
        assert isinstance(one.program, Program)
        good = json.loads(certificate_json(one, Timing.BARRIER))
        for number in range(100):
            certificate, program = dict(good), one.program
            if number % 2:
                program = damaged(program, draw)
            elif number:
                order = list(good["channel_order"])
                i, j = draw.integers(len(order), size=2)
                order[i], order[j] = order[j], order[i]
                certificate["channel_order"] = order
            files[0].write_text(program_json(program))
            files[1].write_text(json.dumps(certificate))
            accepts = subprocess.run((proved[0], *files), check=False).returncode == 0
            said = verdict(program, certificate)
            assert accepts or said != "holds", (task, number)
            assert not (accepts and any(why in said for why in ROUTES)), (task, number, said)
            seen["accepted" if accepts else "refused"] += 1
    assert min(seen.values()) > 50, seen
