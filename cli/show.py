"""``eyecast show``: a schedule as a picture."""

import re

import click

from ..model.base.errors import InvalidInput
from ..model.collectives.notes import landmarks
from ..model.network.network_text import SizeLimit
from ..picture import BOTH
from .command import command
from .console import busy, say_written
from .options.collective import collective_options
from .options.hardware import circuits_option
from .options.network import network_options
from .options.output import require_output_files
from .options.schedule_file import ScheduleOptions, schedule_file_option, schedule_options
from .options.values import file_option


@command(
    "show",
    "eyecast show --mesh 8x8 --source 0,0 -o eye.svg",
    "eyecast show --hypercube 4 --source 0 --algorithm sbt --as-tree -o sbt.svg",
)
@schedule_options(network_options, collective_options, circuits_option, schedule_file_option)
@file_option(
    "-o",
    "--output",
    help="Write the picture here, .svg, .pdf or .png; by default .svg and .png, in this folder.",
)
@click.option(
    "--layer",
    "layers",
    type=click.Choice(["blocks", "polygons", "regions", "channels", "eye-regions"]),
    multiple=True,
    help="Draw under a schedule on a 2-D mesh its fault blocks, the polygons and regions between "
    "them, their virtual channel paths, or on a mesh of two or three axes the regions of a source "
    "of the eye broadcast; repeatable.",
)
@click.option(
    "--as-tree",
    is_flag=True,
    help="Draw a broadcast as its trees, with the names of nodes and the numbers of steps.",
)
def show_command(
    wanted: ScheduleOptions, output: str | None, as_tree: bool, layers: tuple[str, ...]
) -> None:
    """Draw a schedule: who sends to whom, the steps by colour, the eyes marked."""
    from ..picture.file import require_picture_suffix, save_picture
    from ..picture.places import require_drawable
    from ..picture.schedule import draw_schedule
    from ..picture.tree import draw_trees

    if as_tree and layers:
        raise InvalidInput("--layer must be left out with --as-tree: it is about a mesh")
    if output is not None:
        require_picture_suffix(output)
    require_output_files(output)
    found = wanted.answer(SizeLimit.PICTURE, require_drawable)
    schedule = found.schedule
    if wanted.room.circuits and not (found.choices or schedule.circuits):
        only = "only --algorithm best depends on it"
        raise InvalidInput(f"--circuits must be left out with {schedule.algorithm}: {only}")
    # A schedule file may contain any algorithm name.
    stem = re.sub(r"\W+", "-", f"{schedule.algorithm} {schedule.topology.label}")
    paths = [output] if output is not None else [f"{stem}{suffix}" for suffix in BOTH]
    with busy("drawing"):
        if as_tree:
            figure = draw_trees(schedule)
        else:
            figure = draw_schedule(schedule, marked=landmarks(schedule), layers=layers)
        for path in paths:
            save_picture(figure, path)
    say_written(*paths)
