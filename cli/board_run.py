"""``eyecast board-run``: a schedule on a board, checked against the model."""

from __future__ import annotations

from dataclasses import replace

import click

from ..boards.registry import BAUD, TIMEOUT_SECONDS
from ..model.network.config import Timing
from ..model.network.network_text import SizeLimit
from .boards import board_config, print_comparison, signature_option
from .command import command
from .console import busy, print_json, progress
from .options.collective import schedule_facts
from .options.hardware import force_option, require_no_deadlock, timing_option
from .options.output import json_option
from .options.schedule_file import ScheduleOptions, compiled_options


@command(
    "board-run",
    "eyecast board-run --port /dev/ttyUSB1 --mesh 2x2 --flit-width 16 --source 0,0",
    "eyecast board-run --port /dev/ttyUSB1 --mesh 2x2 --flit-width 16 --collective all-gather",
)
@click.option("--port", required=True, help="Serial port of the board, such as /dev/ttyUSB0.")
@compiled_options
@signature_option
@timing_option
@force_option
@json_option
def board_run_command(
    port: str,
    wanted: ScheduleOptions,
    no_signature: bool,
    timing: Timing,
    force: bool,
    as_json: bool,
) -> None:
    """Run a schedule on a board that holds its network, and check it against the model.

    Give the same network options as to eyecast bitstream. The exit status is 0 only if the board's
    run agrees with the model.
    """
    from ..boards.run import run_on_board
    from ..boards.serial.computer import SerialHost, SerialPort
    from ..boards.serial.frame import word_bytes
    from ..model.compare.case import Case

    line = SerialPort(port, BAUD, silence=2 * TIMEOUT_SECONDS)
    try:
        with busy("generating, checking, predicting"):
            found = wanted.answer(SizeLimit.HARDWARE, timing=timing)
            (compiled,) = wanted.compiled([found])
            config = board_config(compiled.program.config, signature=not no_signature)
            program = replace(compiled.program, config=config)
            require_no_deadlock(program, force=force)
            case = Case.of(compiled._replace(program=program), timing=timing, seed=0)
        host = SerialHost(line, word_bytes=word_bytes(case.program.config))
        with progress("looking for the network", 1, shown=False) as (say, _):
            result = run_on_board(host, case, say=say)
    finally:
        line.close()
    if as_json:
        facts = wanted.facts(found.schedule.topology)
        print_json({**schedule_facts(found), **result.to_json()}, **facts)
    else:
        print_comparison(result)
    if not result.agrees:
        raise RuntimeError("board and prediction do not agree")
