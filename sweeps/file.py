"""Sweep files: grids of parameters, in TOML.

::

    format = "eyecast-sweep"
    version = 1

    [[grid]]
    kind = "collective"
    network = ["mesh 8x8", "torus 8x8"]
    algorithm = ["eye", "u-mesh"]
    source = "0,0"
    flits = [1, 16, 256]
    timing = ["barrier", "self-timed"]

Each grid is one of the kinds of :data:`.layout.FIELDS`; :mod:`.checks` says what its values may be.
"""

from __future__ import annotations

import tomllib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import prod
from pathlib import Path
from typing import Any

import msgspec

from ..model.base.errors import InvalidInput
from ..model.base.files import STANDARD_INPUT, input_name, read_input
from ..model.base.json_file import place_first
from .layout import FIELDS, Header, Span, SweepLayout

FORMAT, VERSION = "eyecast-sweep", 1
LARGEST_FILE = 1 << 20
"""Bytes of a sweep file: people write them."""


@dataclass(frozen=True)
class Grid:
    """A grid of points: for each key the values that are crossed.

    ``place`` is where it stands in its file, such as "grid[0]".
    """

    kind: str
    place: str
    axes: dict[str, Sequence[Any]]

    @property
    def count(self) -> int:
        """Count the points, before algorithms are listed and points that stand twice are found."""
        return prod(map(len, self.axes.values()))


def read_sweep(path: str | Path) -> list[Grid]:
    """Read a sweep file.

    Raises :class:`.InvalidInput` with one line that names the file, the key and what is allowed.
    """
    name, text = input_name(path), read_input(path)
    try:
        if len(text) > LARGEST_FILE:
            raise InvalidInput.of("bytes", f"at most {LARGEST_FILE}", len(text))
        return grids_of(tomllib.loads(text.decode()))
    except InvalidInput as error:
        raise InvalidInput(f"{name}: {error}") from error
    except UnicodeDecodeError as error:
        raise InvalidInput(f"{name}: must be UTF-8: {error.reason}") from error
    except tomllib.TOMLDecodeError as error:
        raise InvalidInput(f"{name}: must be TOML: {error}") from error
    except RecursionError as error:
        raise InvalidInput(f"{name}: must be TOML that nests less deeply") from error


def grids_of(description: Mapping[str, Any]) -> list[Grid]:
    """Read grids from what a sweep file holds.

    Raises :class:`.InvalidInput` with one line that names the key and what is allowed.
    """
    try:
        header = msgspec.convert(description, Header)
        if header.format != FORMAT:
            raise InvalidInput.of("format", FORMAT, repr(header.format))
        if header.version != VERSION:
            raise InvalidInput.of("version", str(VERSION), header.version)
        sweep: Any = msgspec.convert(description, SweepLayout)
    except msgspec.ValidationError as error:
        raise InvalidInput(place_first(error)) from error
    return [_grid(grid, f"grid[{number}]") for number, grid in enumerate(sweep.grid)]


def folder_of(path: str | Path) -> Path:
    """The folder in which the files lie that a sweep file names."""
    return Path() if str(path) == STANDARD_INPUT else Path(path).parent


def _grid(grid: msgspec.Struct, place: str) -> Grid:
    kind = type(grid).__name__
    axes = {name: _values(name, getattr(grid, name), place) for name, *_ in FIELDS[kind]}
    return Grid(kind, place, axes)


def _values(name: str, value: Any, place: str) -> Sequence[Any]:
    """The values of a key that are crossed; seeds of one estimate are one value together."""
    listed = value.values() if isinstance(value, Span) else value
    if isinstance(value, Span) and not listed:
        raise InvalidInput.of(f"{place}.{name}.last", f"at least {value.first}", value.last)
    if name == "seeds":
        return (listed,)
    if isinstance(listed, range):
        return listed
    return tuple(listed) if isinstance(listed, list) else (listed,)
