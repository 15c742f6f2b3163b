"""The simulator of a network: built by Verilator once per configuration and sources, and kept."""

import json
import os
import tempfile
from collections.abc import Callable, Mapping
from contextlib import contextmanager
from importlib.metadata import version
from pathlib import Path
from typing import Any

from cocotb_tools.runner import get_runner

from ..model.config import NetworkConfig
from ..model.program_file import network_to_json
from .cache import cached_folder, digest, source_digest
from .toolchain import environment, verilator_version
from .verilog import TOP_MODULE, describe_ports, hierarchical, network_verilog

VERILOG_FILE = "network.v"
PUBLIC_FILE = "public.vlt"
BUILD_FOLDER = "build"
BUILT_FROM = ("rtl/*.py", "model/config.py", "model/topology.py", "sim/verilog.py", "sim/build.py")
"""Sources of this package that decide what is built."""

VERILATOR_OPTIONS = [
    "--hierarchical",
    # cocotb asks for every signal to be public. Only the ports of the top need to be (PUBLIC_FILE
    # says so); making the rest public costs minutes of compilation and most of the speed.
    "--no-public-flat-rw",
    "-O3",
    "--x-assign",
    "fast",
    "--x-initial",
    "fast",
    "-Wno-fatal",
    "-Wno-lint",
    "-Wno-style",
]


class BuildError(RuntimeError):
    """Verilator or the compiler failed; the message says where the log is."""


def build_simulator(
    config: NetworkConfig,
    *,
    waves: bool = False,
    verilog: Callable[[NetworkConfig], str] | None = None,
    on_build: Callable[[], None] = lambda: None,
) -> Path:
    """The folder of the compiled simulator of a tracing network; built if it is not in the cache.

    ``waves`` builds one that can record a VCD file. ``verilog`` makes the text to build from
    instead of the network's own, which is how tests put a fault into the hardware. ``on_build`` is
    called if it has to be built.
    """
    variables = environment()
    parts = [
        json.dumps(network_to_json(config), sort_keys=True),
        source_digest(*BUILT_FROM),
        verilator_version(variables),
        *(version(package) for package in ("amaranth", "cocotb")),
        json.dumps([*VERILATOR_OPTIONS, waves]),
    ]
    text = None
    if verilog is not None:
        text = verilog(config)
        parts.append(text)

    def make(folder: Path) -> None:
        on_build()
        source = folder / VERILOG_FILE
        source.write_text(hierarchical(text or network_verilog(config, trace=True)))
        public = folder / PUBLIC_FILE
        public.write_text(_public_ports(config))
        _verilate([public, source], folder / BUILD_FOLDER, variables, waves)

    return cached_folder(digest(*parts), make)


def _public_ports(config: NetworkConfig) -> str:
    """A Verilator control file that lets cocotb reach the ports of the top module."""
    names = [port["name"] for port in describe_ports(config)]
    lines = [f'public_flat_rw -module "{TOP_MODULE}" -var "{name}"' for name in names]
    return "\n".join(["`verilator_config", *lines, ""])


def _verilate(sources: list[Path], folder: Path, variables: Mapping[str, str], waves: bool) -> None:
    """Run Verilator and the compiler by cocotb's runner, with their output in a log."""
    with tempfile.NamedTemporaryFile("w", suffix=".log", delete=False) as log:
        log_path = Path(log.name)
    with _environment(variables):
        try:
            get_runner("verilator").build(
                sources=sources,
                hdl_toplevel=TOP_MODULE,
                build_dir=folder,
                build_args=VERILATOR_OPTIONS,
                waves=waves,
                timescale=("1ns", "1ns"),
                log_file=log_path,
                always=True,
            )
        except (RuntimeError, SystemExit) as error:
            raise BuildError(
                f"the simulator could not be built: {error}; log in {log_path}"
            ) from error
    log_path.unlink()


@contextmanager
def _environment(variables: Mapping[str, str]) -> Any:
    """The process's environment for a while: cocotb's runner takes it from there."""
    before = dict(os.environ)
    os.environ.update(variables)
    try:
        yield
    finally:
        os.environ.clear()
        os.environ.update(before)
