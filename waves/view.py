"""Views of a waveform for two viewers: one node's interface and its links, in groups.

GTKWave reads a save file, Surfer a file of commands (``surfer waves.vcd -c waves.sucl``).
"""

import io
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

import numpy as np
import numpy.typing as npt
from vcd.gtkw import GTKWSave

from ..model.base.files import write_atomically
from ..model.network.config import NetworkConfig
from ..model.network.topology import NO_LINK, Topology
from ..model.run.link_flits import link_flits
from ..model.run.trace import Trace
from .file import arrivals
from .names import (
    NETWORK,
    Scope,
    delivery_scope,
    has_interface,
    interface_scope,
    link_scopes,
    node_scope,
    vc_scope,
)
from .registers import NO_REGISTERS, RegisterChanges

_ZOOM = -2.4
"""Zoom of GTKWave: a cycle is wide enough for the word for a kind of flit."""


class _Link(NamedTuple):
    """A link of the node, with the node and port where flits enter the link."""

    scope: Scope
    begin: int
    port: int


class _Group(NamedTuple):
    """Signals that are shown together: full names, formats and short names."""

    title: str
    signals: list[tuple[str, str, str]]
    closed: bool = False


def write_gtkwave(
    path: str | Path,
    waves_name: str,
    config: NetworkConfig,
    trace: Trace,
    node: int,
    registers: RegisterChanges = NO_REGISTERS,
) -> None:
    """Write GTKWave's view of the waveform in the file ``waves_name`` beside it.

    Groups of links that no flit of ``trace`` crosses are closed.
    Raises :class:`.InvalidInput` if ``path`` cannot be written.
    """
    text = io.StringIO()
    save = GTKWSave(text)
    save.dumpfile(waves_name, abspath=False)
    save.size(1400, 900)
    save.zoom_markers(_ZOOM)
    save.trace(f"{NETWORK}.cycle", datafmt="dec")
    used = link_flits(config.topology, trace) > 0
    for group in _groups(config, node, registers, used):
        with save.group(group.title, closed=group.closed):
            for name, form, alias in group.signals:
                save.trace(name, alias=alias, datafmt=form)
    write_atomically(path, text.getvalue())


def write_surfer(path: str | Path, config: NetworkConfig, node: int) -> None:
    """Write the commands for Surfer, which groups scopes by itself.

    Raises :class:`.InvalidInput` if ``path`` cannot be written.
    """
    topology = config.topology
    scopes = [interface_scope(topology, node)] if has_interface(topology, node) else []
    scopes += [link.scope for link in _links(topology, node)]
    lines = [f"variable_add {NETWORK}.cycle"]
    lines += [f"scope_add_as_group_recursive {'.'.join(scope)}" for scope in scopes]
    write_atomically(path, "\n".join([*lines, "zoom_fit", ""]))


def _links(topology: Topology, node: int) -> Iterator[_Link]:
    """Yield the links of a node: the incoming links, then the outgoing links."""
    for port in range(1, topology.ports):
        begin, exit_ = (int(table[node, port]) for table in (topology.neighbor, topology.peer))
        # One direction of a pair of links may be faulty.
        if begin != NO_LINK and topology.neighbor[begin, exit_] == node:
            yield _Link(link_scopes(topology, begin, exit_)[1], begin, exit_)
    for port in np.flatnonzero(topology.neighbor[node] != NO_LINK).tolist():
        yield _Link(link_scopes(topology, node, port)[0], node, port)


def _groups(
    config: NetworkConfig, node: int, registers: RegisterChanges, used: npt.NDArray[np.bool_]
) -> Iterator[_Group]:
    """Yield the groups of the interface, its deliveries and each link; a switch has only links."""
    topology = config.topology
    title = node_scope(topology, node)[1].replace("_", " ")
    if has_interface(topology, node):
        yield _Group(f"{title} interface", _interface_signals(config, node, registers))
        for place in range(config.lanes):
            scope = delivery_scope(topology, node, place, config.lanes)
            signals = _channel_signals(config, scope)
            yield _Group(_title(title, scope), signals, closed=not used[node, 0])
    for link in _links(topology, node):
        signals = _channel_signals(config, link.scope)
        yield _Group(_title(title, link.scope), signals, closed=not used[link.begin, link.port])


def _interface_signals(
    config: NetworkConfig, node: int, registers: RegisterChanges
) -> list[tuple[str, str, str]]:
    """Return the recorded registers of a node's interface, and its arrivals."""
    scope = interface_scope(config.topology, node)
    seen = [each for each in registers.registers if each.node == node]
    forms = {each.name: "ascii" if each.words else "dec" for each in seen}
    forms |= dict.fromkeys(arrivals(config), "dec")
    return [(".".join((*scope, name)), form, name) for name, form in forms.items()]


def _title(node: str, scope: Scope) -> str:
    return f"{node} {scope[-1].replace('_', ' ')}"


def _channel_signals(config: NetworkConfig, scope: Scope) -> list[tuple[str, str, str]]:
    """Return all signals of a link, or of a delivery, VC by VC."""
    # GTKWave identifies a signal of several bits by its name and its bit range.
    bits = f"[{config.flit_width - 1}:0]"
    forms = [("valid", "bin"), (f"data{bits}", "hex")]
    if not config.circuits:
        forms[1:1] = [("kind", "ascii")]
        forms += [("step", "dec"), ("address", "dec")]
    signals = []
    for vc in range(config.vcs):
        prefix = f"VC {vc} " if config.vcs > 1 else ""
        full = ".".join(vc_scope(scope, vc))
        signals += [
            (f"{full}.{name}", form, prefix + name.removesuffix(bits)) for name, form in forms
        ]
    return signals
