"""Readers of the image files that ``eyecast program`` writes.

An image is two files: ``NAME.csv`` has every word that a host writes, in order; ``NAME.json`` has
the network, the timing, and the words that memories hold after the run.
"""

from dataclasses import dataclass
from pathlib import Path

import msgspec
import numpy as np
import numpy.typing as npt

from ..base.errors import InvalidInput
from ..base.json_file import decode_versioned, read_json
from ..network.config import NetworkConfig, Timing
from ..network.config_file import network_from_json
from ..program.any_program import AnyProgram
from ..program.payload import empty_memory
from .host_port import Space, entry_stride
from .image import FORMAT, VERSION, table_writes

_HEADER = "node,space,address,word"


@dataclass(frozen=True, eq=False)
class ImageFile:
    """An image read from its two files.

    config
        The network that the image is for.
    writes
        Every word to be written, in order: rows (node, space, address, word).
    timing
        Timing of the steps.
    half_duplex
        True for a program whose port model is half-duplex.
    cycles
        Cycles that the run takes.
    after
        Words of the message memories after the run: (node, address, words).
    """

    config: NetworkConfig
    writes: list[tuple[int, int, int, int]]
    timing: Timing
    half_duplex: bool
    cycles: int
    after: list[tuple[int, int, list[int]]]

    @property
    def memory(self) -> npt.NDArray[np.uint64]:
        """Message memories before the run: shape (nodes, message words), and their pieces."""
        memory = empty_memory(self.config)
        by_piece = memory.reshape(*memory.shape[:2], -1)
        for node, space, address, word in self.writes:
            if space == Space.MESSAGE:
                word_of, piece = divmod(address, 1 << self.config.piece_bits)
                by_piece[node, word_of, piece] = word
        return memory

    def loads(self, program: AnyProgram) -> bool:
        """Tell whether the writes to table memories are those of ``program``."""
        tables = {write for write in self.writes if write[1] == Space.TABLE}
        base = min((address for _, _, address, _ in tables), default=0)
        if self.config.circuits:
            base //= entry_stride(self.config)
        rows = np.concatenate([*table_writes(program, base)]).tolist()
        return tables == {tuple(row) for row in rows}


class _Mode(msgspec.Struct):
    barrier: bool
    half_duplex: bool


class _Words(msgspec.Struct):
    node: int
    address: int
    words: list[str]


class _Run(msgspec.Struct):
    cycles: int
    memory: list[_Words]


class _Description(msgspec.Struct):
    network: dict[str, object]
    program: _Mode
    run: _Run


def read_image(path: str | Path) -> ImageFile:
    """Read ``path`` (CSV) and the description beside it (.json).

    Raises :class:`.InvalidInput` that names the file for one that is no image of one program.
    """
    path = Path(path)

    def build(text: bytes) -> ImageFile:
        described = decode_versioned(text, FORMAT, (VERSION,), _Description)
        config, mode, run = network_from_json(described.network), described.program, described.run
        return ImageFile(
            config=config,
            writes=_writes(path, config),
            timing=Timing.BARRIER if mode.barrier else Timing.SELF_TIMED,
            half_duplex=mode.half_duplex,
            cycles=run.cycles,
            after=[(each.node, each.address, _hexadecimal(each.words)) for each in run.memory],
        )

    return read_json(path.with_suffix(".json"), build)


def _hexadecimal(words: list[str]) -> list[int]:
    try:
        return [int(word, 16) for word in words]
    except ValueError as error:
        raise InvalidInput(f"words of memories must be hexadecimal: {error}") from error


def _writes(path: Path, config: NetworkConfig) -> list[tuple[int, int, int, int]]:
    """Read the rows of the CSV file."""
    try:
        header, *lines = path.read_text().splitlines()
    except (OSError, UnicodeDecodeError, ValueError) as error:
        raise InvalidInput.of(
            f"image {path}", "a readable CSV file", type(error).__name__
        ) from error
    if header != _HEADER:
        raise InvalidInput.of(f"{path}, line 1", _HEADER, repr(header[:80]))
    writes = []
    for number, line in enumerate(lines, 2):
        try:
            node, space, address, word = line.split(",")
            write = int(node), int(space), int(address), int(word, 16)
        except ValueError:
            raise InvalidInput.of(f"{path}, line {number}", _HEADER, repr(line[:80])) from None
        if not (0 <= write[0] < config.topology.nodes and write[2] >= 0):
            allowed = f"a write to a node from 0 to {config.topology.nodes - 1}"
            raise InvalidInput.of(f"{path}, line {number}", allowed, repr(line[:80]))
        writes.append(write)
    return writes
