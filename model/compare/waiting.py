"""Reasons why a run of the hardware has not finished."""

import numpy as np

from ..program.any_program import AnyProgram
from ..program.circuits.program import CircuitProgram
from ..program.program import Program
from ..run.measures import flagged_nodes, late_receives
from ..run.run import HardwareRun
from ..run.standstill import standstill


def waiting(program: AnyProgram, measured: HardwareRun) -> list[str]:
    """Return one line for each unfinished node with its missing receives, unsent rows and flags.

    First come the lines of a deadlock, then that of a controller, if there is one.
    """
    if measured.finished:
        return []
    if isinstance(program, CircuitProgram):
        return flagged_nodes(measured)
    lines = standstill(program, measured).lines() + _told(program, measured)
    rows = np.diff(program.first_sender_row).reshape(measured.sender_state.shape)
    missing = _missing(program, measured)
    for node in range(program.nodes):
        flags = [f"has set {', '.join(names)}"] if (names := measured.flag_names(node)) else []
        if node in program.config.topology.switches:
            lines += [f"node {node}, a switch, {flag}" for flag in flags]
            continue
        parts = []
        for lane in range(program.config.lanes):
            by_port = f" by port {lane + 1}" if program.config.all_port else ""
            if late := missing.get((node, lane)):
                parts.append(f"waits for a receive{by_port} in step {', '.join(late)}")
            state = measured.sender_state_name(node, lane)
            if state != "ended":
                sender = f"sender in {state}, {rows[node, lane]} rows in its table"
                parts.append(f"has rows to send{by_port} ({sender})")
        parts += flags
        if parts:
            lines.append(", ".join([f"node {node} is in step {measured.step[node]}", *parts]))
    return lines


def _told(program: Program, measured: HardwareRun) -> list[str]:
    """Report the end as the controller tells it: state, cycle, node and the node's flags."""
    if not program.config.programs:
        return []
    if measured.ending is None:
        return ["the controller has seen no end"]
    state, cycle, node = measured.ending
    if node is None:
        return []
    flags = ", ".join(measured.flag_names(node))
    why = f"has set {flags}" if flags else "has not finished"
    return [f"the controller: {state} in cycle {cycle}; node {node} is the first that {why}"]


def _missing(program: Program, measured: HardwareRun) -> dict[tuple[int, int], list[str]]:
    """Return the steps of missing receives, by node and lane."""
    missing: dict[tuple[int, int], list[str]] = {}
    late = late_receives(program, measured)
    columns = program.receiver[late].tolist(), program.receive_step[late].tolist()
    for receiver, step in zip(*columns, strict=True):
        missing.setdefault(divmod(receiver, program.config.lanes), []).append(str(step))
    return missing
