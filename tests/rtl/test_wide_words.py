"""Wide words at the host port, in Amaranth's own simulator (docs/router.md, section 25)."""

from typing import Any

import pytest
from amaranth.hdl import ClockDomain
from helpers.amaranth_simulation import simulate
from helpers.network_in_python import NetworkBench

from eyecast.model.network.config import NetworkConfig
from eyecast.model.network.topology import line

MESSAGE = 0
PIECE, SLOW = 64, pytest.mark.slow


@pytest.mark.parametrize(
    ("limits", "look_ahead"),
    [
        ({"flit_width": 128, "operators": "add:16"}, False),
        ({"flit_width": 192, "circuits": True}, False),
        pytest.param({"flit_width": 512, "operators": "max-signed:64"}, True, marks=SLOW),
        pytest.param({"flit_width": 192, "all_port": True}, True, marks=SLOW),
        pytest.param({"flit_width": 320, "circuits": True, "operators": "add:8"}, True, marks=SLOW),
    ],
)
def test_a_host_writes_and_reads_words_in_pieces(
    clock: ClockDomain, limits: dict[str, Any], *, look_ahead: bool
) -> None:
    """The last piece writes the word, with the pieces that the same node was given last."""
    config = NetworkConfig(topology=line(2), message_words=8, **limits)
    bench, pieces = NetworkBench(clock, config, look_ahead=look_ahead), config.flit_width // PIECE
    apart = (pieces - 1).bit_length()

    def word(seed: int) -> list[int]:
        return [(seed + piece) * 0x9E3779B97F4A7C15 % (1 << PIECE) for piece in range(pieces)]

    def writes(node: int, address: int, values: list[int], first: int = 0) -> list[tuple]:
        begin = address << apart
        return [(node, MESSAGE, begin + i, each) for i, each in enumerate(values, first)]

    whole = {(0, 1): word(1), (0, 5): word(20), (1, 1): word(40), (0, 7): word(60)}
    sent = [each for place in list(whole)[:3] for each in writes(*place, whole[place])]
    # The host begins word 7 of node 0, is interrupted, writes to node 1, and begins it anew.
    sent += writes(0, 7, word(3)[:-1]) + writes(1, 2, word(80)[:-1])
    sent += writes(0, 7, whole[0, 7])
    # Without earlier pieces of its own, the last one takes those of another address.
    sent += writes(1, 3, [99], first=pieces - 1)
    expected = {**whole, (1, 3): [*word(80)[:-1], 99], (1, 2): [0] * pieces}

    async def testbench(ctx: Any) -> None:
        await bench.write(ctx, sent, barrier=False)
        ctx.set(bench.reset, 1)
        for (node, address), held in expected.items():
            begin = address << apart
            read = [await bench.read(ctx, node, MESSAGE, begin + i) for i in range(pieces)]
            assert read == held, (node, address)

    simulate(bench.module, testbench)
