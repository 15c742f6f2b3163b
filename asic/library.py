"""Libraries of standard cells, as Liberty files: the few facts that the flow needs."""

import math
import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from itertools import product
from pathlib import Path

from ..model.base.errors import InvalidInput

OSU018 = Path("/usr/share/qflow/tech/osu018/osu018_stdcells.lib")
"""The library of Oklahoma State University for 0.18 µm, where Debian's package puts it."""
PACKAGE_OF_OSU018 = "qflow-tech-osu018"

_CELL = re.compile(r"^\s*cell\s*\(\s*\"?(\w+)\"?\s*\)\s*\{", re.MULTILINE)
_PIN = re.compile(r"^\s*pin\s*\(\s*\"?(\w+)\"?\s*\)\s*\{", re.MULTILINE)
_NUMBER = r"\+?((?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?)"
_AREA = re.compile(rf"^\s*area\s*:\s*\"?{_NUMBER}\"?\s*;", re.MULTILINE)
_TIME = re.compile(rf"time_unit\s*:\s*\"?{_NUMBER}(ps|ns)\"?\s*;")
_LOAD = re.compile(
    rf"capacitive_load_unit\s*\(\s*{_NUMBER}\s*,\s*\"?(ff|pf)\"?\s*\)", re.IGNORECASE
)
_SECONDS = {"ps": 1e-12, "ns": 1e-9}
_FARADS = {"ff": 1e-15, "pf": 1e-12}


@dataclass(frozen=True)
class Library:
    """A library of standard cells.

    Attributes
    ----------
    path, name
        The Liberty file, and the name in it.
    gate
        Area in µm² of the smallest NAND gate with two inputs: one gate equivalent.
    buffer
        Name of the smallest buffer, which drives every input of a part.
    time, capacitance
        The units of the file, in seconds and in farads.
    """

    path: Path
    name: str
    gate: float
    buffer: str
    time: float
    capacitance: float


def read_library(path: str | Path) -> Library:
    """Read a Liberty file. Raises :class:`.InvalidInput` if it lacks a unit, NAND2 or buffer."""
    if not Path(path).is_file():
        raise InvalidInput.of("liberty", "a file", path)
    path = Path(path).resolve()
    text = re.sub(r"/\*.*?\*/", "", path.read_text(errors="replace"), flags=re.DOTALL)
    name = re.search(r"^\s*library\s*\(\s*\"?([\w.]+)\"?\s*\)", text, re.MULTILINE)
    time, load = _TIME.search(text), _LOAD.search(text)
    gates, buffers = [], []
    for cell_name, cell in _groups(_CELL, text):
        found = _AREA.search(cell)
        values = _values(cell)
        if found and values == (1, 1, 1, 0):
            gates.append(float(found[1]))
        elif found and values == (0, 1):
            buffers.append((float(found[1]), cell_name))
    if not (name and time and load and gates and buffers):
        allowed = "a Liberty file with units, a NAND gate of two inputs and a buffer"
        raise InvalidInput.of("liberty", allowed, path)
    units = float(time[1]) * _SECONDS[time[2]], float(load[1]) * _FARADS[load[2].lower()]
    if not all(0 < number < math.inf for number in (min(gates), *units)):
        allowed = "a Liberty file whose units and areas are above 0"
        raise InvalidInput.of("liberty", allowed, path)
    return Library(path, name[1], min(gates), min(buffers)[1], *units)


def default_library() -> Path:
    """Return the path of the library of Debian; raises :class:`.InvalidInput` if it is missing."""
    if not OSU018.exists():
        raise InvalidInput.of("liberty", f"given (Debian's {PACKAGE_OF_OSU018} has one)", "missing")
    return OSU018


def _groups(begin: re.Pattern[str], text: str) -> Iterator[tuple[str, str]]:
    """Yield the name of each group and the text up to the next group."""
    parts = begin.split(text)[1:]
    yield from zip(parts[::2], parts[1::2], strict=True)


def _values(cell: str) -> tuple[int | None, ...] | None:
    """Return the output of a gate with one or two inputs for every input, or None for others."""
    inputs, functions = [], []
    for pin_name, pin in _groups(_PIN, cell):
        function = re.search(r"^\s*function\s*:\s*\"([^\"]*)\"", pin, re.MULTILINE)
        if function:
            functions.append(function[1])
        else:
            inputs.append(pin_name)
    if len(functions) != 1 or len(inputs) not in (1, 2):
        return None
    return tuple(
        value_of(functions[0], dict(zip(inputs, bits, strict=True)))
        for bits in product("01", repeat=len(inputs))
    )


_MOST_CHARACTERS = 1000
"""Characters of a function that is read; a gate of two inputs needs far fewer."""
_STEPS: tuple[tuple[re.Pattern[str], Callable[..., bool]], ...] = (
    (re.compile(r"!\s*([01])"), lambda a: not a),
    (re.compile(r"([01])\s*'"), lambda a: not a),
    (re.compile(r"([01])\s*\^\s*([01])"), lambda a, b: a != b),
    (re.compile(r"([01])\s*[*&\s]\s*([01])"), lambda a, b: a and b),
    (re.compile(r"([01])\s*[+|]\s*([01])"), lambda a, b: a or b),
)
"""The operators of a function, the strongest first; a space between two values means "and"."""


def value_of(function: str, pins: Mapping[str, str]) -> int | None:
    """Return the value of a function of Liberty, or None if it is not one of these pins.

    ``pins`` has "0" or "1" for each pin.
    """
    if len(function) > _MOST_CHARACTERS:
        return None
    known = {"0": "0", "1": "1", **pins}
    text = re.sub(r"\w+", lambda word: known.get(word[0], "?"), f"({function})")
    # The innermost brackets have no brackets inside.
    while inner := re.search(r"\(([^()]*)\)", text):
        value = _without_brackets(inner[1])
        if value is None:
            return None
        text = f"{text[: inner.start()]} {value} {text[inner.end() :]}"
    return {"0": 0, "1": 1}.get(text.strip())


def _without_brackets(text: str) -> str | None:
    """Return the value of a text without brackets as "0" or "1", or None if it has none."""
    for pattern, operator in _STEPS:
        while found := pattern.search(text):
            value = operator(*(bit == "1" for bit in found.groups()))
            text = f"{text[: found.start()]} {value:d} {text[found.end() :]}"
    return text.strip() if text.strip() in ("0", "1") else None
