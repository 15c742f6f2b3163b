"""Building blocks of options: numbers, groups of options, and typed options.

This folder turns option texts into values. A refusal is one line with the option, the allowed
values and the given value.
"""

import math
import re
from collections.abc import Callable, Iterable, Sequence
from functools import wraps
from inspect import signature
from typing import Any

import click
from click.core import ParameterSource
from click.shell_completion import CompletionItem

from ...model.base.errors import InvalidInput

Decorator = Callable[[Callable[..., Any]], Callable[..., Any]]
"""Decorator of a command's function that adds options."""


Completion = Callable[[click.Context, click.Parameter, str], list[Any]]
"""Function that lists the shell's completions of a value."""


def complete_files(_context: click.Context, _option: click.Parameter, begun: str) -> list[Any]:
    """Complete a value to the name of a file or folder."""
    return [CompletionItem(begun, type="file")]


def complete_words(words: Iterable[str]) -> Completion:
    """Complete a value to one of ``words``."""
    return lambda _context, _option, begun: [word for word in words if word.startswith(begun)]


def option_group(*options: Decorator, heading: str = "") -> Decorator:
    """Join options into one decorator, in the order of the help.

    Options without a heading get ``heading``.
    """

    def decorate(command: Callable[..., Any]) -> Callable[..., Any]:
        before = len(getattr(command, _PARAMETERS, ()))
        for option in reversed(options):
            command = option(command)
        for parameter in getattr(command, _PARAMETERS)[before:]:
            if heading and not hasattr(parameter, _HEADING):
                setattr(parameter, _HEADING, heading)
        return command

    return decorate


def recorded(
    argument: str,
    make: Callable[..., Any],
    *options: Decorator,
    heading: str = "",
    names: Sequence[str] = (),
) -> Decorator:
    """Return options whose values a command receives as one record, in ``argument``.

    ``make`` makes the record from the values that its parameters name, or from those in ``names``.
    It may have defaults for options that are not in the group.
    """
    taken = names or tuple(signature(make).parameters)

    def decorate(command: Callable[..., Any]) -> Callable[..., Any]:
        @wraps(command)
        def receive(**values: Any) -> Any:
            record = make(**{name: values.pop(name) for name in taken if name in values})
            return command(**values, **{argument: record})

        return option_group(*options, heading=heading)(receive)

    return decorate


_PARAMETERS = "__click_params__"
"""Attribute in which click collects the options of a function."""

_HEADING = "help_heading"


def heading_of(parameter: click.Parameter) -> str:
    """Return the heading of an option in the help."""
    return getattr(parameter, _HEADING, "Options")


def given_once(_context: click.Context, option: click.Parameter, values: Any) -> str | None:
    """Return the one value of an option; refuse several."""
    if len(values) > 1:
        raise InvalidInput.of(option.opts[0], "given once", " and ".join(values))
    return values[0] if values else None


def option_names(*options: Decorator) -> tuple[str, ...]:
    """Return the names of options, or of groups of options, as they are typed."""
    command = click.command(option_group(*options)(lambda: None))
    return tuple(parameter.opts[0] for parameter in command.params)


def file_option(*names: str, metavar: str = "FILE", **settings: Any) -> Decorator:
    """Return an option for a file or folder, whose name the shell completes."""
    return click.option(*names, metavar=metavar, shell_complete=complete_files, **settings)


def integer_option(
    name: str, default: int | None, text: str, metavar: str = "INTEGER"
) -> Decorator:
    """Return an option for an integer; its value is None if not given and without a default."""
    return _number_option(name, default, text, _integer, "an integer", metavar)


def float_option(name: str, default: float, text: str) -> Decorator:
    """Return an option for a number."""
    return _number_option(name, default, text, _float, "a number", "NUMBER")


def _integer(value: Any) -> int:
    """Read an integer of ASCII digits; Python's int would accept underscores and other scripts."""
    if not re.fullmatch("[+-]?[0-9]+", str(value)):
        raise ValueError
    return int(value)


def _float(value: Any) -> float:
    if not re.fullmatch("[-+.0-9A-Za-z]+", str(value)):
        raise ValueError
    return float(value)


def _number_option(
    name: str,
    default: float | None,
    text: str,
    convert: Callable[[Any], float],
    allowed: str,
    metavar: str,
) -> Decorator:
    """Return an option that ``convert`` turns into a number; refuse anything else."""

    def number(_context: click.Context, parameter: click.Parameter, value: Any) -> float | None:
        if value is None:
            return None
        try:
            given = convert(value)
        except ValueError:
            given = math.nan
        if not abs(given) < math.inf:
            raise InvalidInput.of(parameter.opts[0], allowed, repr(value))
        return given

    return click.option(
        name,
        type=click.UNPROCESSED,
        callback=number,
        metavar=metavar,
        default=default,
        show_default=True,
        help=text,
    )


_SPELLED_ALIKE = (
    # of a task, of runs and files
    *("source", "words", "ports", "packet", "order", "partial", "operator", "block_words"),
    *("clock", "collective", "names", "number", "pattern", "policy", "prefix", "rate", "timing"),
    # of a network
    *("vcs", "depth", "flit_width", "message_words", "table_words", "link_registers"),
    *("barrier_registers", "steps", "timed_rows", "signature", "contention_free", "programs"),
    *("tile_ports", "parity", "operators", "streams", "circuits"),
)

OPTIONS = {name: f"--{name.replace('_', '-')}" for name in _SPELLED_ALIKE} | {
    "targets": "--target",
    "groups": "--group",
    "hotspots": "--hotspot",
}
"""Options of the parameters that errors name (a test compares the names)."""

_MISSING = {
    "source": "a source must be given, such as --source 0,0",
    "targets": "a target must be given with multicast, such as --target 1,0",
}


def in_options(error: InvalidInput) -> str:
    """Return the error as one line with option names instead of parameter names."""
    if error.allowed == "given" and error.parameter in _MISSING:
        return _MISSING[error.parameter]
    return error.spelled(
        lambda name, setting: " ".join(filter(None, (OPTIONS.get(_key(name), name), setting)))
    )


def _key(parameter: str) -> str:
    """Return the name in Python of a parameter, which an error may write as "flit width"."""
    return parameter.replace(" ", "_")


def refuse_beside(option: str, others: Sequence[str], why: str = "the file has it already") -> None:
    """Refuse those of ``others`` that were typed together with ``option``."""
    for parameter in click.get_current_context().command.params:
        if parameter.opts[0] in others and was_typed(str(parameter.name)):
            raise InvalidInput(f"{parameter.opts[0]} must be left out with {option}: {why}")


def was_typed(parameter: str) -> bool:
    """Return whether an option was typed on the command line."""
    source = click.get_current_context().get_parameter_source(parameter)
    return source is ParameterSource.COMMANDLINE
