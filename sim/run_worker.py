"""Start of a simulator with a cocotb bench inside.

cocotb's own runner would start another Python process, which takes as long as a short run.
"""

import os
import sys
from functools import cache
from importlib.machinery import PathFinder
from pathlib import Path

from cocotb_tools.config import libs_dir
from find_libpython import find_libpython

from ..model.base.processes import Process, start

LOG = "simulator.log"


def start_bench(
    simulator: Path,
    bench: str,
    run_folder: Path,
    *,
    waves: bool = False,
    modules: Path | None = None,
) -> Process:
    """Start the program ``simulator`` in a folder, with a module as its bench.

    The simulated module has the name of the program. ``modules`` is the folder of the bench, unless
    it is an installed module.
    """
    # The simulator stores the build-time paths of its libraries, which may have been links.
    searched = "DYLD_LIBRARY_PATH" if sys.platform == "darwin" else "LD_LIBRARY_PATH"
    others = filter(None, [os.environ.get(searched)])
    variables = {
        searched: os.pathsep.join([str(libs_dir), *others]),
        "PYGPI_PYTHON_BIN": sys.executable,
        "GPI_USERS": _users(),
        "COCOTB_TOPLEVEL": simulator.name,
        "TOPLEVEL_LANG": "verilog",
        "COCOTB_TEST_MODULES": bench,
        "COCOTB_RESULTS_FILE": str(run_folder / "results.xml"),
        "COCOTB_TRUST_INERTIAL_WRITES": "1",
        "COCOTB_LOG_LEVEL": "WARNING",
        # A bench asserts nothing, so pytest, slow to import with its plugins, is not needed.
        "COCOTB_REWRITE_ASSERTION_FILES": "",
    }
    if modules is not None:
        paths = filter(None, [str(modules), os.environ.get("PYTHONPATH")])
        variables["PYTHONPATH"] = os.pathsep.join(paths)
    return start(
        [str(simulator), *(["--trace"] if waves else [])],
        run_folder / LOG,
        variables={**os.environ, **variables},
    )


@cache
def _users() -> str:
    """Return the libraries that cocotb loads: Python, and the one that calls a bench."""
    # Do not import cocotb: only the bench needs it.
    found = PathFinder.find_spec("simulator", [str(libs_dir.parent)])
    if found is None or found.origin is None:
        raise FileNotFoundError(f"{libs_dir.parent} has no library named simulator")
    return f"{find_libpython()};{found.origin},initialize"
