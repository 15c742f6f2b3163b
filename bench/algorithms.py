"""Find the fastest algorithms of some cases, which ``eyecast algorithms`` then lists.

``make bench-algorithms`` takes about ten minutes of CPU time, on all cores. As ``--algorithm best``
does, it compares every algorithm that serves a case, and simulates on the cycle model those that
may be the fastest.
"""

from collections.abc import Iterator
from concurrent.futures import ProcessPoolExecutor

import msgspec

from eyecast.model.base.errors import InvalidInput
from eyecast.model.base.files import write_bytes_atomically
from eyecast.model.collectives.declared.request import Request
from eyecast.model.collectives.fastest import FASTEST_FILE, MeasuredCase
from eyecast.model.compare.best import choose_best
from eyecast.model.network.chiplets import chiplets
from eyecast.model.network.faults import with_faults
from eyecast.model.network.topology import Topology, hypercube, mesh, torus
from eyecast.model.program.certified import Room
from eyecast.model.schedule.collective import COLLECTIVES, ROOTLESS, Collective

CIRCUITS = " --circuits"
NETWORKS: dict[str, Topology] = {
    "--mesh 8x8": mesh((8, 8)),
    "--torus 8x8": torus((8, 8)),
    "--hypercube 6": hypercube(6),
    "--mesh 8x8 --faulty-node 3,4": with_faults(mesh((8, 8)), [35]),
    "--torus 3x9": torus((3, 9)),
    "--mesh 5x5": mesh((5, 5)),
    "--chiplets 2x2 --chiplet 2x2 --between latency=8,rate=4": chiplets(
        (2, 2), (2, 2), latency=8, rate=4
    ),
    f"--mesh 8x8{CIRCUITS}": mesh((8, 8)),
}
LENGTHS = (1, 16, 256, 1024, 16384)
MOST_WORDS = {Collective.BARRIER: 1, Collective.ALL_TO_ALL: 256} | dict.fromkeys(
    (Collective.SCATTER, Collective.GATHER, Collective.ALL_GATHER, Collective.REDUCE_SCATTER), 1024
)
"""The longest blocks of 64 nodes that the largest message memories hold."""
TARGETS = (7, 18, 29, 41, 56, 63)
"""The targets of a multicast; in networks of fewer nodes, those that exist."""

Asked = tuple[str, str, str, int]
"""Options of a network, collective, ports and words."""


def asked() -> Iterator[Asked]:
    """Yield all cases to measure, in the order of the file."""
    for options in NETWORKS:
        for collective in COLLECTIVES:
            for ports in ("one", "all"):
                for words in LENGTHS:
                    if words <= MOST_WORDS.get(Collective(collective), words):
                        yield options, collective, ports, words


def measured(case: Asked) -> MeasuredCase:
    """Return a case with its fastest algorithms; none and 0 cycles if nothing serves it."""
    options, collective, ports, words = case
    network, all_port = NETWORKS[options], ports == "all"
    request = Request(
        topology=network,
        words=words,
        source=None if collective in ROOTLESS else 0,
        targets=tuple(node for node in TARGETS if node < network.nodes)
        if collective == Collective.MULTICAST
        else None,
        all_port=all_port,
    )
    circuits = options.endswith(CIRCUITS)
    room = Room({"circuits": circuits, "all_port": all_port})
    try:
        found = choose_best(collective, request, room.compile_one, circuits=circuits).candidates
    except InvalidInput:
        return MeasuredCase(*case, 0, ())
    least = found[0].rank
    names = tuple(each.schedule.algorithm for each in found if each.rank == least)
    return MeasuredCase(*case, found[0].cycles, names)


if __name__ == "__main__":
    with ProcessPoolExecutor() as workers:
        encoded = [msgspec.json.encode(each).decode() for each in workers.map(measured, asked())]
    write_bytes_atomically(FASTEST_FILE, ("[\n" + ",\n".join(encoded) + "\n]\n").encode())
