"""Compilation of all Numba functions ahead of use; ``make`` runs it once.

Run it as ``python -m eyecast.cli.precompile``. Functions compiled earlier are only loaded.
"""

import logging
import sys
import time
from concurrent.futures import ProcessPoolExecutor
from dataclasses import replace

import numpy as np

from ..model.base.notices import LOG
from ..model.base.processes import python_children
from ..model.bounds.cycles import least_cycles
from ..model.collectives.circuits.light_trees import light_broadcast
from ..model.collectives.direct.all_to_all import direct_all_to_all
from ..model.collectives.streaming.rings import stream_ring_reduce_scatter
from ..model.collectives.streaming.trees import packed_trees_multicast
from ..model.collectives.tree.broadcast import tree_broadcast
from ..model.collectives.tree.graph import two_way_graph
from ..model.collectives.tree.intervals import interval_sends
from ..model.cycle.any_run import run_any
from ..model.cycle.model import run
from ..model.network.config import NetworkConfig, Timing
from ..model.network.faults import with_faults
from ..model.network.port_model import PortModel
from ..model.network.route_layers import layered_vcs
from ..model.network.topology import mesh
from ..model.papers.transmit.covering import cover_square
from ..model.program.certified import Room
from ..model.program.payload import empty_memory
from ..model.program.program import Program
from ..model.run.signature import signatures
from ..model.schedule.duration import expected_cycles
from ..model.schedule.forests import proves_whole
from . import interruption


def main() -> None:
    """Call every compiled function with the array types of its later calls.

    The cycle model and the searches take about the same time, and each gets a process; the first
    one that ends goes on with circuits.
    """
    _prepare_process()
    begin = time.monotonic()
    sys.stdout.write("compiling the cycle model and the searches (once: a quarter of a minute)\n")
    sys.stdout.flush()
    with (
        python_children() as context,
        ProcessPoolExecutor(2, context, _prepare_process) as processes,
    ):
        for part in [processes.submit(use) for use in USES]:
            part.result()
    sys.stdout.write(f"they are compiled: {time.monotonic() - begin:.0f} s\n")


def _prepare_process() -> None:
    """Make compilations interruptible, without a notice for each one."""
    interruption.show_notices()
    LOG.setLevel(logging.WARNING)


def _use_cycle_model() -> None:
    """Run empty programs on a one-port and on an all-port network."""
    config = NetworkConfig(topology=mesh((2, 1)), vcs=2)
    for network in (config, replace(config, all_port=True)):
        nothing: tuple[tuple[()], ...] = ((),) * network.topology.nodes
        ports = nothing if network.all_port else ()
        program = Program.from_rows(
            network, PortModel.FULL_DUPLEX, nothing, nothing, receive_ports=ports
        )
        ran = run(program, empty_memory(network), timing=Timing.BARRIER)
    signatures(ran.trace, config)


def _use_searches() -> None:
    """Run every compiled search on a small network."""
    grid = mesh((4, 4))
    least_cycles(grid, tree_broadcast(grid, 0, 1).blocks, PortModel.ALL_PORT)
    interval_sends(two_way_graph(grid), 0, steps=4, trials=1)
    cover_square(8, 5)
    expected_cycles(direct_all_to_all(with_faults(grid, [5], []), 1))
    packed_trees_multicast(grid, 0, [5], 1)
    layered_vcs(np.array([0, 3]), np.array([0, 1, 2]))
    ring = stream_ring_reduce_scatter(grid, 1, "add")
    for blocks in (ring.block_ids, ring.block_ids[:]):
        proves_whole(replace(ring, block_ids=blocks))


def _use_circuits() -> None:
    """Run a broadcast of wide words through circuits, down several trees; pack an all-to-all."""
    Room({"circuits": True}).compile_one(direct_all_to_all(mesh((2, 2)), 1))
    made = light_broadcast(mesh((2, 2)), 0, 4, all_port=True)
    program = Room({"circuits": True, "flit_width": 128}).compile_one(made).program
    run_any(program, empty_memory(program.config), timing=Timing.SELF_TIMED)


USES = (_use_cycle_model, _use_searches, _use_circuits)


if __name__ == "__main__":
    main()
