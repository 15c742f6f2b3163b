"""Parts of the commands for boards: the configuration of a network there, and its comparison."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import click

from ..model.base.errors import InvalidInput
from ..model.network.config import NetworkConfig
from .console import print_checks, say
from .options.values import OptionValues, option_group

if TYPE_CHECKING:
    from ..model.compare.checks import Verification


signature_option = option_group(
    click.option(
        "--no-signature",
        is_flag=True,
        help="Leave out the signatures: smaller, and compared by all else alone.",
    ),
    heading="Hardware",
)


def board_config(chosen: OptionValues, config: NetworkConfig) -> NetworkConfig:
    """Give a network on a board signatures, by which it tells what it has done, unless refused."""
    if config.all_port:
        raise InvalidInput.of("--ports", "one on a board", "all")
    return replace(config, signature=not chosen["no_signature"])


def print_comparison(result: Verification, measured: str = "board") -> None:
    """Predicted beside measured, and what still waits."""
    label = result.case.schedule.topology.label
    title = f"{label}, {result.case.schedule.algorithm}, {result.case.timing} timing"
    print_checks(title, result.checks, measured=measured)
    for line in result.waiting:
        say(line)


def megahertz(frequency: float) -> str:
    """Write a frequency in hertz as megahertz."""
    return f"{frequency / 1e6:.1f} MHz"
