"""The options that say what is to be carried out, and the schedule that they describe."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress
from typing import TYPE_CHECKING

import click

from ...model.base.errors import InvalidInput, one_of, require_range
from ...model.base.texts import integers
from ...model.collectives.block_words import read_block_words, require_block_words
from ...model.collectives.halving.boxes import is_whole_grid
from ...model.collectives.registry import ALGORITHMS, algorithms_for, find_algorithm
from ...model.collectives.request import Ports, Request, combining_operator
from ...model.network.config import Timing
from ...model.network.operators import BUILT_IN, as_operators
from ...model.network.place import place_numbers
from ...model.network.topology import Topology, hypercube
from ...model.program.checks import require_loadable
from ...model.program.compiler import Compiled
from ...model.program.deadlock import certify
from ...model.schedule.collective import COLLECTIVES, REDUCTIONS, ROOTLESS, Collective
from ...model.schedule.schedule import Schedule
from .hardware import KEPT, fitted, ports_option
from .network import network_facts
from .values import (
    OptionValues,
    complete_files,
    complete_words,
    given_once,
    integer_option,
    option_group,
    refuse_beside,
    was_typed,
)

if TYPE_CHECKING:
    from ...model.compare.best import Choice

_MOST_FLITS = (1 << 31) - 1

BEST = "best"
"""In place of an algorithm: the fastest of all that serve."""

DEFAULT_ALGORITHMS: dict[str, str] = {
    Collective.BROADCAST: "eye",
    Collective.MULTICAST: "u-mesh",
    Collective.REDUCE: "eye",
    Collective.BARRIER: "eye",
}
"""The algorithm for each collective when ``--algorithm`` is not given."""

STRAIGHT = (Collective.SCATTER, Collective.GATHER, Collective.ALL_TO_ALL)
"""Collectives that are by direct messages then, where a network is no grid without faults."""

source_option = click.option(
    "--source",
    metavar="X,Y",
    multiple=True,
    callback=given_once,
    help="The root: has the message at the start, or gathers or gets the sum.",
)
flits_option = integer_option("--flits", 16, "Length of the message, or of each block.")
request_options = option_group(
    source_option,
    click.option(
        "--collective",
        default=Collective.BROADCAST.value,
        shell_complete=complete_words(COLLECTIVES),
        show_default=True,
        help="What to do; for an unknown one all are listed.",
    ),
    click.option("--target", "targets", metavar="X,Y", multiple=True, help="Of a multicast."),
    click.option("--packet", metavar="N", help="At most so many flits in a send."),
    click.option(
        "--operator",
        metavar="NAME",
        shell_complete=complete_words(BUILT_IN),
        help="What a reduction combines by; add, and in a barrier and, if nothing is said.",
    ),
    ports_option,
    flits_option,
    click.option(
        "--block-words",
        metavar="FILE",
        shell_complete=complete_files,
        help="Unequal blocks, not --flits: the words of each node's, or of each pair's.",
    ),
    click.option(
        "--group",
        metavar="rows|columns|'submesh AxB'|FILE",
        multiple=True,
        callback=given_once,
        shell_complete=complete_files,
        help="One collective for each row, column or box of sides AxB, or for each group of a "
        "file, all at once; by the best algorithm if nothing is said.",
    ),
)
collective_options = option_group(
    request_options,
    click.option(
        "--algorithm",
        shell_complete=complete_words(dict.fromkeys((BEST, *(each.name for each in ALGORITHMS)))),
        help="How to do it; if nothing is said, eye for a broadcast, reduce or barrier, u-mesh for "
        "a multicast, and for all else sbt on a hypercube, ring elsewhere; best where that cannot "
        "use all ports. best is the fastest of all.",
    ),
    click.option(
        "--seconds",
        metavar="SECONDS",
        type=float,
        help="With --algorithm best: begin with no further algorithm after so many seconds.",
    ),
    click.option("--partial", is_flag=True, help="Serve the nodes that can be reached."),
    click.option(
        "--order",
        metavar="postorder|reverse-breadth-first",
        help="In which order an all-to-all sends on all ports; if nothing is said, the table's.",
    ),
)


def chosen_node(topology: Topology, text: str, option: str) -> int:
    """The number of the node at the coordinates in ``text``."""
    return topology.node_at(integers(option, "coordinates such as 0,0", text, ","), option)


def chosen_source(chosen: OptionValues, topology: Topology) -> int:
    """The number of the source node."""
    if chosen["source"] is None:
        raise InvalidInput("a source must be given, such as --source 0,0")
    return _working_node(chosen, topology, chosen["source"], "--source")


def _working_node(chosen: OptionValues, topology: Topology, text: str, option: str) -> int:
    """The number of a node that takes part; refused if ``--random-faults`` alone draws it faulty.

    What else is faulty is refused by the algorithm.
    """
    node = chosen_node(topology, text, option)
    topology.require_interface(option, node)
    named = [chosen_node(topology, each, "--faulty-node") for each in chosen["faulty_node"]]
    if chosen["random_faults"] and node in topology.faulty_nodes and node not in named:
        seed = f"--random-faults {chosen['random_faults']} --seed {chosen['seed']}"
        raise InvalidInput(
            f"{option} must be a node that works, not {text}, which {seed} draws faulty "
            f"(--keep {text}, or another seed, helps)"
        )
    return node


def chosen_root(chosen: OptionValues, topology: Topology) -> int | None:
    """The number of the source node; None in a collective where every node is one."""
    algorithms_for(chosen["collective"])
    if chosen["collective"] not in ROOTLESS:
        return chosen_source(chosen, topology)
    if chosen["source"] is not None:
        raise InvalidInput(f"--source must be left out with {chosen['collective']}: all nodes are")
    return None


def chosen_flits(chosen: OptionValues) -> int:
    """The length of the message."""
    flits: int = chosen["flits"]
    require_range("--flits", flits, 1, _MOST_FLITS)
    return flits


def chosen_request(chosen: OptionValues, topology: Topology, source: int | None) -> Request:
    """Request that the options make, of whatever algorithm."""
    words = chosen["block_words"]
    if chosen["group"] is None:
        refuse_lengths({chosen["collective"]})
    if words is not None:
        require_block_words(words, chosen["collective"], topology)
    return Request(
        topology=topology,
        words=chosen_flits(chosen),
        source=source,
        targets=_chosen_targets(chosen, topology),
        partial=chosen.get("partial", False),
        all_port=chosen["ports"] == Ports.ALL,
        duplex=Ports(chosen["ports"]).duplex,
        order=chosen.get("order"),
        packet=_chosen_packet(chosen),
        operator=_chosen_operator(chosen),
        block_words=words,
    )


def refuse_lengths(collectives: set[str]) -> None:
    """Refuse lengths that were typed where there are only barriers, which have a word."""
    if collectives == {Collective.BARRIER}:
        refuse_beside("--collective barrier", ("--flits", "--lengths"), "it has 1 word")


def with_block_words(chosen: OptionValues) -> OptionValues:
    """The options with the words of blocks in place of the file that ``--block-words`` names."""
    if chosen["block_words"] is None:
        return chosen
    refuse_beside("--block-words", ("--flits", "--packet"), "the file says how long blocks are")
    return {**chosen, "block_words": read_block_words(chosen["block_words"])}


def make_schedule(
    chosen: OptionValues, topology: Topology, source: int | None, *, group: int | None = None
) -> Schedule:
    """The schedule of the chosen algorithm, checked; of a ``group``, where it is one of several."""
    collective = chosen["collective"]
    request = chosen_request(chosen, topology, source)
    name = chosen["algorithm"] or _default_algorithm(collective, request)
    if name == BEST:
        return _best_schedule(chosen, request, group)
    if chosen.get("seconds") is not None:
        raise InvalidInput(f"--seconds must be left out with {name}: it is for --algorithm best")
    algorithm = find_algorithm(collective, name)
    try:
        schedule = algorithm.generate(request)
    except InvalidInput as error:
        if request.all_port and "all_port" not in algorithm.takes:
            raise InvalidInput(f"{error} ({all_port_served(request, collective)})") from error
        served = chosen["ports"] == Ports.ONE and request.packet is None
        # What only copies has no operator, by whatever algorithm.
        served &= request.operator is None or collective in REDUCTIONS
        if chosen["algorithm"] or collective not in DEFAULT_ALGORITHMS or not served:
            raise
        raise InvalidInput(f"{error} (--algorithm tree serves any network)") from error
    schedule.check()
    return schedule


def _best_schedule(chosen: OptionValues, request: Request, group: int | None) -> Schedule:
    """The fastest schedule; what it was chosen from is said on standard error."""
    # Numba takes long to load, and what is refused is refused before.
    from ...model.compare.best import choose_best

    limit = chosen.get("seconds")
    if limit is not None and not limit >= 0:
        raise InvalidInput.of("--seconds", "0 or more seconds", limit)

    # The command has these two for itself: they are not among the chosen.
    given = click.get_current_context().params
    timing = given.get("timing", Timing.BARRIER)

    def compiled(schedule: Schedule) -> Compiled:
        (one,) = fitted(chosen, [schedule])
        certify(one.program)
        if given.get("image"):
            require_loadable(one.program)
        return one

    choice = choose_best(chosen["collective"], request, compiled, timing=timing, seconds=limit)
    _note(choice, group)
    return choice.schedule


def _note(choice: Choice, group: int | None) -> None:
    """Say what was chosen on standard error, and keep what was found of it for the command."""
    known = click.get_current_context().meta
    found = choice.to_json() if group is None else {"group": group, **choice.to_json()}
    known.setdefault(BEST, []).append((choice.schedule, found))
    known[KEPT] = choice.kept
    click.echo("" if group is None else f"group {group}: ", nl=False, err=True)
    click.echo(choice.describe(), err=True)


def _chosen_from(schedule: Schedule) -> dict[str, object]:
    """Facts of the choice of ``schedule``, or of those of its groups; none if none was chosen."""
    choices = click.get_current_context().meta.get(BEST, [])
    own = [found for made, found in choices if made is schedule]
    found = own[0] if own else [found for _, found in choices if schedule.groups]
    return {BEST: found} if found else {}


def all_port_served(request: Request, collective: str) -> str:
    """Words on what serves a request where nodes use all their ports at once, or a hypercube's."""
    if served := _served(request, collective):
        return _serve(served)
    root = None if collective in ROOTLESS else 0
    other = Request(topology=hypercube(3), words=1, source=root, all_port=True)
    served = _served(other, collective)
    return f"on a hypercube {_serve(served)}" if served else "nothing serves it yet"


def _serve(names: Sequence[str]) -> str:
    """Words on the algorithms of these names, which serve something."""
    return f"{', '.join(names)} {'serves' if len(names) == 1 else 'serve'} it"


def _served(request: Request, collective: str) -> list[str]:
    """Names of the algorithms that serve a request."""
    served = []
    for algorithm in algorithms_for(collective):
        with suppress(InvalidInput):
            algorithm.generate(request)
            served.append(algorithm.name)
    return served


def schedule_facts(chosen: OptionValues, schedule: Schedule) -> dict[str, object]:
    """Facts that name a result, as :func:`.network_facts`; a schedule file has no seed."""
    facts = network_facts(chosen, schedule.topology)
    if chosen.get("schedule_file") is not None:
        facts["seed"] = None
    return {
        **facts,
        "collective": schedule.collective,
        "algorithm": schedule.algorithm,
        "source": place_numbers(schedule.topology, schedule.root),
        "ports": schedule.port_model,
        **_chosen_from(schedule),
    }


def _default_algorithm(collective: str, request: Request) -> str:
    """Name the algorithm for a collective when ``--algorithm`` is not given."""
    name = DEFAULT_ALGORITHMS.get(collective, _usual(collective, request.topology))
    all_ports = request.all_port and "all_port" not in find_algorithm(collective, name).takes
    return BEST if all_ports else name


def _usual(collective: str, topology: Topology) -> str:
    """Name the algorithm of a collective that has a block for each node."""
    if is_whole_grid(topology):
        return "sbt" if topology.kind == "hypercube" else "ring"
    return "direct" if collective in STRAIGHT else "ring"


def _chosen_targets(chosen: OptionValues, topology: Topology) -> tuple[int, ...] | None:
    """The nodes that get a multicast; None for any other collective."""
    texts = chosen["targets"]
    if chosen["collective"] != Collective.MULTICAST:
        if texts:
            raise InvalidInput(f"--target must be left out with {chosen['collective']}")
        return None
    if not texts:
        raise InvalidInput("a target must be given with multicast, such as --target 1,0")
    return tuple(_working_node(chosen, topology, text, "--target") for text in texts)


def _chosen_operator(chosen: OptionValues) -> str | None:
    """The name of what a reduction combines by; None where nothing is said.

    One that the network is not built with is refused here, before any schedule is made.
    """
    name: str | None = chosen["operator"]
    if name is not None and name not in BUILT_IN:
        raise InvalidInput.of("--operator", one_of(BUILT_IN), name)
    collective = chosen["collective"]
    if collective in REDUCTIONS and "operators" in chosen and was_typed("operators"):
        built = [operator.name for operator in as_operators(chosen["operators"])]
        needed = combining_operator(collective, name)
        if needed not in built:
            allowed = f"{one_of(built) if built else 'none'}, as --operators has no other"
            raise InvalidInput.of("--operator", allowed, needed)
    return name


def _chosen_packet(chosen: OptionValues) -> int | None:
    """The most words of a send; None for any number."""
    if chosen["packet"] is None:
        return None
    (packet, *more) = integers("--packet", "a number of flits", chosen["packet"], ",")
    if more:
        raise InvalidInput.of("--packet", "a number of flits", repr(chosen["packet"]))
    require_range("--packet", packet, 1, _MOST_FLITS)
    return packet
