"""The controller's check of requests: which it refuses (docs/router.md, section 16)."""

from collections.abc import Iterable

from amaranth.hdl import Cat, Module, Mux, Signal, Value
from amaranth.lib.wiring import Component, In, Out

from ..model.network.config import NetworkConfig
from ..model.network.config_file import identity
from .parts.host_map import (
    CONTROLLER_ENTRIES,
    CONTROLLER_SPACE,
    Command,
    ControllerWord,
    HostSpace,
    controller_words,
    status_words,
    table_address_bits,
)
from .parts.host_port import Refusal
from .parts.run_entry import entry_words, word_bits
from .request_under_way import request_layout
from .run_control import run_layout

WRITABLE = (ControllerWord.IMAGE, ControllerWord.COMMAND, ControllerWord.ENABLE)
"""The controller's registers that a host may write, in addition to program entries."""


def _any(bits: Iterable[Value]) -> Value:
    return Cat(*bits).any()


class RequestCheck(Component):
    """Check whether a request can be carried out. Used by :class:`.Controller`.

    Members
    -------
    request : In(request_layout)
        The request.
    base, words : In(narrow_width)
        First address and length of ``program``, from the directory.
    image : In(narrow_width)
        The identity in the loaded image.
    busy, queued : In(1)
        High while a program starts or runs; high while a program is queued.
    run, next_run : In(run_layout)
        The running program, and the queued one.
    program : Out(8)
        The program that the request names, by an address of the directory or in a command. It may
        not exist; then the request is refused.
    refusal : Out(2)
        A :class:`.Refusal`, in the same cycle.

    """

    def __init__(self, config: NetworkConfig) -> None:
        self._config = config
        width, run = config.narrow_width, run_layout(config)
        super().__init__(
            {
                "request": In(request_layout(config)),
                "base": In(width),
                "words": In(width),
                "image": In(width),
                "busy": In(1),
                "queued": In(1),
                "run": In(run),
                "next_run": In(run),
                "program": Out(8),
                "refusal": Out(2),
            }
        )

    def elaborate(self, _platform: object) -> Module:
        """Check whether the word exists, and then whether the request is possible now."""
        m = Module()
        address, entry = self.request.address, Signal()
        no_such_word, not_now = Signal(name="no_such_word"), Signal(name="not_now")
        m.d.comb += [
            entry.eq(address >= CONTROLLER_ENTRIES),
            self.program.eq(
                Mux(entry, (address - CONTROLLER_ENTRIES) >> 2, self.request.write_data[8:16])
            ),
            self.refusal.eq(
                Mux(no_such_word, Refusal.NO_SUCH_WORD, Mux(not_now, Refusal.NOT_NOW, 0))
            ),
        ]
        with m.Switch(self.request.space):
            with m.Case(HostSpace.MESSAGE):
                m.d.comb += no_such_word.eq(~(self._in_message() & self._has_memory()))
            with m.Case(HostSpace.TABLE):
                there = self._in_table() & self.request.write
                has_table = self._is_node() if self._config.circuits else self._has_memory()
                m.d.comb += [
                    no_such_word.eq(~(there & has_table)),
                    not_now.eq(self._is_in_use()),
                ]
            with m.Case(CONTROLLER_SPACE):
                there = (self.request.node == 0) & (address < controller_words(self._config))
                m.d.comb += [
                    no_such_word.eq(~(there & (entry | self._is_register()))),
                    not_now.eq(
                        self.request.write & Mux(entry, self._is_active(), self._cannot_start())
                    ),
                ]
            with m.Case(HostSpace.STATUS):
                there = (address < status_words(self._config)) & ~self.request.write
                m.d.comb += no_such_word.eq(~(there & self._is_node()))
        return m

    def _is_node(self) -> Value:
        return self.request.node < self._config.topology.nodes

    def _has_memory(self) -> Value:
        """Tell whether the node exists and is no switch."""
        switches = self._config.topology.switches
        return self._is_node() & ~_any(self.request.node == node for node in switches)

    def _in_message(self) -> Value:
        """Tell whether the address is that of a piece of a word in the message memory."""
        config, address = self._config, self.request.address
        word, piece = address[config.piece_bits :], address[: config.piece_bits]
        return (word < config.message_words) & (piece < config.pieces)

    def _in_table(self) -> Value:
        """Tell whether the address is in some sender's table, or in an entry of the run table."""
        config, address = self._config, self.request.address
        if config.circuits:
            shift = word_bits(config)
            word, entry = address[:shift], address[shift:]
            return (entry < config.table_words) & (word < entry_words(config))
        bits = table_address_bits(config)
        place, lane = address[:bits], address[bits:]
        return (place < config.table_words) & (lane < config.lanes)

    def _is_in_use(self) -> Value:
        """Tell whether the table's word is of a program that is starting, running or queued."""
        shift = word_bits(self._config) if self._config.circuits else 0
        place = self.request.address[shift : shift + table_address_bits(self._config)]

        def has(run) -> Value:
            return (place >= run.base) & (place < run.end)

        return (self.busy & has(self.run)) | (self.queued & has(self.next_run))

    def _is_active(self) -> Value:
        """Tell whether the program is starting, running or queued."""
        return (self.busy & (self.program == self.run.program)) | (
            self.queued & (self.program == self.next_run.program)
        )

    def _is_register(self) -> Value:
        """Tell whether a register of the controller answers the request."""
        address, command = self.request.address, self.request.write_data[:8]
        is_written = _any(address == word for word in WRITABLE)
        known = (command >= Command.START) & (command <= Command.ACKNOWLEDGE)
        is_command = address == ControllerWord.COMMAND
        return Mux(
            self.request.write,
            is_written & (known | ~is_command),
            (address <= ControllerWord.ENABLE) & ~is_command,
        )

    def _cannot_start(self) -> Value:
        """Tell whether a start fails: not loaded, of another network, too long, or a full queue."""
        config = self._config
        is_start = (self.request.address == ControllerWord.COMMAND) & (
            self.request.write_data[:8] == Command.START
        )
        return is_start & (
            (self.program >= config.programs)
            | (self.words == 0)
            | (self.image != identity(config))
            | (self.base + self.words > config.table_words)
            | self.queued
        )
