"""``eyecast boards``: the boards, and the networks that were built for them."""

from dataclasses import asdict

from ..boards.registry import BOARDS
from .command import command
from .console import print_json, print_table
from .on_board import megahertz
from .options.output import json_option


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
