"""``eyecast cache``: the content of the cache, and options to remove it."""

from __future__ import annotations

from datetime import datetime
from typing import TYPE_CHECKING

import click

from ..model.base.errors import InvalidInput, require_range
from .command import command
from .console import print_json, print_table, say
from .options.output import json_option
from .options.values import integer_option

if TYPE_CHECKING:
    from ..sim.cache_list import KeptResult

MOST_DAYS = 100_000


@command(
    "cache",
    "eyecast cache",
    "eyecast cache --clear-unused 30",
)
@click.option("--clear", is_flag=True, help="Remove every kept result that no process is building.")
@integer_option(
    "--clear-unused",
    None,
    "Remove kept results that were not used for this many days.",
    metavar="DAYS",
)
@json_option
def cache_command(clear: bool, clear_unused: int | None, as_json: bool) -> None:
    """List the cached results (simulators, netlists, bitstreams), or remove them.

    Eyecast builds removed results again when it needs them. The environment variable EYECAST_CACHE
    names another folder for them.
    """
    from ..sim.cache import cache_folder
    from ..sim.cache_list import clear_cache, list_cache

    if clear and clear_unused is not None:
        raise InvalidInput("--clear must be without --clear-unused")
    if clear_unused is not None:
        require_range("--clear-unused", clear_unused, 0, MOST_DAYS)
    home = cache_folder()
    clearing = clear or clear_unused is not None
    entries = clear_cache(home, unused_days=clear_unused or 0) if clearing else list_cache(home)
    if as_json:
        listed = "removed" if clearing else "entries"
        print_json({"folder": str(home), listed: [entry.to_json() for entry in entries]})
        return
    total = _size(sum(entry.size for entry in entries))
    count = f"{len(entries)} {'entry' if len(entries) == 1 else 'entries'}, {total}"
    if clearing:
        say(f"removed from {home}: {count}")
    elif not entries:
        say(f"nothing is kept in {home}")
    else:
        _print_entries(f"{home}: {count}", entries)


def _print_entries(title: str, entries: list[KeptResult]) -> None:
    rows = [
        (entry.what, _size(entry.size), f"{datetime.fromtimestamp(entry.used):%Y-%m-%d %H:%M}")
        for entry in entries
    ]
    print_table(title, ("", "size", "last used"), rows)


def _size(number: int) -> str:
    """Return a number of bytes in megabytes, as text."""
    return f"{number / 1e6:.1f} MB"
