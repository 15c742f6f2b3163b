"""The schedule of a command: from the options, or from a file of Eyecast or another tool."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from ...model.base.errors import InvalidInput
from ...model.base.files import InputFile, input_name
from ...model.collectives.declared.request import Ports
from ...model.compare.answer import Answer
from ...model.network.network_text import SizeLimit
from ...model.network.port_model import PortModel
from ...model.network.topology import Topology
from ...model.schedule.schedule import Schedule
from .collective import chosen_answer, chosen_flits, chosen_task, collective_options
from .hardware import HARDWARE_NAMES
from .network import NETWORK_NAMES, chosen_topology, kinds_chosen
from .values import OptionValues, file_option, option_group, option_names, refuse_beside

if TYPE_CHECKING:
    from ...formats.format import Format, Setting

schedule_file_option = option_group(
    file_option(
        "--schedule",
        "schedule_file",
        help=(
            "A schedule file (- is standard input) instead of --source and --algorithm. A file of "
            "Eyecast names its network; another tool's file needs --mesh or a similar option."
        ),
    ),
    heading="Collective",
)

REPLACED_BY_SCHEDULE_FILE = (*NETWORK_NAMES, *option_names(collective_options))
"""Options refused beside ``--schedule``, if the file names its network."""

REPLACED_BY_PROGRAM_FILE = ("--schedule", *REPLACED_BY_SCHEDULE_FILE, *HARDWARE_NAMES)
"""Options refused beside ``--program``."""

REPLACED_BY_RANKS = tuple(
    name for name in option_names(collective_options) if name not in ("--ports", "--flits")
)
"""Options refused beside a file of ranks, which needs a network from the options."""


def chosen_schedule(
    chosen: OptionValues,
    limit: SizeLimit,
    require: Callable[[Topology], None] = lambda _topology: None,
    **best: Any,
) -> Answer:
    """Return the schedule of the options or of the file that they name, checked.

    ``require`` refuses a network before any work. ``best`` has the arguments of
    :func:`.chosen_answer` for choosing the best.
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
    """Return the schedule of ``file``, checked; ``form`` is its format, detected if None.

    Refuses options that the file replaces, beside ``option``. ``require`` refuses a network.
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
    """Return the network and the port model that the options give to the ranks of ``file``."""
    from ...formats.format import Setting

    if not kinds_chosen(chosen):
        raise InvalidInput(f"{input_name(file)} names no network: give one, such as --mesh 4x4")
    topology = chosen_topology(chosen, limit)
    require(topology)
    return Setting(topology=topology, ports=_port_model(chosen), words=chosen_flits(chosen))


def _port_model(chosen: OptionValues) -> PortModel:
    """Return the port model for a foreign schedule: full-duplex by default."""
    ports = Ports(chosen["ports"])
    if ports is Ports.ALL:
        return PortModel.ALL_PORT
    return ports.duplex or PortModel.FULL_DUPLEX
