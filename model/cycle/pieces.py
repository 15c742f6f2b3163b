"""Wide words in a run: docs/router.md, section 25.

No rule of a run looks at payload. So a run of wide words has the timing of a run with any other
words of the same program. The loops of the cycle models move numbers in their stead::

    number       0        1 …              …
    word         0        in the           combined in the run: the loop notes the numbers of the
                          memories         two words and the operator

After the run, each combination is made in the order of the notes, and all numbers become words.
"""

from dataclasses import replace
from typing import Any

import numpy as np

from ..base.arrays import Words, as_words
from ..base.errors import InvalidInput
from ..network.config import NetworkConfig
from ..run.run import Prediction
from ..run.trace import HEAD_MARK
from .combine import NOTED, NOTES, combine_noted, operator_columns


class MovedWords:
    """The words of a run as its loop moves them: numbers of wide words, all others themselves.

    ``memory`` has the message memories before the run; a run combines at most ``combinations``
    words. All words that equal ``damaged`` have one number. Raises :class:`InvalidInput` for
    memories whose words the network cannot hold.

    Attributes
    ----------
    memory
        The memories for the loop, shape (nodes, message words).
    operators
        The loop's :class:`.NotingOperators`, by the names of their fields.
    damaged
        What the loop moves for ``damaged``; 0 if it is None.

    """

    memory: Words
    operators: dict[str, Any]
    damaged: int

    def __init__(
        self, config: NetworkConfig, memory: Words, combinations: int, damaged: int | None = None
    ) -> None:
        _require_memory(config, memory)
        self._config, self._given = config, memory
        self._columns = columns = operator_columns(config)
        self.memory, self.damaged, self._origins, rows = memory, damaged or 0, 0, 1
        if config.further_pieces:
            columns = columns._replace(operators=np.full_like(columns.operators, NOTED))
            nodes, places, _ = memory.shape
            self._origins = nodes * places
            self.memory = np.arange(1, 1 + self._origins, dtype=np.uint64).reshape(nodes, places)
            if damaged is not None:
                self.damaged = self._number_of(as_words([damaged], config.pieces))
            rows += self._origins + combinations
        self._notes = np.empty((rows, NOTES), dtype=np.uint64)
        self.operators = {**columns._asdict(), "notes": self._notes}
        self.forget()

    def _number_of(self, word: Words) -> int:
        """Give all equal words in the memories one number, and return it."""
        equal = (self._given == word).all(axis=-1)
        number = int(self.memory[equal].min(initial=1 + self._origins))
        self.memory[equal] = number
        return number

    def forget(self) -> None:
        """Let the loop begin anew."""
        self._notes[0, 0] = 1 + self._origins

    def restored(self, run: Prediction) -> Prediction:
        """Return the run that the loop has made, with the words of the network."""
        if not self._config.further_pieces:
            return run
        words = self._words()
        header = run.trace.kind & HEAD_MARK != 0
        # ``take`` needs half the time of an index, but no unsigned numbers.
        data = words.take(np.where(header, 0, run.trace.data).view(np.int64), axis=0)
        data[header, 0] = run.trace.data[header]
        memory = words.take(run.memory.view(np.int64), axis=0)
        return replace(run, memory=memory, trace=replace(run.trace, data=data))

    def _words(self) -> Words:
        """Return the word of each number, shape (numbers, pieces)."""
        first, count = 1 + self._origins, int(self._notes[0, 0])
        words = np.empty((count, self._config.pieces), dtype=np.uint64)
        words[0], words[1:first] = 0, self._given.reshape(self._origins, -1)
        combine_noted(self._columns, self._notes[first:count], words)
        return words


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
