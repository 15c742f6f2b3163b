"""JSON files, with errors of one line that name the file and the place in it."""

import gc
import json
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TypeVar

import msgspec

from .errors import InvalidInput
from .files import InputFile, input_name, read_input

_Built = TypeVar("_Built")
_Struct = TypeVar("_Struct", bound=msgspec.Struct)


class Header(msgspec.Struct):
    """The keys with which every file of a format begins."""

    format: str
    version: int


def read_json(path: str | Path | InputFile, build: Callable[[bytes], _Built]) -> _Built:
    """Read the JSON text in the file ``path`` and return the object that ``build`` makes from it.

    Raises :class:`InvalidInput` with one line: the file, the place in it and the allowed value.
    """
    name, text = input_name(path), read_input(path)
    try:
        with _without_collecting():
            built = build(text)
            _require_distinct_keys(text)
    except InvalidInput as error:
        raise InvalidInput(f"{name}: {error}") from error
    except RecursionError as error:
        raise InvalidInput(f"{name}: must be JSON that nests less deeply") from error
    except (UnicodeDecodeError, msgspec.DecodeError) as error:
        _require_utf8(name, text)
        raise InvalidInput(f"{name}: {place_first(error)}") from error
    return built


def decode_versioned(
    text: bytes, format_name: str, versions: tuple[int, ...], layout: type[_Struct]
) -> _Struct:
    """Decode ``text`` as ``layout``; refuse another format name or another version."""
    header = msgspec.json.decode(text, type=Header)
    if header.format != format_name:
        raise InvalidInput.of("format", format_name, header.format)
    if header.version not in versions:
        raise InvalidInput.of("version", " or ".join(map(str, versions)), header.version)
    return msgspec.json.decode(text, type=layout)


@contextmanager
def _without_collecting() -> Iterator[None]:
    """Switch the garbage collector off while millions of objects are made from a file.

    None of these objects is garbage, and searching them takes four times as long as making them.
    """
    collecting = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if collecting:
            gc.enable()


def _require_distinct_keys(text: bytes) -> None:
    """Refuse an object that has a key twice: readers differ in which value they take."""

    def look(pairs: list[tuple[str, object]]) -> None:
        keys = [key for key, _ in pairs]
        for key in keys if len(set(keys)) < len(keys) else ():
            if keys.count(key) > 1:
                raise InvalidInput.of("keys of an object", "different", f"{key!r} twice")

    # Numbers are read as floats, because Python refuses integers of too many digits.
    json.loads(text, object_pairs_hook=look, parse_int=float)


def _require_utf8(name: str, text: bytes) -> None:
    """Refuse text that is no UTF-8: releases of msgspec tell of it in different words."""
    try:
        text.decode()
    except UnicodeDecodeError as error:
        raise InvalidInput(f"{name}: must be UTF-8: {error.reason}") from error


def place_first(error: Exception, within: str = "") -> str:
    """Return the error with its place first: "sends[0].step: Expected int >= 1"."""
    complaint, _, place = str(error).replace("`", "").partition(" - at $")
    place = f"{within}{place}".removeprefix(".")
    return f"{place}: {complaint}" if place else complaint
