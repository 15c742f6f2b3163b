"""A package for a chip: all files that ``eyecast ip`` writes."""

import re
from collections.abc import Mapping
from pathlib import Path

from ..model.base.errors import InvalidInput
from ..model.base.folders import new_folder
from ..model.image.image import Image
from ..model.network.buses import HostBus, TileBus
from ..model.network.config import NetworkConfig
from ..model.program.file import write_program
from ..registers.register_map import register_map_files
from ..sim.verilog import ENGINE_MODULE, describe_ports, network_modules
from .bench import bench_files
from .contract import contract_page
from .driver import driver_files
from .template import filled

CONSTRAINTS = ("eyecast.sdc", "eyecast.lpf", "eyecast.pcf")
NAME = "eyecast"
"""First part of the names of modules, files, functions and macros; ``--prefix`` replaces it."""

CORE_NAME = "eyecast:ip:{}engine:1.0"
"""Name of a package for FuseSoC (VLNV); a custom prefix stands before ``engine``."""

_DRIVERS = {HostBus.AXI4_LITE: "AxiLiteDriver", HostBus.WISHBONE: "WishboneDriver"}
"""The driver of ``eyecast.testbench`` for each bus."""

_PREFIX = re.compile(r"[A-Za-z][A-Za-z0-9]*(_[A-Za-z0-9]+)*")
_LOWER = re.compile(r"\beyecast(?=_|\.(?:h|c|core|sdc|lpf|pcf)\b)")
_UPPER = re.compile(r"\bEYECAST(?=_)")


def require_prefix(prefix: str) -> None:
    """Raise :class:`.InvalidInput` for a prefix that is no valid name in Verilog or C."""
    if not _PREFIX.fullmatch(prefix):
        allowed = "letters, digits and single _ between them, with a letter first"
        raise InvalidInput.of("prefix", allowed, prefix)


def write_package(
    folder: Path,
    image: Image,
    collective: str,
    host: HostBus,
    tile: TileBus | None,
    *,
    prefix: str = NAME,
    driver: Mapping[str, str] | None = None,
) -> None:
    """Write the package of a network and a program into ``folder``, whole or not at all.

    ``collective`` describes the program. ``driver`` has the texts of further files of the driver.
    All names begin with ``prefix``, so that a chip can contain two packages. Raises
    :class:`.InvalidInput` as :func:`require_prefix`, :func:`.new_folder`, :func:`.network_modules`
    and :func:`.register_map_files` do.
    """
    require_prefix(prefix)
    with new_folder(folder) as work:
        _fill(work, image, collective, host, tile, prefix, driver or {})


def _renamed(text: str, prefix: str) -> str:
    """Return a text or a path in which all names begin with ``prefix``."""
    return _UPPER.sub(prefix.upper(), _LOWER.sub(prefix, text))


def _fill(
    work: Path,
    image: Image,
    collective: str,
    host: HostBus,
    tile: TileBus | None,
    prefix: str,
    driver: Mapping[str, str],
) -> None:
    """Write all files of a package."""
    config = image.program.config
    core = CORE_NAME.format("" if prefix == NAME else f"{prefix}_")
    modules = network_modules(config, host=host, tile=tile)
    title = f"Eyecast engine: {config.topology.label}"
    texts = {f"rtl/{name}.v": text for name, text in modules.items()}
    texts |= {f"sim/{name}": text for name, text in bench_files(image, host, tile).items()}
    texts["sim/Makefile"] = filled("Makefile", {})
    texts["sim/cocotb_bench.py"] = _cocotb_bench(config, host, tile)
    texts |= {f"driver/{name}": text for name, text in {**driver_files(image), **driver}.items()}
    inputs = {"INPUTS": "\n".join(f"  {name}" for name in _inputs(config, host, tile))}
    texts |= {f"constraints/{name}": filled(name, inputs) for name in CONSTRAINTS}
    texts["contract.html"] = contract_page(config, title)
    texts["eyecast.core"] = _core(title, core, list(modules))
    texts["README.md"] = _read_me(title, image, collective, core)
    for path, text in texts.items():
        file = work / _renamed(path, prefix)
        file.parent.mkdir(exist_ok=True)
        file.write_text(_renamed(text, prefix), "utf-8")
    image.write(work / "image.csv", work / "image.json")
    write_program(image.program, work / "sim" / "program.json")
    register_map_files(config, work / "driver", prefix=prefix)


def _inputs(config: NetworkConfig, host: HostBus, tile: TileBus | None) -> list[str]:
    """Return the inputs of the engine except the clock."""
    ports = describe_ports(config, host, tile)
    names = [port["name"] for port in ports if port["direction"] == "input"]
    return [name for name in names if name != "clk"]


def _cocotb_bench(config: NetworkConfig, host: HostBus, tile: TileBus | None) -> str:
    """Return the bench in cocotb, which drives the host's bus and leaves the tiles idle."""
    of_tiles = [name for name in _inputs(config, host, tile) if re.match(r"tile_|[sm]_axis_", name)]
    idle = "".join(f"    {name!r},\n" for name in of_tiles).replace("'", '"')
    return filled(
        "cocotb_bench.template",
        {"DRIVER": _DRIVERS[host], "IDLE": f"(\n{idle})" if idle else "()"},
    )


def _core(title: str, core: str, modules: list[str]) -> str:
    """Return the description of the package for FuseSoC, in CAPI2."""
    sources = "".join(f"      - rtl/{name}.v\n" for name in modules)
    values = {
        "NAME": core,
        "TITLE": title,
        "SOURCES": sources.rstrip("\n"),
        "TOP": ENGINE_MODULE,
    }
    return filled("eyecast.core", values)


def _read_me(title: str, image: Image, collective: str, core: str) -> str:
    values = {
        "TITLE": title,
        "LABEL": image.program.config.topology.label,
        "COLLECTIVE": collective,
        "TOP": ENGINE_MODULE,
        "CORE": core,
        "CYCLES": image.predicted.cycles,
        "FLITS": len(image.predicted.trace),
    }
    return filled("README.md", values)
