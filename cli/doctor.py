"""``eyecast doctor``: installed and missing tools, and what each missing tool prevents."""

import os
import platform
import shutil
from dataclasses import asdict
from pathlib import Path

from ..model.base.errors import InvalidInput
from ..model.base.version import __version__
from .command import command
from .console import busy, print_json, print_table, say
from .installed import Found, examined
from .options.output import json_option


@command(
    "doctor",
    "eyecast doctor",
    "eyecast doctor --json",
)
@json_option
def doctor_command(as_json: bool) -> None:
    """List installed tools with versions, missing tools, and what each missing tool prevents.

    Exit status 0 only if schedules can be verified on the simulated hardware.
    """
    from ..sim.cache import cache_folder
    from ..sim.cache_list import list_cache

    with busy("looking"):
        found = examined()
        trouble = _trouble(cache_folder())
    home = cache_folder()
    kept = list_cache(home)
    size = sum(entry.size for entry in kept)
    free = shutil.disk_usage(_existing(home)).free
    if as_json:
        cache = {"folder": str(home), "entries": len(kept), "bytes": size, "free_bytes": free}
        facts = {"python": platform.python_version(), "works": not trouble}
        print_json({**facts, "trouble": trouble, "parts": list(map(asdict, found)), "cache": cache})
    else:
        _print(found)
        entries = f"{len(kept)} {'entry' if len(kept) == 1 else 'entries'}"
        say(f"cache: {entries}, {size / 1e6:.0f} MB in {home}; {free / 1e9:.0f} GB are free there")
    if trouble:
        raise RuntimeError(trouble)
    if not as_json:
        say("schedules can be verified on the simulated hardware")


def _print(found: list[Found]) -> None:
    """Print the tools, then what the missing ones prevent."""
    print_table(
        f"eyecast {__version__}, Python {platform.python_version()} on {platform.platform()}",
        ("", "version", "for"),
        [(each.name, each.version or "missing", each.purpose) for each in found],
    )
    for each in found:
        if each.version is None:
            say(f"without {each.name} {each.without}: {each.install}")


def _trouble(home: Path) -> str | None:
    """Return why a simulator cannot be built, kept and run; None if it can."""
    from ..sim.cache import require_own
    from ..sim.toolchain import environment

    try:
        environment()
        require_own(home)
    except InvalidInput as error:
        return str(error)
    place = _existing(home)
    if not os.access(place, os.W_OK):
        return f"cache folder {home} must be writable: EYECAST_CACHE names another one"
    return None


def _existing(path: Path) -> Path:
    """Return the folder itself or its nearest existing parent."""
    return next(each for each in (path, *path.parents) if each.exists())
