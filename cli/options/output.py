"""Options of outputs, and the files that they name."""

import os
import sys
from collections.abc import Sequence
from contextlib import redirect_stdout, suppress
from pathlib import Path

import click

from ...model.base.errors import InvalidInput, one_of
from ...model.base.files import is_standard_output, require_writable
from ...model.network.topology import Topology
from ...picture import PICTURES
from .values import Decorator, file_option, option_group

json_option = option_group(
    click.option("--json", "as_json", is_flag=True, help="Print the result as JSON."),
    heading="Output",
)


def output_option(what: str, metavar: str = "FILE") -> Decorator:
    """Return the option ``-o``: where the command writes its result."""
    option = file_option("-o", "--output", metavar=metavar, help=f"Write {what} here.")
    return option_group(option, heading="Output")


report_option = option_group(
    file_option("--report", help="Write a page that shows the run in a browser (HTML) here."),
    heading="Output",
)


def require_seen(report: str | None, topology: Topology) -> None:
    """Refuse a report that is not .html, or a network that is too large to draw."""
    if report is not None:
        page = Path(report)
        # Leave special files, such as standard output, to require_output_files.
        if page.suffix.lower() not in (".html", ".htm") and (page.is_file() or not page.exists()):
            raise InvalidInput.of(f"suffix of page {report}", ".html", page.suffix or "missing")
        from ...picture.places import Places

        Places.of(topology.without_faults or topology)


def output_paths(output: str | None, *names: str, report: str | None = None) -> list[Path]:
    """Return the files with these names in a folder, which is created; none without a folder.

    Refuses files that cannot be written, and such a page ``report``, before the run.
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
    """Remove empty folders, the innermost first."""
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
"""Parameters that name input files, with their names in error messages."""


def require_no_picture(output: str | None) -> None:
    """Refuse a picture's name for a JSON output."""
    if output is not None and Path(output).suffix.lower() in PICTURES:
        allowed = "a file for JSON, as eyecast show draws pictures"
        raise InvalidInput.of("-o", allowed, output)


def require_output_files(*outputs: str | Path | None) -> None:
    """Refuse, before any work, output files that cannot be written or are also inputs.

    None is skipped. If an output is standard output, printed text goes to standard error.
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
        if output == "-":
            raise InvalidInput.of("output file", "a name, such as /dev/stdout", output)
        if output is not None:
            require_writable(output)
            path = os.path.realpath(output)
            if path in taken:
                raise InvalidInput(f"output file {output} must be another file than {taken[path]}")
            taken[path] = "the first output"


TIMELINES = (".perfetto.json", *PICTURES)
"""Endings of the names of timelines."""


def require_timeline(output: str | None, *others: str | None) -> None:
    """Refuse a timeline of another suffix, and outputs that cannot be written."""
    if output is not None and not output.endswith(TIMELINES):
        raise InvalidInput.of("suffix of -o", one_of(TIMELINES), repr(Path(output).suffix))
    require_output_files(output, *others)
