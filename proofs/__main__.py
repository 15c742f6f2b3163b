"""``python -m eyecast.proofs``: prove all components, and print a table.

With words, only proofs whose names contain all of them. With ``--confirm`` the invariants that
are kept in the folder are confirmed, without the engine that found them. With ``--page`` the table
of a Markdown page is replaced.
"""

import argparse
import sys
import time
from collections import defaultdict
from collections.abc import Callable, Sequence
from concurrent.futures import ProcessPoolExecutor
from functools import partial
from pathlib import Path

from rich.console import Console
from rich.table import Table

from ..model.base.processes import python_children
from .confirm import Unconfirmed
from .proof import Proof, Refuted, confirm_file, prove
from .question import Undecided
from .registry import all_proofs

BEGIN, END = "<!-- proofs -->", "<!-- end of the proofs -->"
COLUMNS = ("component", "configuration", "claim", "engine", "s", "clauses", "lemmas", "proved")


def main() -> None:
    """Prove in as many processes as there are cores; exit with status 1 unless all is proved."""
    parser = argparse.ArgumentParser(prog="eyecast.proofs", description=__doc__)
    parser.add_argument("words", nargs="*", help="words in the names of the proofs")
    parser.add_argument("--confirm", action="store_true", help="confirm the kept invariants")
    parser.add_argument("--page", type=Path, help="a page whose table is replaced")
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
    with python_children() as context, ProcessPoolExecutor(mp_context=context) as processes:
        rows = []
        for row in processes.map(partial(_row, answer, chosen.output), proofs):
            sys.stderr.write(f"{', '.join(row[:2])}: {row[-1]}\n")
            rows.append(row)
            table.add_row(*row)
    console.print(table)
    if chosen.page:
        chosen.page.write_text(with_table(chosen.page.read_text(), rows))
    sys.exit(any(row[-1] != "yes" for row in rows))


def with_table(page: str, rows: Sequence[tuple[str, ...]]) -> str:
    """Return a page with a new table, which has a line for each component and property.

    "s" is the sum over the configurations.
    """
    groups = defaultdict[tuple[str, str], list[tuple[str, ...]]](list)
    for component, configuration, claim, *answer in rows:
        groups[component, claim].append((configuration, *answer))
    lines = [
        "| component | configurations | property | engine | s | proved |",
        "|---|---|---|---|---|---|",
    ]
    for (component, claim), answers in groups.items():
        names, engines, seconds, _, _, proved = zip(*answers, strict=True)
        total = f"{sum(float(each or 0) for each in seconds):.1f}"
        cells = (component, "; ".join(names), claim, engines[0], total, "; ".join({*proved}))
        lines.append(f"| {' | '.join(cells)} |")
    before, rest = page.split(BEGIN)
    _, after = rest.split(END)
    return "\n".join((f"{before}{BEGIN}", *lines, f"{END}{after}"))


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
