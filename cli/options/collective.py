"""Options that describe a collective, and the schedule that they select."""

from collections.abc import Callable
from dataclasses import replace

import click

from ...model.base.errors import InvalidInput, one_of, require_range
from ...model.base.texts import integers
from ...model.collectives.declared.block_words import read_block_words
from ...model.collectives.declared.request import Ports, combining_operator
from ...model.collectives.group_choice import named_groups
from ...model.collectives.registry import ALGORITHMS
from ...model.collectives.task import (
    BEST,
    MOST_FLITS,
    MOST_NODES,
    STRAIGHT,
    USUAL_ALGORITHMS,
    USUAL_FLITS,
    Task,
)
from ...model.compare.answer import Answer, answer
from ...model.network.config import Timing
from ...model.network.network_text import node_in_words
from ...model.network.node_names import node_coordinates
from ...model.network.operators import BUILT_IN, as_operators
from ...model.network.topology import Topology
from ...model.program.deadlock import certify
from ...model.program.program import Program
from ...model.schedule.collective import COLLECTIVES, REDUCTIONS, Collective
from .hardware import chosen_room, ports_option
from .values import (
    OptionValues,
    complete_words,
    file_option,
    given_once,
    integer_option,
    option_group,
    was_typed,
)

source_option = click.option(
    "--source",
    metavar="X,Y",
    multiple=True,
    callback=given_once,
    help="The root: the node that has the message, or that gets the blocks or the result.",
)
flits_option = integer_option("--flits", USUAL_FLITS, "Length of the message, or of each block.")


def _usual_algorithms() -> str:
    """Say which algorithm :attr:`.Task.usual_algorithm` is."""
    by_name: dict[str, list[str]] = {}
    for collective, name in USUAL_ALGORITHMS.items():
        if collective != Collective.BROADCAST:
            by_name.setdefault(name, []).append(collective)
    usual = ", ".join(f"{name} for {one_of(those)}" for name, those in by_name.items())
    return (
        f"A broadcast defaults to {USUAL_ALGORITHMS[Collective.BROADCAST]}, any other collective "
        f"to best. Above {MOST_NODES} nodes, where best takes long, the default is {usual}, for "
        f"others sbt on a hypercube, otherwise ring; in trees, in other graphs and with faults "
        f"{one_of(STRAIGHT)} defaults to direct. The default is best if these cannot use all ports."
    )


request_options = option_group(
    source_option,
    click.option(
        "--collective",
        default=Collective.BROADCAST.value,
        shell_complete=complete_words(COLLECTIVES),
        show_default=True,
        help="The collective; an unknown name is answered with all names.",
    ),
    click.option(
        "--target",
        "targets",
        metavar="X,Y",
        multiple=True,
        help="A target of a multicast; repeatable.",
    ),
    click.option("--packet", metavar="N", help="The most flits of a send."),
    click.option(
        "--operator",
        metavar="NAME",
        shell_complete=complete_words(BUILT_IN),
        help="The operator of a reduction; the default is add (in a barrier: and).",
    ),
    ports_option,
    flits_option,
    file_option(
        "--block-words",
        help="Unequal blocks, instead of --flits: the words of each node, or of each pair.",
    ),
    file_option(
        "--group",
        metavar="rows|columns|'submesh AxB'|FILE",
        multiple=True,
        callback=given_once,
        help=(
            "One collective for each row, column or box of sides AxB, or for each group of a "
            "file, all at once; by the best algorithm unless --algorithm is given."
        ),
    ),
    heading="Collective",
)
collective_options = option_group(
    request_options,
    click.option(
        "--algorithm",
        shell_complete=complete_words(dict.fromkeys((BEST, *(each.name for each in ALGORITHMS)))),
        help=(
            "The algorithm; eyecast algorithms lists all, best is the fastest. "
            f"{_usual_algorithms()}"
        ),
    ),
    click.option(
        "--seconds",
        metavar="SECONDS",
        type=float,
        help="With --algorithm best: start no further algorithm after this many seconds.",
    ),
    click.option(
        "--partial", is_flag=True, help="Serve the reachable nodes if some are unreachable."
    ),
    click.option(
        "--order",
        metavar="canonical|postorder|reverse-breadth-first",
        help=(
            "canonical: a reduction makes every sum in one order, whatever the algorithm. Others: "
            "the order in which an all-to-all sends on all ports; the default is the table's."
        ),
    ),
    heading="Collective",
)


def _working_node(chosen: OptionValues, topology: Topology, text: str, option: str) -> int:
    """Return the number of a node; refuse one that is faulty."""
    node = node_in_words(topology, text, option)
    topology.require_interface(option, node)
    named = [node_in_words(topology, each, "--faulty-node") for each in chosen["faulty_node"]]
    if chosen["random_faults"] and node in topology.faulty_nodes and node not in named:
        seed = f"--random-faults {chosen['random_faults']} --seed {chosen['seed']}"
        raise InvalidInput(
            f"{option} must be a node that works, not {text}, which {seed} draws faulty "
            f"(--keep {text}, or another seed, helps)"
        )
    if node in topology.faulty_nodes:
        raise InvalidInput.of(option, "a node that is not faulty", text)
    return node


def chosen_flits(chosen: OptionValues) -> int:
    """Return the length of the message, in words."""
    flits: int = chosen["flits"]
    require_range("--flits", flits, 1, MOST_FLITS)
    return flits


def chosen_task(chosen: OptionValues, topology: Topology, source: int | None = None) -> Task:
    """Return the task of the options on ``topology``; ``source`` is the default source."""
    collective, group = chosen["collective"], chosen["group"]
    texts, path = chosen["targets"], chosen["block_words"]
    if chosen["source"] is not None:
        source = _working_node(chosen, topology, chosen["source"], "--source")
    targets = tuple(_working_node(chosen, topology, text, "--target") for text in texts) or None
    if group is not None:
        group = named_groups(topology, group, collective, source, targets)
    task = Task(
        topology=topology,
        collective=collective,
        source=source,
        targets=targets,
        flits=chosen["flits"] if was_typed("flits") else None,
        ports=Ports(chosen["ports"]),
        packet=_chosen_packet(chosen),
        order=chosen.get("order"),
        partial=chosen.get("partial", False),
        operator=chosen["operator"],
        block_words=None if path is None else read_block_words(path),
        groups=group,
    )
    _require_built(chosen, task)
    return task


def chosen_answer(
    chosen: OptionValues,
    task: Task,
    *,
    timing: Timing = Timing.BARRIER,
    require_program: Callable[[Program], None] = certify,
) -> Answer:
    """Return the schedule of the chosen algorithm, checked; print the choice of the best.

    The best has the fewest cycles with ``timing``, among those that ``require_program`` allows.
    """
    name, seconds = chosen["algorithm"], chosen.get("seconds")
    usual = name is None and task.usual_algorithm != BEST
    if seconds is not None and (usual or name not in (None, BEST)) and task.groups is None:
        beside = name or task.usual_algorithm
        raise InvalidInput(f"--seconds must be left out with {beside}: it is for --algorithm best")
    if seconds is not None and not seconds >= 0:
        raise InvalidInput.of("--seconds", "0 or more seconds", seconds)
    room = replace(chosen_room(chosen), require=require_program)
    try:
        found = answer(task, name, room, timing=timing, seconds=seconds)
    except InvalidInput as error:
        plain = task.ports == Ports.ONE and task.packet is None and task.order is None
        # A collective that only copies has no operator, whatever the algorithm.
        plain &= task.operator is None or task.collective in REDUCTIONS
        if not (usual and plain and task.collective in USUAL_ALGORITHMS):
            raise
        raise error.between("", " (--algorithm tree serves any network)") from error
    for group, choice in found.choices.items():
        click.echo("" if group is None else f"group {group}: ", nl=False, err=True)
        click.echo(choice.describe(), err=True)
    return found


def schedule_facts(found: Answer) -> dict[str, object]:
    """Return what identifies a schedule in a result of ``--json``."""
    schedule = found.schedule
    return {
        "collective": schedule.collective,
        "algorithm": schedule.algorithm,
        "source": node_coordinates(schedule.topology, schedule.root),
        "ports": schedule.port_model,
        **found.facts(),
    }


def _require_built(chosen: OptionValues, task: Task) -> None:
    """Refuse an operator that the network lacks, before any schedule is made."""
    if "operators" not in chosen or not was_typed("operators"):
        return
    for collective in sorted(task.collectives & {*REDUCTIONS}):
        built = [operator.name for operator in as_operators(chosen["operators"])]
        needed = combining_operator(collective, chosen["operator"])
        if needed not in built:
            allowed = f"{one_of(built) if built else 'none'}, as --operators has no other"
            raise InvalidInput.of("--operator", allowed, needed)


def _chosen_packet(chosen: OptionValues) -> int | None:
    """Return the most words of a send; None for any number."""
    if chosen["packet"] is None:
        return None
    (packet, *more) = integers("--packet", "a number of flits", chosen["packet"], ",")
    if more:
        raise InvalidInput.of("--packet", "a number of flits", repr(chosen["packet"]))
    return packet
