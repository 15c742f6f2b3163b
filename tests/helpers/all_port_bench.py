"""Programs for networks with a port for every link, on the hardware and on the cycle model.

A test file marks functions that make programs with :func:`on`; all that run on one network are run
in one process, when the first of them is asked for.
"""

import functools

from helpers import untimed
from helpers.programs import words
from helpers.whole_jobs import whole_job

from eyecast.model.compare.waiting import waiting
from eyecast.model.cycle.model import run
from eyecast.model.network.config import NetworkConfig
from eyecast.model.network.topology import hypercube, line, mesh
from eyecast.model.program.program import Program
from eyecast.model.run.trace import first_difference
from eyecast.rtl.packets.sender import SenderState
from eyecast.sim.build import build_simulator
from eyecast.sim.simulator import simulate

# With room for the steps and words of every collective: tests of these share its simulator. Masks
# have two words, and tables lie further apart than they are long.
CUBE = NetworkConfig(
    topology=hypercube(3), all_port=True, message_words=128, steps=40, table_words=72
)
MESH = NetworkConfig(
    topology=mesh((3, 2)),
    all_port=True,
    vcs=2,
    depth=4,
    link_registers=1,
    message_words=64,
    steps=40,
    table_words=56,
)
ALL_PORT = {"cube": CUBE, "mesh": MESH}
NETWORKS = {
    **ALL_PORT,
    # Both are built for other tests too.
    "one port": NetworkConfig(topology=mesh((2, 2))),
    "timed": NetworkConfig(topology=line(3), timed_rows=True, steps=1, vcs=1, depth=2),
}
TIMINGS = ("barrier", "self-timed")
CYCLE_LIMIT = 400


def program_of(config, puts, port_model="all-port", **changes):
    """Make a program of ``puts``, pairs (node, row); the receives follow from the rows' routes."""
    rows = [[] for _ in range(config.topology.nodes)]
    receives = [[] for _ in range(config.topology.nodes)]
    for node, row in puts:
        rows[node].append(row)
        target, port = untimed.ending(config.topology, node, row.route)
        if not row.continued:
            receives[target].append((row.step, port))
    steps, ports = ([tuple(r[i] for r in sorted(each)) for each in receives] for i in (0, 1))
    made = {"receive_ports": ports, **changes}
    return Program.from_rows(config, port_model, rows, steps, **made)


PROGRAMS = {network: {} for network in NETWORKS}
"""Programs of each network, by the functions that make them."""


def on(*networks):
    """Mark a function of a configuration: its program runs on these networks."""

    def mark(make):
        for network in networks:
            PROGRAMS[network][make] = make(NETWORKS[network])
        return make

    return mark


@functools.cache
def hardware_runs(network):
    """Run all programs of a network in one process; return runs by function and timing."""
    cases = [(make, timing) for make in PROGRAMS[network] for timing in TIMINGS]
    jobs = [whole_job(PROGRAMS[network][make], timing, CYCLE_LIMIT) for make, timing in cases]
    return dict(zip(cases, simulate(build_simulator(NETWORKS[network]), jobs), strict=True))


def on_both(network, make):
    """Run a program with both timings; require that hardware and model agree."""
    program = PROGRAMS[network][make]
    runs = []
    for timing in TIMINGS:
        measured = hardware_runs(network)[make, timing]
        predicted = run(program, words(program), timing=timing, cycle_limit=CYCLE_LIMIT)
        difference = first_difference(predicted.trace, measured.trace)
        assert difference is None, difference.describe()
        assert measured.finished == predicted.finished
        assert measured.cycles == predicted.cycles or not measured.finished
        assert (measured.memory == predicted.memory).all()
        assert (measured.flags == predicted.flags).all()
        assert (measured.stalled_flits == predicted.stalled_flits).all()
        assert (measured.arrived == predicted.arrived).all()
        runs.append(measured)
    return program, runs


def carried_out(network, make):
    """Return the runs of a program without errors."""
    program, runs = on_both(network, make)
    program.check()
    for measured in runs:
        assert measured.finished, waiting(program, measured)
        assert not measured.flags.any()
        assert (measured.sender_state == SenderState.ENDED.value).all()
    assert (runs[0].memory == untimed.carried_out(program, words(program), seed=1)).all()
    return runs


def flagged(network, make):
    """Return the flags of a faulty program by node, and its runs."""
    program, runs = on_both(network, make)
    names = [
        {node: found for node in range(len(program.rows)) if (found := measured.flag_names(node))}
        for measured in runs
    ]
    assert names[0] == names[1]
    for measured in runs:
        assert not measured.finished
        lines = waiting(program, measured)
        for node, (name,) in names[0].items():
            assert any(x.startswith(f"node {node} ") and f"has set {name}" in x for x in lines)
    return names[0], runs
