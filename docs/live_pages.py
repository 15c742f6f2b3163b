"""The directive ``live``: a command whose ``--report`` page is shown, to be played, in the page.

::

    ```{live} A broadcast
    eyecast predict --mesh 8x8 --source 0,0 --report broadcast.html
    ```

The command runs in ``docs/live``, which has the files that it reads, when the page is read; its
report becomes ``live/broadcast.html`` of the built pages.
"""

import html
import shlex
import subprocess
import sys
from pathlib import Path
from typing import ClassVar

from docutils import nodes
from docutils.parsers.rst import directives
from sphinx.application import Sphinx
from sphinx.util.docutils import SphinxDirective

FRAME = '<iframe class="live" src="{source}" title="{title}" style="height: {height}px"></iframe>'
STATUSES = (0, 1)
"""Exit status of a run, and of a run that is stuck."""


class LivePage(SphinxDirective):
    """A title, pixels of height, a cycle to open at, and a command that writes a report.

    A page of a lesson hides the answers until it has been played.
    """

    has_content = True
    required_arguments = 1
    final_argument_whitespace = True
    option_spec: ClassVar = {
        "height": directives.positive_int,
        "cycle": directives.nonnegative_int,
        "lesson": directives.flag,
    }

    def run(self) -> list[nodes.Node]:
        """Run the command, and return the page in a frame with the command below it."""
        line = " ".join(self.content)
        eyecast, *words, option, name = shlex.split(line)
        if (eyecast, option) != ("eyecast", "--report"):
            raise self.error("live must be 'eyecast ... --report NAME.html'")
        folder = Path(self.env.app.outdir) / "live"
        folder.mkdir(parents=True, exist_ok=True)
        done = subprocess.run(
            [sys.executable, "-m", "eyecast", *words, option, folder / name],
            cwd=Path(self.env.srcdir) / "live",
            capture_output=True,
            text=True,
            check=False,
        )
        if done.returncode not in STATUSES or not (folder / name).is_file():
            raise self.error(f"{line}\n{done.stderr}")
        depth = self.env.docname.count("/")
        still = f"#cycle={self.options['cycle']}" if "cycle" in self.options else ""
        still = "#lesson&cycle=0" if "lesson" in self.options else still
        frame = FRAME.format(
            source=f"{'../' * depth}live/{name}{still}",
            title=html.escape(self.arguments[0]),
            height=self.options.get("height", 760),
        )
        shown = " \\\n    ".join(self.content)
        return [nodes.raw("", frame, format="html"), nodes.literal_block(shown, shown)]


def setup(app: Sphinx) -> dict[str, bool]:
    """Add the directive."""
    app.add_directive("live", LivePage)
    return {"parallel_read_safe": True}
