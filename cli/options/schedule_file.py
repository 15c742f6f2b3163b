"""The schedule that a command is about: that of the options, or that of a file, ours or foreign."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import click

from ...model.base.errors import InvalidInput
from ...model.base.files import InputFile, input_name
from ...model.collectives.request import Ports
from ...model.compare.answer import Answer
from ...model.network.port_model import PortModel
from ...model.network.topology import Topology
from ...model.network.words import SizeLimit
from ...model.schedule.schedule import Schedule
from .collective import chosen_answer, chosen_flits, chosen_task, collective_options
from .hardware import HARDWARE_NAMES
from .network import NETWORK_NAMES, chosen_topology, kinds_chosen
from .values import OptionValues, complete_files, option_group, option_names, refuse_beside

if TYPE_CHECKING:
    from ...formats.format import Format, Setting

schedule_file_option = option_group(
    click.option(
        "--schedule",
        "schedule_file",
        metavar="FILE",
        shell_complete=complete_files,
        help="A schedule file (- is standard input), ours or foreign, instead of --source and "
        "--algorithm. Ours names its network; a foreign one needs --mesh or the like.",
    ),
    heading="Collective",
)

REPLACED_BY_SCHEDULE_FILE = (*NETWORK_NAMES, *option_names(collective_options))
"""Options that must be left out beside ``--schedule`` with a file that names its network."""

REPLACED_BY_PROGRAM_FILE = ("--schedule", *REPLACED_BY_SCHEDULE_FILE, *HARDWARE_NAMES)
"""Options that must be left out beside ``--program``."""

REPLACED_BY_RANKS = tuple(
    name for name in option_names(collective_options) if name not in ("--ports", "--flits")
)
"""Options that must be left out beside a file of ranks, which are put on a network of options."""


def chosen_schedule(
    chosen: OptionValues,
    limit: SizeLimit,
    require: Callable[[Topology], None] = lambda _topology: None,
    **best: Any,
) -> Answer:
    """The schedule that the options describe, or that of the file that they name; checked.

    ``require`` refuses a network before there is any work. What the best is chosen by is in
    ``best``: arguments of :func:`.chosen_answer`.
    """
    path = chosen.get("schedule_file")
    if path is None:
        topology = chosen_topology(chosen, limit)
        require(topology)
        return chosen_answer(chosen, chosen_task(chosen, topology), **best)
    file = InputFile.read(path)
    return Answer(schedule_of_file(chosen, file, None, limit, "--schedule", require))


def schedule_of_file(
    chosen: OptionValues,
    file: InputFile,
    form: Format | None,
    limit: SizeLimit,
    option: str,
    require: Callable[[Topology], None] = lambda _topology: None,
) -> Schedule:
    """The schedule of ``file``, of format ``form`` or that which it looks like; checked.

    Options that the file replaces are refused beside ``option``. ``require`` refuses a network.
    """
    from ...formats.format import Content, Wishes
    from ...formats.own import SCHEDULE
    from ...formats.registry import format_with

    form = form or format_with(file, Content.SCHEDULE, SCHEDULE)
    if form.read_schedule is not None:
        refuse_beside(option, REPLACED_BY_SCHEDULE_FILE)
        schedule = form.read_schedule(file)
        limit.require(schedule.topology.label, schedule.topology.nodes)
        require(schedule.topology)
    elif form.read_schedule_in is not None and not kinds_chosen(chosen):
        refuse_beside(option, (*NETWORK_NAMES, *REPLACED_BY_RANKS))
        wishes = Wishes(ports=_port_model(chosen), words=chosen_flits(chosen))
        schedule = form.read_schedule_in(file, wishes)
        limit.require(schedule.topology.label, schedule.topology.nodes)
        require(schedule.topology)
    else:
        assert form.read_schedule_on is not None
        refuse_beside(option, REPLACED_BY_RANKS)
        schedule = form.read_schedule_on(file, _setting(chosen, file, limit, require))
    try:
        schedule.check()
    except InvalidInput as error:
        raise InvalidInput(f"{input_name(file)}: {error}") from error
    return schedule


def _setting(
    chosen: OptionValues, file: InputFile, limit: SizeLimit, require: Callable[[Topology], None]
) -> Setting:
    """The network and the port model that the options give to the ranks of ``file``."""
    from ...formats.format import Setting

    if not kinds_chosen(chosen):
        raise InvalidInput(f"{input_name(file)} names no network: give one, such as --mesh 4x4")
    topology = chosen_topology(chosen, limit)
    require(topology)
    return Setting(topology=topology, ports=_port_model(chosen), words=chosen_flits(chosen))


def _port_model(chosen: OptionValues) -> PortModel:
    """The port model that a foreign schedule is packed for: full-duplex, if none is asked for."""
    ports = Ports(chosen["ports"])
    if ports is Ports.ALL:
        return PortModel.ALL_PORT
    return ports.duplex or PortModel.FULL_DUPLEX
