"""The options that say where results go, and the files that they name."""

from __future__ import annotations

import os
import sys
from collections.abc import Sequence
from contextlib import redirect_stdout, suppress
from pathlib import Path

import click

from ...model.base.errors import InvalidInput
from ...model.base.files import is_standard_output, require_writable
from ...model.network.topology import Topology
from .values import Decorator, complete_files, option_group

json_option = option_group(
    click.option("--json", "as_json", is_flag=True, help="Print the result as JSON."),
    heading="Output",
)


def output_option(what: str, metavar: str = "FILE") -> Decorator:
    """``-o``: where to write what the command makes."""
    option = click.option(
        *("-o", "--output"),
        metavar=metavar,
        shell_complete=complete_files,
        help=f"Write {what} here.",
    )
    return option_group(option, heading="Output")


report_option = option_group(
    click.option(
        "--report",
        metavar="FILE",
        shell_complete=complete_files,
        help="Write a page to watch it with a browser (HTML) here.",
    ),
    heading="Output",
)


def require_seen(report: str | None, topology: Topology) -> None:
    """Refuse a page ``report`` that is no page, or of a network that is too large to be seen."""
    if report is not None:
        page = Path(report)
        # What is there and is no file, such as standard output, is for require_output_files.
        if page.suffix.lower() not in (".html", ".htm") and (page.is_file() or not page.exists()):
            raise InvalidInput.of(f"suffix of page {report}", ".html", page.suffix or "missing")
        from ...picture.places import Places

        Places.of(topology.without_faults or topology)


def output_paths(output: str | None, *names: str, report: str | None = None) -> list[Path]:
    """The files of these names in a folder, which is made; none if no folder was asked for.

    What cannot be written is refused now rather than after the run, and so is a page ``report``.
    """
    if output is None:
        require_output_files(report)
        return []
    folder = Path(output)
    if folder.exists() and not folder.is_dir():
        raise InvalidInput.of(f"output folder {folder}", "a folder", "a file")
    made = [path for path in (folder, *folder.parents) if not path.exists()]
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        refusal = f"refused ({error.strerror})"
        raise InvalidInput.of(f"output folder {folder}", "writable", refusal) from error
    click.get_current_context().call_on_close(lambda: _remove_empty(made))
    paths = [folder / name for name in names]
    require_output_files(*paths, report)
    return paths


def _remove_empty(folders: Sequence[Path]) -> None:
    """Remove folders, the innermost first, in which nothing was written after all."""
    with suppress(OSError):
        for folder in folders:
            folder.rmdir()


_INPUT_FILES = {
    "graph": "--graph",
    "schedule_file": "--schedule",
    "program_file": "--program",
    "traffic_file": "--traffic-file",
    "block_words": "--block-words",
    "group": "--group",
    "from_file": "FROM",
}
"""Parameters that name files that are read, and the words for them."""


def require_no_picture(output: str | None) -> None:
    """Refuse the name of a picture for what a command writes as JSON."""
    if output is not None and Path(output).suffix.lower() in (".svg", ".png"):
        allowed = "a file for JSON, as eyecast show draws pictures"
        raise InvalidInput.of("-o", allowed, output)


def require_output_files(*outputs: str | Path | None) -> None:
    """Refuse, before there is any work, output files that cannot be written or are also read.

    None is a file that was not asked for. Where one is standard output, what is printed goes to
    standard error, so that the file is alone.
    """
    context = click.get_current_context()
    if any(output is not None and is_standard_output(output) for output in outputs):
        context.with_resource(redirect_stdout(sys.stderr))
    taken = {
        os.path.realpath(context.params[name]): words
        for name, words in _INPUT_FILES.items()
        if isinstance(context.params.get(name), str)
    }
    for output in outputs:
        if output is not None:
            require_writable(output)
            path = os.path.realpath(output)
            if path in taken:
                raise InvalidInput(f"output file {output} must be another file than {taken[path]}")
            taken[path] = "the first output"
