"""``eyecast bitstream``: a network as an FPGA bitstream, proved in simulation."""

from __future__ import annotations

from dataclasses import asdict
from typing import TYPE_CHECKING, Any

import click

from ..boards.registry import BOARDS, Board, find_board
from ..model.base.errors import InvalidInput
from ..model.base.files import write_bytes_atomically
from ..model.network.config import NetworkConfig, Timing
from ..model.network.network_text import SizeLimit
from ..model.program.certified import Room
from ..model.program.compiler import Compiled
from ..model.schedule.collective import Collective
from .boards import board_config, megahertz, print_comparison, signature_option
from .command import command
from .console import print_json, print_table, progress, say, say_written
from .options.hardware import config_of, hardware_options
from .options.network import NetworkOptions, network_options
from .options.output import json_option, output_paths
from .options.values import complete_words, file_option

if TYPE_CHECKING:
    from ..boards.synthesis.bitstream import Bitstream
    from ..model.compare.case import Case
    from ..model.compare.checks import Verification


PROOF_FLITS = 4
"""Length of the message that ``--prove`` sends."""


@command(
    "bitstream",
    "eyecast bitstream --board icebreaker --mesh 2x2 --flit-width 16 --prove",
    "eyecast bitstream --board ulx3s-85f --mesh 4x4 --contention-free",
)
@click.option(
    "--board",
    "board_name",
    required=True,
    shell_complete=complete_words(BOARDS),
    help=f"{', '.join(BOARDS)}.",
)
@network_options
@hardware_options
@signature_option
@click.option(
    "--prove",
    is_flag=True,
    help=(
        "Simulate a broadcast (with operators an all-reduce) on the built network, and "
        "check it against the model."
    ),
)
@click.option(
    "--program", is_flag=True, help="Load the bitstream onto the board with openFPGALoader."
)
@file_option(
    "-o", "--output", metavar="FOLDER", help="Copy bitstream, report and logs into this folder."
)
@json_option
def bitstream_command(
    board_name: str,
    network: NetworkOptions,
    hardware: Room,
    no_signature: bool,
    prove: bool,
    program: bool,
    output: str | None,
    as_json: bool,
) -> None:
    """Build a network with a serial host for an FPGA board; print its resources and clock rate.

    The command keeps all results, so a second run is quick. With --prove it simulates the netlist.
    For iCE40 it also simulates the bitstream, if icebox_vlog is installed.
    """
    from ..boards.synthesis.bitstream import REPORT
    from ..boards.tools import load_bitstream, require_loader
    from ..sim.toolchain import environment

    board = find_board(board_name)
    asked = config_of(hardware, network.topology(SizeLimit.HARDWARE))
    config = board_config(asked, signature=not no_signature)
    if program:
        require_loader()
    if prove:
        # Check now: a missing Verilator must be reported before synthesis.
        environment()
    # The other file names are known after the build.
    output_paths(output, REPORT)
    built = _build(board, config)
    if not as_json:
        _print_bitstream(board, config, built)
        say(f"bitstream {built.bitstream}")
    proofs = _prove(board, config, built) if prove else {}
    if as_json:
        print_json(_bitstream_json(board, built, proofs), **network.facts(config.topology))
    elif prove:
        _print_proofs(board, proofs)
    kept = [path for path in built.folder.iterdir() if path.suffix in (".log", ".json")]
    made = [built.bitstream, *sorted(kept)]
    copies = output_paths(output, *(path.name for path in made))
    # Without an output folder there are no copies.
    for path, copy in zip(made, copies, strict=False):
        write_bytes_atomically(copy, path.read_bytes())
    say_written(*(() if as_json else copies))
    if built.fmax < board.clock:
        raise RuntimeError(
            f"Fmax must be at least the clock of {board.name}, {megahertz(board.clock)}, "
            f"not {megahertz(built.fmax)}"
        )
    for level, proof in proofs.items():
        if not proof.agrees:
            raise RuntimeError(f"{level} and prediction do not agree")
    if program:
        load_bitstream(built.bitstream, board.loader_options)


def _build(board: Board, config: NetworkConfig) -> Bitstream:
    """Build, and show the stages as progress."""
    from ..boards.synthesis.bitstream import Stage, build_bitstream

    with progress(Stage.CONVERT, len(Stage), shown=True) as (say, advance):
        begun: list[str] = []

        def begin(stage: str) -> None:
            if begun:
                advance()
            begun.append(stage)
            say(stage)

        return build_bitstream(board, config, say=begin)


def _prove(board: Board, config: NetworkConfig, built: Bitstream) -> dict[str, Verification]:
    """Run a collective on the design in simulation, at every available level."""
    from ..boards.proof.proof import bitstream_design, netlist_design, prove, why_not_read_back

    with progress("generating, checking, predicting", 1, shown=False) as (say, _):
        case = _proof_case(config)
        designs = [netlist_design(board, built.folder)]
        if why_not_read_back(board) is None:
            say("reading the bitstream back")
            designs.append(bitstream_design(board, built.folder))
        return {design.level: prove(design, case, say=say) for design in designs}


def _proof_case(config: NetworkConfig) -> Case:
    """Return the case to prove: a broadcast from the first node, or an all-reduce with operators.

    The message has a few flits. The all-reduce uses the first operator. On circuits the routers
    fork and join; with packets the broadcast is by the eye. If that algorithm does not serve the
    network, or its tables are too small, the case is by the algorithm ``tree``.
    """
    from ..model.collectives.declared.request import Request
    from ..model.collectives.registry import find_algorithm
    from ..model.compare.case import Case

    topology = config.topology
    asked: dict[str, Any]
    if config.operators:
        collective, best = Collective.ALL_REDUCE, "joining-tree" if config.circuits else "tree"
        asked = {"operator": config.operators[0].name}
    else:
        collective, best = Collective.BROADCAST, "light-tree" if config.circuits else "eye"
        asked = {"source": min(topology.working_nodes.tolist(), default=0)}
    request = Request(topology=topology, words=min(PROOF_FLITS, config.message_words), **asked)

    def case(name: str) -> Case:
        schedule = find_algorithm(collective, name).generate(request)
        return Case.of(Compiled.of(schedule, config), timing=Timing.BARRIER, seed=0)

    try:
        return case(best)
    except InvalidInput:
        return case("tree")


def _bitstream_json(
    board: Board, built: Bitstream, proofs: dict[str, Verification]
) -> dict[str, object]:
    """Return a built bitstream as JSON values."""
    return {
        "board": board.name,
        "bitstream": str(built.bitstream),
        "resources": [asdict(resource) for resource in built.resources],
        "fmax_hz": built.fmax,
        "clock_hz": board.clock,
        "proofs": {level: proof.to_json() for level, proof in proofs.items()},
    }


def _print_bitstream(board: Board, config: NetworkConfig, built: Bitstream) -> None:
    """Print resources and Fmax as a table."""
    rows = [(r.name, r.used, r.available, f"{r.used / r.available:.0%}") for r in built.resources]
    speed = f"{built.fmax / board.clock:.1f} times"
    print_table(
        f"{config.topology.label} with serial host on {board.title} ({board.device})",
        ("", "network", "board", ""),
        [*rows, ("Fmax, clock", megahertz(built.fmax), megahertz(board.clock), speed)],
    )


def _print_proofs(board: Board, proofs: dict[str, Verification]) -> None:
    """Print the checks of each simulated level, and why a level is missing."""
    from ..boards.proof.proof import why_not_read_back

    for level, proof in proofs.items():
        print_comparison(proof, f"{level} in simulation")
    reason = why_not_read_back(board)
    if reason is not None:
        say(f"bitstream not simulated: {reason}")
