"""``eyecast convert``: networks, schedules and traffic from one file format to another."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import click

from ..model.base.errors import InvalidInput, one_of
from ..model.base.files import InputFile, input_name
from ..model.collectives.declared.request import Ports
from ..model.network.network_text import SizeLimit
from .command import command
from .console import busy, print_json, say, say_written
from .options.collective import words_option
from .options.hardware import ports_option
from .options.network import NetworkOptions, network_options
from .options.output import json_option, require_output_files
from .options.schedule_file import ScheduleReader
from .options.traffic_file import DrawingOptions, drawing_options
from .options.values import complete_files, option_names, refuse_beside

if TYPE_CHECKING:
    from ..formats.format import Content, Format


_OF_SCHEDULES = (ports_option, words_option)


@command(
    "convert",
    "eyecast convert corner.json corner.xml",
    "eyecast convert all-gather.xml schedule.json --mesh 4x4",
)
@click.argument("from_file", metavar="FROM", shell_complete=complete_files)
@click.argument("to_file", metavar="TO", shell_complete=complete_files)
@click.option(
    "--from",
    "from_format",
    metavar="FORMAT",
    help="Format of the file FROM, if Eyecast does not recognise it.",
)
@click.option(
    "--to",
    "to_format",
    metavar="FORMAT",
    help="Format of the file TO, if its suffix does not name it.",
)
@network_options
@ports_option
@words_option
@drawing_options
@json_option
def convert_command(
    from_file: str,
    to_file: str,
    from_format: str | None,
    to_format: str | None,
    network: NetworkOptions,
    ports: Ports,
    words: int,
    drawing: DrawingOptions,
    as_json: bool,
) -> None:
    """Convert a file of a network, a schedule or traffic to another format.

    If the file FROM names ranks (processes) but no network, give a network as an option, with
    --ports and --words.
    """
    from ..formats.registry import format_named, require_format_of

    require_output_files(to_file)
    given = None if from_format is None else format_named(from_format, "--from")
    wanted = None if to_format is None else format_named(to_format, "--to")
    file = InputFile.read(from_file)
    origin = given or require_format_of(file)
    with busy("reading, checking, writing"):
        content, target = _target(origin, wanted, to_file)
        reader = ScheduleReader(network, ports, words, SizeLimit.SCHEDULE)
        omits = _convert(reader, drawing, file, origin, content, target, Path(to_file))
    if as_json:
        print_json({"from": origin.name, "to": target.name, "content": content, "omits": omits})
        return
    say(f"a {content} of {input_name(file)}, {origin.title}, as {target.title}")
    if omits:
        say(f"without {omits}, which {target.title} cannot say")
    say_written(to_file)


def _target(origin: Format, wanted: Format | None, to_file: str) -> tuple[Content, Format]:
    """Choose the content to write (network, schedule or traffic) and its format."""
    from ..formats.format import Content
    from ..formats.registry import format_for

    contents = [content for content in Content if content in origin.reads]
    if not contents:
        raise InvalidInput(f"{origin.title} must be the format of TO: it is only written")
    if wanted is None:
        return contents[0], format_for(to_file, contents[0])
    for content in contents:
        if content in wanted.writes:
            return content, wanted
    can = f"for a {one_of(sorted(wanted.writes))}" if wanted.writes else "read only"
    raise InvalidInput(f"--to {wanted.name} must be left out with a {contents[0]}: it is {can}")


def _convert(
    reader: ScheduleReader,
    drawing: DrawingOptions,
    file: InputFile,
    origin: Format,
    content: Content,
    target: Format,
    path: Path,
) -> str:
    """Read ``content`` of ``file``, which has format ``origin``, and write it to ``path``.

    Returns a description of the data that ``target`` cannot hold.
    """
    from ..formats.format import Content
    from ..formats.registry import network_of_file

    options = reader.network
    unused = () if options.random_faults else ("--seed",)
    if content == Content.NETWORK:
        refuse_beside("FROM", option_names(network_options, *_OF_SCHEDULES, drawing_options))
        assert target.write_network is not None
        network = network_of_file(file, origin)
        target.write_network(network, path)
        return target.lost(network)
    if content == Content.SCHEDULE:
        refuse_beside("FROM", (*option_names(drawing_options), *unused), "it holds a schedule")
        schedule = reader.read(file, origin, "FROM")
        assert target.write_schedule is not None
        target.write_schedule(schedule, path)
        return target.lost(schedule)
    unused = () if origin.draws_traffic else unused
    refuse_beside("FROM", (*option_names(*_OF_SCHEDULES), *unused), "it holds traffic")
    topology = options.topology(SizeLimit.SCHEDULE, draws=True)
    assert target.write_traffic is not None
    traffic = drawing.traffic_of_file(file, origin, topology, options.seed, "FROM")
    target.write_traffic(traffic, path)
    return ""
