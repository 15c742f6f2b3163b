"""Eyecast: collective communication compiled to injection tables and proved on router hardware.

For users of Python, ``import eyecast`` gives the names of :mod:`eyecast.api`, each loaded when it
is first asked for.

The repository root is this package. A folder imports only those above it in this list:

    model      everything that can be known without hardware: networks, schedules, programs, runs
    rtl        Amaranth descriptions of the router, the network interface and the network
    verilog    the writer of Verilog
    proofs     proofs of the hardware for all time
    registers  the registers of an engine behind a bus
    formats    files of other people's tools
    waves      waveforms of runs, and views of them
    picture    pictures of schedules, links, places and costs
    report     the page of a run
    testbench  drivers, monitors and a scoreboard for testbenches in cocotb
    sim        Verilog, Verilator builds, cocotb benches
    ip         packages for chips
    boards     FPGA tops, bitstreams, proofs of them, and the serial line to a board
    asic       area, time and energy in libraries of standard cells
    sweeps     grids of parameters, every point of them run
    api        the Python face
    explore    the page with parameters, and its server
    chip       a chip that runs C: cores at the nodes, their calls, their programs
    cli        the ``eyecast`` command
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

from .model.base.version import __version__ as __version__

if TYPE_CHECKING:
    # Type checkers and editors, which do not run __getattr__, know these names and no others.
    from .api import *  # noqa: F403
    from .api import __all__ as __all__
else:

    def __getattr__(name: str) -> Any:
        """Load a name of the Python face, so that the command's help need not wait for it."""
        if name.startswith("_") and name != "__all__":
            raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
        # By its full name: pytest imports this file under another one, such as eyecast-main.
        face = import_module("eyecast.api")
        if name not in ("__all__", *face.__all__):
            raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
        return getattr(face, name)

    def __dir__() -> list[str]:
        """List the face and the packages that are loaded, for completion."""
        own = {*globals()} - {"Any", "TYPE_CHECKING", "import_module"}
        return sorted({*own, *import_module("eyecast.api").__all__})
