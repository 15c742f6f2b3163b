"""Signatures against docs/router.md, section 12, computed bit by bit with lists of bits."""

import numpy as np
import pytest
from helpers.programs import LINE
from helpers.refusals import refusal_of

from eyecast.model.network.config import NetworkConfig
from eyecast.model.network.topology import Topology, mesh
from eyecast.model.run.signature import signatures
from eyecast.model.run.trace import KINDS, Flit, Trace

WIDTHS = (16, 24, 32, 40, 64)
POLYNOMIAL_BITS = (0, 1, 2, 4, 5, 7, 8, 10, 11, 12, 16, 22, 23, 26)
"""Bits of 0x04C11DB7, which is x^26 + x^23 + x^22 + x^16 + x^12 + … + 1 without its x^32."""


def bits_of(value: int, width: int) -> list[int]:
    return [value >> place & 1 for place in range(width)]


def flit_bits(flit: Flit, config: NetworkConfig) -> list[int]:
    """Return the page's f(p): 32 bits, bit 0 first."""
    bits = bits_of(flit.data, config.flit_width)
    bits.append(int(KINDS[flit.kind] in ("head", "single")))
    bits.append(int(KINDS[flit.kind] in ("tail", "single")))
    bits += [int(vc == flit.vc) for vc in range(config.vcs)]
    folded = [0] * 32
    for place, bit in enumerate(bits):
        folded[place % 32] ^= bit
    rotated = [0] * 32
    for place, bit in enumerate(folded):
        rotated[(place + 3 * flit.port) % 32] = bit
    return rotated


def signatures_read_slowly(trace: Trace, config: NetworkConfig) -> list[int]:
    registers = [[0] * 32 for _ in range(config.topology.nodes)]
    leaving: dict[tuple[int, int], list[Flit]] = {}
    for flit in trace:
        leaving.setdefault((flit.cycle, flit.node), []).append(flit)
    for (cycle, node), flits in sorted(leaving.items()):
        top = registers[node][31]
        after = [0, *registers[node][:31]]
        for place in POLYNOMIAL_BITS:
            after[place] ^= top
        for word in (bits_of(cycle, 32), *(flit_bits(flit, config) for flit in flits)):
            after = [one ^ other for one, other in zip(after, word, strict=True)]
        registers[node] = after
    return [sum(bit << place for place, bit in enumerate(register)) for register in registers]


def star(ports: int) -> Topology:
    """Return a hub with a leaf at each of its ports, so that port numbers may be large."""
    neighbor = np.full((ports, ports), -1, dtype=np.int32)
    peer = neighbor.copy()
    leaves = np.arange(1, ports)
    neighbor[0, 1:], peer[0, 1:] = leaves, 1
    neighbor[1:, 1], peer[1:, 1] = 0, leaves
    return Topology("star", (ports,), neighbor, peer)


def random_trace(config: NetworkConfig, rows: int, seed: int = 1) -> Trace:
    """Draw a trace with at most one flit per cycle and output, and cycles beyond 2^32."""
    random = np.random.default_rng(seed)
    nodes, ports = config.topology.neighbor.shape
    cycles = (1 << 32) - rows // 8
    places = random.choice(rows // 4 * nodes * ports, size=rows, replace=False)
    trace = Trace(
        cycle=cycles + places // (nodes * ports),
        node=(places // ports % nodes).astype(np.int32),
        port=(places % ports).astype(np.int16),
        vc=random.integers(config.vcs, size=rows, dtype=np.int16),
        kind=random.integers(4, size=rows, dtype=np.int8),
        data=random.integers(1 << 64, size=rows, dtype=np.uint64)
        >> np.uint64(64 - config.flit_width),
    )
    return trace.sort()


@pytest.mark.parametrize("flit_width", WIDTHS)
@pytest.mark.parametrize("vcs", [1, 8])
@pytest.mark.parametrize("topology", [mesh((3, 2)), mesh((2, 2, 2)), star(40)])
def test_random_traces(flit_width: int, vcs: int, topology: Topology) -> None:
    limits = {"flit_width": flit_width, "vcs": vcs, "message_words": 16, "steps": 1}
    config = NetworkConfig(topology=topology, **limits)
    trace = random_trace(config, 800)
    found = signatures(trace, config)
    assert (found.dtype, found.shape) == (np.uint32, (topology.nodes,))
    assert found.tolist() == signatures_read_slowly(trace, config)


def test_an_empty_trace_leaves_0() -> None:
    assert signatures(Trace.empty(), NetworkConfig(topology=LINE)).tolist() == [0] * 4


@pytest.mark.parametrize("flit_width", WIDTHS)
def test_any_change_of_a_flit_shows(flit_width: int) -> None:
    config = NetworkConfig(topology=mesh((3, 2)), flit_width=flit_width, vcs=2, message_words=16)
    flits = list(random_trace(config, 60))
    before = signatures(Trace.from_flits(flits), config)
    place = 25
    flit = flits[place]
    alone = {(f.cycle, f.node) for f in flits if f is not flit}
    later = next(
        cycle for cycle in range(flit.cycle + 1, 1 << 33) if (cycle, flit.node) not in alone
    )
    changed = [flit._replace(data=flit.data ^ 1 << bit) for bit in range(flit_width)]
    changed += [flit._replace(kind=flit.kind ^ 1), flit._replace(kind=flit.kind ^ 2)]
    changed += [flit._replace(vc=1 - flit.vc), flit._replace(cycle=later)]
    for other in changed:
        after = signatures(Trace.from_flits([*flits[:place], other, *flits[place + 1 :]]), config)
        # One flit of one node differs, and later flits do not hide it.
        assert np.flatnonzero(after != before).tolist() == [flit.node]


def test_swapped_ports_show() -> None:
    config = NetworkConfig(topology=mesh((3, 2)), vcs=2)
    first, second = Flit(5, 2, 1, 0, 1, 77), Flit(5, 2, 3, 1, 2, 99)
    swapped = [first._replace(port=3), second._replace(port=1)]
    before = signatures(Trace.from_flits([first, second]), config)
    assert signatures(Trace.from_flits(swapped), config)[2] != before[2]


def test_a_node_that_is_not_there_is_refused() -> None:
    config = NetworkConfig(topology=LINE)
    for node in (-1, 4):
        assert (
            refusal_of(signatures, Trace.from_flits([Flit(5, node, 1, 0, 1, 77)]), config)
            == f"nodes in the trace must be 0 to 3, not {node}"
        )
