"""The option ``--waves`` and its files."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import click

from ..model.base.errors import InvalidInput
from ..model.network.network_text import SizeLimit, node_in_words
from .console import busy
from .options.values import recorded

if TYPE_CHECKING:
    from ..model.network.config import NetworkConfig
    from ..model.network.topology import Topology
    from ..model.run.run import Run
    from ..waves.registers import RegisterChanges

WAVES_FILES = ("waves.vcd", "waves.gtkw", "waves.sucl")
"""The waveforms, and views of them for GTKWave and Surfer."""


@dataclass(frozen=True)
class WavesOptions:
    """The wish for waveforms, and the node that their views show."""

    waves: bool
    waves_node: str | None

    @property
    def files(self) -> tuple[str, ...]:
        """Names of the written files; none without the wish."""
        return WAVES_FILES if self.waves else ()

    def require_place(self, output: str | None, place: str) -> None:
        """Refuse ``--waves`` without an output ``place``, and a node without ``--waves``."""
        if self.waves and output is None:
            raise InvalidInput(f"--waves needs {place}, to have a place for {WAVES_FILES[0]}")
        if self.waves_node is not None and not self.waves:
            raise InvalidInput("--waves-node must be left out without --waves")

    def node(self, topology: Topology, source: int | None) -> int:
        """Return the node that the views show: the named node, the source, or the first node.

        Refuses a network that is too large for waveforms.
        """
        if not self.waves:
            return 0
        SizeLimit.WAVES.require(topology.label, topology.nodes)
        if self.waves_node is None:
            return int(topology.working_nodes[0]) if source is None else source
        return node_in_words(topology, self.waves_node, "--waves-node")


waves_options = recorded(
    "waves",
    WavesOptions,
    click.option(
        "--waves",
        is_flag=True,
        help="Write waveforms (waves.vcd), and views of them for GTKWave and Surfer; needs -o.",
    ),
    click.option(
        "--waves-node",
        metavar="X,Y",
        help="The node whose signals the waveform views show; by default the source.",
    ),
    heading="Output",
)


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
