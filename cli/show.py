"""``eyecast show``: a schedule as a picture."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

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

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from ..model.schedule.schedule import Schedule

_TREE, _LANES = "tree", "lanes"


@command(
    "show",
    "eyecast show --mesh 8x8 --source 0,0 -o eye.svg",
    "eyecast show --mesh 4x4 --source 0,0 --as lanes -o lanes.svg",
)
@schedule_options(network_options, collective_options, circuits_option, schedule_file_option)
@file_option(
    "-o",
    "--output",
    help="Write the picture here (.svg, .pdf, .png); by default as .svg and .png, in this folder.",
)
@click.option(
    "--layer",
    "layers",
    type=click.Choice(["blocks", "polygons", "regions", "channels", "eye-regions"]),
    multiple=True,
    help="Draw below a schedule what it is made from: on a 2-D mesh fault blocks, polygons and "
    "regions between them, or virtual channel paths; on a 2-D or 3-D mesh the regions of an eye "
    "broadcast's source; repeatable.",
)
@click.option(
    *("--as", "--as-tree", "shape"),
    type=click.Choice([_TREE, _LANES]),
    is_flag=False,
    flag_value=_TREE,
    help="tree (or --as-tree): draw a broadcast as its trees, with the names of nodes and the "
    "numbers of steps. lanes: draw the predicted run, every packet on its links over the cycles.",
)
def show_command(
    wanted: ScheduleOptions, output: str | None, shape: str | None, layers: tuple[str, ...]
) -> None:
    """Draw a schedule: which node sends to which in each step, with a colour for each step."""
    from ..picture.file import require_picture_suffix, save_picture
    from ..picture.places import require_drawable
    from ..picture.schedule import draw_schedule
    from ..picture.tree import draw_trees

    if shape is not None and layers:
        raise InvalidInput(f"--layer must be left out with --as {shape}: it is about a mesh")
    if output is not None:
        require_picture_suffix(output)
    require_output_files(output)
    found = wanted.answer(SizeLimit.PICTURE, require_drawable)
    schedule = found.schedule
    if wanted.room.circuits and not (found.choices or schedule.circuits or shape == _LANES):
        only = "only --algorithm best and --as lanes depend on it"
        raise InvalidInput(f"--circuits must be left out with {schedule.algorithm}: {only}")
    # A schedule file may contain any algorithm name.
    stem = re.sub(r"\W+", "-", f"{schedule.algorithm} {schedule.topology.label}")
    paths = [output] if output is not None else [f"{stem}{suffix}" for suffix in BOTH]
    with busy("drawing"):
        if shape == _LANES:
            figure = _lanes(wanted, schedule)
        elif shape == _TREE:
            figure = draw_trees(schedule)
        else:
            figure = draw_schedule(schedule, marked=landmarks(schedule), layers=layers)
        for path in paths:
            save_picture(figure, path)
    say_written(*paths)


def _lanes(wanted: ScheduleOptions, schedule: Schedule) -> Figure:
    """Predict the run of a schedule, and draw its links over cycles."""
    from ..model.compare.case import Case
    from ..model.network.config import Timing
    from ..picture.lanes import draw_lanes, require_lanes

    require_lanes(schedule)
    compiled = wanted.room.compile_one(schedule)
    case = Case.of(compiled, timing=Timing.BARRIER, seed=0, simulated=False)
    return draw_lanes(schedule, compiled.program, case.predicted)
