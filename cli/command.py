"""Commands whose help shows options in groups, and examples."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import click

from .options.values import heading_of


class Command(click.Command):
    """A command with examples: lines that can be typed, such as ``eyecast cache --json``."""

    def __init__(self, *arguments: Any, examples: tuple[str, ...] = (), **settings: Any) -> None:
        super().__init__(*arguments, **settings)
        self.examples = examples

    def options_by_heading(self, ctx: click.Context) -> dict[str, list[tuple[str, str]]]:
        """Return each option as it is typed, with its help text, below the options' headings."""
        sections: dict[str, list[tuple[str, str]]] = {}
        for parameter in self.get_params(ctx):
            record = parameter.get_help_record(ctx)
            if record is not None:
                sections.setdefault(heading_of(parameter), []).append(record)
        # The options that every command has come last.
        sections["Options"] = sections.pop("Options", [])
        return sections

    def format_options(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Write a section for each heading, in the order of the options."""
        for heading, records in self.options_by_heading(ctx).items():
            with formatter.section(heading):
                formatter.write_dl(records)

    def format_epilog(self, _ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Write the examples, each in a line of its own."""
        with formatter.section("Examples"):
            for example in self.examples:
                formatter.write(f"{'':{formatter.current_indent}}{example}\n")


def command(name: str, *examples: str) -> Callable[[Callable[..., Any]], Command]:
    """Make a :class:`Command` of a function, with lines that its help shows as examples."""
    return click.command(name, cls=Command, examples=examples)
