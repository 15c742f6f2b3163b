"""JSON files: what goes wrong when one is read, as one line with the file and the place in it."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TypeVar

import msgspec

from .errors import InvalidInput

_Object = TypeVar("_Object", bound=msgspec.Struct)


class _Header(msgspec.Struct):
    format: str
    version: int


@contextmanager
def reading_json(path: str | Path) -> Iterator[None]:
    """Turn what reading and decoding the file ``path`` raises into :class:`InvalidInput`."""
    try:
        yield
    except OSError as error:
        raise InvalidInput(f"{path}: cannot be read: {error.strerror}") from error
    except UnicodeDecodeError as error:
        raise InvalidInput(f"{path}: must be UTF-8: {error.reason}") from error
    except RecursionError as error:
        raise InvalidInput(f"{path}: must be JSON that nests less deeply") from error
    except msgspec.DecodeError as error:
        raise InvalidInput(f"{path}: {place_first(error)}") from error


def place_first(error: msgspec.DecodeError, within: str = "") -> str:
    """Put the place in front of the complaint: "sends[0].step: Expected int >= 1"."""
    complaint, _, place = str(error).replace("`", "").partition(" - at $")
    place = f"{within}{place}".removeprefix(".")
    return f"{place}: {complaint}" if place else complaint


def read_json(path: str | Path, format_name: str, version: int, layout: type[_Object]) -> _Object:
    """Read the object in the JSON file ``path``, of a given format, version and layout.

    Raises :class:`InvalidInput` with one line that names the file, the place in it and what is
    allowed there.
    """
    with reading_json(path):
        text = Path(path).read_bytes()
        header = msgspec.json.decode(text, type=_Header)
        if header.format != format_name:
            raise InvalidInput.of(f"{path}: format", format_name, header.format)
        if header.version != version:
            raise InvalidInput.of(f"{path}: version", str(version), header.version)
        return msgspec.json.decode(text, type=layout)
