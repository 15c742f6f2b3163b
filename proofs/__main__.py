"""``python -m eyecast.proofs``: prove all components, and print a table.

With words, only proofs whose names contain all of them. With ``--confirm`` the invariants that
are kept in the folder are confirmed, without the engine that found them.
"""

from __future__ import annotations

import argparse
import sys
import time
from collections.abc import Callable
from concurrent.futures import ProcessPoolExecutor
from functools import partial
from pathlib import Path

from rich.console import Console
from rich.table import Table

from .confirm import Unconfirmed
from .proof import Proof, Refuted, confirm_file, prove
from .question import Undecided
from .registry import all_proofs

COLUMNS = ("component", "configuration", "claim", "engine", "s", "clauses", "lemmas", "proved")


def main() -> None:
    """Prove in as many processes as there are cores; exit with status 1 unless all is proved."""
    parser = argparse.ArgumentParser(prog="eyecast.proofs", description=__doc__)
    parser.add_argument("words", nargs="*", help="words in the names of the proofs")
    parser.add_argument("--confirm", action="store_true", help="confirm the kept invariants")
    parser.add_argument("-o", "--output", type=Path, default=Path("build/proofs"))
    chosen = parser.parse_args()
    chosen.output.mkdir(parents=True, exist_ok=True)
    proofs = [
        number
        for number, proof in enumerate(all_proofs())
        if all(word in proof.name for word in chosen.words)
    ]
    answer = _confirmed if chosen.confirm else _proved
    table = Table(*COLUMNS)
    console = Console(width=None if sys.stdout.isatty() else 160)
    with ProcessPoolExecutor() as processes:
        rows = []
        for row in processes.map(partial(_row, answer, chosen.output), proofs):
            sys.stderr.write(f"{', '.join(row[:2])}: {row[-1]}\n")
            rows.append(row)
            table.add_row(*row)
    console.print(table)
    sys.exit(any(row[-1] != "yes" for row in rows))


Answer = Callable[[Proof, Path], tuple[float, int, int]]


def _row(answer: Answer, folder: Path, number: int) -> tuple[str, ...]:
    """Return the row of one proof."""
    proof = all_proofs()[number]
    head = (proof.component, proof.configuration, proof.claim)
    try:
        seconds, clauses, lemmas = answer(proof, folder)
    except (Refuted, Undecided, Unconfirmed) as error:
        return (*head, "pdr", "", "", "", f"no: {error}")
    engine = "SAT, RUP" if answer is _confirmed else "pdr"
    return (*head, engine, f"{seconds:.1f}", str(clauses), str(lemmas), "yes")


def _proved(proof: Proof, folder: Path) -> tuple[float, int, int]:
    found = prove(proof, folder)
    return found.seconds, found.clauses, found.lemmas


def _confirmed(proof: Proof, folder: Path) -> tuple[float, int, int]:
    begun = time.monotonic()
    clauses, lemmas = confirm_file(proof, proof.file(folder))
    return time.monotonic() - begun, clauses, lemmas


if __name__ == "__main__":
    main()
