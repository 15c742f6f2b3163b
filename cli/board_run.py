"""``eyecast board-run``: a schedule on a board, checked against the model."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

import click

from ..boards.registry import BAUD, TIMEOUT_SECONDS
from ..model.compare.answer import Answer
from ..model.network.config import Timing
from ..model.network.network_text import SizeLimit
from .command import command
from .console import busy, print_json, progress
from .on_board import board_config, print_comparison, signature_option
from .options.collective import collective_options, schedule_facts
from .options.hardware import (
    fitted,
    force_option,
    hardware_options,
    require_no_deadlock,
    timing_option,
)
from .options.network import network_facts, network_options
from .options.output import json_option
from .options.schedule_file import chosen_schedule, schedule_file_option
from .options.values import OptionValues

if TYPE_CHECKING:
    from ..model.compare.case import Case


@command(
    "board-run",
    "eyecast board-run --port /dev/ttyUSB1 --mesh 2x2 --flit-width 16 --source 0,0",
    "eyecast board-run --port /dev/ttyUSB1 --mesh 2x2 --flit-width 16 --collective all-gather",
)
@click.option("--port", required=True, help="Serial port of the board, such as /dev/ttyUSB0.")
@network_options
@collective_options
@schedule_file_option
@hardware_options
@signature_option
@timing_option
@force_option
@json_option
def board_run_command(port: str, as_json: bool, timing: Timing, **chosen: Any) -> None:
    """Run a schedule on a board that holds its network, and check it against the model.

    Network options must be those of eyecast bitstream. Exit status 0 only if everything agrees.
    """
    from ..boards.run import run_on_board
    from ..boards.serial.computer import SerialHost, SerialPort
    from ..boards.serial.frame import word_bytes

    line = SerialPort(port, BAUD, silence=2 * TIMEOUT_SECONDS)
    try:
        with busy("generating, checking, predicting"):
            found = chosen_schedule(chosen, SizeLimit.HARDWARE, timing=timing)
            case = _case(chosen, found, timing)
        host = SerialHost(line, word_bytes=word_bytes(case.program.config))
        with progress("looking for the network", 1, shown=False) as (say, _):
            result = run_on_board(host, case, say=say)
    finally:
        line.close()
    if as_json:
        facts = network_facts(chosen, found.schedule.topology)
        print_json({**schedule_facts(found), **result.to_json()}, **facts)
    else:
        print_comparison(result)
    if not result.agrees:
        raise RuntimeError("board and prediction do not agree")


def _case(chosen: OptionValues, found: Answer, timing: Timing) -> Case:
    """Return the case to run: the schedule of the options, with a payload."""
    from ..model.compare.case import Case

    (compiled,) = fitted(chosen, [found])
    config = board_config(chosen, compiled.program.config)
    compiled = compiled._replace(program=replace(compiled.program, config=config))
    require_no_deadlock(chosen, compiled.program)
    return Case.of(compiled, timing=timing, seed=0)
