"""Commands whose help has examples and groups of options."""

from collections.abc import Callable
from time import perf_counter
from typing import Any

import click

from .options.values import heading_of

BEGUN = "eyecast.begun"
"""Key of a context's ``meta``: the time at which the command began, in seconds."""


class Command(click.Command):
    """A command with examples: complete command lines such as ``eyecast cache --json``."""

    def __init__(self, *arguments: Any, examples: tuple[str, ...] = (), **settings: Any) -> None:
        super().__init__(*arguments, **settings)
        self.examples = examples

    def invoke(self, ctx: click.Context) -> Any:
        """Note the time for the ``seconds`` of ``--json``, and run the command."""
        ctx.meta[BEGUN] = perf_counter()
        return super().invoke(ctx)

    def options_by_heading(self, ctx: click.Context) -> dict[str, list[tuple[str, str]]]:
        """Return the options by heading: each as typed, with its help text."""
        sections: dict[str, list[tuple[str, str]]] = {}
        for parameter in self.get_params(ctx):
            record = parameter.get_help_record(ctx)
            if record is not None:
                sections.setdefault(heading_of(parameter), []).append(record)
        # Options without a heading, such as --help, come last.
        sections["Options"] = sections.pop("Options", [])
        return sections

    def format_options(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Write a section for each heading, in the order of the options."""
        for heading, records in self.options_by_heading(ctx).items():
            with formatter.section(heading):
                formatter.write_dl(records)

    def format_epilog(self, _ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Write each example on its own line."""
        with formatter.section("Examples"):
            for example in self.examples:
                formatter.write(f"{'':{formatter.current_indent}}{example}\n")


def command(name: str, *examples: str) -> Callable[[Callable[..., Any]], Command]:
    """Make a :class:`Command` of a function, with examples for its help."""
    return click.command(name, cls=Command, examples=examples)
