"""A package for a chip: all files that ``eyecast ip`` writes."""

from __future__ import annotations

from pathlib import Path

from ..model.base.folders import new_folder
from ..model.image.image import Image
from ..model.network.buses import HostBus, TileBus
from ..registers.register_map import register_map_files
from ..sim.verilog import ENGINE_MODULE, network_modules
from .bench import bench_files
from .contract import contract_page
from .driver import driver_files
from .template import filled

CONSTRAINTS = ("eyecast.sdc", "eyecast.lpf", "eyecast.pcf")
CORE_NAME = "eyecast:ip:engine:1.0"


def write_package(
    folder: Path, image: Image, collective: str, host: HostBus, tile: TileBus | None
) -> None:
    """Write the package of a network and a program into ``folder``, whole or not at all.

    ``collective`` says in words what the program does. Raises :class:`.InvalidInput` as
    :func:`.new_folder`, :func:`.network_modules` and :func:`.register_map_files` do.
    """
    with new_folder(folder) as work:
        _fill(work, image, collective, host, tile)


def _fill(work: Path, image: Image, collective: str, host: HostBus, tile: TileBus | None) -> None:
    """Write all files of a package."""
    config = image.program.config
    modules = network_modules(config, host=host, tile=tile)
    title = f"Eyecast engine: {config.topology.label}"
    texts = {f"rtl/{name}.v": text for name, text in modules.items()}
    texts |= {f"sim/{name}": text for name, text in bench_files(image).items()}
    texts["sim/Makefile"] = filled("Makefile", {})
    texts |= {f"driver/{name}": text for name, text in driver_files(image).items()}
    texts |= {f"constraints/{name}": filled(name, {}) for name in CONSTRAINTS}
    texts["contract.html"] = contract_page(config, title)
    texts["eyecast.core"] = _core(title, list(modules))
    texts["README.md"] = _read_me(title, image, collective)
    for path, text in texts.items():
        file = work / path
        file.parent.mkdir(exist_ok=True)
        file.write_text(text)
    image.write(work / "image.csv", work / "image.json")
    register_map_files(config, work / "driver")


def _core(title: str, modules: list[str]) -> str:
    """The package for FuseSoC, in CAPI2."""
    sources = "".join(f"      - rtl/{name}.v\n" for name in modules)
    values = {
        "NAME": CORE_NAME,
        "TITLE": title,
        "SOURCES": sources.rstrip("\n"),
        "TOP": ENGINE_MODULE,
    }
    return filled("eyecast.core", values)


def _read_me(title: str, image: Image, collective: str) -> str:
    values = {
        "TITLE": title,
        "LABEL": image.program.config.topology.label,
        "COLLECTIVE": collective,
        "TOP": ENGINE_MODULE,
        "CORE": CORE_NAME,
        "CYCLES": image.predicted.cycles,
        "FLITS": len(image.predicted.trace),
    }
    return filled("README.md", values)
