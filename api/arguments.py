"""Checks of argument types, before a function of the Python interface does any work."""

import os
import warnings
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, fields
from functools import wraps
from inspect import Parameter, signature
from numbers import Real
from pathlib import Path
from typing import Any, ParamSpec, TypeVar

import numpy as np

from ..model.base.errors import InvalidInput
from ..model.network.config import NetworkConfig
from ..model.network.exclusions import IDLE_IN_CIRCUITS
from ..model.network.node_link import NetworkxGraph
from ..model.network.operators import Operator, as_operators
from ..model.network.topology import Topology
from ..model.program.any_program import AnyProgram
from ..model.schedule.schedule import Schedule

Arguments = ParamSpec("Arguments")
Returned = TypeVar("Returned")


@dataclass(frozen=True)
class Kind:
    """A type of argument: its description and a test of one value."""

    words: str
    holds: Callable[[Any], bool]

    def read(self, parameter: str, value: Any) -> Any:
        """Return ``value``; raise :class:`.InvalidInput` if the test fails."""
        if not self.holds(value):
            raise InvalidInput.of(parameter, self.words, repr(value))
        return value


@dataclass(frozen=True)
class Several(Kind):
    """Any number of values of one kind, from any iterable."""

    def read(self, parameter: str, value: Any) -> Any:
        """Return the values as a tuple; raise :class:`.InvalidInput` if one has the wrong kind."""
        if isinstance(value, str | bytes | Mapping) or not isinstance(value, Iterable):
            raise InvalidInput.of(parameter, self.words, repr(value))
        return tuple(super(Several, self).read(parameter, each) for each in value)


def _is_integer(value: Any) -> bool:
    return isinstance(value, int | np.integer) and not isinstance(value, bool)


def _are(holds: Callable[[Any], bool]) -> Callable[[Any], bool]:
    """Return a test that every value of a sequence passes ``holds``."""
    return lambda value: isinstance(value, Sequence | np.ndarray) and all(map(holds, value))


def _is_node(value: Any) -> bool:
    return _is_integer(value) or (not isinstance(value, str) and _are(_is_integer)(value))


def _is_pair(value: Any) -> bool:
    return isinstance(value, Sequence) and len(value) == 2


def _is_send(value: Any) -> bool:
    """Tell whether ``value`` is a Send, or a tuple of the first fields of one."""
    return hasattr(value, "path") or (isinstance(value, Sequence) and len(value) in (2, 3))


def _is_group(value: Any) -> bool:
    return isinstance(value, Mapping) and _are(_is_node)(value.get("nodes"))


_NODES = Several("nodes, each a number or coordinates", _is_node)
_NETWORK = Kind(
    "a network, such as mesh((8, 8)) or graph(G)", lambda value: isinstance(value, Topology)
)
_PATH = Kind("the name of a file", lambda value: isinstance(value, str | os.PathLike))
_NUMBER = Kind("a number", lambda value: isinstance(value, Real) and not isinstance(value, bool))
KINDS: Mapping[str, Kind] = {
    "algorithms": Several("names of algorithms", lambda value: isinstance(value, str)),
    "back_pressure": _NUMBER,
    "block_words": Kind(
        "a number for each node, or a row of numbers for each source",
        _are(lambda each: _is_integer(each) or _are(_is_integer)(each)),
    ),
    "chiplet": Kind("integers such as (4, 4)", _are(_is_integer)),
    "count": Kind("integers such as (2, 2)", _are(_is_integer)),
    "blocks": Several("Blocks", lambda value: hasattr(value, "owner")),
    "order": Kind(
        "a text, such as canonical, 'rows,columns' or '[[0, 1], [2, 3]]'",
        lambda value: isinstance(value, str),
    ),
    # The grid functions read a text, and check the type of each side.
    "dims": Kind(
        "integers such as (8, 8), or '8x8'",
        lambda value: isinstance(value, str | Sequence | np.ndarray),
    ),
    "faulty_links": Several(
        "pairs of nodes", lambda value: _is_pair(value) and all(map(_is_node, value))
    ),
    "faulty_nodes": _NODES,
    "grid": Kind(
        "a sweep file, or what one holds",
        lambda value: isinstance(value, str | os.PathLike | Mapping),
    ),
    "groups": Kind(
        "rows, columns, submesh 4x4, a file, or a list of groups with nodes",
        lambda value: isinstance(value, str | Path) or _are(_is_group)(value),
    ),
    "hotspots": _NODES,
    "hold": Kind(
        "cycles by node",
        lambda value: (
            isinstance(value, Mapping)
            and all(map(_is_node, value))
            and all(map(_is_integer, value.values()))
        ),
    ),
    "keep": _NODES,
    "neighbor": Kind(
        "a list of neighbours for each node, or a networkx graph",
        lambda value: _are(_are(_is_integer))(value) or isinstance(value, NetworkxGraph),
    ),
    "network": _NETWORK,
    "operator": Kind(
        "the name of an operator, or an Operator",
        lambda value: isinstance(value, str | Operator),
    ),
    "part": _NUMBER,
    "path": _PATH,
    "paths": Several(_PATH.words, _PATH.holds),
    "pattern": Kind("the name of a pattern", lambda value: isinstance(value, str)),
    # Importing the plan's class would load the compiled searches.
    "plan": Kind("a plan of transmit()", lambda value: hasattr(value, "sends")),
    "program": Kind("a program", lambda value: isinstance(value, AnyProgram)),
    "rate": _NUMBER,
    "schedule": Kind("a schedule", lambda value: isinstance(value, Schedule)),
    "seconds": _NUMBER,
    "sends": Several("Sends, or tuples of a step and a path of nodes", _is_send),
    "shown": Kind(
        "a schedule, or a result of verify() or workload()",
        lambda value: isinstance(value, Schedule) or hasattr(value, "case") or _is_workload(value),
    ),
    "source": Kind("a node, by its number or coordinates", _is_node),
    "switches": Several("numbers of nodes", _is_integer),
    "table": _PATH,
    "targets": _NODES,
    "topology": _NETWORK,
}
"""Kinds of arguments that no other code checks, by parameter name."""
SHOWN = {"dims": "sides", "topology": "network"}
"""Names of parameters in error messages, where they differ from the Python names."""
CONFIG = tuple(field.name for field in fields(NetworkConfig) if field.name != "topology")


def _is_workload(value: object) -> bool:
    """Return whether a value is a workload's run, whose class loads the compiled cycle model."""
    return hasattr(value, "workload") and hasattr(value, "machines")


def checked(function: Callable[Arguments, Returned]) -> Callable[Arguments, Returned]:
    """Return ``function`` with checked arguments: a wrong kind raises :class:`.InvalidInput`.

    A parameter whose default is None accepts None. The TypeError of a missing or an unknown
    argument names the function. ``flits``, the former name of ``words``, is accepted.
    """
    parameters = signature(function).parameters

    @wraps(function)
    def check(*args: Arguments.args, **kwargs: Arguments.kwargs) -> Returned:
        named: dict[str, Any] = dict(kwargs)
        if "flits" in named and "words" in parameters:
            warnings.warn("flits is now called words", FutureWarning, stacklevel=2)
            named["words"] = named.pop("flits")
        try:
            given = signature(function).bind(*args, **named)
        except TypeError as error:
            raise TypeError(f"{function.__name__}() {error}") from None
        for name, value in given.arguments.items():
            if parameters[name].kind is Parameter.VAR_KEYWORD:
                given.arguments[name] = _parameters(value)
            elif name in KINDS and not (value is None and parameters[name].default is None):
                shown = SHOWN.get(name, name).replace("_", " ")
                given.arguments[name] = KINDS[name].read(shown, value)
        return function(*given.args, **given.kwargs)

    return check


def _parameters(given: Mapping[str, Any]) -> dict[str, Any]:
    """Return the parameters of a network, with the operators as a tuple.

    Raises :class:`.InvalidInput` for an unknown name, for operators of a wrong kind, and for a
    parameter that changes nothing with circuits.
    """
    for name in given:
        if name not in CONFIG:
            raise InvalidInput.unknown("parameter of a network", CONFIG, name)
    for name in IDLE_IN_CIRCUITS if given.get("circuits") else ():
        if name in given:
            raise InvalidInput(f"{name} must be left out with circuits: it changes nothing there")
    if "operators" not in given:
        return {**given}
    operators = given["operators"]
    if not isinstance(operators, str | Iterable):
        allowed = "a list of names and Operators, or names with commas between"
        raise InvalidInput.of("operators", allowed, repr(operators))
    return {**given, "operators": as_operators(operators)}
