"""Settings of ``make docs``, which makes pages of the Markdown files here and of docstrings."""

import re
import sys
from pathlib import Path
from typing import Any, Generic, TypeVar

import numpy.typing
from pygments.lexers.special import TextLexer
from sphinx.application import Sphinx
from sphinx.ext.napoleon import Config, NumpyDocstring

Item = TypeVar("Item")


class NDArray(Generic[Item]):
    """Stands for NumPy's alias, which would be shown as what it is short for, two lines long."""


class ArrayLike:
    """Stands for NumPy's alias of all that becomes an array."""


for alias in (ArrayLike, NDArray):
    alias.__module__ = "numpy.typing"
    setattr(numpy.typing, alias.__name__, alias)

# Its annotations are to use the classes above.
import eyecast  # noqa: E402
from eyecast.model.collectives.registry import ALGORITHMS  # noqa: E402
from eyecast.model.network.config import PARAMETERS  # noqa: E402
from eyecast.model.schedule.collective import COLLECTIVES  # noqa: E402

sys.path.insert(0, str(Path(__file__).parent))
project = "Eyecast"
version = release = eyecast.__version__
html_title = f"Eyecast {version}"
html_theme = "furo"
html_static_path = ["static"]
html_css_files = ["pages.css"]
html_copy_source = False
# Runs of the gallery and of the lesson read these.
exclude_patterns = ["live"]
html_show_copyright = False

extensions = [
    *("myst_parser", "sphinx.ext.autodoc", "sphinx.ext.autosummary"),
    *("command_pages", "live_pages", "notebook_pages"),
    "sphinx_copybutton",
]
# A copied command has no prompt, and none of its output.
copybutton_prompt_text = "$ "
copybutton_line_continuation_character = "\\"

# As code hosts name the anchors of headings.
myst_heading_anchors = 3
# Drawings and tables of the pages are indented, and code names its language.
highlight_language = "text"
# Two hyphens begin an option.
smartquotes = False

autosummary_generate = False
autodoc_member_order = "bysource"
autodoc_preserve_defaults = True
maximum_signature_line_length = 88
python_use_unqualified_type_names = True

# Aliases of types have no class to lead to.
ALIASES = (
    "BlockWords",
    "CollectiveName",
    "Groups",
    "Hold",
    "PortModelName",
    "Node",
    "OperatorName",
)
ALIASES += ("PatternName", "PortsName", "SendLike", "TimingName")
autodoc_type_aliases = {name: name for name in ALIASES}
nitpick_ignore = [
    *(("py:class", name) for name in ALIASES),
    ("py:class", "NetworkParameters"),
    ("py:class", "AnyProgram"),
    ("py:class", "DataFrame"),
    ("py:class", "eyecast.api.annotations.Group"),
    ("py:class", "eyecast.api.annotations.NetworkParameters"),
    # Names of others that a signature has without their module.
    ("py:class", "Path"),
    ("py:class", "Figure"),
    # The compiler turns it into an InvalidInput that names the send.
    ("py:class", "eyecast.model.program.table.RowError"),
    # The network on which the programs of a group were found; a cost has it for windows.
    ("py:class", "eyecast.model.network.boxes.GroupNetwork"),
    # A file that a command has read: who calls the face has a path.
    ("py:class", "eyecast.model.base.files.InputFile"),
]
# Names of others: what they document would have to be fetched when the pages are built.
nitpick_ignore_regex = [("py:.*", r"(collections|numpy|pathlib)\..*")]


# Sphinx and Furo leave these out: levels and names for screen readers, scrolling by keys.
ADDED_ATTRIBUTES = (
    ('<p class="caption" role="heading"', 'aria-level="2"'),
    ('<aside class="sidebar-drawer"', 'aria-label="All pages"'),
    ('<div class="highlight"><pre', 'tabindex="0"'),
    ('<div class="table-wrapper colwidths-auto docutils container"', 'tabindex="0"'),
)

SECTIONS = Config(
    napoleon_use_rtype=False, napoleon_custom_sections=[("Attributes", "params_style")]
)


def setup(app: Sphinx) -> None:
    """Mend docstrings and signatures, and build the table of algorithms each time."""
    app.add_lexer("csv", TextLexer)
    app.connect("autodoc-process-docstring", add_limits)
    app.connect("autodoc-process-docstring", read_sections)
    app.connect("autodoc-process-signature", name_defaults)
    app.connect("source-read", add_algorithms)
    app.connect("env-get-outdated", lambda *_: ["reference/algorithms"])
    app.connect("build-finished", name_for_screen_readers)


def name_for_screen_readers(app: Sphinx, failed: Exception | None) -> None:
    """Add to each page the attributes of ``ADDED_ATTRIBUTES``."""
    for page in () if failed else Path(app.outdir).rglob("*.html"):
        text = page.read_text()
        for tag, attribute in ADDED_ATTRIBUTES:
            text = text.replace(f"{tag}>", f"{tag} {attribute}>")
        page.write_text(text)


def add_limits(*event: Any) -> None:
    """Add to a parameter of a network the least and the most that it may be."""
    *_, name, _, _, lines = event
    owner, _, field = name.rpartition(".")
    if owner.endswith(".NetworkConfig") and field in PARAMETERS and PARAMETERS[field].limits:
        least, most = PARAMETERS[field].limits
        lines += [f"From {least} to {most}.", ""]


def read_sections(_app: Sphinx, what: str, *event: Any) -> None:
    """Turn the sections of a docstring (Parameters, Returns) into fields.

    The extension napoleon would also take the first words of an attribute's text for its type.
    """
    lines = event[-1]
    if what in ("function", "method", "class", "exception"):
        lines[:] = NumpyDocstring(list(lines), SECTIONS, what=what).lines()


def add_algorithms(_app: Sphinx, page: str, source: list[str]) -> None:
    """Add to the page of algorithms a table for each collective, as the algorithms declare it."""
    if page != "reference/algorithms":
        return
    for collective in COLLECTIVES:
        rows = [
            (f"`{each.name}`", each.networks, ", ".join(each.ports), each.steps, each.paper)
            for each in ALGORITHMS
            if each.collective == collective
        ]
        head = ("algorithm", "networks", "ports", "steps", "paper")
        lines = [f"| {' | '.join(row)} |" for row in (head, ("---",) * len(head), *rows)]
        source[0] += "\n".join(("", f"## {collective}", "", *lines, ""))


def name_defaults(*event: Any) -> tuple[str | None, str | None]:
    """Write the default of a field that a function makes, and an alias, as Python does."""
    *_, signature, result = event
    if signature:
        signature = signature.replace("<factory>", "...")
        signature = re.sub(r"TypeAliasForwardRef\('(\w+)'\)", r"\1", signature)
    return signature, result
