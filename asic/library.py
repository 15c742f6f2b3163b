"""Libraries of standard cells, as Liberty files: the few facts that the flow needs."""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import product
from pathlib import Path

from ..model.base.errors import InvalidInput

OSU018 = Path("/usr/share/qflow/tech/osu018/osu018_stdcells.lib")
"""The library of Oklahoma State University for 0.18 µm, where Debian's package puts it."""
PACKAGE_OF_OSU018 = "qflow-tech-osu018"

_CELL = re.compile(r"^\s*cell\s*\(\s*\"?(\w+)\"?\s*\)\s*\{", re.MULTILINE)
_PIN = re.compile(r"^\s*pin\s*\(\s*\"?(\w+)\"?\s*\)\s*\{", re.MULTILINE)
_EXPRESSION = re.compile(r"[\w\s~&|^()]+")
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
    time = re.search(r"time_unit\s*:\s*\"?([\d.]+)(ps|ns)", text)
    load = re.search(r"capacitive_load_unit\s*\(\s*([\d.]+)\s*,\s*\"?(ff|pf)", text, re.IGNORECASE)
    gates, buffers = [], []
    for cell_name, cell in _groups(_CELL, text):
        found = re.search(r"^\s*area\s*:\s*([\d.eE+-]+)", cell, re.MULTILINE)
        values = _values(cell)
        if found and values == (1, 1, 1, 0):
            gates.append(float(found[1]))
        elif found and values == (0, 1):
            buffers.append((float(found[1]), cell_name))
    if not (name and time and load and gates and buffers):
        allowed = "a Liberty file with units, a NAND gate of two inputs and a buffer"
        raise InvalidInput.of("liberty", allowed, path)
    return Library(
        path,
        name[1],
        min(gates),
        min(buffers)[1],
        float(time[1]) * _SECONDS[time[2]],
        float(load[1]) * _FARADS[load[2].lower()],
    )


def default_library() -> Path:
    """Return the path of the library of Debian; raises :class:`.InvalidInput` if it is missing."""
    if not OSU018.exists():
        raise InvalidInput.of("liberty", f"given (Debian's {PACKAGE_OF_OSU018} has one)", "missing")
    return OSU018


def _groups(begin: re.Pattern[str], text: str) -> Iterator[tuple[str, str]]:
    """Yield the name of each group and the text up to the next group."""
    parts = begin.split(text)[1:]
    yield from zip(parts[::2], parts[1::2], strict=True)


def _values(cell: str) -> tuple[int, ...] | None:
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
    operators = str.maketrans({"!": "~", "*": "&", "+": "|"})
    text = re.sub(r"([\w)])\s+(?=[\w(~])", r"\1&", functions[0].translate(operators).strip())
    names = set(re.findall(r"\w+", text))
    if not _EXPRESSION.fullmatch(text) or not names <= set(inputs):
        return None
    return tuple(
        # Only names of pins, operators of bits and brackets are left.
        eval(text, {"__builtins__": {}}, dict(zip(inputs, bits, strict=True))) & 1
        for bits in product((0, 1), repeat=len(inputs))
    )
