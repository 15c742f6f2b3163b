"""``python -m examples.matrix_vector.board``: the chip as a bitstream for an FPGA board.

Its netlist is simulated, and multiplies a matrix by a vector that come over the serial line, bit by
bit; with ``--port`` a board does.
"""

import argparse
from pathlib import Path

import numpy as np

from eyecast.boards.proof.proof import build_design, netlist_design
from eyecast.boards.proof.simulated_board import SimulatedBoard
from eyecast.boards.registry import BAUD, TIMEOUT_SECONDS, find_board
from eyecast.boards.run import require_network
from eyecast.boards.serial.computer import SerialHost, SerialPort
from eyecast.boards.serial.frame import Control, Outcome, word_bytes
from eyecast.boards.serial.hosted_network import Surroundings
from eyecast.boards.synthesis.bitstream import build_bitstream
from eyecast.sim.cache import digest

from .chip import Chip
from .numbers import drawn, expected
from .plan import GATHER, SPREAD, Software, software

CONTROLLER, COMMAND, START, STOP = 2, 2, 1, 2
MOST_CYCLES = 50_000_000
"""Clock cycles until a product over a simulated line counts as failed."""
POLLS = 100


def main() -> None:
    """Build, print the resources, run, and tell whether every tile has the result."""
    parser = argparse.ArgumentParser(prog="python -m examples.matrix_vector.board")
    parser.add_argument("--board", default="ulx3s-85f", help="as `eyecast boards` lists them")
    parser.add_argument("--port", help="the serial port of a board that holds the bitstream")
    given = parser.parse_args()
    board, made = find_board(given.board), software(2, 2, rows_of_node=1)
    sources = (path.read_text() for path in sorted(Path(__file__).parent.glob("*.py")))
    around = Surroundings(digest("matrix_vector", *sources), lambda network: Chip(made, network))
    built = build_bitstream(board, made.config, around=around, say=print)
    for resource in built.resources:
        print(f"{resource.name:12} {resource.used:6} of {resource.available}")
    print(f"Fmax {built.fmax / 1e6:.1f} MHz, clock {board.clock / 1e6:.1f} MHz")
    print(built.bitstream)
    if given.port is not None:
        line = SerialPort(given.port, BAUD, silence=2 * TIMEOUT_SECONDS)
        right = multiplies(SerialHost(line, word_bytes=word_bytes(made.config)), made)
    else:
        simulator = build_design(netlist_design(board, built.folder), say=print)
        with SimulatedBoard(simulator, board, cycles=MOST_CYCLES) as line:
            right = multiplies(SerialHost(line, word_bytes=word_bytes(made.config)), made)
    print(f"all tiles have NumPy's result: {'yes' if right else 'NO'}")
    raise SystemExit(not right)


def multiplies(host: SerialHost, made: Software) -> bool:
    """Carry out a product at the other end of the line, and compare it with NumPy's."""
    config, plan = made.config, made.plan
    require_network(host, config)
    host.control(Control(0))
    host.write_word(0, CONTROLLER, COMMAND, STOP)
    matrix, vector = drawn(plan.size, seed=1)
    for node, space, address, word in made.writes(matrix, vector):
        host.write_word(node, space, address, word)
    for program in (SPREAD, GATHER):
        # A program is over long before the next byte; a reply that is lost would start it twice,
        # and change nothing.
        host.write_word(0, CONTROLLER, COMMAND, START | program << 8)
        for _ in range(POLLS):
            if Outcome.DONE in host.status().outcome:
                break
    results = [
        host.read_words(node, 0, plan.size, first=plan.result)
        for node in range(config.topology.nodes)
    ]
    found = np.array(results, dtype=np.uint32).view(np.int32)
    refused = Outcome.REFUSED in host.status().outcome
    return not refused and bool((found == expected(matrix, vector)).all())


if __name__ == "__main__":
    main()
