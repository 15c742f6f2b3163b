"""Find the fastest algorithms of some cases, which ``eyecast algorithms`` then lists.

``make bench-algorithms`` takes two minutes of CPU time. As ``--algorithm best`` does, it
compares every algorithm that serves a case, and simulates on the cycle model those that may be the
fastest.
"""

from collections.abc import Iterator

import msgspec

from eyecast.model.base.files import write_bytes_atomically
from eyecast.model.collectives.declared.request import Request
from eyecast.model.collectives.fastest import FASTEST_FILE, MeasuredCase
from eyecast.model.compare.best import choose_best
from eyecast.model.network.faults import with_faults
from eyecast.model.network.topology import Topology, hypercube, mesh, torus
from eyecast.model.program.certified import compile_certified
from eyecast.model.schedule.collective import COLLECTIVES, ROOTLESS, Collective

NETWORKS = {
    "--mesh 8x8": mesh((8, 8)),
    "--torus 8x8": torus((8, 8)),
    "--hypercube 6": hypercube(6),
    "--mesh 8x8 --faulty-node 3,4": with_faults(mesh((8, 8)), [35]),
}
LENGTHS = (1, 16, 256)
TARGETS = (7, 18, 29, 41, 56, 63)
"""The targets of a multicast."""


def cases() -> Iterator[MeasuredCase]:
    """Measure all cases; yield each with its fastest algorithms."""
    for options, network in NETWORKS.items():
        for collective in COLLECTIVES:
            for ports in ("one", "all"):
                for words in LENGTHS if collective != Collective.BARRIER else LENGTHS[:1]:
                    cycles, names = fastest(network, collective, ports, words)
                    yield MeasuredCase(options, collective, ports, words, cycles, names)


def fastest(
    network: Topology, collective: str, ports: str, words: int
) -> tuple[int, tuple[str, ...]]:
    """Return the fewest cycles of a collective, and the algorithms that take that many."""
    request = Request(
        topology=network,
        words=words,
        source=None if collective in ROOTLESS else 0,
        targets=TARGETS if collective == Collective.MULTICAST else None,
        all_port=ports == "all",
    )
    found = choose_best(collective, request, lambda made: compile_certified(made, {})).candidates
    least = found[0].rank
    return found[0].cycles, tuple(each.schedule.algorithm for each in found if each.rank == least)


if __name__ == "__main__":
    encoded = (msgspec.json.encode(case).decode() for case in cases())
    write_bytes_atomically(FASTEST_FILE, ("[\n" + ",\n".join(encoded) + "\n]\n").encode())
