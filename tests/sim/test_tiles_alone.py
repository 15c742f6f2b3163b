"""A broadcast whose words only tiles write and read, while the network runs."""

import json
from pathlib import Path

import pytest
from helpers import tile_bench

from eyecast.model.collectives.halving.eye import eye_broadcast
from eyecast.model.compare.case import Case
from eyecast.model.network.config import NetworkConfig
from eyecast.model.network.topology import mesh
from eyecast.model.program.compiler import fit
from eyecast.sim.build import BUILD_FOLDER, build_simulator
from eyecast.sim.loading import prepare
from eyecast.sim.run_worker import LOG, start_bench
from eyecast.sim.verilog import TOP_MODULE

WORDS = 16
SOURCE = 9
"""Source of a broadcast of 132 cycles (docs/router.md, section 5): node (1,1)."""


@pytest.mark.slow
def test_a_broadcast_from_the_first_tiles_start_to_the_last_tiles_last_word(
    tmp_path: Path,
) -> None:
    """The first tile's words leave while it writes them; other tiles read them on arrival."""
    topology = mesh((8, 8))
    limits = {"programs": 1, "tile_ports": True, "message_words": 32}
    config, (compiled,) = fit(
        NetworkConfig(topology=topology, **limits), [eye_broadcast(topology, SOURCE, WORDS)]
    )
    case = Case.of(compiled, timing="barrier", seed=0)
    # One more cycle, to read ``expected``.
    assert case.predicted.cycles == 132 + 1
    job = prepare(case.program, [], timing="barrier", read_words=0, cycle_limit=1000)
    message = [1000 + word for word in range(WORDS)]
    held = {name: value for name, value in vars(job).items() if name != "writes"}
    plan = {"job": held | {"writes": job.writes.tolist()}, "source": SOURCE, "message": message}
    (tmp_path / tile_bench.PLAN).write_text(json.dumps(plan))
    simulator = build_simulator(config) / BUILD_FOLDER / TOP_MODULE
    helpers = Path(tile_bench.__file__).parent
    process = start_bench(simulator, "tile_bench", tmp_path, modules=helpers)
    process.wait()
    log = (tmp_path / LOG).read_text()
    assert (tmp_path / tile_bench.SEEN).exists(), log
    seen = json.loads((tmp_path / tile_bench.SEEN).read_text())
    assert seen["done"]
    assert seen["read"] == [[] if node == SOURCE else message for node in range(64)]
    # The tile's writes changed no cycle.
    assert seen["cycles"] == case.predicted.cycles
    # The doorbell rings in the cycle in which all nodes are finished, and each word is shown one
    # cycle after its request.
    assert seen["last"] == case.predicted.cycles + WORDS
