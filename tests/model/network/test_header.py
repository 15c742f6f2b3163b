"""Header flits: packed by the page, and read back as a router and a receiver read them."""

import numpy as np
import pytest

from eyecast.model.base.errors import InvalidInput
from eyecast.model.network.config import NetworkConfig
from eyecast.model.network.segment import Routes, Segment
from eyecast.model.network.topology import line, mesh

CONFIGS = [
    NetworkConfig(topology=line(4), flit_width=8, message_words=4, steps=1),
    # A slot of 4 bits and the delivery of 5 bits fill a flit completely.
    NetworkConfig(topology=line(4), flit_width=9, message_words=4, steps=1),
    NetworkConfig(topology=mesh((4, 5)), vcs=3, flit_width=16),
    NetworkConfig(topology=mesh((3, 2, 2)), vcs=8, flit_width=29, message_words=999),
    NetworkConfig(topology=line(300), flit_width=64, steps=4095),
    NetworkConfig(topology=line(300), flit_width=24, vcs=2),
]


def packed(config: NetworkConfig, route: tuple[Segment, ...], step: int, address: int) -> list[int]:
    """Return header flits, packed field by field (docs/router.md, section 1)."""
    h, flits, used = config.header, [0], 0
    groups = []
    for port, hops, vc in route:
        for begin in range(0, hops, 1 << h.hop_bits):
            more = min(hops - begin, 1 << h.hop_bits) - 1
            groups.append([(port, h.port_bits), (more, h.hop_bits), (vc, h.vc_bits)])
    deliver = [(config.topology.ports, h.port_bits), (step, h.step_bits), (address, h.address_bits)]
    for group in [*groups, deliver]:
        if used + sum(width for _, width in group) > config.flit_width:
            flits, used = [*flits, 0], 0
        for value, width in group:
            flits[-1] |= value << used
            used += width
    return flits


def drawn(config: NetworkConfig, draw: np.random.Generator) -> tuple[Segment, ...]:
    """Draw a route of up to six segments; some are longer than a slot can count."""
    most = (1, config.topology.ports), (1, 3 << config.header.hop_bits), (0, config.vcs)
    return tuple(
        Segment(*(int(draw.integers(*ends)) for ends in most)) for _ in range(draw.integers(6))
    )


@pytest.mark.parametrize("config", CONFIGS, ids=lambda config: f"{config.flit_width} bits")
def test_headers_are_packed_as_the_page_says_and_walked_to_their_delivery(
    config: NetworkConfig,
) -> None:
    draw, header = np.random.default_rng(1), config.header
    ways = [drawn(config, draw) for _ in range(60)]
    routes = Routes.of(ways)
    assert list(routes) == ways
    packets = draw.integers(0, len(ways), 200)
    step = draw.integers(0, 1 << config.step_bits, len(packets))
    address = draw.integers(0, 1 << config.address_bits, len(packets))
    flits = header.pack(routes, packets, header.delivery(step, address)).tolist()
    counts = header.flits(routes)[packets].tolist()
    for packet, count in enumerate(counts):
        way, sent = ways[packets[packet]], flits[:count]
        assert sent == packed(config, way, int(step[packet]), int(address[packet]))
        del flits[:count]
        if sum(segment.hops for segment in way) > 200:
            continue  # Walking thousands of hops takes too long.
        hops = []
        while header.port(sent[0]) != header.deliver_code:
            if header.port(sent[0]) == 0:
                del sent[0]
                continue
            hops.append((int(header.port(sent[0])), int(header.vc(sent[0]))))
            sent[0] = int(header.drop_first(sent[0]))
        assert hops == [(port, vc) for port, hops, vc in way for _ in range(hops)]
        assert (header.step(sent), header.address(sent)) == (step[packet], address[packet])
    assert flits == []


def test_a_flit_too_narrow_for_a_field_is_refused_with_the_width_that_is_enough() -> None:
    topology = mesh((1024, 1))
    with pytest.raises(InvalidInput, match="flit width must be at least 13, which a route segment"):
        NetworkConfig(topology=topology, flit_width=12, message_words=2, steps=1)
    NetworkConfig(topology=topology, flit_width=13, message_words=2, steps=1)


def test_words_of_circuits_need_no_room_for_a_header() -> None:
    NetworkConfig(topology=mesh((4, 4)), flit_width=8, circuits=True)
    with pytest.raises(InvalidInput, match="at least 9, which the number of an entry takes here"):
        NetworkConfig(topology=mesh((4, 4)), flit_width=8, circuits=True, table_words=256)
