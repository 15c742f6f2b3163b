"""An interface that reads stored words ahead writes the same words as one that does not."""

import random
from collections.abc import Iterator
from typing import Any

import pytest
from amaranth.hdl import C, ClockDomain, Module, ResetSignal, Signal
from amaranth.lib.wiring import connect, flipped
from helpers.amaranth_simulation import simulate
from helpers.combiner_bench import MEANINGS, WIDTH

from eyecast.model.network.config import NetworkConfig
from eyecast.model.network.topology import mesh
from eyecast.rtl.packets.interface import NetworkInterface
from eyecast.rtl.parts.combiner import Combiner
from eyecast.rtl.parts.host_map import HostSpace
from eyecast.rtl.parts.host_port import ASKED
from eyecast.rtl.parts.technology import PLAIN, Technology

WORDS, ROUNDS, PACKETS = 8, 6, 15
"""Few words, so that a packet often begins where the one before it ends."""

TECHNOLOGIES = (PLAIN, Technology(look_ahead=True))
HOST_CYCLES = 3
"""Cycles until the host has a word that it reads, at most."""


def configuration(operators: tuple[str, ...], *, streams: bool = False) -> NetworkConfig:
    limits = {"flit_width": WIDTH, "message_words": WORDS, "steps": 3}
    return NetworkConfig(topology=mesh((2, 2)), operators=operators, streams=streams, **limits)


class Packets:
    """Random packets of step 0, and the final memory by sections 19 and 20 of the page."""

    def __init__(self, config: NetworkConfig, seed: int) -> None:
        self.config, self.draw = config, random.Random(seed)
        self.start = [self.draw.getrandbits(WIDTH) for _ in range(WORDS)]
        self.memory = list(self.start)

    def flits(self) -> Iterator[tuple[int, bool, bool] | None]:
        """Yield data, head and tail of each flit; None for a cycle without a flit."""
        for _ in range(PACKETS):
            for flit in self.packet():
                while self.draw.random() < 0.2:
                    yield None
                yield flit

    def packet(self) -> Iterator[tuple[int, bool, bool]]:
        draw, header = self.draw, self.config.header
        window = draw.randrange(3) if self.config.streams else 0
        operator = draw.randrange(2 * len(self.config.operators) + 1)
        address = draw.randrange(WORDS)
        length = draw.randrange(4) if window else draw.randrange(min(4, WORDS - address + 1))
        low = header.port_bits + self.config.step_bits
        further = (operator, self.config.operator_bits), (window, self.config.window_bits)
        data, low = header.deliver_code | address << low, low + self.config.address_bits
        for value, bits in further:
            data, low = data | value << low, low + bits
        yield data, True, length == 0
        for left in reversed(range(length)):
            word = draw.getrandbits(WIDTH)
            self.write(address, operator, word)
            size = 1 << window if window else 2 * WORDS
            address = address // size * size + (address + 1) % size
            yield word, False, left == 0

    def write(self, address: int, operator: int, word: int) -> None:
        if operator:
            source = address if operator % 2 else address ^ WORDS // 2
            meaning = MEANINGS[self.config.operators[(operator - 1) // 2].name]
            word = meaning(self.memory[source], word)
        self.memory[address] = word


class Pair:
    """Two interfaces, one of each technology, with the same inputs."""

    def __init__(self, config: NetworkConfig) -> None:
        self.module, self.reset = Module(), Signal(init=1)
        self.module.domains.sync = ClockDomain()
        self.module.d.comb += ResetSignal().eq(self.reset)
        self.both = [NetworkInterface(config, technology=each) for each in TECHNOLOGIES]
        first, second = self.module.submodules.first, self.module.submodules.second = self.both
        for name in ASKED:
            self.module.d.comb += getattr(second.host, name).eq(getattr(first.host, name))
        ejection = second.ejections[0]
        self.module.d.comb += [
            ejection.valid.eq(first.ejections[0].valid),
            ejection.flit.eq(first.ejections[0].flit),
        ]
        connect(self.module, flipped(first.router_causes), second.router_causes)

    async def write(self, ctx: Any, words: list[int]) -> None:
        """Write words as the host, from the first cycle of reset on."""
        host = self.both[0].host
        ctx.set(self.reset, 1)
        ctx.set(host.space, HostSpace.MESSAGE)
        ctx.set(host.write, 1)
        for address, word in enumerate(words):
            ctx.set(host.address, address)
            ctx.set(host.write_data, word)
            await ctx.tick()
        ctx.set(host.write, 0)

    async def read(self, ctx: Any) -> list[list[int]]:
        """Read the memories as the host, in reset."""
        words: list[list[int]] = [[], []]
        ctx.set(self.reset, 1)
        for address in range(WORDS):
            ctx.set(self.both[0].host.address, address)
            for _ in range(HOST_CYCLES):
                await ctx.tick()
            for interface, read in zip(self.both, words, strict=True):
                read.append(ctx.get(interface.host.read_data))
        return words

    async def send(self, ctx: Any, flits: Iterator[tuple[int, bool, bool] | None]) -> None:
        """Eject the flits; the interface writes the last word in the cycle after it."""
        ejection = self.both[0].ejections[0]
        ctx.set(self.reset, 0)
        for flit in flits:
            ctx.set(ejection.valid, int(flit is not None))
            if flit is not None:
                data, head, tail = flit
                ctx.set(ejection.flit, {"data": data, "head": head, "tail": tail})
            await ctx.tick()
        ctx.set(ejection.valid, 0)


def require_right(config: NetworkConfig, seed: int) -> None:
    """Require the packets' results, and the words that the host writes later, in both memories."""
    pair, packets = Pair(config), Packets(config, seed)

    async def testbench(ctx: Any) -> None:
        await pair.write(ctx, packets.start)
        # A later word may replace a wrong word, so the memories are compared after every round.
        for _ in range(ROUNDS):
            await pair.send(ctx, packets.flits())
            await ctx.tick()
            assert await pair.read(ctx) == [packets.memory] * 2
        await pair.send(ctx, packets.flits())
        again = list(range(WORDS))
        await pair.write(ctx, again)
        assert await pair.read(ctx) == [again] * 2

    simulate(pair.module, testbench)


CASES = pytest.mark.parametrize(
    ("operators", "streams"),
    [(("add",), False), (("min", "xor"), True), (("min-signed",), False)],
    ids=["add", "several, windows", "min"],
)


@CASES
@pytest.mark.parametrize("seed", [1, *(pytest.param(s, marks=pytest.mark.slow) for s in (2, 3))])
def test_what_is_written_is_the_same(operators: tuple[str, ...], streams: bool, seed: int) -> None:
    require_right(configuration(operators, streams=streams), seed)


def test_an_update_is_lost_that_was_read_ahead(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Combiner, "_hits", lambda *_: C(0))
    with pytest.raises(AssertionError):
        require_right(configuration(("add",)), 1)
