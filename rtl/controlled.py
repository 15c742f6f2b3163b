"""A controller that loads, starts and watches a network, and resets its core.

It is written to docs/router.md, section 16. Used by :class:`.Network` with programs.
"""

from collections.abc import Sequence
from typing import Any

from amaranth.hdl import C, Cat, DomainRenamer, Module, Mux, Signal, Value
from amaranth.lib.wiring import In, Out, Signature, connect, flipped

from ..model.network.config import NetworkConfig
from .controller import Controller
from .core import Combine, Core
from .parts.host_map import nodes_with_ports
from .parts.host_port import RequestPort, asked_of_tiles, node_bits
from .parts.link import CYCLE_BITS
from .parts.tile_port import TilePort
from .reduction import any_of, balanced
from .tiles import add_domain, tile_name

STATE_OUTPUTS = ("busy", "done", "error", "interrupt")
"""Outputs of a network with programs that tell the state of its controller."""


def controlled_signature(config: NetworkConfig) -> Signature:
    """Return the ports of a network with programs.

    busy, done, error, interrupt, cycle
        As for :class:`.Controller`.
    host : In(RequestPort)
        Requests to the controller.
    tile_0, tile_1, ... : In(TilePort)
        The tile port of each node that has one. Only its input ``hold`` passes a register.
    """
    return Signature(
        {
            **{name: Out(1) for name in STATE_OUTPUTS},
            "cycle": Out(CYCLE_BITS),
            "host": In(RequestPort(config)),
            **{tile_name(node): In(TilePort(config)) for node in nodes_with_ports(config)},
        }
    )


def add_controller(m: Module, config: NetworkConfig, reset: Signal) -> Controller:
    """Add a controller in a domain of its own, which ``reset`` resets."""
    add_domain(m, "control", reset)
    controller = Controller(config)
    m.submodules.controller = DomainRenamer("control")(controller)
    return controller


def connect_controller(
    m: Module, network: Any, core: Core, controller: Controller, either: Combine
) -> None:
    """Connect the controller to the core, and the ports of ``network`` to both.

    ``either`` combines the tiles' answers.
    """
    config, outside = core.config, flipped(network)
    connect(m, outside.host, controller.host)
    for name in (*STATE_OUTPUTS, "cycle"):
        m.d.comb += getattr(network, name).eq(getattr(controller, name))
    _show_nodes(m, core, controller.nodes)
    run = controller.run
    core.tell_steps(run.barrier, run.half_duplex)
    for name in ("base", "end", *(["program"] if config.tile_ports else [])):
        core.tell(f"program.{name}", run[name], switches=config.circuits)
    _pass_requests(m, core, controller.tiles, either)
    for node in nodes_with_ports(config):
        connect(m, getattr(outside, tile_name(node)), core.tiles[node].tile)


def _show_nodes(m: Module, core: Core, nodes: Any) -> None:
    """Show the nodes to the controller as :class:`.AllNodes`."""
    m.d.comb += [
        nodes.finished.eq(core.finished),
        nodes.flagged.eq(core.flagged),
        nodes.heard.eq(core.heard),
    ]
    config = core.config
    interfaces = [n for n in range(len(core.tiles)) if n not in config.topology.switches]
    if config.parity:
        damaged = [core.tiles[node].damaged for node in interfaces]
        m.d.comb += nodes.damaged.eq(core.ask_for("shows_damaged", any_of, damaged))
    wrong = {
        "first_flagged": [(n, tile.flagged) for n, tile in enumerate(core.tiles)],
        "first_unfinished": [(n, ~tile.finished) for n, tile in enumerate(core.tiles)],
    }
    if config.waits_for_tiles:
        held = [(node, core.tiles[node].held) for node in interfaces]
        m.d.comb += nodes.held.eq(core.ask_for("held", any_of, [bit for _, bit in held]))
        wrong["first_held"] = held
    for name, bits in wrong.items():
        pairs = [Cat(bit, C(node, node_bits(config))) for node, bit in bits]
        m.d.comb += getattr(nodes, name).eq(core.ask_for(name, _first, pairs)[1:])


def _pass_requests(m: Module, core: Core, asks: Any, either: Combine) -> None:
    """Pass the controller's requests to all tiles; only the one addressed answers."""
    for name in asked_of_tiles(core.config):
        core.tell(f"host.{name}", getattr(asks, name))
    answers = {"read_data": either, "answered": any_of}
    if core.config.parity:
        answers["damaged"] = any_of
    for name, combine in answers.items():
        m.d.comb += getattr(asks, name).eq(core.ask(name, combine, f"host.{name}"))


def _first(nodes: Sequence[Value]) -> Value:
    """Return the first pair of a bit and a node's number whose bit is 1; any pair if none is."""
    return balanced(lambda first, second: Mux(first[0], first, second), nodes)
