"""What goes wrong when a JSON file is read, as one line that names the file and the place in it."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import msgspec

from .errors import InvalidInput


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
