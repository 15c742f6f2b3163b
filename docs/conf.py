"""What makes pages of the Markdown files in this folder and of docstrings: see ``make docs``."""

from __future__ import annotations

from typing import Generic, TypeVar

import numpy.typing
from sphinx.application import Sphinx

Item = TypeVar("Item")


class NDArray(Generic[Item]):
    """Stands for NumPy's alias, which would be shown as what it is short for, two lines long."""


NDArray.__module__ = "numpy.typing"
numpy.typing.NDArray = NDArray  # type: ignore[assignment,misc]

import eyecast  # noqa: E402 - its annotations are to use the class above

project = "Eyecast"
version = release = eyecast.__version__
html_title = f"Eyecast {version}"
html_theme = "furo"
html_copy_source = False
html_show_copyright = False

extensions = ["myst_parser", "sphinx.ext.autodoc", "sphinx.ext.autosummary", "sphinx_click"]

# As code hosts name the anchors of headings.
myst_heading_anchors = 3
# Drawings and tables of the pages are indented, and code names its language.
highlight_language = "text"

autosummary_generate = False
autodoc_member_order = "bysource"
autodoc_preserve_defaults = True
maximum_signature_line_length = 88
python_use_unqualified_type_names = True

# Names of others: what they document would have to be fetched when the pages are built.
# The type of a node is an alias, which has no class to lead to.
nitpick_ignore = [("py:class", "Node")]
nitpick_ignore_regex = [("py:.*", r"(collections|numpy|pathlib)\..*")]


def setup(app: Sphinx) -> None:
    """Build the page of commands each time: nothing tells when a command has changed."""
    app.connect("env-get-outdated", lambda *_: ["reference/commands"])
