"""The message of a node whose host loads and reads it in reset (docs/router.md, section 6).

::

    host ──► expectations ──► lanes
    host ──► message memory ──► host           in reset
    lanes ─► message memory ──► lanes          otherwise

Used by :class:`.NetworkInterface`; in a network with programs :class:`.SharedMessage` takes its
place.
"""

from collections.abc import Sequence
from typing import Any

from amaranth.hdl import Cat, Module, ResetSignal, Signal, Value
from amaranth.lib.memory import Memory

from ..model.network.config import NetworkConfig, bits_for
from .combiner import Combiner
from .host_map import HostSpace, expectation_words
from .lane import Lane
from .link import CYCLE_BITS
from .message import Message
from .steps import StepKeeper
from .technology import Technology


class LoadedMessage(Message):
    """The host's accesses to a node, its message memory, and what it expects."""

    def __init__(
        self, m: Module, config: NetworkConfig, technology: Technology, ports: Any
    ) -> None:
        super().__init__(m, config, technology, ports)
        m.d.comb += self.selected.eq(self._host.node == ports.node)

    def host_writes(self, space: HostSpace) -> Value:
        """Return 1 in a cycle of reset in which the host writes to ``space`` of this node."""
        return super().host_writes(space) & ResetSignal()

    def prepare_lane(self, lane: Lane, number: int) -> None:
        """Give lane ``number`` its expectations."""
        first = number * self._config.mask_words
        words = range(first, first + self._config.mask_words)
        self._m.d.comb += lane.expected.eq(Cat(self._expectation(word) for word in words))

    def _expectation(self, word: int) -> Signal:
        """Return a word of the host's space of expectations, which reset leaves as it is."""
        kept = Signal(self._config.flit_width, name=f"expectation_{word}", reset_less=True)
        address = self._host.address[: bits_for(expectation_words(self._config) - 1)]
        with self._m.If(self.host_writes(HostSpace.EXPECTED) & (address == word)):
            self._m.d.sync += kept.eq(self._host.write_data)
        return kept

    def add_memory(self, lanes: Sequence[Lane], combiner: Combiner | None) -> Value:
        """Add the memory, in reset the host's; return the word read for the host."""
        m, technology = self._m, self._technology
        m.submodules.message_memory = memory = Memory(
            shape=self._config.flit_width,
            depth=self._config.message_words,
            init=[],
            attrs=technology.memory_attributes,
        )
        ports = [(memory.write_port(), memory.read_port()) for _ in lanes]
        (host_write, host_read), host_word = ports[0], self._host.write_data
        writes = [lane.message_write for lane in lanes]
        if combiner is not None:
            self._connect_combiner(memory, combiner)
            writes, host_word = combiner.writes, combiner.writes[0].word
        with m.If(ResetSignal()):
            m.d.comb += [
                host_write.addr.eq(self._host.address),
                host_write.data.eq(host_word),
                host_write.en.eq(self.host_writes(HostSpace.MESSAGE)),
                host_read.addr.eq(self._host.address),
            ]
        with m.Else():
            for lane, write, (write_port, read_port) in zip(lanes, writes, ports, strict=True):
                m.d.comb += [
                    write_port.addr.eq(write.address),
                    write_port.data.eq(write.word),
                    write_port.en.eq(write.enable),
                    read_port.addr.eq(lane.message_read.address),
                ]
        for lane, (_, read_port) in zip(lanes, ports, strict=True):
            m.d.comb += lane.message_read.word.eq(read_port.data)
        if not technology.look_ahead:
            return host_read.data
        # The host of a board looks at it many cycles later.
        late_word = Signal(self._config.flit_width, name="late_word", reset_less=True)
        m.d.sync += late_word.eq(host_read.data)
        return late_word

    def _connect_combiner(self, memory: Memory, combiner: Combiner) -> None:
        """Add read ports for the words to combine, and tell the combiner what is stored."""
        self._m.d.comb += combiner.host_word.eq(self._host.write_data)
        for write, stored in zip(combiner.writes, combiner.stored, strict=True):
            self._m.d.comb += [
                stored.enable.eq(write.enable),
                stored.address.eq(write.address),
                stored.word.eq(write.word),
            ]
        for read in combiner.reads:
            read_port = memory.read_port()
            self._m.d.comb += [read_port.addr.eq(read.address), read.word.eq(read_port.data)]
            if "enable" in read.signature.members:
                self._m.d.comb += read_port.en.eq(read.enable)

    def add_options(self, _steps: StepKeeper, lanes: Sequence[Lane]) -> None:
        """Add the parts for timed rows: a cycle count, packets awaited, refusal."""
        if not self._config.timed_rows:
            return
        now, first = Signal(CYCLE_BITS, name="now"), self._config.mask_words
        self._m.d.sync += now.eq(now + 1)
        self._m.d.comb += [
            lanes[0].now.eq(now),
            lanes[0].awaited.eq(self._expectation(first)),
        ]
        self.accept = ~self._expectation(first + 1).bit_select(now[:4], 1)
