"""Options that describe a collective, and the schedule that they select."""

from dataclasses import dataclass

import click

from ...model.base.errors import InvalidInput, one_of, require_range
from ...model.base.texts import integers
from ...model.collectives.declared.block_words import read_block_words
from ...model.collectives.declared.request import Ports, combining_operator
from ...model.collectives.group_choice import named_groups
from ...model.collectives.registry import ALGORITHMS
from ...model.collectives.task import (
    BEST,
    MOST_BLOCK_WORDS,
    MOST_NODES,
    STRAIGHT,
    USUAL_ALGORITHMS,
    USUAL_WORDS,
    Task,
)
from ...model.compare.answer import Answer, answer
from ...model.network.config import Timing
from ...model.network.node_names import node_coordinates
from ...model.network.operators import BUILT_IN, as_operators
from ...model.network.topology import Topology
from ...model.program.certified import Room
from ...model.schedule.collective import COLLECTIVES, REDUCTIONS, Collective
from .hardware import ports_option
from .network import NetworkOptions
from .values import (
    complete_words,
    file_option,
    given_once,
    integer_option,
    option_group,
    recorded,
    was_typed,
)

source_option = click.option(
    "--source",
    metavar="X,Y",
    multiple=True,
    callback=given_once,
    help="The root: the node that sends the message of a broadcast or scatter, or gets the "
    "result of a reduce or gather.",
)
words_option = integer_option("--words", USUAL_WORDS, "Words of the message, or of each block.")


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


@dataclass(frozen=True, kw_only=True)
class CollectiveOptions:
    """A collective and its algorithm, as they are typed; nodes are texts of a network to come."""

    source: str | None
    collective: str
    targets: tuple[str, ...]
    packet: str | None
    operator: str | None
    ports: Ports
    words: int
    block_words: str | None
    group: str | None
    algorithm: str | None = None
    seconds: float | None = None
    partial: bool = False
    order: str | None = None

    def task(
        self, network: NetworkOptions, topology: Topology, room: Room, source: int | None = None
    ) -> Task:
        """Return the task on ``topology`` of ``network``; ``source`` is the default source."""
        groups = None
        if self.source is not None:
            source = network.working_node(topology, self.source, "--source")
        targets = tuple(network.working_node(topology, each, "--target") for each in self.targets)
        if self.group is not None:
            groups = named_groups(topology, self.group, self.collective, source, targets or None)
        task = Task(
            topology=topology,
            collective=self.collective,
            source=source,
            targets=targets or None,
            words=self.words if was_typed("words") else None,
            ports=self.ports,
            packet=self._most_words,
            order=self.order,
            partial=self.partial,
            operator=self.operator,
            block_words=None if self.block_words is None else read_block_words(self.block_words),
            groups=groups,
        )
        self._require_built(task, room)
        return task

    @property
    def _most_words(self) -> int | None:
        """The most words of a send; None for any number."""
        if self.packet is None:
            return None
        (packet, *more) = integers("--packet", "a number of words", self.packet, ",")
        if more:
            raise InvalidInput.of("--packet", "a number of words", repr(self.packet))
        return packet

    def _require_built(self, task: Task, room: Room) -> None:
        """Refuse an operator that the network lacks, before any schedule is made."""
        if "operators" not in room.fixed:
            return
        for collective in sorted(task.collectives & {*REDUCTIONS}):
            built = [operator.name for operator in as_operators(room.parameters["operators"])]
            needed = combining_operator(collective, self.operator)
            if needed not in built:
                allowed = f"{one_of(built) if built else 'none'}, as --operators has no other"
                raise InvalidInput.of("--operator", allowed, needed)

    def answer(self, task: Task, room: Room, timing: Timing) -> Answer:
        """Return the schedule of the chosen algorithm, checked; print the choice of the best.

        The best has the fewest cycles with ``timing``, among those that ``room`` allows.
        """
        name, seconds = self.algorithm, self.seconds
        usual = name is None and task.usual_algorithm != BEST
        if seconds is not None and (usual or name not in (None, BEST)) and task.groups is None:
            beside = f"with {name or task.usual_algorithm}: it is for --algorithm best"
            raise InvalidInput(f"--seconds must be left out {beside}")
        if seconds is not None and not seconds >= 0:
            raise InvalidInput.of("--seconds", "0 or more seconds", seconds)
        try:
            found = answer(task, name, room, timing=timing, seconds=seconds)
        except InvalidInput as error:
            plain = task.ports == Ports.ONE and task.packet is None and task.order is None
            # A collective that only copies has no operator, whatever the algorithm.
            plain &= task.operator is None or task.collective in REDUCTIONS
            if not (usual and plain and task.collective in USUAL_ALGORITHMS):
                raise
            raise error.between("", " (use --algorithm tree instead)") from error
        for group, choice in found.choices.items():
            click.echo("" if group is None else f"group {group}: ", nl=False, err=True)
            click.echo(choice.describe(), err=True)
        return found


def require_words(words: int) -> int:
    """Return the length of a message in words; refuse one out of range."""
    require_range("--words", words, 1, MOST_BLOCK_WORDS)
    return words


_request_group = option_group(
    source_option,
    click.option(
        "--collective",
        default=Collective.BROADCAST.value,
        shell_complete=complete_words(COLLECTIVES),
        show_default=True,
        help="The collective that the nodes carry out; for an unknown name, an error line lists "
        "all names.",
    ),
    click.option(
        "--target",
        "targets",
        metavar="X,Y",
        multiple=True,
        help="A node that gets the multicast; repeat the option for several.",
    ),
    click.option("--packet", metavar="N", help="The most words that one send carries."),
    click.option(
        "--operator",
        metavar="NAME",
        shell_complete=complete_words(BUILT_IN),
        help="The operator by which a reduction combines words; by default add (in a barrier: "
        "and).",
    ),
    ports_option,
    words_option,
    file_option(
        "--block-words",
        help="A file with the number of words of each node's or pair's block, instead of --words.",
    ),
    file_option(
        "--group",
        metavar="rows|columns|'submesh AxB'|rows+columns|FILE",
        multiple=True,
        callback=given_once,
        help=(
            "Run a collective in each row, column or box of sides AxB, or in each group of "
            "a file, at the same time; by the best algorithm unless --algorithm names one. Names "
            "joined by + run at the same time too."
        ),
    ),
)
request_options = recorded("collective", CollectiveOptions, _request_group, heading="Collective")
collective_options = recorded(
    "collective",
    CollectiveOptions,
    _request_group,
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
        help="With --algorithm best: try no further algorithm after this many seconds.",
    ),
    click.option(
        "--partial", is_flag=True, help="If no path leads to some nodes, serve the other nodes."
    ),
    click.option(
        "--order",
        metavar="canonical|postorder|reverse-breadth-first|LEVELS",
        help=(
            "canonical: add the words of every sum in the same order, whatever the "
            "algorithm. postorder, reverse-breadth-first: the order in which a node sends the "
            "blocks of an all-to-all through all ports. LEVELS of hierarchy, innermost first: "
            "'rows,columns', 'submesh 2x2,submesh 4x4' or nested lists '[[0,1],[2,3]]'."
        ),
    ),
    heading="Collective",
)


def schedule_facts(found: Answer) -> dict[str, object]:
    """Return what identifies a schedule in a result of ``--json``."""
    schedule = found.schedule
    return {
        "collective": schedule.collective,
        "algorithm": schedule.algorithm,
        "source": node_coordinates(schedule.topology, schedule.root),
        "words": [request.words for request in schedule.requests],
        "ports": schedule.port_model,
        **found.facts(),
    }
