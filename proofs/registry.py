"""All proofs, from small components to large ones."""

from __future__ import annotations

from ..rtl.technology import BufferStyle
from . import (
    arrivals,
    buses,
    circuits,
    direct,
    input_port,
    interface,
    link,
    memories,
    parts,
    router,
    senders,
)
from .proof import Proof


def all_proofs() -> list[Proof]:
    """Return all proofs."""
    return [
        *(parts.credits(depth) for depth in (1, 2, 3, 4)),
        *(parts.buffer(depth, BufferStyle.MEMORY) for depth in (1, 2, 3, 4)),
        *(parts.buffer(depth, BufferStyle.REGISTERS) for depth in (2, 4)),
        *(parts.arbiter(ports, vcs) for ports in (3, 5, 7) for vcs in (1, 2, 4)),
        *(parts.arbiter(ports, 2, delivers=True) for ports in (3, 5)),
        *(parts.output(ports, vcs) for ports in (3, 5, 7) for vcs in (1, 2)),
        *(parts.output(ports, 4) for ports in (3, 5)),
        *(parts.output(3, vcs, depth) for vcs in (1, 2) for depth in (1, 3, 4)),
        *(parts.output(ports, vcs, port=0) for ports, vcs in ((3, 1), (5, 2))),
        *(input_port.input_port(ports, vcs) for ports in (3, 5, 7) for vcs in (1, 2, 4)),
        *(input_port.input_port(3, 1, depth) for depth in (1, 3, 4)),
        *(input_port.input_port(3, 2, depth) for depth in (1, 3)),
        *(input_port.input_port(ports, vcs, port=0) for ports, vcs in ((3, 1), (5, 2))),
        *(link.loop(depth, registers) for depth, registers in ((2, 0), (4, 1), (2, 2), (2, 3))),
        *(router.safe_router(ports, 1, parts=True) for ports in (3, 5)),
        *(router.safe_router(*sizes) for sizes in ((3, 2), (7, 1), (3, 1, 4), (3, 4), (5, 2))),
        *(router.whole_router(3, 1, depth, port=1) for depth in (1, 2)),
        router.whole_router(3, 1, port=0),
        *(router.no_copies(*sizes) for sizes in ((3, 1), (5, 1), (3, 2))),
        *(direct.direct_router(ports, vcs) for ports, vcs in ((3, 1), (3, 2), (5, 1))),
        *(circuits.circuit_router(ports) for ports in (3, 5, 7)),
        circuits.circuit_router(3, operators=("add",)),
        *(interface.receiver(vcs) for vcs in (1, 2, 4)),
        *(senders.sender(vcs) for vcs in (1, 2)),
        *(senders.streaming_sender(lanes=lanes) for lanes in (False, True)),
        interface.steps(),
        interface.record(),
        *(arrivals.doorbell(lanes=lanes) for lanes in (False, True)),
        arrivals.word_count(),
        *(arrivals.barrier(registers) for registers in (0, 2, 7)),
        interface.combiner(),
        interface.combiner(lanes=True),
        *(interface.slow_combiner(latency) for latency in (1, 2, 3)),
        *(memories.memory(parity=parity) for parity in (False, True)),
        memories.table(),
        memories.used_words(),
        memories.combined_words(),
        interface.run_control(),
        buses.axi4_lite(),
        buses.wishbone(),
        buses.stream_writer(),
        buses.stream_reader(),
    ]
