"""``eyecast ip``: a network and a program as an IP package for a chip."""

import re
import shlex
import sys
from dataclasses import replace
from pathlib import Path

import click

from ..model.base.errors import InvalidInput
from ..model.base.folders import require_new_folder
from ..model.network.buses import HostBus, TileBus, require_buses
from ..model.network.config import Timing
from ..model.network.network_text import SizeLimit
from ..model.program.compiler import Compiled
from ..model.workload.costs import MEMORY_WORDS
from ..model.workload.window import EngineRun, compiled_together, engine_programs
from .command import command
from .console import busy, say
from .image import image_of, programs_image
from .options.collective import collective_options
from .options.hardware import force_option, made_room, require_no_deadlock, timing_option
from .options.schedule_file import ScheduleOptions, compiled_options
from .options.values import file_option, option_group, option_names, refuse_beside, was_typed
from .options.workload import WORKLOAD_NAMES, WorkloadOptions, workload_options
from .run import run_of


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
    help="The bus through which a host reaches the network.",
)
@click.option(
    "--tile",
    type=click.Choice([bus.value for bus in TileBus]),
    help="Put a bus in front of every tile port; needs --tile-ports.",
)
@click.option(
    "--prefix",
    default="eyecast",
    show_default=True,
    metavar="NAME",
    help="Prefix of the names of modules, files, functions and macros; each engine of a chip "
    "needs another prefix.",
)
@click.option("--assertions", is_flag=True, help="Write SystemVerilog with assertions.")
@file_option(
    *("-o", "--output"),
    metavar="DIR",
    required=True,
    help="Write the package into this folder, which must be new or empty.",
)
@timing_option
@option_group(
    file_option(
        "--workload",
        help="Make the package for all programs of this workload file, instead of one collective.",
    ),
    heading="Workload",
)
@workload_options
def ip_command(
    wanted: ScheduleOptions,
    force: bool,
    bus: str,
    tile: str | None,
    prefix: str,
    assertions: bool,
    output: str,
    timing: Timing,
    workload: str | None,
    options: WorkloadOptions,
) -> None:
    """Write a network and one of its programs as a package for a chip.

    The package contains Verilog (a file for each module), a FuseSoC core, the registers (SystemRDL,
    C header, IP-XACT, page), a driver in C, constraints, the image of the program, the contract as
    a page, and a self-checking Verilog bench with its vectors. The network has a controller for 1
    program, unless --programs gives another number. With --workload it keeps all programs of a
    workload, and the driver has a table of the order in which they run; bench and image are those
    of the first program. With --assertions the hardware is SystemVerilog with the assertions of
    docs/proofs.md.
    """
    from ..ip.driver import workload_file
    from ..ip.package import Origin, require_prefix, write_package

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
    if workload is None:
        refuse_beside("a collective", WORKLOAD_NAMES, "only --workload depends on it")
        runs = list[EngineRun]()
        with busy("generating, checking, predicting"):
            compiled = wanted.compiled([wanted.answer(SizeLimit.HARDWARE, timing=timing)])
    else:
        compiled, runs = _of_workload(workload, options, wanted)
    config = compiled[0].program.config
    require_buses(config, host, streams)
    with busy("predicting"):
        for each in compiled:
            require_no_deadlock(each.program, force=force)
        image = image_of(compiled[0], timing)
        driver = {}
        if runs:
            kept = programs_image([each.program for each in compiled], timing)
            driver["eyecast_workload.h"] = workload_file(kept, runs)
    with busy("writing the package"):
        write_package(
            folder,
            image,
            Origin(compiled[0], _typed_options()),
            host,
            streams,
            prefix=prefix,
            assertions=assertions,
            driver=driver,
        )
    if room := made_room(wanted.hardware, config):
        say(f"for a network with {room}")
    say(f"wrote {folder}")


def _of_workload(
    file: str, options: WorkloadOptions, wanted: ScheduleOptions
) -> tuple[list[Compiled], list[EngineRun]]:
    """Return the programs of a workload, for a network that keeps all of them, and their runs."""
    others = ("--schedule", "--timing", *option_names(collective_options))
    refuse_beside("--workload", others, "the workload's programs need none")
    parameters = wanted.hardware.parameters
    words = parameters["message_words"] if was_typed("message_words") else MEMORY_WORDS
    found = run_of(
        file,
        options,
        wanted.network.topology(SizeLimit.HARDWARE),
        circuits=bool(parameters["circuits"]),
        message_words=words,
    )
    with busy("compiling"):
        schedules, runs = engine_programs(found)
        return compiled_together(found, schedules, wanted.hardware), runs


def _typed_options() -> str:
    """Return the options of this command as typed, without the output folder."""
    typed = shlex.join(sys.argv[2:])
    return re.sub(r"(?<!\S)(-o|--output)(=|\s*)('[^']*'|\S)+\s*", "", typed).strip()
