"""``eyecast verilog``: the network as Verilog for other design flows."""

import json
from pathlib import Path

import click

from ..model.base.errors import InvalidInput
from ..model.base.files import is_special, write_atomically
from ..model.base.folders import new_folder, require_new_folder
from ..model.collectives.declared.request import Ports
from ..model.network.buses import HostBus, TileBus, require_buses
from ..model.network.config_file import network_to_json
from ..model.network.network_text import SizeLimit
from ..model.program.certified import Room
from .command import command
from .console import busy, say, say_written
from .options.hardware import config_of, exported_hardware_options
from .options.network import NetworkOptions, network_options
from .options.output import require_output_files
from .options.values import file_option


@command(
    "verilog",
    "eyecast verilog --mesh 4x4 --vcs 2 --depth 4 -o network.v",
    "eyecast verilog --mesh 4x4 --programs 4 --bus axi4-lite -o engine.v",
)
@network_options
@exported_hardware_options
@click.option(
    "--ports",
    type=click.Choice([Ports.ONE.value, Ports.ALL.value]),
    callback=lambda _context, _option, text: Ports(text),
    default=Ports.ONE.value,
    show_default=True,
    help="Ports of a node into and out of its router: one of each, or with all, one of each for "
    "every link.",
)
@click.option(
    "--bus",
    type=click.Choice([bus.value for bus in HostBus]),
    help="Put a bus in front of the port through which a host reaches the network; needs "
    "--programs.",
)
@click.option(
    "--tile",
    type=click.Choice([bus.value for bus in TileBus]),
    help="Put a bus in front of every tile port; needs --tile-ports.",
)
@click.option("--assertions", is_flag=True, help="Write SystemVerilog with assertions.")
@click.option(
    "--modules", is_flag=True, help="Write each module into a file of its own, in the folder of -o."
)
@file_option(
    *("-o", "--output"),
    metavar="FILE|DIR",
    required=True,
    help="Write the Verilog to this file (with --modules: folder).",
)
def verilog_command(
    network: NetworkOptions,
    hardware: Room,
    ports: Ports,
    bus: str | None,
    tile: str | None,
    assertions: bool,
    modules: bool,
    output: str,
) -> None:
    """Write the network as Verilog, and its ports and parameters beside it (.json).

    The top module is eyecast_network. Section 6 of docs/router.md (with a controller section 16)
    says how a host loads and starts the network. A faulty node is a complete tile, with memories
    but without links. A switch is a module eyecast_switch, without interface and memories.

    With --bus or --tile the top module is eyecast_engine: the network behind buses, with the
    addresses of section 21. With --assertions the file is SystemVerilog with the assertions of
    docs/proofs.md. If the output is a pipe or a device, the command writes only the Verilog. With
    --modules the output is a new or empty folder, with a file for each module.
    """
    from ..sim import verilog
    from ..sim.compilation import TOP_MODULE

    path = Path(output)
    beside = None
    if modules:
        require_new_folder(path)
    else:
        beside = _description_file(output)
    config = config_of(hardware, network.topology(SizeLimit.HARDWARE), ports)
    buses = (HostBus(bus) if bus else None, TileBus(tile) if tile else None)
    require_buses(config, *buses)
    description = {
        "top": verilog.ENGINE_MODULE if any(buses) else TOP_MODULE,
        "ports": verilog.describe_ports(config, *buses),
        "parameters": network_to_json(config),
    }
    described = json.dumps(description, indent=1) + "\n"
    if modules:
        with busy("converting to Verilog"), new_folder(path) as folder:
            files = verilog.network_modules(
                config, host=buses[0], tile=buses[1], assertions=assertions
            )
            for name, text in files.items():
                (folder / f"{name}.{'sv' if assertions else 'v'}").write_text(text)
            (folder / f"{description['top']}.json").write_text(described)
        say(f"wrote {path}")
        return
    with busy("converting to Verilog"):
        text = verilog.network_verilog(config, host=buses[0], tile=buses[1], assertions=assertions)
    write_atomically(output, text)
    if beside is not None:
        write_atomically(beside, described)
        say_written(output, beside)


def _description_file(output: str) -> str | None:
    """Return the description file beside the Verilog; None for a pipe or a device."""
    path = Path(output)
    if path.suffix.lower() == ".json":
        raise InvalidInput.of("output", "a file that does not end in .json", output)
    require_output_files(output)
    beside = None if is_special(path) else str(path.with_suffix(".json"))
    require_output_files(beside)
    return beside
