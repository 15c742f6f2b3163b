"""Objects that show themselves in a notebook; the Python interface says how (`api/notebook.py`)."""

from collections.abc import Callable
from typing import Any

PAGES: dict[str, Callable[[Any], str | None]] = {}
"""Functions that return an object as HTML, by the name of its class or of a base class.

Pictures need folders above the model, so these functions are not methods.
"""


class ShowsItself:
    """An object that a notebook shows as HTML, if ``eyecast`` was imported there."""

    def _repr_html_(self) -> str | None:
        """Return the object as HTML; None leaves it to its repr."""
        names = (kind.__name__ for kind in type(self).__mro__)
        page = next((PAGES[name] for name in names if name in PAGES), None)
        return None if page is None else page(self)
