"""The message memory of a node with programs, which the host and the tile use during a run too.

::

    receiver ──► write port ◄── controller         the network comes first
    sender ◄──── read port ───► controller
"""

from amaranth.hdl import C, Module, Mux, ResetSignal, Signal, Value
from amaranth.lib.memory import Memory
from amaranth.lib.wiring import Component, In, Member, Out

from ...model.network.config import NetworkConfig
from .memory_ports import WordRead, WordWrite, is_damaged, memory_members, stored
from .technology import PLAIN, Technology


class SharedMemory(Component):
    """Memory whose ports serve the network first, then the host, then the tile.

    Used by :class:`.SharedMessage`. In core reset the network neither reads nor writes.
    ``reads_to_combine``, ``stores``, ``combines`` and ``stored`` exist only in a network with
    operators, the ``tile_`` members only in a network with tile ports.

    Members
    -------
    writes : array of WordWrite, In
        Writes of the receivers, or of the combiner.
    reads : array of WordRead, In
        Reads of the senders.
    fetches : In(1)
        High if the sender of the first lane needs the word that it reads in this cycle.
    host_address : In(address_bits)
        The address that the host reads or writes.
    host_writes, host_reads : In(1)
        High in a cycle in which the host writes or reads. Only while ``write_free`` or
        ``read_free`` is 1.
    host_word : In(width)
        The word that the host writes.
    write_free, read_free : Out(1)
        High in a cycle in which the host may write or read. The word that it reads is
        ``reads[0].word`` in the next cycle.
    reads_to_combine : array of WordRead, In
        Reads of the :class:`.Combiner`.
    stores, combines : In(1)
        Bit 0 of these members of the :class:`.Combiner`.
    stored : array of WordWrite, Out
        The words that each port writes in this cycle, for the network, the host or the tile.
    tile_write : In(WordWrite)
        The word that the tile writes.
    tile_write_ready : Out(1)
        High in a cycle at whose end that word is written. A write beyond the memory does nothing.
    tile_reads : In(1)
        High while the tile asks for the word of ``tile_read``.
    tile_read_ready : Out(1)
        High in a cycle in which that word is read.
    tile_answered : Out(1)
        High in the cycle after a word was read for the tile.
    tile_read : In(WordRead)
        The tile's read. Its word is valid while ``tile_answered`` is 1, and 0 for an address beyond
        the memory.

    """

    def __init__(self, config: NetworkConfig, *, technology: Technology = PLAIN) -> None:
        self._config = config
        self._technology = technology
        bits, width = config.address_bits, config.flit_width
        super().__init__(
            {
                **memory_members(config),
                "fetches": In(1),
                "host_address": In(bits),
                "host_writes": In(1),
                "host_reads": In(1),
                "host_word": In(width),
                "write_free": Out(1),
                "read_free": Out(1),
                **({"stores": In(1), "combines": In(1)} if config.operators else {}),
                **(self._members_of_tile(bits, width) if config.tile_ports else {}),
            }
        )

    def _members_of_tile(self, bits: int, width: int) -> dict[str, Member]:
        return {
            "tile_write": In(WordWrite(bits, width)),
            "tile_write_ready": Out(1),
            "tile_reads": In(1),
            "tile_read_ready": Out(1),
            "tile_answered": Out(1),
            "tile_read": In(WordRead(bits, width, parity=self._config.parity)),
        }

    def elaborate(self, _platform: object) -> Module:
        """Build the memory; the host and the tile share the first lane's ports."""
        m = Module()
        m.submodules.message_memory = memory = Memory(
            shape=self._config.flit_width + self._config.parity_bits,
            depth=self._config.message_words,
            init=[],
            attrs=self._technology.memory_attributes,
        )
        runs = Signal()
        writes, reads = self.writes[0].enable, self.fetches
        if self._config.operators:
            writes, reads = self.stores, self.fetches | self.combines
        m.d.comb += [
            runs.eq(~ResetSignal()),
            self.write_free.eq(~(runs & writes)),
            self.read_free.eq(~(runs & reads)),
        ]
        for lane, (write, read) in enumerate(zip(self.writes, self.reads, strict=True)):
            write_port, read_port = memory.write_port(), memory.read_port()
            m.d.comb += read.word.eq(read_port.data)
            if self._config.parity:
                m.d.comb += read.damaged.eq(self._is_damaged(read_port.data))
            if lane:
                m.d.comb += [
                    write_port.addr.eq(write.address),
                    write_port.data.eq(self._stored(write.word)),
                    write_port.en.eq(write.enable & runs),
                    read_port.addr.eq(read.address),
                ]
            else:
                self._elaborate_shared(m, write_port, read_port)
            if self._config.operators:
                self._elaborate_to_combine(m, lane, write_port, memory.read_port())
        return m

    def _elaborate_to_combine(self, m: Module, lane: int, write_port, read_port) -> None:
        """Connect a lane's read of stored words, and show its write port to the combiner."""
        read, stored = self.reads_to_combine[lane], self.stored[lane]
        m.d.comb += [
            read_port.addr.eq(read.address),
            read.word.eq(read_port.data),
            stored.enable.eq(write_port.en),
            stored.address.eq(write_port.addr),
            stored.word.eq(write_port.data),
        ]
        if self._config.parity:
            m.d.comb += read.damaged.eq(self._is_damaged(read_port.data))

    def _elaborate_shared(self, m: Module, write_port, read_port) -> None:
        """Connect the first lane's ports, which the host uses when the lane does not."""
        write, read = self.writes[0], self.reads[0]
        if self._config.tile_ports:
            self._elaborate_tile(m, write_port, read_port)
            return
        m.d.comb += [
            write_port.addr.eq(Mux(self.write_free, self.host_address, write.address)),
            write_port.data.eq(self._stored(Mux(self.write_free, self.host_word, write.word))),
            write_port.en.eq(self._network_writes(~self.write_free) | self.host_writes),
            read_port.addr.eq(Mux(self.host_reads, self.host_address, read.address)),
        ]

    def _elaborate_tile(self, m: Module, write_port, read_port) -> None:
        """Connect the first lane's ports, shared with the host and, last, the tile."""
        write, read = self.writes[0], self.reads[0]
        tile_write, tile_read = self.tile_write, self.tile_read
        tile_is_read, beyond = Signal(name="tile_is_read"), Signal(reset_less=True, name="beyond")
        answered, words = Signal(reset_less=True), self._config.message_words
        m.d.comb += [
            self.tile_write_ready.eq(self.write_free & ~self.host_writes),
            self.tile_read_ready.eq(self.read_free & ~self.host_reads),
            tile_is_read.eq(self.tile_read_ready & self.tile_reads),
            self.tile_answered.eq(answered),
            tile_read.word.eq(Mux(beyond, 0, read_port.data)),
            read_port.addr.eq(Mux(tile_is_read, tile_read.address, read.address)),
        ]
        if self._config.parity:
            m.d.comb += tile_read.damaged.eq(~beyond & self._is_damaged(read_port.data))
        m.d.sync += [answered.eq(tile_is_read), beyond.eq(tile_read.address >= words)]
        with m.If(self.host_reads):
            m.d.comb += read_port.addr.eq(self.host_address)
        with m.If(~self.write_free):
            self._write(m, write_port, write, self._network_writes(C(1)))
        with m.Elif(self.host_writes):
            m.d.comb += [
                write_port.addr.eq(self.host_address),
                write_port.data.eq(self._stored(self.host_word)),
                write_port.en.eq(1),
            ]
        with m.Else():
            self._write(m, write_port, tile_write, tile_write.enable & (tile_write.address < words))

    def _network_writes(self, taken: Value) -> Value:
        """Tell whether the network writes by the first write port, which it has ``taken``.

        If a higher lane writes to the same address in this cycle, the network does not write by the
        first port: two ports must not write one address.
        """
        if self._config.operators and self._config.lanes > 1:
            return taken & self.writes[0].enable
        return taken

    def _stored(self, word: Value) -> Value:
        return stored(word, parity=self._config.parity_bits)

    def _is_damaged(self, held: Value) -> Value:
        return is_damaged(held, parity=self._config.parity_bits)

    def _write(self, m: Module, write_port, write, enable: Value) -> None:
        m.d.comb += [
            write_port.addr.eq(write.address),
            write_port.data.eq(self._stored(write.word)),
            write_port.en.eq(enable),
        ]
