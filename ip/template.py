"""Templates of a package's files."""

from collections.abc import Mapping
from pathlib import Path

TEMPLATES = Path(__file__).with_name("templates")


def filled(template: str, values: Mapping[str, object]) -> str:
    """Return the text of a template, with each ``@NAME@`` replaced by its value."""
    text = (TEMPLATES / template).read_text("utf-8")
    for name, value in values.items():
        text = text.replace(f"@{name}@", str(value))
    return text
