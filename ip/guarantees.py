"""The guarantees of an engine on time and order, for ``guarantees.json`` and the contract's page.

Written to docs/router.md, sections 3, 16, 17, 21 and 23.
"""

from collections.abc import Iterator, Mapping
from typing import Any

from ..model.base.errors import InvalidInput
from ..model.certificate.certificate import certificate_json
from ..model.certificate.packet_checker import RefusedError, check
from ..model.cycle.lateness import lateness
from ..model.image.host_port import latencies
from ..model.image.image import Image
from ..model.network.buses import HostBus
from ..model.network.config import NetworkConfig
from ..model.program.circuits.program import CircuitProgram
from ..model.program.compiler import Compiled
from ..model.program.file import program_json

MOST_WAIT = 64
"""Cycles for which the network can keep a request from a memory (docs/router.md, section 16)."""


def most_cycles_of_an_access(config: NetworkConfig) -> int:
    """Return the cycles after which every access to the bus has its answer."""
    return latencies(config)["answer_at_most"] + MOST_WAIT


def guarantees(image: Image, compiled: Compiled, host: HostBus) -> dict[str, Any]:
    """Return the guarantees of an engine with a program, as values of JSON."""
    config, run = image.program.config, image.predicted
    late = latencies(config)
    damaged = ", and on a damaged word" if config.parity else ""
    return {
        "format": "eyecast-guarantees",
        "version": 1,
        "run": {
            "state": run.ending.state,
            "cycles": run.cycles,
            "from_answer_to_start_to_cycle_0": late["answer_to_cycle_0"],
            "from_last_cycle_to_done": late["finished_to_done"],
            "same_in_every_run": True,
        },
        "late_tiles": _late_tiles(image, compiled) if config.tile_ports else "no tile ports",
        "bus": {
            "most_cycles_of_an_access": late["answer_at_most"],
            "most_cycles_a_busy_memory_delays_it": MOST_WAIT,
            "then": "the access is refused with 2 (not now)",
        },
        "reset": {
            "least_cycles": 1,
            "least_cycles_with_the_crossing": 3,
            "memories": "unchanged",
            "run": "ends, not done",
        },
        "interrupt": {
            "rises": f"with done or error, if enabled{damaged}",
            "falls": "after the command acknowledge",
        },
        "first": _first(config, host),
    }


def _first(config: NetworkConfig, host: HostBus) -> dict[str, list[str]]:
    """Return who comes first where several meet, in order."""
    tile = ["tile"] if config.tile_ports else []
    orders = {
        "at_a_memory": ["network", "host", *tile],
        "at_the_end_of_a_cycle": ["stop", "failed", "done", "timed out"],
    }
    if host is HostBus.AXI4_LITE:
        orders["on_the_bus"] = ["write", "read"]
    if not config.circuits and not config.contention_free:
        orders["at_an_output"] = ["the buffer whose turn it is", "the buffers that follow it"]
    return orders


def _late_tiles(image: Image, compiled: Compiled) -> dict[str, Any]:
    """Return the most that tiles cost that hold their nodes at the start.

    A packet's certificate shows that no output chooses; then all tiles late is the worst case.
    """
    config, program = image.program.config, image.program
    if isinstance(program, CircuitProgram):
        free = config.barrier_registers // 2
        return _cost_of_hold("of starting", free, "cycles before cycle 0")
    try:
        texts = program_json(program), certificate_json(compiled, image.timing)
        check(*(text.encode() for text in texts), fixed_order=True)
    except (InvalidInput, RefusedError) as error:
        return {"guaranteed": False, "because": str(error)}
    # From some cycle on, every further cycle of hold costs one.
    longest = image.predicted.cycles
    cost = lateness(program, image.timing, longest).worst - image.predicted.cycles
    return _cost_of_hold("of the run", longest - cost, "cycles of the run")


def _cost_of_hold(held: str, free: int, cost: str) -> dict[str, Any]:
    return {
        "guaranteed": True,
        "tiles_hold_in_the_first_cycles": held,
        "held_cycles_without_cost": free,
        "each_further_cycle_costs": 1,
        "cost": cost,
    }


def guarantee_rows(found: Mapping[str, Any], *before: str) -> Iterator[tuple[str, str]]:
    """Yield guarantees as rows of a table: a name in words, and a value."""
    for name, value in found.items():
        words = *before, name.replace("_", " ")
        if isinstance(value, Mapping):
            yield from guarantee_rows(value, *words)
        elif isinstance(value, list):
            yield ": ".join(words), ", then ".join(value)
        elif name not in ("format", "version"):
            yield ": ".join(words), str(value)
