"""Templates of a package's files."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

TEMPLATES = Path(__file__).with_name("templates")


def filled(template: str, values: Mapping[str, object]) -> str:
    """Text of a template with each value in place of its name, which stands as ``@NAME@``."""
    text = (TEMPLATES / template).read_text()
    for name, value in values.items():
        text = text.replace(f"@{name}@", str(value))
    return text
