"""The schedule that the options describe, of all nodes or of the groups of ``--group``."""

from __future__ import annotations

from pathlib import Path

from ...model.base.errors import InvalidInput
from ...model.base.files import STANDARD_INPUT
from ...model.collectives.group_choice import Grouping, box_sides, boxes
from ...model.collectives.group_file import Group, read_groups
from ...model.network.topology import Topology
from ...model.schedule.schedule import Schedule
from .collective import BEST, chosen_root, make_schedule, refuse_lengths, with_block_words
from .values import OptionValues


def chosen_collective(chosen: OptionValues, topology: Topology) -> Schedule:
    """The schedule that the options describe on ``topology``."""
    chosen = with_block_words(chosen)
    if chosen["group"] is None:
        return make_schedule(chosen, topology, chosen_root(chosen, topology))
    return schedule_of_groups(chosen, chosen_groups(chosen, topology))


def chosen_groups(chosen: OptionValues, topology: Topology) -> Grouping:
    """The groups that ``--group`` names, and what the options ask of them."""
    text, collective = chosen["group"], chosen["collective"]
    sides = box_sides(text, topology)
    if sides is not None:
        groups = boxes(text, sides, topology, chosen_root(chosen, topology))
    elif text != STANDARD_INPUT and not Path(text).suffix and not Path(text).exists():
        # A word, and no name of a file.
        raise InvalidInput.of("--group", "rows, columns, 'submesh AxB' or a file", repr(text))
    elif chosen["source"] is not None:
        raise InvalidInput(f"--source must be left out with --group {text}: each group has a root")
    else:
        groups = read_groups(text, collective)
    grouping = Grouping(topology, groups, collective, chosen["block_words"])
    refuse_lengths(grouping.collectives)
    return grouping


def schedule_of_groups(chosen: OptionValues, grouping: Grouping) -> Schedule:
    """The schedule of all groups at once; by the best algorithm where none is named."""

    def make(small: Topology, group: Group, number: int) -> Schedule:
        algorithm = group.algorithm or chosen["algorithm"] or BEST
        asked = {
            **chosen,
            "collective": group.collective,
            "flits": group.words or chosen["flits"],
            "algorithm": algorithm,
            "block_words": group.block_words,
            "seconds": chosen.get("seconds") if algorithm == BEST else None,
        }
        return make_schedule(asked, small, group.root, group=number)

    return grouping.schedule(make)
