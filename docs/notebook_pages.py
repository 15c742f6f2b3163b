"""A page for each notebook, with the outputs that it is kept with, made before pages are read.

The pages are ``notebooks/NAME.md``. One that has not changed is not written again.
"""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from sphinx.application import Sphinx

FOLDER = Path("notebooks")


def write_pages(app: Sphinx) -> None:
    """Write the page of every notebook that has changed."""
    folder = Path(app.srcdir) / FOLDER
    folder.mkdir(exist_ok=True)
    for path in sorted((Path(app.srcdir).parent / FOLDER).glob("*.ipynb")):
        cells = json.loads(path.read_text())["cells"]
        page, target = "\n".join(_lines(cells)), folder / f"{path.stem}.md"
        if not target.exists() or target.read_text() != page:
            target.write_text(page)


def _lines(cells: list[dict[str, Any]]) -> Iterator[str]:
    """Yield the cells as Markdown: texts, code, and the outputs below it."""
    for cell in cells:
        source = "".join(cell["source"])
        if cell["cell_type"] == "markdown":
            yield f"{source}\n"
            continue
        yield f"```python\n{source}\n```\n"
        for output in cell["outputs"]:
            yield from _output(output)


def _output(output: dict[str, Any]) -> Iterator[str]:
    """Yield one output: a stream's text, a table of HTML, or a picture."""
    data = output.get("data", {})
    if "image/png" in data:
        picture = f'<img src="data:image/png;base64,{data["image/png"].strip()}">'
        yield f"```{{raw}} html\n{picture}\n```\n"
    elif "text/html" in data:
        yield f"```{{raw}} html\n{''.join(data['text/html'])}\n```\n"
    else:
        yield f"```text\n{''.join(output.get('text', data.get('text/plain', '')))}\n```\n"


def setup(app: Sphinx) -> dict[str, bool]:
    """Write the pages before the sources are looked for."""
    app.connect("builder-inited", write_pages)
    return {"parallel_read_safe": True}
