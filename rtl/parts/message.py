"""What a host loads into a node, and the message memory (docs/router.md, sections 6, 16 to 18).

::

    host, in reset ──► Expectations ──► lanes           without programs
    host, in reset ──► LoadedMessage ◄──► lanes         without programs
    controller, tile ──► SharedMessage ◄──► lanes       with programs: the lanes come first
"""

from amaranth.hdl import Array, C, Module, Mux, ResetSignal, Signal, Value
from amaranth.lib.memory import Memory
from amaranth.lib.wiring import Component, In, Member, Out, connect, flipped

from ...model.network.config import NetworkConfig, bits_for
from .combiner import reads_ahead
from .host_map import HostSpace, expectation_words
from .host_port import HostPort, node_bits
from .memory_ports import WordWrite, memory_members
from .shared_memory import SharedMemory
from .status import carried_out, gathered, host_writes, words_of
from .technology import PLAIN, Technology
from .tile_port import MessageAccess


class Message(Component):
    """A message memory that a host uses. Used by :class:`.NetworkInterface` and for circuits.

    The host writes and reads a wide word piece by piece.

    Members
    -------
    node : In
        The node's number; constant.
    host : In(HostPort)
        The host of the node.
    status : In(narrow_width)
        The status word that the host asked for in the last cycle, otherwise 0.
    selected : Out(1)
        High in a cycle in which the host addresses this node; with programs, in the cycle in which
        a request of the controller to this node is carried out.
    writes, reads, reads_to_combine, stored
        As for :class:`.SharedMemory`. Ignored in reset.

    """

    def __init__(self, config: NetworkConfig, *, technology: Technology = PLAIN) -> None:
        self._config = config
        self._technology = technology
        ahead = reads_ahead(config, technology) and not config.circuits
        super().__init__(
            {
                "node": In(node_bits(config)),
                "host": In(HostPort(config)),
                "status": In(config.narrow_width),
                "selected": Out(1),
                **memory_members(config, ahead=ahead),
                **self._further_members(),
            }
        )

    def _further_members(self) -> dict[str, Member]:
        """Return the members that only one kind of message memory has."""
        return {}

    def _piece(self, m: Module, word: Value) -> Value:
        """Return the piece of a word read in the last cycle that the host asked for then."""
        config = self._config
        if not config.further_pieces:
            return word
        number = Signal(config.piece_bits, name="piece_number", reset_less=True)
        m.d.sync += number.eq(self.host.address[: config.piece_bits])
        return Array(words_of(config, word))[number]

    def _answer(self, m: Module, word: Value) -> None:
        """Show the host the ``word`` read for it, late by a cycle as the memory is, or a status."""
        # Without reset, as the host reads in reset.
        message_shown = Signal(name="message_shown", reset_less=True)
        m.d.sync += message_shown.eq(self.selected & (self.host.space == HostSpace.MESSAGE))
        m.d.comb += self.host.read_data.eq(self.status | Mux(message_shown, word, 0))


class LoadedMessage(Message):
    """A message memory that the host loads and reads in reset.

    Members
    -------
    host_word : Out(flit_width)
        Only in a network with wide words: the word whose last piece the host writes.

    """

    def _further_members(self) -> dict[str, Member]:
        config = self._config
        return {"host_word": Out(config.flit_width)} if config.further_pieces else {}

    def elaborate(self, _platform: object) -> Module:
        """Build the memory; in reset the first lane's ports are the host's."""
        m, config, host = Module(), self._config, self.host
        m.submodules.message_memory = memory = Memory(
            shape=config.flit_width,
            depth=config.message_words,
            init=[],
            attrs=self._technology.memory_attributes,
        )
        ports = [(memory.write_port(), memory.read_port()) for _ in self.writes]
        (host_write, host_read), combines = ports[0], config.operators and not config.circuits
        m.d.comb += self.selected.eq(host.node == self.node)
        written = host_writes(config, host, self.selected, HostSpace.MESSAGE)
        whole, host_word = gathered(m, host, written, config.pieces, "piece")
        if config.further_pieces:
            m.d.comb += self.host_word.eq(host_word)
        with m.If(ResetSignal()):
            m.d.comb += [
                host_write.addr.eq(host.address[config.piece_bits :]),
                # The host's word passes the combiner.
                host_write.data.eq(self.writes[0].word if combines else host_word),
                host_write.en.eq(whole),
                host_read.addr.eq(host.address[config.piece_bits :]),
            ]
        with m.Else():
            for write, read, (write_port, read_port) in zip(
                self.writes, self.reads, ports, strict=True
            ):
                m.d.comb += [
                    write_port.addr.eq(write.address),
                    write_port.data.eq(write.word),
                    write_port.en.eq(write.enable),
                    read_port.addr.eq(read.address),
                ]
        for read, (_, read_port) in zip(self.reads, ports, strict=True):
            m.d.comb += read.word.eq(read_port.data)
        if config.operators:
            self._elaborate_to_combine(m, memory)
        shown = self._piece(m, host_read.data)
        if self._technology.look_ahead:
            # The host of a board looks at it many cycles later.
            late_word = Signal(config.narrow_width, name="late_word", reset_less=True)
            m.d.sync += late_word.eq(shown)
            shown = late_word
        self._answer(m, shown)
        return m

    def _elaborate_to_combine(self, m: Module, memory: Memory) -> None:
        """Add read ports for the words to combine, and tell what is stored."""
        for write, stored in zip(self.writes, self.stored, strict=True):
            connect(m, flipped(write), flipped(stored))
        for read in self.reads_to_combine:
            read_port = memory.read_port()
            m.d.comb += [read_port.addr.eq(read.address), read.word.eq(read_port.data)]
            if "enable" in read.signature.members:
                m.d.comb += read_port.en.eq(read.enable)


class SharedMessage(Message):
    """A message memory that the controller and the tile use during a run, too.

    Members
    -------
    fetches, stores, combines
        As for :class:`.SharedMemory`; the last two only in a network with operators.
    tile : In(MessageAccess)
        Only in a network with tile ports: the tile.
    damaged : Out(1)
        Only with parity: high in a cycle in which the controller or the tile sees a damaged word.

    """

    kind: type[SharedMemory] = SharedMemory
    """The memory inside; a proof puts a memory here whose words change."""

    def _further_members(self) -> dict[str, Member]:
        config = self._config
        return {
            "fetches": In(1),
            **({"stores": In(1), "combines": In(1)} if config.operators else {}),
            **({"tile": In(MessageAccess(config))} if config.tile_ports else {}),
            **({"damaged": Out(1)} if config.parity else {}),
        }

    def elaborate(self, _platform: object) -> Module:
        """Connect the memory to the lanes, the controller and the tile."""
        m, config = Module(), self._config
        m.submodules.memory = memory = self.kind(config, technology=self._technology)
        for name in memory_members(config):
            for here, inside in zip(getattr(self, name), getattr(memory, name), strict=True):
                connect(m, flipped(here), inside)
        m.d.comb += memory.fetches.eq(self.fetches)
        if config.operators:
            m.d.comb += [memory.stores.eq(self.stores), memory.combines.eq(self.combines)]
        self._elaborate_host(m, memory)
        if config.tile_ports:
            self._elaborate_tile(m, memory)
        if config.parity:
            self._elaborate_damage(m, memory)
        return m

    def _elaborate_host(self, m: Module, memory: SharedMemory) -> None:
        """Carry out the controller's requests; those to the memory when it is free."""
        config, host = self._config, self.host
        is_message = host.space == HostSpace.MESSAGE
        free = Mux(host.write, memory.write_free, memory.read_free)
        m.d.comb += self.selected.eq(carried_out(m, host, self.node, free | ~is_message))
        whole, word = host_writes(config, host, self.selected, HostSpace.MESSAGE), host.write_data
        if config.further_pieces:
            whole, word = gathered(m, host, whole, config.pieces, "piece")
        m.d.comb += [
            memory.host_address.eq(host.address[config.piece_bits :]),
            memory.host_word.eq(word),
            memory.host_writes.eq(whole),
            memory.host_reads.eq(self.selected & is_message & ~host.write),
        ]
        self._answer(m, self._piece(m, memory.reads[0].word))

    def _elaborate_tile(self, m: Module, memory: SharedMemory) -> None:
        """Give the tile its way to the memory."""
        tile = self.tile
        m.d.comb += [
            memory.tile_write.enable.eq(tile.write_valid),
            memory.tile_write.address.eq(tile.write_address),
            memory.tile_write.word.eq(tile.write_data),
            tile.write_ready.eq(memory.tile_write_ready),
            memory.tile_reads.eq(tile.read_valid),
            memory.tile_read.address.eq(tile.read_address),
            tile.read_ready.eq(memory.tile_read_ready),
            tile.read_answered.eq(memory.tile_answered),
            tile.read_data.eq(memory.tile_read.word),
        ]

    def _elaborate_damage(self, m: Module, memory: SharedMemory) -> None:
        """Tell the controller, or the tile, of a damaged word that it reads."""
        shown, seen_by_tile = Signal(name="shown", reset_less=True), C(0)
        m.d.sync += shown.eq(memory.host_reads)
        m.d.comb += self.host.damaged.eq(shown & memory.reads[0].damaged)
        if self._config.tile_ports:
            seen_by_tile = self.tile.read_damaged
            m.d.comb += seen_by_tile.eq(memory.tile_answered & memory.tile_read.damaged)
        m.d.comb += self.damaged.eq(self.host.damaged | seen_by_tile)


class Expectations(Component):
    """The words that say what a node expects. Used by :class:`.NetworkInterface` without programs.

    Members
    -------
    write : In(WordWrite)
        Writes of the host, in reset only.
    words : array of Out(narrow_width)
        The words by address; reset leaves them as they are.

    """

    def __init__(self, config: NetworkConfig) -> None:
        count = expectation_words(config)
        super().__init__(
            {
                "write": In(WordWrite(bits_for(count - 1), config.narrow_width)),
                "words": Out(config.narrow_width).array(count),
            }
        )

    def elaborate(self, _platform: object) -> Module:
        """Keep each word."""
        m = Module()
        for address, word in enumerate(self.words):
            kept = Signal.like(word, name=f"expectation_{address}", reset_less=True)
            with m.If(self.write.enable & (self.write.address == address)):
                m.d.sync += kept.eq(self.write.word)
            m.d.comb += word.eq(kept)
        return m
