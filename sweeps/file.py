"""Sweep files: grids of parameters, in TOML.

::

    format = "eyecast-sweep"
    version = 1

    [[grid]]
    kind = "collective"
    network = ["mesh 8x8", "torus 8x8"]
    algorithm = ["eye", "u-mesh"]
    source = "0,0"
    words = [1, 16, 256]
    timing = ["barrier", "self-timed"]

:data:`.layout.FIELDS` has the kinds of grids; :mod:`.checks` has the limits of their values.
"""

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
from .layout import COLLECTIVE, FIELDS, Header, Span, SweepLayout

FORMAT, VERSION = "eyecast-sweep", 1
LARGEST_FILE = 1 << 20
"""Most bytes of a sweep file: people write them."""


@dataclass(frozen=True)
class Grid:
    """A grid of points: the values of each key, which are crossed.

    ``place`` is its position in the file, such as "grid[0]".
    """

    kind: str
    place: str
    axes: dict[str, Sequence[Any]]

    @property
    def count(self) -> int:
        """Number of points, before ``algorithm = "all"`` is expanded and duplicates are removed."""
        return prod(map(len, self.axes.values()))


def read_sweep(path: str | Path) -> list[Grid]:
    """Read a sweep file.

    Raises :class:`.InvalidInput`: one line with the file, the key and the allowed values.
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
    """Read grids from the content of a sweep file.

    Raises :class:`.InvalidInput`: one line with the key and the allowed values.
    """
    try:
        header = msgspec.convert(description, Header)
        if header.format != FORMAT:
            raise InvalidInput.of("format", FORMAT, repr(header.format))
        if header.version != VERSION:
            raise InvalidInput.of("version", str(VERSION), header.version)
        _refuse_old_names(description)
        sweep: Any = msgspec.convert(description, SweepLayout)
    except msgspec.ValidationError as error:
        raise InvalidInput(place_first(error)) from error
    return [_grid(grid, f"grid[{number}]") for number, grid in enumerate(sweep.grid)]


def _refuse_old_names(description: Mapping[str, Any]) -> None:
    """Raise :class:`.InvalidInput` for the name that ``words`` had in sweeps of collectives."""
    grids = description.get("grid")
    for number, grid in enumerate(grids if isinstance(grids, list) else ()):
        if isinstance(grid, Mapping) and grid.get("kind") == COLLECTIVE and "flits" in grid:
            raise InvalidInput(f"grid[{number}].flits is now called words")


def folder_of(path: str | Path) -> Path:
    """Return the folder of the files that a sweep file names."""
    return Path() if str(path) == STANDARD_INPUT else Path(path).parent


def _grid(grid: msgspec.Struct, place: str) -> Grid:
    kind = type(grid).__name__
    axes = {name: _values(name, getattr(grid, name), place) for name, *_ in FIELDS[kind]}
    return Grid(kind, place, axes)


def _values(name: str, value: Any, place: str) -> Sequence[Any]:
    """Return the values of a key that are crossed; the seeds of an estimate are one value."""
    listed = value.values() if isinstance(value, Span) else value
    if isinstance(value, Span) and not listed:
        raise InvalidInput.of(f"{place}.{name}.last", f"at least {value.first}", value.last)
    if name == "seeds":
        return (listed,)
    if isinstance(listed, range):
        return listed
    return tuple(listed) if isinstance(listed, list) else (listed,)
