"""The page as a file: template, styles, script, and the packed data.

A page loads nothing from elsewhere: its policy allows only its own scripts and style, by their
digests. A first script unpacks the other one, which takes a third of its space. Texts from files
are only in the packed data and in the title, where they are escaped.
"""

import base64
import hashlib
import html
import os
import re
import zlib
from collections.abc import Iterable, Mapping
from functools import cache
from importlib.resources import files
from pathlib import Path

from ..model.base.errors import printable
from ..model.base.files import write_atomically

_SHARED = ("packed.js", "run.js", "view.js", "drawing.js", "colors.js", "player.js", "words.js")
"""Parts of the script of a page and of a player."""

SCRIPTS = (*_SHARED, "plots.js", "lanes.js", "tables.js", "panels.js", "main.js")
"""Parts of the page's one script, in their order."""

CIRCUITS = "circuits.js"
"""The part that only runs on circuits need; it comes first."""


def write_page(path: str | Path, title: str, data: str, *, circuits: bool = False) -> None:
    """Write the page of packed ``data``, whole or not at all; ``circuits`` if its runs are."""
    docs = _docs_from(Path(path))
    write_atomically(path, page_text(title, data, docs, circuits=circuits))


def _docs_from(page: Path) -> str | None:
    """Return the address of the built docs from a page inside the source tree, else None."""
    root = Path(__file__).resolve().parents[1]
    docs, folder = root / "build" / "docs" / "html", page.resolve().parent
    near = folder.is_relative_to(docs) or (
        folder.is_relative_to(root) and (docs / "lesson.html").is_file()
    )
    return Path(os.path.relpath(docs, folder)).as_posix() if near else None


def page_text(title: str, data: str, docs: str | None = None, *, circuits: bool = False) -> str:
    """Return the text of the page, with links into the docs at the address ``docs``, if any."""
    body = {"docs": _docs_text(docs), "controls": _part("controls.html")}
    return _document(title, data, _filled(_part("page.html"), body), SCRIPTS, circuits)


def player_text(title: str, data: str, *, circuits: bool = False) -> str:
    """Return the text of a small page for a notebook: the network and its time alone."""
    body = _filled(_part("player.html"), {"controls": _part("controls.html")})
    return _document(title, data, body, (*_SHARED, "embedded.js"), circuits)


def _document(title: str, data: str, body: str, scripts: tuple[str, ...], circuits: bool) -> str:
    """Return the text of an HTML document that shows packed data."""
    parts = {"title": html.escape(printable(title)), "body": body, "data": data}
    return _filled(_part("document.html"), {**parts, **_program((CIRCUITS,) * circuits + scripts)})


@cache
def _program(scripts: tuple[str, ...]) -> Mapping[str, str]:
    """Return the styles, the scripts and their policy, which are the same in every page."""
    styles, first = _part("page.css"), _part("unpack.js")
    script = "\n".join(map(_part, scripts))
    code = base64.b64encode(zlib.compress(script.encode(), 9)).decode()
    policy = _policy([first, script], styles)
    return {"styles": styles, "script": first, "code": code, "policy": policy}


_COMMENT = ("//", "/**", "* ", "*/")
"""Beginnings of the lines of comments, in our scripts."""


@cache
def _part(name: str) -> str:
    """Return a file without indentation, a script without comments, a style sheet tight."""
    text = (files(__package__) / "page" / name).read_text("utf-8")
    lines: Iterable[str] = map(str.strip, text.splitlines())
    if name.endswith(".js"):
        lines = (line for line in lines if line != "*" and not line.startswith(_COMMENT))
    text = "\n".join(lines)
    return re.sub(r" ?([{}]) ?|([:;,]) ", r"\1\2", text) if name.endswith(".css") else text


_DOCS = {
    "Wormholes in fifteen minutes": "lesson",
    "Watch a run": "guides/watch",
    "Words": "words",
}
"""Pages of the docs: a lesson, a guide to the page of a run, and all terms."""


def _docs_text(docs: str | None) -> str:
    """Return the sentence that names pages of the docs, with links if their address is known."""
    sources, named = Path(__file__).resolve().parents[1] / "docs", []
    for name, page in _DOCS.items():
        # An installed package has no docs.
        file = f" (docs/{page}.md)" if (sources / f"{page}.md").is_file() else ""
        link = f'<a href="{docs}/{page}.html">{name}</a>'
        named.append(f"<cite>{name}</cite>{file}" if docs is None else link)
    text = "More in the docs of Eyecast: {}, a lesson; {}, a guide to this page; {}, all terms."
    return text.format(*named)


def _filled(template: str, parts: Mapping[str, str]) -> str:
    """Return the template with each ``{{name}}`` replaced by its part, all at once."""
    return re.sub(r"\{\{(\w+)\}\}", lambda place: parts[place[1]], template)


def _policy(scripts: Iterable[str], styles: str) -> str:
    """Return the content security policy: only the page's own scripts and styles."""
    allowed = " ".join(map(_digest, scripts))
    return (
        f"default-src 'none'; script-src {allowed}; style-src {_digest(styles)}; "
        "base-uri 'none'; form-action 'none'"
    )


def _digest(text: str) -> str:
    digest = base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()
    return f"'sha256-{digest}'"
