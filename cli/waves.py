"""The option ``--waves`` and its files."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import click

from ..model.base.errors import InvalidInput
from ..model.network.network_text import SizeLimit, node_in_words
from .console import busy
from .options.values import OptionValues, option_group

if TYPE_CHECKING:
    from ..model.network.config import NetworkConfig
    from ..model.network.topology import Topology
    from ..model.run.run import Run
    from ..waves.registers import RegisterChanges

WAVES_FILES = ("waves.vcd", "waves.gtkw", "waves.sucl")
"""The waveforms, and views of them for GTKWave and Surfer."""


waves_options = option_group(
    click.option(
        "--waves",
        is_flag=True,
        help="Write waveforms (waves.vcd), and views of them for GTKWave and Surfer; needs -o.",
    ),
    click.option(
        "--waves-node",
        metavar="X,Y",
        help="The node that the views show; the default is the source.",
    ),
    heading="Output",
)


def require_waves_place(chosen: OptionValues, output: str | None, place: str) -> None:
    """Refuse ``--waves`` without an output ``place``, and ``--waves-node`` without ``--waves``."""
    if chosen["waves"] and output is None:
        raise InvalidInput(f"--waves needs {place}, to have a place for {WAVES_FILES[0]}")
    if chosen["waves_node"] is not None and not chosen["waves"]:
        raise InvalidInput("--waves-node must be left out without --waves")


def waves_node(chosen: OptionValues, topology: Topology, source: int | None) -> int:
    """Return the node that the views show: the named node, the source, or the first node.

    Refuses a network that is too large for waveforms.
    """
    if not chosen["waves"]:
        return 0
    SizeLimit.WAVES.require(topology.label, topology.nodes)
    text = chosen["waves_node"]
    if text is None:
        return int(topology.working_nodes[0]) if source is None else source
    return node_in_words(topology, text, "--waves-node")


def write_waves_files(
    paths: Sequence[Path], config: NetworkConfig, run: Run, node: int, **seen: RegisterChanges
) -> None:
    """Write :data:`WAVES_FILES` of a run to ``paths``, with ``registers`` if recorded."""
    from ..waves.file import write_waves
    from ..waves.view import write_gtkwave, write_surfer

    waves, gtkwave, surfer = paths
    with busy("writing waveforms"):
        write_waves(waves, config, run.trace, run.cycles, **seen)
    write_gtkwave(gtkwave, waves.name, config, run.trace, node, **seen)
    write_surfer(surfer, config, node)
