"""``eyecast ip``: a network and a program as an IP package for a chip."""

from dataclasses import replace
from pathlib import Path

import click

from ..model.base.errors import InvalidInput
from ..model.base.folders import require_new_folder
from ..model.collectives.notes import schedule_title
from ..model.network.buses import HostBus, TileBus, require_buses
from ..model.network.config import Timing
from ..model.network.network_text import SizeLimit
from .command import command
from .console import busy, say
from .image import image_of
from .options.hardware import force_option, made_room, require_no_deadlock, timing_option
from .options.schedule_file import ScheduleOptions, compiled_options
from .options.values import file_option, was_typed


@command(
    "ip",
    "eyecast ip --mesh 4x4 --source 0,0 -o engine",
    "eyecast ip --mesh 4x4 --source 0,0 --bus axi4-lite --tile axi-stream --tile-ports -o chip",
)
@compiled_options
@force_option
@click.option(
    "--bus",
    type=click.Choice([bus.value for bus in HostBus]),
    default=HostBus.AXI4_LITE.value,
    show_default=True,
    help="The bus in front of the host port.",
)
@click.option(
    "--tile",
    type=click.Choice([bus.value for bus in TileBus]),
    help="A bus in front of every tile port; needs --tile-ports.",
)
@click.option(
    "--prefix",
    default="eyecast",
    show_default=True,
    metavar="NAME",
    help="Prefix of modules, files, functions and macros; each engine of a chip needs its own.",
)
@file_option(
    *("-o", "--output"),
    metavar="DIR",
    required=True,
    help="Write the package into this folder, which must be new or empty.",
)
@timing_option
def ip_command(
    wanted: ScheduleOptions,
    force: bool,
    bus: str,
    tile: str | None,
    prefix: str,
    output: str,
    timing: Timing,
) -> None:
    """Write a network and one of its programs as a package for a chip.

    The package contains Verilog (a file for each module), a FuseSoC core, the registers (SystemRDL,
    C header, page), a driver in C, constraints, the image of the program, the contract as a page,
    and a self-checking Verilog bench with its vectors. The network has a controller for 1 program,
    unless --programs gives another number.
    """
    from ..ip.package import require_prefix, write_package

    folder = Path(output)
    require_prefix(prefix)
    require_new_folder(folder)
    parameters = {**wanted.hardware.parameters}
    if not was_typed("programs"):
        parameters["programs"] = 1
    if parameters["programs"] == 0:
        raise InvalidInput.of("programs", "1 to 15 in a package", 0)
    wanted = replace(wanted, hardware=replace(wanted.hardware, parameters=parameters))
    host, streams = HostBus(bus), TileBus(tile) if tile else None
    with busy("generating, checking, predicting"):
        found = wanted.answer(SizeLimit.HARDWARE, timing=timing)
        (compiled,) = wanted.compiled([found])
        config = compiled.program.config
        require_buses(config, host, streams)
        require_no_deadlock(compiled.program, force=force)
        image = image_of(compiled, timing)
    with busy("writing the package"):
        write_package(folder, image, schedule_title(found.schedule), host, streams, prefix=prefix)
    if room := made_room(wanted.hardware, config):
        say(f"for a network with {room}")
    say(f"wrote {folder}")
