"""A package for a chip: all files that ``eyecast ip`` writes."""

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass
from hashlib import sha256
from pathlib import Path

from ..model.base.errors import InvalidInput
from ..model.base.folders import new_folder
from ..model.base.version import __version__
from ..model.collectives.notes import schedule_title
from ..model.image.image import Image
from ..model.network.buses import HostBus, TileBus
from ..model.network.config import NetworkConfig
from ..model.network.config_file import identity
from ..model.program.compiler import Compiled
from ..model.program.file import program_json, write_program
from ..registers.register_map import register_map_files
from ..sim.verilog import (
    CROSSING_MODULE,
    ENGINE_MODULE,
    crossing_verilog,
    describe_ports,
    network_modules,
)
from .bench import bench_files
from .contract import contract_page
from .driver import driver_files
from .guarantees import guarantees
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


@dataclass(frozen=True)
class Origin:
    """The origin of a package: its compiled schedule, and the options that made it."""

    compiled: Compiled
    options: str


def require_prefix(prefix: str) -> None:
    """Raise :class:`.InvalidInput` for a prefix that is no valid name in Verilog or C."""
    if not _PREFIX.fullmatch(prefix):
        allowed = "letters, digits and single _ between them, with a letter first"
        raise InvalidInput.of("prefix", allowed, prefix)


def write_package(
    folder: Path,
    image: Image,
    origin: Origin,
    host: HostBus,
    tile: TileBus | None,
    *,
    prefix: str = NAME,
    assertions: bool = False,
    driver: Mapping[str, str] | None = None,
) -> None:
    """Write the package of a network and a program into ``folder``, whole or not at all.

    All names begin with ``prefix``, so that a chip can contain two packages. With ``assertions``
    the hardware is SystemVerilog. ``driver`` has the texts of further files of the driver. Raises
    :class:`.InvalidInput` as :func:`require_prefix`, :func:`.new_folder`, :func:`.network_modules`
    and :func:`.register_map_files` do.
    """
    require_prefix(prefix)
    with new_folder(folder) as work:
        _fill(work, image, origin, (host, tile), prefix, driver or {}, assertions=assertions)


def _renamed(text: str, prefix: str) -> str:
    """Return a text or a path in which all names begin with ``prefix``."""
    return _UPPER.sub(prefix.upper(), _LOWER.sub(prefix, text))


def _fill(
    work: Path,
    image: Image,
    origin: Origin,
    buses: tuple[HostBus, TileBus | None],
    prefix: str,
    driver: Mapping[str, str],
    *,
    assertions: bool,
) -> None:
    """Write all files of a package."""
    config, (host, tile) = image.program.config, buses
    core = CORE_NAME.format("" if prefix == NAME else f"{prefix}_")
    modules = network_modules(config, host=host, tile=tile, assertions=assertions)
    ending = "sv" if assertions else "v"
    title = f"Eyecast engine: {config.topology.label}"
    texts = {f"rtl/{name}.{ending}": text for name, text in modules.items()}
    texts |= {f"sim/{name}": text for name, text in bench_files(image, host, tile).items()}
    texts["sim/Makefile"] = filled("Makefile", {"ENDING": ending})
    texts["sim/cocotb_bench.py"] = _cocotb_bench(config, host, tile)
    texts |= {f"driver/{name}": text for name, text in {**driver_files(image), **driver}.items()}
    inputs = {"INPUTS": _listed(_ports(config, host, tile, "input"))}
    texts |= {f"constraints/{name}": filled(name, inputs) for name in CONSTRAINTS}
    texts[f"crossing/{CROSSING_MODULE}.v"] = crossing_verilog(config, host, tile)
    texts[f"crossing/{CROSSING_MODULE}.sdc"] = _crossing_constraints(config, host, tile)
    guaranteed = guarantees(image, origin.compiled, host)
    texts["guarantees.json"] = f"{json.dumps(guaranteed, indent=1)}\n"
    texts["contract.html"] = contract_page(config, title, guaranteed)
    texts["eyecast.core"] = _core(title, core, list(modules), ending)
    texts["README.md"] = _read_me(title, image, origin.compiled, core)
    texts["REUSE.toml"] = filled("REUSE.toml", {})
    lines = _origin_lines(image, origin)
    for path, text in texts.items():
        file = work / _renamed(path, prefix)
        file.parent.mkdir(exist_ok=True)
        file.write_text(with_comment(path, _renamed(text, prefix), lines), "utf-8")
    image.write(work / "image.csv", work / "image.json")
    write_program(image.program, work / "sim" / "program.json")
    for made in register_map_files(config, work / "driver", prefix=prefix):
        if made.is_file():
            made.write_text(with_comment(made.name, made.read_text("utf-8"), lines), "utf-8")


def _origin_lines(image: Image, origin: Origin) -> list[str]:
    """Return the lines on top of every file that can have comments; REUSE.toml has the others."""
    program = sha256(program_json(image.program).encode()).hexdigest()[:16]
    # A file's name in the options must not end the comment.
    options = re.sub(r"\s+|\*/|-->|\?>", " ", origin.options)
    return [
        "SPDX-License-Identifier: Apache-2.0",
        f"Eyecast {__version__}: eyecast ip {options}".rstrip(),
        f"Network {identity(image.program.config):08x}, program {program}",
    ]


def with_comment(name: str, text: str, lines: list[str]) -> str:
    """Return the text of a file with some lines on top, as a comment of the file's language.

    Files that have no comments, or none by their format, are returned unchanged. A FuseSoC core and
    XML have their version in the first line, so that the comment follows it.
    """
    ending = name.rpartition(".")[2]
    first = ""
    if ending in ("core", "xml"):
        first, _, text = text.partition("\n")
        first += "\n"
    for endings, begin, end in _COMMENTS:
        if ending in endings:
            return first + "".join(f"{begin} {line}{end}\n" for line in lines) + text
    return text


_COMMENTS = (
    (("v", "sv", "rdl"), "//", ""),
    (("sdc", "lpf", "pcf", "core", "py", "toml", "sim/Makefile"), "#", ""),
    (("c", "h"), "/*", " */"),
    (("html", "md"), "<!--", " -->"),
    # A comment of XML must not have the "--" of options: an instruction to Eyecast may.
    (("xml",), "<?eyecast", "?>"),
)
"""Endings of file names, and how a line of comment begins and ends there."""


def _ports(config: NetworkConfig, host: HostBus, tile: TileBus | None, direction: str) -> list[str]:
    """Return the inputs or the outputs of the engine except the clock."""
    ports = describe_ports(config, host, tile)
    names = [port["name"] for port in ports if port["direction"] == direction]
    return [name for name in names if name != "clk"]


def _listed(names: list[str]) -> str:
    return "\n".join(f"  {name}" for name in names)


def _crossing_constraints(config: NetworkConfig, host: HostBus, tile: TileBus | None) -> str:
    """Return constraints for an engine whose buses have a clock of their own."""
    values = {"ENGINE_INPUTS": ["engine_rst"], "ENGINE_OUTPUTS": list[str]()}
    for kind, direction in (("INPUTS", "input"), ("OUTPUTS", "output")):
        ports = _ports(config, host, tile, direction)
        inside = [name for name in ports if name == "cycle" or name.startswith("tile_")]
        values[f"ENGINE_{kind}"] += inside
        values[kind] = [name for name in ports if name not in inside]
    lists = {name: _listed(ports) for name, ports in values.items()}
    return filled(f"{CROSSING_MODULE}.sdc", lists)


def _cocotb_bench(config: NetworkConfig, host: HostBus, tile: TileBus | None) -> str:
    """Return the bench in cocotb, which drives the host's bus and leaves the tiles idle."""
    of_tiles = [
        name for name in _ports(config, host, tile, "input") if re.match(r"tile_|[sm]_axis_", name)
    ]
    idle = "".join(f"    {name!r},\n" for name in of_tiles).replace("'", '"')
    return filled(
        "cocotb_bench.template",
        {"DRIVER": _DRIVERS[host], "IDLE": f"(\n{idle})" if idle else "()"},
    )


def _core(title: str, core: str, modules: list[str], ending: str) -> str:
    """Return the description of the package for FuseSoC, in CAPI2."""
    sources = "".join(f"      - rtl/{name}.{ending}\n" for name in modules)
    values = {
        "NAME": core,
        "TITLE": title,
        "SOURCES": sources.rstrip("\n"),
        "TOP": ENGINE_MODULE,
        "LANGUAGE": "systemVerilogSource" if ending == "sv" else "verilogSource",
    }
    return filled("eyecast.core", values)


def _read_me(title: str, image: Image, compiled: Compiled, core: str) -> str:
    values = {
        "TITLE": title,
        "LABEL": image.program.config.topology.label,
        "COLLECTIVE": schedule_title(compiled.schedule),
        "TOP": ENGINE_MODULE,
        "CORE": core,
        "CYCLES": image.predicted.cycles,
        "FLITS": len(image.predicted.trace),
    }
    return filled("README.md", values)
