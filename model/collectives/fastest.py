"""The fastest algorithms of the measured cases, from ``fastest.json`` beside this module.

``bench/algorithms.py`` measures again and writes that file.
"""

from pathlib import Path

import msgspec

FASTEST_FILE = Path(__file__).with_name("fastest.json")


class MeasuredCase(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """The fastest algorithms of one case, by the cycles that the cycle model predicts.

    network
        The options of the network for ``eyecast``, such as ``--mesh 8x8 --circuits``.
    collective, ports, words
        The collective, ``one`` or ``all`` ports, and the words of the message or of each block.
        The root is node 0.
    cycles
        Cycles of the fastest algorithm, with barrier timing.
    algorithms
        The names of all algorithms that take this many cycles; none if the case is not served.
    """

    network: str
    collective: str
    ports: str
    words: int
    cycles: int
    algorithms: tuple[str, ...]


def measured_cases() -> list[MeasuredCase]:
    """Return all measured cases, in the order of the file."""
    return msgspec.json.decode(FASTEST_FILE.read_bytes(), type=list[MeasuredCase])
