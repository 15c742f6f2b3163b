"""``eyecast boards``, and parts of the commands that use a board."""

from __future__ import annotations

from dataclasses import asdict, replace
from typing import TYPE_CHECKING

import click

from ..boards.registry import BOARDS
from ..model.base.errors import InvalidInput
from ..model.collectives.notes import schedule_title
from ..model.network.config import NetworkConfig
from .command import command
from .console import print_checks, print_json, print_table, say
from .options.output import json_option
from .options.values import option_group

if TYPE_CHECKING:
    from ..model.compare.checks import Verification

signature_option = option_group(
    click.option(
        "--no-signature",
        is_flag=True,
        help="Build the network without checksums (signatures) of flits: it is smaller, and the "
        "other checks remain.",
    ),
    heading="Hardware",
)


@command(
    "boards",
    "eyecast boards",
    "eyecast boards --json",
)
@json_option
def boards_command(as_json: bool) -> None:
    """List the boards, their resources, and the networks that have been built for them."""
    from msgspec import to_builtins

    from ..boards.measured import measured_networks

    measured = measured_networks()
    if as_json:
        listed = [
            {
                "name": board.name,
                "title": board.title,
                "device": board.device,
                "clock_hz": board.clock,
                "capacity": asdict(board.capacity),
                "networks": [to_builtins(n) for n in measured if n.board == board.name],
            }
            for board in BOARDS.values()
        ]
        print_json({"boards": listed})
        return
    print_table(
        "boards",
        ("name", "board", "device", "clock", "LUTs", "block RAMs"),
        [
            (
                board.name,
                board.title,
                board.device,
                megahertz(board.clock),
                board.capacity.luts,
                board.capacity.block_rams,
            )
            for board in BOARDS.values()
        ],
    )
    print_table(
        "networks that have been built, with serial host",
        ("board", "options", "LUTs", "block RAMs", "Fmax"),
        [(n.board, n.options, n.luts, n.block_rams, megahertz(n.fmax)) for n in measured],
    )


def board_config(config: NetworkConfig, *, signature: bool) -> NetworkConfig:
    """Return the configuration for a board, with or without signatures."""
    if config.all_port:
        raise InvalidInput.of("--ports", "one on a board", "all")
    return replace(config, signature=signature)


def print_comparison(result: Verification, measured: str = "board") -> None:
    """Print predicted beside measured values, and what still waits."""
    title = f"{schedule_title(result.case.schedule)}, {result.case.manner}"
    print_checks(title, result.checks, measured=measured)
    for line in result.waiting:
        say(line)


def megahertz(frequency: float) -> str:
    """Return a frequency in hertz as text in megahertz."""
    return f"{frequency / 1e6:.1f} MHz"
