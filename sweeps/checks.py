"""Checks of a sweep before its first run.

A mistake is a value that is wrong by itself or for its network: an unknown network or algorithm, a
source outside the network, an impossible depth. An algorithm that does not serve a network, or
routes that may deadlock, are results: the row of that point has the reason.
"""

from collections.abc import Callable, Iterable
from itertools import product
from pathlib import Path
from typing import Any

from ..formats.format import WorkloadSetting
from ..formats.workloads import workload_format
from ..model.base.errors import InvalidInput, one_of, require_range
from ..model.base.files import InputFile
from ..model.collectives.declared.request import Ports
from ..model.collectives.registry import algorithms_for, find_algorithm
from ..model.collectives.task import MOST_BLOCK_WORDS, require_ends
from ..model.network.config import MOST_MEMORY_WORDS, PARAMETERS, Timing
from ..model.network.kinds import GRAPH
from ..model.network.network_text import SizeLimit, node_in_words
from ..model.network.operators import as_operators, require_built_in
from ..model.network.topology import Topology
from ..model.network.topology_file import topology_to_json
from ..model.schedule.collective import REDUCTIONS
from ..model.traffic.patterns import PATTERNS
from ..model.traffic.traffic import LARGEST_CYCLES
from ..model.workload.mapping import BEST, ROWS
from ..model.workload.timeline import Policy
from ..sim.cache import digest
from .file import Grid
from .layout import (
    ALL,
    COLLECTIVE,
    DRAWN,
    HARDWARE,
    PARAMETER_NAMES,
    PLACES,
    SATURATION,
    TRAFFIC,
    WORKLOAD,
)
from .networks import network_in_words, with_named_faults
from .saturation import GROWTH, LEAST_CYCLES, require_statistics
from .workload import SETTING

_LARGEST_SEED = (1 << 63) - 1
_MOST_SEEDS = 1000


def check_grids(grids: Iterable[Grid], folder: Path) -> dict[str, dict[str, object]]:
    """Check all grids; ``folder`` has the files that they name.

    Returns what was found in files, by their words in the grid: networks as JSON values, and the
    path and a digest of workloads. Raises :class:`.InvalidInput` for the first mistake, with the
    grid and the key.
    """
    named: dict[str, dict[str, object]] = {}
    for grid in grids:
        networks = _networks(grid, folder)
        named |= {
            words: topology_to_json(topology)
            for words, topology in networks.items()
            if words.partition(" ")[0] == GRAPH
        }
        for name, values in grid.axes.items():
            _check_values(grid, name, values)
        _check_faults(grid, networks.values())
        named |= {name: _workload(name, folder) for name in grid.axes.get("workload", ())}
        if grid.kind == SATURATION:
            require_statistics()
        if grid.kind == COLLECTIVE:
            _check_algorithms(grid)
            _check_operators(grid)
            _check_ends(grid, networks.values())
    return named


def _workload(name: str, folder: Path) -> dict[str, object]:
    """Return where the file of a workload is, and a digest of all of its files."""
    file = InputFile.read(folder / name)
    contents = [each.content for each in workload_format(file).files(file)]
    return {"path": str((folder / name).resolve()), "digest": digest(*contents)}


def _networks(grid: Grid, folder: Path) -> dict[str, Topology]:
    """Return the networks of a grid by their words; refuse one that is too large for its use."""
    small = grid.kind in (TRAFFIC, SATURATION) or HARDWARE in grid.axes.get("on", ())
    limit = SizeLimit.HARDWARE if small else SizeLimit.PROGRAM
    parameter = f"{grid.place}.network"
    return {
        words: network_in_words(words, limit, parameter, folder) for words in grid.axes["network"]
    }


def _check_faults(grid: Grid, networks: Iterable[Topology]) -> None:
    for topology in networks:
        for nodes in grid.axes["faulty_nodes"]:
            for links in grid.axes["faulty_links"]:
                with_named_faults(topology, nodes, links, f"{grid.place}.")


def _check_algorithms(grid: Grid) -> None:
    """Refuse an algorithm that one of the collectives does not have."""
    for collective in grid.axes["collective"]:
        for algorithm in grid.axes["algorithm"]:
            try:
                if algorithm != ALL:
                    find_algorithm(collective, algorithm)
            except InvalidInput as error:
                raise InvalidInput(f'{grid.place}.{error}; "all" is each of them') from error


def _check_operators(grid: Grid) -> None:
    """Refuse an operator for a collective that combines nothing."""
    for collective in grid.axes["collective"]:
        if collective not in REDUCTIONS and set(grid.axes["operator"]) != {None}:
            raise InvalidInput(f"{grid.place}.operator must be left out with {collective}")


def _check_ends(grid: Grid, networks: Iterable[Topology]) -> None:
    """Refuse a source or targets that a collective or a network does not have."""
    sources, targets = grid.axes["source"], grid.axes["targets"]
    for collective, source, listed in product(grid.axes["collective"], sources, targets):
        try:
            require_ends(collective, source=source, targets=listed)
        except InvalidInput as error:
            missing = error.parameter == "source" and error.allowed == "given"
            example = f", such as 0,0 or {DRAWN}" if missing else ""
            raise error.between(f"{grid.place}.", example) from error
    for topology in networks:
        for source in sources:
            if source not in (None, DRAWN):
                node_in_words(topology, source, f"{grid.place}.source")
        for listed in targets:
            for target in (listed or "").split():
                node_in_words(topology, target, f"{grid.place}.targets")


Check = Callable[[str, Any], None]
"""A function that refuses a wrong value, with the parameter's name."""


def _any(_parameter: str, _value: Any) -> None:
    """Refuse nothing: networks and nodes are checked together."""


def _within(low: int, high: int) -> Check:
    return lambda parameter, value: require_range(parameter, value, low, high)


def _named(names: Iterable[str]) -> Check:
    known = tuple(names)

    def check(parameter: str, value: Any) -> None:
        if value not in known:
            raise InvalidInput.of(parameter, one_of(known), repr(value))

    return check


def _between(low: float, high: float, allowed: str, *, below: bool) -> Check:
    """Refuse numbers outside ``low`` to ``high``; with ``below`` also ``high`` itself."""

    def check(parameter: str, value: Any) -> None:
        if not low <= value <= high or (below and value == high):
            raise InvalidInput.of(parameter, allowed, value)

    return check


def _check_seeds(parameter: str, value: Any) -> None:
    require_range(f"{parameter}: number of seeds", len(value), 2, _MOST_SEEDS)
    for seed in value:
        require_range(parameter, seed, 0, _LARGEST_SEED)
    if len(set(value)) < len(value):
        raise InvalidInput.of(parameter, "different numbers", "one twice")


def _read_by(read: Callable[[Any], object], name: str) -> Check:
    """Refuse what ``read`` refuses, with ``parameter`` instead of ``name`` in the message."""

    def check(parameter: str, value: Any) -> None:
        try:
            read(value)
        except InvalidInput as error:
            raise InvalidInput(f"{parameter}{str(error).removeprefix(name)}") from error

    return check


_CHECKS: dict[str, Check] = {
    "random_faults": _between(0, 1, "0 to less than 1", below=True),
    "seed": _within(0, _LARGEST_SEED),
    "collective": _read_by(algorithms_for, "collective"),
    "words": _within(1, MOST_BLOCK_WORDS),
    "operator": require_built_in,
    "operators": _read_by(as_operators, "operators"),
    "ports": _named(each.value for each in Ports),
    "timing": _named(Timing),
    "on": _named(PLACES),
    "pattern": _named(PATTERNS),
    "rate": _between(0, 1, "0 to 1 flits per node and cycle", below=False),
    "packet_flits": _within(1, MOST_MEMORY_WORDS),
    "burst": _within(0, LARGEST_CYCLES),
    "reply_flits": _within(0, MOST_MEMORY_WORDS),
    "cycles": _within(1, LARGEST_CYCLES),
    "back_pressure": _between(0, 1, "0 to less than 1", below=True),
    "seeds": _check_seeds,
    "mapping": _named((ROWS, BEST)),
    "policy": _named(Policy),
    "precision": _between(0.001, 0.5, "0.001 to 0.5 flits per node and cycle", below=False),
}


def _check_values(grid: Grid, name: str, values: Iterable[Any]) -> None:
    """Refuse the first value of a key that is wrong by itself."""
    limits = PARAMETERS[name].limits if name in PARAMETER_NAMES else None
    check = _within(*limits) if limits is not None else _CHECKS.get(name, _any)
    if grid.kind == WORKLOAD and name in SETTING:
        check = _read_by(lambda value: WorkloadSetting(**{name: value}), name.replace("_", " "))
    for value in values:
        if value is not None:
            check(f"{grid.place}.{name}", value)
    if grid.kind == SATURATION and name == "cycles":
        for value in values:
            require_range(f"{grid.place}.cycles", value, LEAST_CYCLES, LARGEST_CYCLES // GROWTH)
