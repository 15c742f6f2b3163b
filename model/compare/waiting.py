"""Reasons why a run of the hardware has not finished."""

from __future__ import annotations

from ..program.program import Program
from ..run.run import HardwareRun


def waiting(program: Program, measured: HardwareRun) -> list[str]:
    """One line for each node that has not finished: what it still waits for."""
    if measured.finished:
        return []
    lines = []
    for node in range(len(program.rows)):
        parts = _unfinished(program, measured, node)
        flags = measured.flag_names(node)
        if flags:
            parts.append(f"has set {', '.join(flags)}")
        if parts:
            lines.append(", ".join([f"node {node} is in step {measured.step[node]}", *parts]))
    return lines


def _unfinished(program: Program, measured: HardwareRun, node: int) -> list[str]:
    """List what a node has not received, and what it has not sent."""
    parts = []
    lanes = zip(program.lane_rows(node), program.lane_receives(node), strict=True)
    for lane, (rows, receives) in enumerate(lanes):
        by_port = f" by port {lane + 1}" if program.config.all_port else ""
        missing = [step for step in receives if not measured.arrived[node, lane, step]]
        state = measured.sender_state_name(node, lane)
        if missing:
            parts.append(f"waits for a receive{by_port} in step {', '.join(map(str, missing))}")
        if state != "ended":
            sender = f"sender in {state}, {len(rows)} rows in its table"
            parts.append(f"has rows to send{by_port} ({sender})")
    return parts
