"""A lane of the network interface of a network with circuits (docs/router.md, section 23).

::

    run table ──► message memory ──► input register ──► router ──► arrived ──┐
                       ▲                                                     │
                       └──────────────────────── operators ◄─────────────────┘

The interface has one lane, in an all-port network one for each link port.
"""

from typing import Any

from amaranth.hdl import Module, Mux, Signal, Value
from amaranth.lib import data

from ..model.network.config import NetworkConfig
from .circuit_memory import CircuitWords
from .operators import combined
from .run_table import exceeds

REPLACES = 1
"""The value of ``receive`` of a word that replaces the stored word; greater ones combine."""


def lane_suffixes(config: NetworkConfig) -> list[str]:
    """Return for each lane what follows the names of its signals: its link port, if it has one."""
    return [f"_{1 + lane}" for lane in range(config.lanes)] if config.all_port else [""]


class CircuitLane:
    """Reads the words that a lane sends, and writes those that arrive at it.

    Used by :class:`.CircuitInterface`.

    Parameters
    ----------
    m
        The module of the interface, to which the lane adds its gates.
    config
        The network.
    ports
        The ports of the interface.
    number
        The index of the lane.
    memory
        The message memory.

    Attributes
    ----------
    injection, ejection : WordLink
        The lane's input register of the router, and the word that leaves the router for it.
    shown : Value
        The word read in the last cycle, and a cycle later on a board.
    bad_read : Signal
        High in a cycle in which a word to be sent would be read beyond the memory.
    written : data.View
        The word that is written in this cycle: ``stores``, ``fails`` in its place if it cannot be
        written, ``address``; with tile ports ``last``, if it belongs to the last cycle of a run.
    damaged : list of Value
        Each is high in a cycle in which the lane sees a damaged word; empty without parity.

    """

    def __init__(
        self, m: Module, config: NetworkConfig, ports: Any, number: int, memory: CircuitWords
    ) -> None:
        self._m, self._config, self._memory, self._number = m, config, memory, number
        self._run, self._suffix = ports.run, lane_suffixes(config)[number]
        self._sum_leaves = ports.sum_leaves[number] if config.operators else None
        self.injection = getattr(ports, f"injection{self._suffix}")
        self.ejection = getattr(ports, f"ejection{self._suffix}")
        self.damaged: list[Value] = []

    def _signal(self, shape: Any, name: str, *, reset_less: bool = False) -> Any:
        return Signal(shape, name=f"{name}{self._suffix}", reset_less=reset_less)

    def _is_beyond(self, address: Value) -> Value:
        """Return 1 if an address is not one of the message memory."""
        return exceeds(address, self._config.message_words - 1)

    def add_sending(self, *, late: bool) -> None:
        """Read the words to send. With ``late`` the host of a board sees a word a cycle later."""
        m, run, number = self._m, self._run, self._number
        self.bad_read = beyond = self._signal(1, "reads_beyond")
        is_read, is_held = self._signal(1, "is_read"), self._signal(1, "is_held")
        held = self._signal(self._config.flit_width, "held", reset_less=True)
        address, reads = run.send_address[number], run.sends[number] & ~beyond
        word, damaged = self._memory.read(number, address, reads)
        m.d.comb += [
            beyond.eq(run.sends[number] & self._is_beyond(address)),
            self.injection.valid.eq(is_held),
            self.injection.word.eq(held),
        ]
        m.d.sync += [is_read.eq(reads), is_held.eq(is_read), held.eq(word)]
        self.shown = held if late else word
        if self._config.parity:
            self.damaged.append(is_read & damaged)

    def add_receiving(self) -> None:
        """Write the words that arrive."""
        m, config = self._m, self._config
        operators = len(config.operators)
        address, receive, last = self._place()
        beyond = self._is_beyond(address) | exceeds(receive, operators + 1)
        layout = data.StructLayout(
            {
                "stores": 1,
                "fails": 1,
                "address": len(address),
                "receive": len(receive),
                "word": config.flit_width,
                **({"last": 1} if config.tile_ports else {}),
            }
        )
        arrived, written = self._signal(layout, "arrived"), self._signal(layout, "written")
        received = self.ejection.valid & receive.any()
        m.d.sync += [
            arrived.stores.eq(received & ~beyond),
            arrived.fails.eq(received & beyond),
            arrived.address.eq(address),
            arrived.receive.eq(receive),
            arrived.word.eq(self.ejection.word),
        ]
        if config.tile_ports:
            m.d.sync += arrived.last.eq(last)
        word: Value = arrived.word
        if operators:
            m.d.sync += written.eq(arrived)
            word = self._combined(address, arrived, written)
        else:
            m.d.comb += written.eq(arrived)
        self._memory.write(self._number, written.stores, written.address, word)
        self.written = written

    def _place(self) -> tuple[Value, Value, Value]:
        """Return address and ``receive`` of the word that leaves for the lane in this cycle.

        The third is 1 if that word belongs to the last cycle of a run; only with tile ports.
        """
        m, run, number = self._m, self._run, self._number
        fields = {"address": run.receive_address[number], "receive": run.receive[number]}
        if self._config.tile_ports:
            fields["last"] = run.receive_last
        now = {name: self._signal(len(field), name) for name, field in fields.items()}
        m.d.sync += [now[name].eq(field) for name, field in fields.items()]
        if self._config.operators:
            # A sum belongs to the entry of the words that it is made of, one cycle earlier.
            before = {name: self._signal(len(field), f"sum_{name}") for name, field in now.items()}
            m.d.sync += [before[name].eq(field) for name, field in now.items()]
            place = {name: self._signal(len(field), f"place_{name}") for name, field in now.items()}
            m.d.comb += [
                field.eq(Mux(self._sum_leaves, before[name], now[name]))
                for name, field in place.items()
            ]
            now = place
        return now["address"], now["receive"], now.get("last")

    def _combined(self, address: Value, arrived: data.View, written: data.View) -> Signal:
        """Return the word to write: the arrived word, or the result of an operator."""
        m, config = self._m, self._config
        stored, damaged = self._memory.read_stored(self._number, address)
        there = self._signal(config.flit_width, "there", reset_less=True)
        word = self._signal(config.flit_width, "result")
        m.d.sync += there.eq(stored)
        m.d.comb += word.eq(written.word)
        with m.Switch(written.receive):
            for place, operator in enumerate(config.operators):
                with m.Case(REPLACES + 1 + place):
                    name = f"own_{place}{self._suffix}"
                    m.d.comb += word.eq(combined(m, name, operator, there, written.word))
        if config.parity:
            self.damaged.append(arrived.stores & (arrived.receive > REPLACES) & damaged)
        return word
