"""The simulator of a network: built by Verilator once per configuration and sources, and kept."""

import json
import os
import shutil
import sys
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import partial
from importlib.metadata import version
from pathlib import Path

from ..model.network.config import NetworkConfig
from ..model.network.config_file import network_to_json
from . import process
from .build_worker import QUICK_LEVEL, VERILATOR_OPTIONS
from .cache import (
    NETWORK_SOURCES,
    cache_folder,
    cached_folder,
    digest,
    keep_log,
    network_words,
    source_digest,
)
from .cache_entry import open_entry
from .toolchain import environment, tool_versions
from .verilog import (
    TOP_MODULE,
    Tiles,
    fast_verilog,
    network_verilog,
    own_operators_text,
    require_convertible,
    verilator_control,
)

VERILOG_FILE = "network.v"
CONTROL_FILE = "control.vlt"
BUILD_FOLDER = "build"
RUNTIME_OBJECTS = "verilated*.o"
WAVES_OBJECT = "verilated_vcd"
"""How the names of those objects begin that write waveforms."""
BUILT_FROM = (
    *NETWORK_SOURCES,
    *("sim/verilog.py", "sim/build.py", "sim/build_worker.py", "sim/toolchain.py"),
    *("sim/together/*.py", "verilog/*.py"),
)
"""Sources of this package that decide what is built."""

TILE_APART_OPTIONS = ["--hierarchical"]
"""A tile compiled by itself, whatever the number of nodes: a third of the time for 3x3, and a
quarter for 8x8; but its code is gone through more than once in a cycle."""
WHOLE_OPTIONS = [
    # Two optimizations (of -O3, so they stand behind it) that number their variables through the
    # whole design: with them no two tiles have the same code, and each is compiled by itself.
    "-fno-dfg",
    "-fno-table",
]
"""The network compiled as a whole: three times as fast in the end."""
TOGETHER_OPTIONS = [
    *WHOLE_OPTIONS,
    # In functions so short: over longer ones the compiler takes almost twice as long.
    "--output-split-cfuncs",
    "300",
]
"""Tiles together: seven times as fast as the network compiled as a whole, in 8x8."""
THOROUGH_LEVEL = "-O2"
RECORDING_LEVEL = "-O0"
"""The compiler's level for simulators that record waveforms: a third of the time of ``-O2``, and a
run spends its time on the recording."""
WAYS = {
    Tiles.APART: (TILE_APART_OPTIONS, QUICK_LEVEL),
    Tiles.WHOLE: (WHOLE_OPTIONS, THOROUGH_LEVEL),
    Tiles.TOGETHER: (TOGETHER_OPTIONS, THOROUGH_LEVEL),
}
"""Verilator's options and the compiler's level of optimization, by how tiles become C++."""


class BuildError(RuntimeError):
    """Verilator or the compiler failed; the message says where the log is."""


def build_simulator(
    config: NetworkConfig,
    *,
    trace: bool = True,
    waves: bool = False,
    monitored: bool = False,
    verilog: Callable[[NetworkConfig], str] | None = None,
    on_build: Callable[[], None] = lambda: None,
) -> Path:
    """Return the folder of the compiled simulator of a network.

    It is built if it is not in the cache; ``on_build`` is called before. Without ``trace`` it
    prints nothing, counts no stalls, and is built for speed, its tiles together in one module
    (:mod:`.together.network`); with it, to be ready soon, as the runs that are compared are short.
    ``waves`` builds one that can record a VCD file. ``monitored`` builds one without a trace whose
    probes a bench can read (:mod:`..model.network.probes`). ``verilog`` makes the text to build
    from instead of the network's own, which is how tests put a fault into the hardware.

    Raises :class:`BuildError` if the tools fail, :class:`.InvalidInput` if one is missing or the
    network is too large for them.
    """
    require_convertible(config)
    variables = environment()
    trace = trace and not monitored
    tiles = _way(config, trace=trace, inside=waves or monitored, given=verilog is not None)
    more, level = WAYS[tiles]
    if waves:
        level = RECORDING_LEVEL
    # No --public-flat-rw: only some ports need to be public (the control file says which), and to
    # make the rest public costs minutes of compilation and most of the speed.
    options = [*VERILATOR_OPTIONS, *more]
    tools = [*tool_versions(), json.dumps([*options, waves, monitored])]
    description = json.dumps(network_to_json(config), sort_keys=True)
    sources = source_digest(*BUILT_FROM), own_operators_text(config)
    parts = [description, f"trace {trace}", *sources, version("amaranth"), *tools]
    text = None
    if verilog is not None:
        text = verilog(config)
        parts.append(text)
    made = fast_verilog if tiles is Tiles.TOGETHER else partial(network_verilog, trace=trace)

    def make(folder: Path) -> None:
        on_build()
        source, control = folder / VERILOG_FILE, folder / CONTROL_FILE
        source.write_text(text or made(config))
        control.write_text(verilator_control(config, tiles, trace=trace, monitored=monitored))
        build_folder = folder / BUILD_FOLDER
        build_folder.mkdir()
        with runtime_objects(build_folder, waves=waves):
            _verilate([control, source], build_folder, variables, options, level, waves=waves)
        _keep_only(build_folder, TOP_MODULE)

    kinds = {
        "trace": trace,
        "waveforms": waves,
        "monitors": monitored,
        "other Verilog": verilog is not None,
    }
    described = ", ".join((network_words(config), *(kind for kind, has in kinds.items() if has)))
    return cached_folder(digest(*parts), f"simulator of {described}", make)


def _way(config: NetworkConfig, *, trace: bool, inside: bool, given: bool) -> Tiles:
    """Choose how to compile the tiles.

    ``inside``: somebody reads signals inside of them. ``given``: somebody else wrote the Verilog.
    """
    if inside or ((given or config.programs) and not trace):
        # The inside of the tiles lies hidden in the other ways. And tiles with
        # memories that others use while they run have not been put together.
        return Tiles.WHOLE
    return Tiles.APART if trace else Tiles.TOGETHER


def _verilate(
    sources: list[Path],
    folder: Path,
    variables: Mapping[str, str],
    options: Sequence[str],
    level: str,
    *,
    waves: bool,
) -> None:
    """Run Verilator and the compiler, with their output in a log that is kept if they fail."""
    # -P: no module of the folder that the user is in takes the place of one of Python's own.
    builder = [sys.executable, "-P", "-m", "eyecast.sim.build_worker", TOP_MODULE, str(folder)]
    command = [*builder, json.dumps(options), level, "waves" if waves else "no-waves"]
    log = folder.with_suffix(".log")
    status = process.run([*command, *map(str, sources)], log, variables=variables)
    if status:
        process.require_room(log)
        raise BuildError(
            f"the simulator could not be built: exit status {status}; see {keep_log(log)}"
        )
    log.unlink()


@contextmanager
def runtime_objects(folder: Path, *, waves: bool = False) -> Iterator[None]:
    """Compile Verilator's own library, most of the work of a small build, once for all builds.

    Its objects are the same for every design, with waveforms and without; those that write
    waveforms are kept by themselves. Found in ``folder``, newer than the makefile that
    Verilator is going to write, they are not made again.
    """
    later = time.time() + 3600
    groups = (False, True) if waves else (False,)
    keys = {group: digest("runtime", *tool_versions(), f"waves {group}") for group in groups}

    def keep(group: bool, kept: Path) -> None:
        for path in folder.glob(RUNTIME_OBJECTS):
            if path.name.startswith(WAVES_OBJECT) == group:
                shutil.copy(path, kept)

    for key in keys.values():
        kept_before = cache_folder() / key
        if open_entry(kept_before):
            for path in kept_before.glob("*.o"):
                os.utime(shutil.copy(path, folder), (later, later))
    yield
    for group, key in keys.items():
        cached_folder(key, "Verilator's library", partial(keep, group))


def _keep_only(folder: Path, name: str) -> None:
    """Remove all but one file: what a build leaves is a hundred times as large as the simulator."""
    for path in folder.iterdir():
        if path.is_dir():
            shutil.rmtree(path)
        elif path.name != name:
            path.unlink()
