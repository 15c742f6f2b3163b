"""Results of accesses to an engine behind a bus, by docs/router.md, sections 16 and 21.

This module shares nothing with the hardware: it is given a few numbers of a network and computes
the rest. The engine is idle, or its last program has run to the end.
"""

import random
from collections import defaultdict
from dataclasses import dataclass, field
from typing import NamedTuple

CONTROLLER, STATUS, MESSAGE, TABLE = range(4)
IDENTITY, IMAGE, COMMAND, RESULT, CYCLE, QUEUED, ENABLE, REFUSED = range(8)
START, STOP, ACKNOWLEDGE = 1, 2, 3
DONE, NO_SUCH_WORD, NOT_NOW = 0, 1, 2
IDLE_STATE, DONE_STATE = 0, 3
REVISION = 1
ENTRY_WORDS = 4


class Access(NamedTuple):
    """A write of ``data``, or a read if ``data`` is None; ``strobes`` has a bit for each byte."""

    region: int
    node: int
    word: int
    data: int | None = None
    strobes: int = -1


@dataclass
class Spaces:
    """The words of an engine; None stands for any value.

    A message word has ``pieces``, a power of two of them, each a word of the bus. ``message_words``
    counts the pieces of all words, and ``kept`` has those of a word that is not whole yet.
    """

    identity: int
    nodes: int
    switches: list[int]
    word_bits: int
    message_words: int
    table_words: int
    status_words: int
    programs: int
    node_bits: int
    address_bits: int
    pieces: int = 1
    memory: dict[tuple[int, int], int | None] = field(default_factory=lambda: defaultdict(int))
    kept: dict[tuple[int, int], int] = field(default_factory=dict)
    entries: dict[int, int | None] = field(default_factory=dict)
    image: int = 0
    enable: int = 0
    refused: int = 0
    state: int = IDLE_STATE
    program: int = 0
    cycle: int = 0

    @property
    def bus_bytes(self) -> int:
        return 4 if self.word_bits == 32 else 8

    def byte_address(self, access: Access) -> int:
        """Return a word's byte address by the formula of section 21."""
        place = (access.region * 2**self.node_bits + access.node) * 2**self.address_bits
        return (place + access.word) * self.bus_bytes

    def carry_out(self, access: Access) -> tuple[int | None, int]:
        """Return the word read (0 for a write) and the refusal; a refusal changes nothing."""
        whole = (1 << self.bus_bytes) - 1
        strobes = access.strobes & whole
        if access.data is not None and strobes != whole:
            answer: tuple[int | None, int] = 0, NO_SUCH_WORD if strobes else DONE
        else:
            answer = self._whole(access)
        if answer[1]:
            self.refused = self.byte_address(access) | answer[1]
        return answer

    def _whole(self, access: Access) -> tuple[int | None, int]:
        data = None if access.data is None else access.data % 2**self.word_bits
        if access[:4] == (CONTROLLER, 1, 0, None):
            return REVISION, DONE
        if not self._is_there(access):
            return 0, NO_SUCH_WORD
        node, word = access.node, access.word
        if access.region == CONTROLLER:
            if data is None:
                return self._read_controller(word)
            return 0, self._write_controller(word, data)
        if data is None:
            found = self._status if access.region == STATUS else self._message
            return found(node, word), DONE
        if access.region == MESSAGE:
            self._write_message(node, word, data)
        return 0, DONE

    def _write_message(self, node: int, address: int, piece: int) -> None:
        """Write a piece; the last one writes its word, with the pieces that the node has kept."""
        number = address % self.pieces
        self.kept[node, number] = piece
        if number == self.pieces - 1:
            for place in range(self.pieces):
                self.memory[node, address - number + place] = self.kept.get((node, place))

    def _is_there(self, access: Access) -> bool:
        """Tell whether a word exists for this access; registers are checked later."""
        sizes = (8 + ENTRY_WORDS * self.programs, self.status_words, self.message_words)
        size = (*sizes, self.table_words)[access.region]
        nodes = 1 if access.region == CONTROLLER else self.nodes
        never = {STATUS: access.data is not None, TABLE: access.data is None}
        memory = access.region in (MESSAGE, TABLE) and access.node in self.switches
        return (
            access.word < size
            and access.node < nodes
            and not memory
            and not never.get(access.region, False)
        )

    def _message(self, node: int, word: int) -> int | None:
        return self.memory[node, word]

    def _status(self, node: int, word: int) -> int | None:
        """Return a status word: a sender is in *expect* after reset; a run leaves no flag set."""
        if self.state == IDLE_STATE:
            return {0: 0, 1: 1, 2: 6}.get(word, 0) if node not in self.switches else None
        return 0 if word == 0 else None

    def _read_controller(self, word: int) -> tuple[int | None, int]:
        if word >= 8:
            return self.entries.get(word, 0 if word % ENTRY_WORDS == 1 else None), DONE
        registers = {
            IDENTITY: self.identity,
            IMAGE: self.image,
            RESULT: self.state << 8 | self.program << 12,
            CYCLE: self.cycle,
            QUEUED: 0,
            ENABLE: self.enable,
            REFUSED: self.refused,
        }
        return (registers[word], DONE) if word in registers else (0, NO_SUCH_WORD)

    def _write_controller(self, word: int, data: int) -> int:
        if word >= 8:
            self.entries[word] = data % 4 if word % ENTRY_WORDS == 2 else data
        elif word == IMAGE:
            self.image = data % 2**32
        elif word == ENABLE:
            self.enable = data % 2
        elif word == COMMAND:
            return self._command(data)
        else:
            return NO_SUCH_WORD
        return DONE

    def _command(self, data: int) -> int:
        command, program = data % 256, data // 256 % 256
        if command == START:
            return DONE if self.can_start(program) else NOT_NOW
        if command == STOP:
            self.state = IDLE_STATE
        return DONE if command in (STOP, ACKNOWLEDGE) else NO_SUCH_WORD

    def can_start(self, program: int) -> bool:
        """Tell whether the engine would accept a start."""
        if program >= self.programs or self.image != self.identity:
            return False
        first = 8 + ENTRY_WORDS * program
        base, words = self.entries.get(first) or 0, self.entries.get(first + 1) or 0
        return words > 0 and base + words <= self.table_words


def drawn(spaces: Spaces, draw: random.Random) -> Access:
    """Draw an access that starts no program; most accesses are to existing words."""
    if draw.random() < 0.03:
        program = draw.randrange(4)
        command = STOP if spaces.can_start(program) else START
        return Access(CONTROLLER, 0, COMMAND, command | program << 8)
    region = draw.choice((CONTROLLER, STATUS, MESSAGE, MESSAGE, MESSAGE, TABLE))
    node = draw.randrange(2**spaces.node_bits)
    word = draw.randrange(2**spaces.address_bits)
    if draw.random() < 0.7:
        sizes = {MESSAGE: spaces.message_words, TABLE: spaces.table_words}
        sizes |= {STATUS: spaces.status_words, CONTROLLER: 8 + ENTRY_WORDS * spaces.programs}
        node = 0 if region == CONTROLLER else draw.randrange(spaces.nodes)
        word = draw.randrange(sizes[region])
    if draw.random() < 0.5:
        return Access(region, node, word)
    data = draw.getrandbits(8 * spaces.bus_bytes)
    if (region, node) == (CONTROLLER, 0):
        data = draw.choice((data, spaces.identity, draw.randrange(4) | draw.randrange(5) << 8))
        if word == COMMAND and data % 256 == START:
            data = ACKNOWLEDGE
    return Access(region, node, word, data, -1 if draw.random() < 0.8 else some_bytes(draw))


def some_bytes(draw: random.Random) -> int:
    """Draw strobes of one to three adjacent bytes."""
    count = draw.randrange(1, 4)
    return ((1 << count) - 1) << draw.randrange(5 - count)
