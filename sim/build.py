"""The simulator of a network: built once per configuration and sources, then cached."""

import json
import os
import shutil
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import partial
from importlib.metadata import version
from pathlib import Path

from ..model.base import processes
from ..model.network.config import NetworkConfig
from ..model.network.config_file import network_from_json, network_to_json
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
from .compilation import (
    TOP_MODULE,
    Tiles,
    choose_way,
    compiler_options,
    require_convertible,
)
from .toolchain import environment, tool_versions

VERILOG_FILE = "network.v"
CONTROL_FILE = "control.vlt"
BUILD_FOLDER = "build"
RUNTIME_OBJECTS = "verilated*.o"
WAVES_OBJECT = "verilated_vcd"
"""Prefix of the objects that write waveforms."""
BUILT_FROM = (
    *NETWORK_SOURCES,
    *(
        "sim/verilog.py",
        "sim/build.py",
        "sim/compilation.py",
        "sim/build_worker.py",
        "sim/toolchain.py",
    ),
    *("sim/together/*.py", "verilog/*.py"),
)
"""Sources of this package on which a simulator depends."""


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

    If it is not in the cache it is built, after a call of ``on_build``. With ``trace`` it prints
    every flit, counts stalls and is optimized for a short build, because such runs are short;
    without, for speed. :func:`.choose_way` chooses whether all tiles are one module.
    ``waves`` builds a simulator that can record a VCD file. ``monitored`` builds one without a
    trace, with probes that a bench can read (:mod:`..model.network.probes`). ``verilog`` makes
    other Verilog than the network's own; tests use it to put a fault into the hardware.

    Raises :class:`BuildError` if the tools fail, :class:`.InvalidInput` if one is missing or the
    network is too large for them.
    """
    require_convertible(config)
    variables = environment()
    trace = trace and not monitored
    text = None if verilog is None else verilog(config)
    inside = waves or monitored
    tiles = choose_way(config, trace=trace, inside=inside, given=text)
    more, level = compiler_options(tiles, trace=trace, inside=inside)
    # No --public-flat-rw: the control file makes the few needed ports public. All signals public
    # would cost minutes of compilation and most of the speed.
    options = [*VERILATOR_OPTIONS, *more]
    tools = [*tool_versions(), json.dumps([*options, waves, monitored])]
    description = json.dumps(network_to_json(config), sort_keys=True)
    sources = source_digest(*BUILT_FROM), _own_operators(config)
    parts = [description, f"trace {trace}", *sources, version("amaranth"), *tools]
    if text is not None:
        parts.append(text)

    def make(folder: Path) -> None:
        on_build()
        # Import Amaranth only to build a new simulator.
        from .verilog import fast_verilog, network_verilog, verilator_control  # noqa: PLC0415

        made = fast_verilog if tiles is Tiles.TOGETHER else network_verilog
        source, control = folder / VERILOG_FILE, folder / CONTROL_FILE
        source.write_text(text or made(config, trace=trace))
        control.write_text(verilator_control(config, tiles, trace=trace, monitored=monitored))
        build_folder = folder / BUILD_FOLDER
        build_folder.mkdir()
        with runtime_objects(build_folder, waves=waves):
            verilate([control, source], build_folder, variables, options, level, waves=waves)
        _keep_only(build_folder, TOP_MODULE)

    kinds = {
        "trace": trace,
        "waveforms": waves,
        "monitors": monitored,
        "other Verilog": verilog is not None,
    }
    described = ", ".join((network_words(config), *(kind for kind, has in kinds.items() if has)))
    return cached_folder(digest(*parts), f"simulator of {described}", make)


@contextmanager
def built_meanwhile(config: NetworkConfig) -> Iterator[None]:
    """Build a simulator in another process while this one compiles the cycle model.

    :func:`build_simulator` waits for it. Without a model to compile, it builds at once and needs no
    other process. Neither can the other process have the custom components of operators.
    """
    from ..model.base.compiled import is_kept  # noqa: PLC0415 - the builder needs no Numba
    from ..model.cycle.loop import simulate  # noqa: PLC0415

    if is_kept(simulate) or not all(operator.built_in for operator in config.operators):
        yield
        return
    description = json.dumps(network_to_json(config))
    with tempfile.TemporaryDirectory() as folder:
        builder = [sys.executable, "-m", "eyecast.sim.build", description]
        process = processes.start(builder, Path(folder) / "build.log")
        try:
            yield
        finally:
            processes.stop(process)


def build_chip(
    top: str,
    key: str,
    label: str,
    sources: Callable[[], tuple[str, str]],
    options: Sequence[str],
) -> Path:
    """Return the simulator of a chip around a network, the module ``top``, built once for ``key``.

    ``sources`` makes its Verilog and its control file, ``label`` names the network, ``options`` are
    added to Verilator's. Raises as :func:`build_simulator` does.
    """
    variables = environment()

    def make(folder: Path) -> None:
        source, control = folder / "chip.v", folder / CONTROL_FILE
        for path, text in zip((source, control), sources(), strict=True):
            path.write_text(text)
        build = folder / BUILD_FOLDER
        build.mkdir()
        with runtime_objects(build):
            every = [*VERILATOR_OPTIONS, *options]
            verilate([control, source], build, variables, every, QUICK_LEVEL, top=top)
        _keep_only(build, top)

    made = digest("chip", key, source_digest(*BUILT_FROM), *options, *tool_versions())
    folder = cached_folder(made, f"simulator of a chip of {label}", make)
    return folder / BUILD_FOLDER / top


def _own_operators(config: NetworkConfig) -> str:
    """Return the Verilog of the operators with custom components."""
    if all(operator.component is None for operator in config.operators):
        return ""
    from .verilog import own_operators_text  # noqa: PLC0415 - loads Amaranth

    return own_operators_text(config)


def verilate(
    sources: list[Path],
    folder: Path,
    variables: Mapping[str, str],
    options: Sequence[str],
    level: str,
    *,
    top: str = TOP_MODULE,
    waves: bool = False,
) -> None:
    """Run Verilator and the compiler for the module ``top``; keep their log if they fail.

    Raises :class:`BuildError`, which says where the log is.
    """
    builder = [sys.executable, "-m", "eyecast.sim.build_worker", top, str(folder)]
    command = [*builder, json.dumps(options), level, "waves" if waves else "no-waves"]
    log = folder.with_suffix(".log")
    status = processes.run([*command, *map(str, sources)], log, variables=variables)
    if status:
        processes.require_room(log)
        raise BuildError(
            f"the simulator could not be built: exit status {status}; see {keep_log(log)}"
        )
    log.unlink()


@contextmanager
def runtime_objects(folder: Path, *, waves: bool = False) -> Iterator[None]:
    """Compile Verilator's own library, most of the work of a small build, once for all builds.

    Its objects are the same for every design; those for waveforms are cached separately. Cached
    objects are copied into ``folder`` with a time later than Verilator's makefile, so that make
    does not compile them again.
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
    """Remove all files except one: a build leaves a hundred times the size of the simulator."""
    for path in folder.iterdir():
        if path.is_dir():
            shutil.rmtree(path)
        elif path.name != name:
            path.unlink()


if __name__ == "__main__":
    build_simulator(network_from_json(json.loads(sys.argv[1])))
