"""A page for each command, made of the command's own help before the pages are read.

The pages are ``reference/commands/NAME.md``. One that has not changed is not written again, so that
the second build does not read it again.
"""

import inspect
from collections.abc import Iterator
from pathlib import Path

import click
from sphinx.application import Sphinx

from eyecast.cli.command import Command
from eyecast.cli.main import COMMANDS, cli

FOLDER = Path("reference", "commands")


def write_pages(app: Sphinx) -> None:
    """Write the page of every command that has changed."""
    folder = Path(app.srcdir) / FOLDER
    folder.mkdir(exist_ok=True)
    context = click.Context(cli, info_name="eyecast")
    for name in COMMANDS:
        command = cli.get_command(context, name)
        assert isinstance(command, Command)
        page, path = "\n".join(_lines(command, context)) + "\n", folder / f"{name}.md"
        if not path.exists() or path.read_text() != page:
            path.write_text(page)
    for path in folder.glob("*.md"):
        if path.stem not in COMMANDS:
            path.unlink()


def _lines(command: Command, parent: click.Context) -> Iterator[str]:
    context = click.Context(command, info_name=command.name, parent=parent)
    yield from (f"# eyecast {command.name}", "", "```text", command.get_usage(context), "```", "")
    for paragraph in inspect.cleandoc(command.help or "").split("\n\n"):
        kept = paragraph.removeprefix("\b\n")
        yield from (paragraph, "") if kept == paragraph else ("```text", kept, "```", "")
    yield from ("## Examples", "", "```console", *(f"$ {line}" for line in command.examples))
    yield from ("```", "")
    for heading, records in command.options_by_heading(context).items():
        yield from (f"## {heading}", "", "| option | meaning |", "|---|---|")
        for option, meaning in records:
            yield "| `{}` | {} |".format(*(text.replace("|", r"\|") for text in (option, meaning)))
        yield ""


def list_commands(_app: Sphinx, page: str, source: list[str]) -> None:
    """Add to the page of commands a line for each, as ``eyecast --help`` has it."""
    if page == FOLDER.as_posix():
        link = f"- [eyecast {{0}}]({FOLDER.name}/{{0}}.md): {{1}}"
        lines = (link.format(name, line) for name, line in COMMANDS.items())
        source[0] += "\n".join(("", *lines, ""))


def setup(app: Sphinx) -> dict[str, bool]:
    """Write the pages before the sources are looked for, and list them in each build."""
    app.connect("builder-inited", write_pages)
    app.connect("source-read", list_commands)
    app.connect("env-get-outdated", lambda *_: [FOLDER.as_posix()])
    return {"parallel_read_safe": True}
