"""The names of what a picture draws."""

import re
import xml.etree.ElementTree as ET
from pathlib import Path


def ids(path: Path, pattern: str) -> list[str]:
    """Return the ids in an SVG file that match ``pattern``, in order of the file."""
    parts = ET.parse(path).iter()
    return [name for part in parts if re.fullmatch(pattern, name := part.get("id", ""))]


def numbers(path: Path, kind: str) -> list[int]:
    """Return the numbers n of the ids ``kind-n`` of an SVG file, in order."""
    return sorted(int(name.removeprefix(f"{kind}-")) for name in ids(path, rf"{kind}-\d+"))
