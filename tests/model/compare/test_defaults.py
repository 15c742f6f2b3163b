"""Default algorithms: the best, or a broadcast that says when it is known to be slow."""

import logging

import pytest

from eyecast.model.collectives.declared.request import Ports
from eyecast.model.collectives.task import BEST, MOST_NODES, Task
from eyecast.model.compare.answer import QUICKER, answer
from eyecast.model.compare.cycles import schedule_cycles
from eyecast.model.network.faults import with_faults
from eyecast.model.network.named_graphs import binary_tree
from eyecast.model.network.topology import Topology, hypercube, line, mesh, ring, torus
from eyecast.model.program.certified import Room
from eyecast.model.schedule.collective import COLLECTIVES, ROOTLESS, Collective

SMALL = (mesh((4, 4)), torus((4, 4)), hypercube(4), line(8), mesh((2, 2, 2)))
LARGE = (mesh((8, 8)), torus((8, 8)), hypercube(6), mesh((16, 16)), torus((4, 4, 4)))
OTHERS = (mesh((3, 5)), ring(7), binary_tree(7), with_faults(mesh((4, 4)), [5]))


def task_of(topology: Topology, collective: str, ports: str = Ports.ONE) -> Task:
    return Task(
        topology=topology,
        collective=collective,
        source=None if collective in ROOTLESS else 0,
        targets=(1,) if collective == Collective.MULTICAST else None,
        ports=ports,
    )


@pytest.mark.parametrize("topology", [*SMALL, *LARGE, *OTHERS], ids=lambda each: each.label)
def test_the_default_is_the_best_except_of_a_broadcast(topology: Topology) -> None:
    assert topology.nodes <= MOST_NODES
    for collective in COLLECTIVES:
        for ports in Ports:
            task = task_of(topology, collective, ports)
            eye = collective == Collective.BROADCAST and ports != Ports.ALL
            assert task.usual_algorithm == ("eye" if eye else BEST), (collective, ports)


LINKED, SCANS = "direct direct", "brent-kung brent-kung"


@pytest.mark.parametrize(
    ("topology", "names"),
    [
        (mesh((32, 32)), f"eye u-mesh ring ring ring ring {LINKED} eye ring ring eye {SCANS}"),
        (hypercube(9), f"eye u-mesh sbt sbt sbt sbt {LINKED} eye sbt sbt eye {SCANS}"),
        (
            binary_tree(511),
            f"eye u-mesh direct direct ring direct {LINKED} eye ring ring eye {SCANS}",
        ),
    ],
    ids=lambda each: each.label if isinstance(each, Topology) else "",
)
def test_large_networks_have_quick_defaults(
    topology: Topology, names: str, caplog: pytest.LogCaptureFixture
) -> None:
    tasks = [task_of(topology, collective) for collective in COLLECTIVES]
    assert [task.usual_algorithm for task in tasks] == names.split()
    caplog.set_level(logging.INFO, "eyecast")
    task = task_of(topology, Collective.GATHER)
    answer(task, None, Room())
    others = f"the algorithm best tries all, which takes long above {MOST_NODES} nodes"
    said = f"{task.usual_algorithm} is the default, and may be slow: {others}"
    assert caplog.messages == [said]


@pytest.mark.parametrize("circuits", [False, True], ids=["packets", "circuits"])
@pytest.mark.parametrize("words", [1, pytest.param(16, marks=pytest.mark.slow), 1024])
@pytest.mark.parametrize(
    "topology",
    [*SMALL, *(pytest.param(each, marks=pytest.mark.slow) for each in LARGE)],
    ids=lambda each: each.label,
)
def test_a_slow_broadcast_says_so(
    topology: Topology, words: int, circuits: bool, caplog: pytest.LogCaptureFixture
) -> None:
    """The default takes less than 1.5 times the cycles of the best, or a line names a quicker one.

    Where it is close to 1.5 times, estimates may err: there the line is free.
    """
    caplog.set_level(logging.INFO, "eyecast")
    task, room = Task(topology=topology, source=0, words=words), Room({"circuits": circuits})
    usual = answer(task, None, room).schedule
    said = [line for line in caplog.messages if line.startswith("eye, the default, takes about")]
    best = answer(task, BEST, room).choices[None].candidates[0].cycles
    ratio = schedule_cycles(usual, circuits=circuits).value / best
    assert len(said) == (ratio >= QUICKER), (ratio, said)
