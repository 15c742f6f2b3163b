"""All algorithms for a task, made, proved and predicted on one network."""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager
from dataclasses import replace

from ..base.errors import InvalidInput, one_of, with_article
from ..collectives.declared.request import Ports
from ..collectives.registry import ALGORITHMS
from ..collectives.task import Task
from ..network.config import TIMINGS, NetworkConfig
from ..network.node_names import node_name
from ..program.certified import Room
from ..program.compiler import Compiled, make_table_room, require_circuits, with_largest_tables
from ..program.memory.layout import Layout
from ..program.program import Program
from ..schedule.rules import ScheduleError
from ..schedule.schedule import Schedule
from .answer import answer
from .side_by_side import Entry, SideBySide

Progress = Callable[
    [str, int], AbstractContextManager[tuple[Callable[[str], None], Callable[[], None]]]
]
"""Start a task of this many parts; yields a function to show its text and one to count a part."""


@contextmanager
def _silent(_work: str, _parts: int) -> Iterator[tuple[Callable[[str], None], Callable[[], None]]]:
    """Show no progress."""
    yield (lambda _text: None), (lambda: None)


def compare(
    task: Task,
    room: Room,
    names: Iterable[str] | None = None,
    *,
    keep: bool = False,
    progress: Progress = _silent,
    spell: Callable[[InvalidInput], str] = str,
) -> SideBySide:
    """Compare all algorithms for ``task``, or those with ``names``, on one network of ``room``.

    ``keep`` True keeps the cases in the entries. ``spell`` writes why an algorithm does not serve.
    Raises :class:`.InvalidInput` if none serves.
    """
    if task.source is not None and task.source in task.topology.faulty_nodes:
        place = node_name(task.topology, task.source).strip("()")
        raise InvalidInput.of("source", "a node that is not faulty", place)
    entries, refusals = _made(task, list(names or _usable(task, room)), room, progress)
    if not entries:
        raise _unserved(task, refusals)
    with progress("predicting", len(entries) * len(TIMINGS)) as (say, advance):
        _predict(entries, room, say, advance, keep=keep)
    reasons = {name: spell(error) for name, error in refusals.items()}
    return SideBySide(task, entries, reasons, room.circuits)


def _usable(task: Task, room: Room) -> list[str]:
    """Return the names of the algorithms to compare: those for circuits only on such a network."""
    if room.circuits:
        return task.algorithms
    for_circuits = {each.name for each in ALGORITHMS if each.circuits}
    return [name for name in task.algorithms if name not in for_circuits]


def _made(
    task: Task, names: list[str], room: Room, progress: Progress
) -> tuple[list[Entry], dict[str, InvalidInput]]:
    """Make and prove the schedules; return them, and the reasons why others do not serve."""
    entries, refusals = [], {}
    with progress("generating and checking", len(names)) as (say, advance):
        for name in names:
            say(f"generating and checking {name}")
            try:
                schedule = answer(task, name, room, advise=False).schedule
                require_circuits(schedule, circuits=room.circuits)
            except ScheduleError:
                # A broken rule is a bug of the algorithm, not a refusal of the network.
                raise
            except InvalidInput as error:
                refusals[name] = error
            else:
                entries.append(Entry(replace(schedule, algorithm=name)))
            advance()
    return entries, refusals


def _predict(
    entries: list[Entry],
    room: Room,
    say: Callable[[str], None],
    advance: Callable[[], None],
    *,
    keep: bool,
) -> None:
    """Predict each entry with each timing by the cycle model.

    A refused program (routes that may deadlock, too few VCs, ...) still has a schedule.
    """
    # Import late: it loads the compiled cycle model.
    from .case import Case  # noqa: PLC0415

    compiled = _compiled(room, entries, say)
    for entry in entries:
        for timing in TIMINGS:
            say(f"predicting {entry.name}, {timing}")
            if entry.name in compiled:
                try:
                    entry.note(Case.of(compiled[entry.name], timing=timing, seed=0), keep=keep)
                except InvalidInput as error:
                    entry.refusals[timing] = str(error)
            advance()


def _compiled(
    room: Room, entries: Sequence[Entry], say: Callable[[str], None]
) -> dict[str, Compiled]:
    """Compile the schedules for one network, with streams or timed rows if needed, by name.

    If a schedule cannot be compiled, its entry gets the reason.
    """
    config, layouts = _common(room, [entry.schedule for entry in entries])
    compiled: dict[tuple[bool, bool], tuple[NetworkConfig, list[Compiled]]] = {}
    for entry, layout in zip(entries, layouts, strict=True):
        say(f"compiling {entry.name}")
        # Streams and timed rows make rows longer, so only schedules that need them get them.
        streams = bool(entry.schedule.stream.any()) or room.parameters.get("streams", False)
        timed = entry.schedule.timed
        try:
            own = config
            if not config.circuits:
                own = replace(config, streams=streams, timed_rows=timed)
            wide = with_largest_tables(own, fixed=room.fixed)
            one = Compiled.of(entry.schedule, wide, layout)
            if isinstance(one.program, Program):
                room.require(one.program)
        except InvalidInput as error:
            entry.refusals.update(dict.fromkeys(TIMINGS, str(error)))
        else:
            compiled.setdefault((streams, timed), (own, []))[1].append(one)
    roomy = (make_table_room(own, some, fixed=room.fixed)[1] for own, some in compiled.values())
    return {each.schedule.algorithm: each for some in roomy for each in some}


def _common(room: Room, schedules: Sequence[Schedule]) -> tuple[NetworkConfig, list[Layout | None]]:
    """Return one network for all schedules, so that cycles are comparable, and their layouts.

    The layout is None for a schedule that fits no network on its own.
    """
    try:
        config, layouts = room.common(schedules)
    except InvalidInput as error:
        fitting = [schedule for schedule in schedules if _fits(room, schedule)]
        if not fitting:
            raise
        if len(fitting) == len(schedules):
            raise error.between("no network serves all of them: ") from error
        # On this network the others are refused again, each with its own reason.
        config, found = room.common(fitting)
        known = dict(zip(map(id, fitting), found, strict=True))
        return config, [known.get(id(schedule)) for schedule in schedules]
    return config, [*layouts]


def _fits(room: Room, schedule: Schedule) -> bool:
    """Tell whether some network of ``room`` carries out ``schedule``."""
    try:
        room.common([schedule])
    except InvalidInput:
        return False
    return True


def _unserved(task: Task, refusals: Mapping[str, InvalidInput]) -> InvalidInput:
    """Return the error for a network, or for groups, that no algorithm serves."""
    name, why = next(iter(refusals.items()))
    network = with_article(task.topology.label)
    # All algorithms refuse for one reason, so the reason is in the task.
    if {*map(str, refusals.values())} == {str(why)}:
        return why
    if task.groups is not None:
        return why.between(f"no algorithm serves all groups: {name} does not, as ")
    if task.ports == Ports.ALL:
        beside = f"on {network}: {task.all_port_served()}"
        return InvalidInput.must_be("ports", "left out", beside, task.ports)
    served = one_of(refusals)
    return InvalidInput.of("network to compare on", f"one that {served} serves", network)
