"""Certificates of programs on circuits: what each memory holds before the run and owes after it.

::

    {"format": "eyecast-certificate", "version": 2, "program": "5fb1...", "cycles": 9,
     "links": [[0, 1, 1, 2], [1, 1, 2, 2], [1, 2, 0, 1], [2, 2, 1, 1]],
     "held": [{"node": 0, "address": 0, "words": 2, "value": 0}],
     "owed": [{"node": 1, "address": 0, "words": 2, "values": [0], "operator": 0}, ...]}

"program" is the SHA-256 of the program's file. A link is [node, port, node behind it, its port]. A
*value* is what one node contributes to a block. A word that is owed is made of that word of each of
"values", by the operator of this number in the network; 0 for a single value. "cycles" are those of
the run. :mod:`.circuit_checker` checks a certificate, and shares no code with this project.
"""

from collections.abc import Iterator

from ..program.circuits.program import CircuitProgram
from ..program.compiler import Compiled
from .contributions import links_of, numbered_values, owed_words, to_json


def circuit_certificate(compiled: Compiled) -> str:
    """Return the certificate of a program on circuits as JSON text."""
    program = compiled.program
    assert isinstance(program, CircuitProgram)
    values = numbered_values(compiled)
    fields = {
        "version": 2,
        "cycles": program.cycles,
        "links": links_of(program.config.topology),
        "held": [*_held(compiled, values)],
        "owed": [*owed_words(compiled, values)],
    }
    return to_json(program, fields)


def _held(compiled: Compiled, values: dict[tuple[int, int], int]) -> Iterator[dict[str, int]]:
    """Yield where the values are before the run."""
    for (block, node), value in values.items():
        if words := int(compiled.schedule.blocks.words[block]):
            address = compiled.layout.address(node, block)
            yield {"node": node, "address": address, "words": words, "value": value}
