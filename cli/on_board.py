"""Parts of the commands for boards: network configuration and printed comparison."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import click

from ..model.base.errors import InvalidInput
from ..model.network.config import NetworkConfig
from .console import print_checks, say
from .options.values import option_group

if TYPE_CHECKING:
    from ..model.compare.checks import Verification


signature_option = option_group(
    click.option(
        "--no-signature",
        is_flag=True,
        help="Leave out the signatures: the network is smaller, and the other checks remain.",
    ),
    heading="Hardware",
)


def board_config(config: NetworkConfig, *, signature: bool) -> NetworkConfig:
    """Return the configuration for a board, with or without signatures."""
    if config.all_port:
        raise InvalidInput.of("--ports", "one on a board", "all")
    return replace(config, signature=signature)


def print_comparison(result: Verification, measured: str = "board") -> None:
    """Print predicted beside measured values, and what still waits."""
    label = result.case.schedule.topology.label
    title = f"{label}, {result.case.schedule.algorithm}, {result.case.manner}"
    print_checks(title, result.checks, measured=measured)
    for line in result.waiting:
        say(line)


def megahertz(frequency: float) -> str:
    """Return a frequency in hertz as text in megahertz."""
    return f"{frequency / 1e6:.1f} MHz"
