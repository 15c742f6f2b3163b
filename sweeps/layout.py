"""Layouts of the grids in a sweep file: keys, types and defaults.

A key has one value, or a list of values that are crossed with all other lists. The network's
parameters come from :data:`.PARAMETERS`, so a new parameter becomes a key by itself.
"""

from typing import Annotated, Any, Union

import msgspec

from ..formats.format import WorkloadSetting
from ..model.collectives.declared.request import Ports
from ..model.collectives.task import USUAL_WORDS
from ..model.network.config import PARAMETERS, Timing
from ..model.schedule.collective import Collective
from ..model.workload.costs import MEMORY_WORDS
from ..model.workload.mapping import ROWS
from ..model.workload.timeline import Policy

Row = dict[str, Any]
"""A row of the table: values by column name."""

COLLECTIVE, TRAFFIC, SATURATION = "collective", "traffic", "saturation"
WORKLOAD = "workload"
"""Kinds of grids: schedules of collectives, drawn traffic, loads up to saturation, workloads."""

MODEL, HARDWARE = "model", "hardware"
PLACES = (MODEL, HARDWARE)
"""Values of ``on``: only the cycle model, or the simulated hardware checked against the model."""

ALL, DRAWN = "all", "drawn"
"""Special values.

``algorithm = "all"`` is every algorithm for the collective; ``source = "drawn"`` a working node
drawn with the seed.
"""


COLUMN_OF = {"cycles": "drawn_cycles", "steps": "step_numbers"}
"""Columns for keys that share a name with a result: cycles of the run, steps of the schedule."""


_Bounded = Annotated[int, msgspec.Meta(ge=-(1 << 53), le=1 << 53)]


class Span(msgspec.Struct, forbid_unknown_fields=True, frozen=True):
    """Integers from ``first`` to ``last``, both included, ``step`` apart."""

    first: _Bounded
    last: _Bounded
    step: Annotated[int, msgspec.Meta(ge=1, le=1 << 53)] = 1

    def values(self) -> range:
        """Return the integers."""
        return range(self.first, self.last + 1, self.step)


Field = tuple[str, Any] | tuple[str, Any, Any]
"""Name, type and default of a key; a key without a default is required."""


def _axis(kind: type) -> Any:
    """Return the type of a key: one value or several; integers also as a span."""
    several = Annotated[list[kind], msgspec.Meta(min_length=1)]  # type: ignore[valid-type]
    return kind | several | Span if kind is int else kind | several


_TEXT, _NUMBER, _INTEGER = _axis(str), _axis(float), _axis(int)
_SEEDS = Annotated[list[int], msgspec.Meta(min_length=2)] | Span

_NETWORK: tuple[Field, ...] = (
    ("network", _TEXT),
    ("faulty_nodes", _TEXT, ""),
    ("faulty_links", _TEXT, ""),
    ("random_faults", _NUMBER, 0.0),
    ("seed", _INTEGER, 1),
)
_PLACE: tuple[Field, ...] = (("on", _TEXT, MODEL),)


def _parameters(*, for_traffic: bool) -> tuple[Field, ...]:
    """Return the network parameters that have an option; None without a value in the grid."""
    return tuple(
        (name, _axis(parameter.kind) | None, None)
        for name, parameter in PARAMETERS.items()
        if parameter.of_runs and (parameter.for_traffic or not for_traffic)
    )


FIELDS: dict[str, tuple[Field, ...]] = {
    COLLECTIVE: (
        *_NETWORK,
        ("collective", _TEXT, Collective.BROADCAST.value),
        ("algorithm", _TEXT),
        ("source", _TEXT | None, None),
        ("targets", _TEXT | None, None),
        ("words", _INTEGER, USUAL_WORDS),
        ("operator", _TEXT | None, None),
        ("ports", _TEXT, Ports.ONE.value),
        *_parameters(for_traffic=False),
        ("timing", _TEXT, Timing.BARRIER.value),
        *_PLACE,
    ),
    TRAFFIC: (
        *_NETWORK,
        ("pattern", _TEXT, "uniform"),
        ("rate", _NUMBER, 0.2),
        ("packet_flits", _INTEGER, 4),
        ("burst", _INTEGER, 0),
        ("reply_flits", _INTEGER, 0),
        ("cycles", _INTEGER, 2000),
        ("back_pressure", _NUMBER, 0.0),
        *_parameters(for_traffic=True),
        *_PLACE,
    ),
    SATURATION: (
        *_NETWORK,
        ("pattern", _TEXT, "uniform"),
        ("packet_flits", _INTEGER, 4),
        ("burst", _INTEGER, 0),
        ("reply_flits", _INTEGER, 0),
        ("cycles", _INTEGER, 10_000),
        ("seeds", _SEEDS, Span(1, 5)),
        ("precision", float, 0.01),
        *_parameters(for_traffic=True),
    ),
    WORKLOAD: (
        *_NETWORK,
        ("workload", _TEXT),
        ("mapping", _TEXT, ROWS),
        ("policy", _TEXT, Policy.FIRST_COME.value),
        ("clock", _NUMBER, WorkloadSetting.clock),
        ("rate", _INTEGER, WorkloadSetting.rate),
        ("word_bytes", _INTEGER, WorkloadSetting.word_bytes),
        ("circuits", _axis(bool), False),
        ("message_words", _INTEGER, MEMORY_WORDS),
    ),
}
"""Keys of each kind of grid, in crossing order; the last one changes fastest."""

LAYOUTS: dict[str, type[msgspec.Struct]] = {
    kind: msgspec.defstruct(
        kind, list(fields), tag_field="kind", tag=kind, forbid_unknown_fields=True, kw_only=True
    )
    for kind, fields in FIELDS.items()
}

PARAMETER_NAMES = tuple(name for name, parameter in PARAMETERS.items() if parameter.of_runs)
"""Keys that are parameters of the network."""


class Header(msgspec.Struct):
    """Format and version of a file."""

    format: str
    version: int


SweepLayout = msgspec.defstruct(
    "sweep",
    [
        ("format", str),
        ("version", int),
        (
            "grid",
            Annotated[
                list[Union[*LAYOUTS.values()]],  # type: ignore[misc]
                msgspec.Meta(min_length=1),
            ],
        ),
    ],
    forbid_unknown_fields=True,
)
"""Layout of a whole file."""
