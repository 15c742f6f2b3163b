"""``eyecast demo``: two broadcasts on the hardware, and their pictures."""

import shlex
from pathlib import Path
from typing import Any

import click

from ..model.base.texts import integers
from ..model.collectives.halving.eye import eyes
from ..model.network.kinds import KINDS
from ..model.network.network_text import SizeLimit
from ..picture import BOTH
from .command import command
from .console import say
from .options.output import output_paths
from .options.values import file_option
from .show import show_command
from .verify import verify_command


@command(
    "demo",
    "eyecast demo",
    "eyecast demo --mesh 4x4 -o pictures",
)
@click.option(
    "--mesh",
    default="8x8",
    show_default=True,
    metavar="WxH",
    help="Sides of the mesh, 2^k nodes each; a smaller mesh builds faster.",
)
@file_option(
    "-o",
    "--output",
    default=".",
    show_default="this folder",
    metavar="FOLDER",
    help="Write traces and pictures into this folder.",
)
def demo_command(mesh: str, output: str) -> None:
    """Broadcast from a corner and from an eye: check the hardware against the model, and draw.

    The first run builds the simulator of the mesh. The demo prints each command before it runs the
    command.
    """
    kind = KINDS["mesh"]
    size = integers("--mesh", kind.allowed, mesh, kind.separator)
    SizeLimit.HARDWARE.require(f"{mesh} mesh", kind.nodes(size))
    topology = kind.network(size)
    eye = ",".join(map(str, topology.coordinates(eyes(topology)[0]).tolist()))
    places = {"corner": ",".join("0" for _ in size), "eye": eye}
    # Refuse an unwritable folder before the simulator is built.
    output_paths(output, *(f"{name}{suffix}" for name in places for suffix in BOTH))
    folder = Path(output)
    for name, source in places.items():
        _run(verify_command, "--mesh", mesh, "--source", source, "-o", str(folder / name))
    for name, source in places.items():
        for suffix in BOTH:
            picture = str((folder / name).with_suffix(suffix))
            _run(show_command, "--mesh", mesh, "--source", source, "-o", picture)


def _run(command: Any, *arguments: str) -> None:
    """Print an eyecast command as it is typed, and run it."""
    say(f"$ eyecast {command.name} {shlex.join(arguments)}")
    command.main(arguments, prog_name=f"eyecast {command.name}", standalone_mode=False)
