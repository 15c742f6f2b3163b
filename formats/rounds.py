"""Rounds as CSV: who sends which blocks to whom, for a collective on a given network.

::

    collective,all-reduce
    pieces,4
    round,source,target,blocks,combine
    1,0,1,0-3,1
    1,1,0,0-3,1

Before the header stand lines of a name and a value: the collective, and those of ``source``,
``targets`` (nodes with blanks between), ``pieces`` and ``operator`` that it needs. Blocks are
numbers, or ranges such as ``4-7``, with blanks between. ``combine`` is 1, 0 or nothing.
:mod:`..model.schedule.rounds` finds routes, steps and the order of blocks.
"""

from __future__ import annotations

import csv
import re
from collections import defaultdict
from io import StringIO
from pathlib import PurePath

from ..model.base.errors import InvalidInput, one_of, require_range
from ..model.base.files import InputFile, input_name
from ..model.collectives.promise import promise_of
from ..model.collectives.task import MOST_BLOCK_WORDS, Task
from ..model.schedule.collective import Collective
from ..model.schedule.rounds import RoundSend, schedule_of_rounds
from ..model.schedule.rules import LARGEST_STEP
from ..model.schedule.schedule import Schedule
from .format import Format, Setting
from .lines import quoted, text_of, wrong_line

COLUMNS = ("round", "source", "target", "blocks", "combine")
NAMES = ("collective", "source", "targets", "pieces", "operator")
_NUMBERS = re.compile(r"\d{1,9}(-\d{1,9})?(\s+\d{1,9}(-\d{1,9})?)*")


def read_rounds(file: InputFile, setting: Setting) -> Schedule:
    """Return the schedule of the rounds in ``file``; a block has ``setting.words`` words.

    Raises :class:`.InvalidInput` with the file, and the line of a wrong number.
    """
    topology = setting.topology
    given: dict[str, str] = {}
    rounds: defaultdict[int, list[RoundSend]] = defaultdict(list)
    table = csv.reader(StringIO(text_of(file), newline=""), skipinitialspace=True)
    named = False
    for line in table:
        cells = [cell.strip() for cell in line]
        if not any(cells):
            continue
        try:
            if named:
                _add(rounds, cells, topology.nodes)
            elif tuple(cells) == COLUMNS:
                named = True
            elif len(cells) == 2 and cells[0] in NAMES and cells[0] not in given:
                given[cells[0]] = cells[1]
            else:
                allowed = f"{','.join(COLUMNS)}, or a name ({one_of(NAMES)}) and a value"
                raise InvalidInput(f"must be {allowed}, not {quoted(','.join(cells))}")
        except InvalidInput as error:
            raise wrong_line(file, table.line_num, str(error)) from error
    if not rounds:
        raise InvalidInput(f"{input_name(file)}: rounds must be one send or more, not none")
    try:
        return _schedule(given, [rounds[number] for number in sorted(rounds)], setting, file)
    except InvalidInput as error:
        raise error.between(f"{input_name(file)}: ") from error


def _add(rounds: dict[int, list[RoundSend]], cells: list[str], nodes: int) -> None:
    """Add the send of a line to its round."""
    if len(cells) != len(COLUMNS):
        raise InvalidInput(f"must have {len(COLUMNS)} columns, not {len(cells)}")
    (number,) = _numbers("round", cells[0], LARGEST_STEP, 1)
    (source,), (target,) = (
        _numbers(name, cell, nodes - 1, 1)
        for name, cell in zip(("source", "target"), cells[1:3], strict=True)
    )
    if source == target:
        raise InvalidInput.of("target", "another node than the source", target)
    blocks = _numbers("blocks", cells[3], MOST_BLOCK_WORDS)
    (combine,) = _numbers("combine", cells[4] or "0", 1, 1)
    rounds[number].append(RoundSend(source, target, blocks, bool(combine)))


def _numbers(name: str, text: str, most: int, count: int | None = None) -> list[int]:
    """Return the numbers of ``text``, 0 to ``most``; ``count`` says how many there must be."""
    found: list[int] = []
    if _NUMBERS.fullmatch(text):
        for part in text.split():
            first, _, last = part.partition("-")
            require_range(name, int(last or first), 0, most)
            found += range(int(first), int(last or first) + 1)
    if not found or count not in (None, len(found)):
        allowed = "numbers or ranges such as 4-7" if count is None else "a number"
        raise InvalidInput.of(name, allowed, quoted(text))
    return found


def _schedule(
    given: dict[str, str], rounds: list[list[RoundSend]], setting: Setting, file: InputFile
) -> Schedule:
    """Return the schedule of ``rounds`` for the collective that the first lines name."""
    topology = setting.topology
    if "collective" not in given:
        raise InvalidInput.must_be("collective", "given", "in the first lines")
    nodes = {
        name: _numbers(name, given[name], topology.nodes - 1)
        for name in ("source", "targets")
        if name in given
    }
    task = Task(
        topology=topology,
        collective=given["collective"],
        source=nodes["source"][0] if "source" in nodes else None,
        targets=tuple(nodes["targets"]) if "targets" in nodes else None,
        words=None if given["collective"] == Collective.BARRIER else setting.words,
        operator=given.get("operator"),
    )
    (pieces,) = _numbers("pieces", given.get("pieces", "1"), MOST_BLOCK_WORDS, 1)
    return schedule_of_rounds(
        topology,
        rounds=rounds,
        algorithm=PurePath(input_name(file)).stem,
        port_model=setting.ports,
        **promise_of(task, pieces),
    )


ROUNDS = Format(
    name="rounds",
    title="Eyecast rounds",
    suffixes=(".csv",),
    looks=lambda content: content.lstrip().startswith(b"collective,"),
    read_schedule_on=read_rounds,
)
