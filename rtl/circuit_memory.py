"""The message memory of a node of a network with circuits, and who uses it besides the lanes.

::

    host, in reset ──► :class:`LoadedWords` ◄──► lanes              without programs
    controller, tile ──► :class:`SharedWords` ◄──► lanes            with programs; lanes come first

Used by :class:`.CircuitInterface`; a :class:`.CircuitLane` reads and writes the words.
"""

from abc import ABC, abstractmethod
from typing import Any

from amaranth.hdl import C, Module, Mux, ResetSignal, Signal, Value
from amaranth.lib.memory import Memory

from ..model.network.config import NetworkConfig
from .host_map import HostSpace
from .shared_access import connect_damage, connect_host, connect_tile
from .shared_memory import SharedMemory
from .technology import Technology


class CircuitWords(ABC):
    """The message memory, which answers each read one cycle later.

    Parameters
    ----------
    m
        The module of the interface, to which the memory adds its gates.
    config, technology
        The network, and what the memory is made of.
    ports
        The ports of the interface.

    Attributes
    ----------
    selected : Signal
        High in a cycle in which the host addresses this node; with programs, in the cycle in which
        a request of the controller to this node is carried out.

    """

    def __init__(
        self, m: Module, config: NetworkConfig, technology: Technology, ports: Any
    ) -> None:
        self._m, self._config, self._technology = m, config, technology
        self._ports, self._host = ports, ports.host
        self.selected = Signal(name="selected")

    @abstractmethod
    def read(self, lane: int, address: Value, needed: Value) -> tuple[Value, Value]:
        """Read a lane's word to be sent; return it with a bit, high if it is damaged.

        Both are valid in the cycle after one in which ``needed`` is 1.
        """

    @abstractmethod
    def read_stored(self, lane: int, address: Value) -> tuple[Value, Value]:
        """Read a stored word to be combined; return it with a bit, high if it is damaged."""

    @abstractmethod
    def write(self, lane: int, enable: Value, address: Value, word: Value) -> None:
        """Write a lane's word at the end of a cycle in which ``enable`` is 1."""

    @abstractmethod
    def shows_damaged(self) -> Value:
        """Return a bit, high in a cycle in which the host or the tile sees a damaged word."""


class LoadedWords(CircuitWords):
    """A message memory that the host loads and reads in reset."""

    def __init__(self, m: Module, config: NetworkConfig, technology: Technology, ports: Any):
        super().__init__(m, config, technology, ports)
        m.submodules.message_memory = self._memory = Memory(
            shape=config.flit_width,
            depth=config.message_words,
            init=[],
            attrs=technology.memory_attributes,
        )
        m.d.comb += self.selected.eq(self._host.node == ports.node)

    def read(self, lane: int, address: Value, needed: Value) -> tuple[Value, Value]:
        """Read in reset the word that the host asks for."""
        read_port = self._memory.read_port()
        here = address if lane else Mux(ResetSignal(), self._host.address, address)
        self._m.d.comb += read_port.addr.eq(here)
        return read_port.data, C(0)

    def read_stored(self, lane: int, address: Value) -> tuple[Value, Value]:
        """Read by a port of its own."""
        read_port = self._memory.read_port()
        self._m.d.comb += read_port.addr.eq(address)
        return read_port.data, C(0)

    def write(self, lane: int, enable: Value, address: Value, word: Value) -> None:
        """Write in reset the word of the host."""
        m, host = self._m, self._host
        write_port = self._memory.write_port()
        if lane:
            m.d.comb += [
                write_port.addr.eq(address),
                write_port.data.eq(word),
                write_port.en.eq(enable & ~ResetSignal()),
            ]
            return
        is_message = host.space == HostSpace.MESSAGE
        with m.If(ResetSignal()):
            m.d.comb += [
                write_port.addr.eq(host.address),
                write_port.data.eq(host.write_data),
                write_port.en.eq(self.selected & host.write & is_message & ResetSignal()),
            ]
        with m.Else():
            m.d.comb += [
                write_port.addr.eq(address),
                write_port.data.eq(word),
                write_port.en.eq(enable),
            ]

    def shows_damaged(self) -> Value:
        """Return 0: there is no parity."""
        return C(0)


class SharedWords(CircuitWords):
    """A message memory that the controller and the tile use during a run, too."""

    def __init__(self, m: Module, config: NetworkConfig, technology: Technology, ports: Any):
        super().__init__(m, config, technology, ports)
        m.submodules.message = self._memory = SharedMemory(config, technology=technology)
        connect_host(m, ports, self._memory, self.selected)
        if config.tile_ports:
            connect_tile(m, ports.tile, self._memory)

    def read(self, lane: int, address: Value, needed: Value) -> tuple[Value, Value]:
        """Read; the first lane's port is free for others unless the word is needed."""
        port = self._memory.reads[lane]
        self._m.d.comb += port.address.eq(address)
        if not lane:
            self._m.d.comb += self._memory.fetches.eq(needed)
        return port.word, port.damaged if self._config.parity else C(0)

    def read_stored(self, lane: int, address: Value) -> tuple[Value, Value]:
        """Read by a port of its own, which no other user needs."""
        port = self._memory.reads_to_combine[lane]
        self._m.d.comb += port.address.eq(address)
        return port.word, port.damaged if self._config.parity else C(0)

    def write(self, lane: int, enable: Value, address: Value, word: Value) -> None:
        """Write; the first lane's port is free for others unless ``enable`` is 1."""
        port = self._memory.writes[lane]
        self._m.d.comb += [
            port.enable.eq(enable),
            port.address.eq(address),
            port.word.eq(word),
        ]
        if self._config.operators and not lane:
            self._m.d.comb += self._memory.stores.eq(enable)

    def shows_damaged(self) -> Value:
        """Tell the controller, or the tile, of a damaged word that it reads."""
        if not self._config.parity:
            return C(0)
        connect_damage(self._m, self._config, self._ports, self._memory)
        return self._ports.damaged
