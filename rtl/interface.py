"""The network interface of a node (docs/router.md, sections 4 and 6).

::

    host port ──► table memory ──► sender ──► inject (port 0 of the router)
        │                            ▲ step
        ├───────► expected ──────► steps ◄── advance (barrier)
        │                            ▲ arrival
        └──◄────► message memory ◄── receiver ◄── eject
"""

from typing import Any

from amaranth.hdl import Cat, Module, Mux, ResetSignal, Signal
from amaranth.lib.memory import Memory
from amaranth.lib.wiring import Component, In, Out

from ..model.config import SIGNATURE_BITS, NetworkConfig
from .host import Flag, HostPort, HostSpace, StatusWord, node_bits
from .link import CYCLE_BITS, Ejection, Link
from .receiver import Receiver
from .sender import Sender
from .steps import StepKeeper


class NetworkInterface(Component):
    """Executes a node's table; with ``trace`` it also counts the stalled flits.

    Attributes
    ----------
    node : In
        The node's number; constant.
    injection, ejection : Link, Ejection
        To and from port 0 of the router.
    accept : Out(1)
        The flit that leaves port 0 of the router in this cycle is taken.
    router_flags : In(4)
        The router's ``overflow``, ``credit_underflow``, ``credit_overflow``, ``bad_route``.
    router_stalls : In(ports * vcs)
        Flits leaving the router in this cycle that have waited there.
    router_signature : In(32)
        What the router has sent, folded; of no bits in a network without signatures.
    barrier, half_duplex, advance : In(1)
        As for :class:`StepKeeper`.
    host : HostPort
        Loads and reads.
    over, finished, flagged : Out(1)
        The node's part of the step is done; of the program; a flag is set.

    """

    def __init__(self, config: NetworkConfig, *, trace: bool = False) -> None:
        self._config = config
        self._trace = trace
        super().__init__(
            {
                "node": In(node_bits(config)),
                "injection": Out(Link(config)),
                "ejection": In(Ejection(config)),
                "accept": Out(1),
                "router_flags": In(4),
                "router_stalls": In(config.topology.ports * config.vcs),
                "router_signature": In(SIGNATURE_BITS if config.signature else 0),
                "barrier": In(1),
                "half_duplex": In(1),
                "advance": In(1),
                "host": In(HostPort(config)),
                "over": Out(1),
                "finished": Out(1),
                "flagged": Out(1),
            }
        )

    def elaborate(self, _platform: object) -> Module:
        """The parts of the drawing above."""
        m = Module()
        m.submodules.sender = sender = Sender(self._config)
        m.submodules.receiver = receiver = Receiver(self._config)
        m.submodules.steps = steps = StepKeeper(self._config)
        flags, stalled_flits = Signal(len(Flag)), Signal(self._config.flit_width)
        selected = Signal()
        m.d.comb += [
            selected.eq(self.host.node == self.node),
            self.flagged.eq(flags.any()),
            self.injection.valid.eq(sender.link.valid),
            self.injection.flit.eq(sender.link.flit),
            sender.link.credit.eq(self.injection.credit),
            receiver.ejection.valid.eq(self.ejection.valid),
            receiver.ejection.flit.eq(self.ejection.flit),
            sender.hold.eq(self.flagged),
        ]
        self._elaborate_steps(m, steps, sender, receiver)
        self._elaborate_flags(m, flags, steps, sender, receiver)
        if self._trace:
            stalls = Cat(self.router_stalls, sender.stalled)
            m.d.sync += stalled_flits.eq(stalled_flits + sum(stalls))
        self._elaborate_table(m, sender, selected)
        message_word = self._elaborate_message(m, sender, receiver, selected)
        self._elaborate_expectations(m, steps, selected)
        if self._config.timed_rows:
            self._elaborate_timing(m, sender, steps, selected)
        else:
            m.d.comb += self.accept.eq(1)
        status_word = self._elaborate_status(m, flags, steps, sender, stalled_flits)
        # What the host reads is a cycle late, as the memory is; it must also be read in reset.
        was_selected, was_status = Signal(reset_less=True), Signal(reset_less=True)
        m.d.sync += [
            was_selected.eq(selected),
            was_status.eq(self.host.space == HostSpace.STATUS),
        ]
        m.d.comb += self.host.read_data.eq(
            Mux(was_selected, Mux(was_status, status_word, message_word), 0)
        )
        return m

    def _host_writes(self, selected: Signal, space: HostSpace):
        """The host writes to ``space`` of this node in this cycle."""
        return selected & self.host.write & (self.host.space == space) & ResetSignal()

    def _elaborate_steps(self, m: Module, steps, sender, receiver) -> None:
        """The sender's and the receiver's part in the step."""
        m.d.comb += [
            steps.arrival.eq(receiver.arrival),
            steps.arrival_step.eq(receiver.arrival_step),
            steps.sender_over.eq(sender.over),
            steps.sender_ended.eq(sender.ended),
            steps.begins.eq(sender.begins),
            steps.flagged.eq(self.flagged),
            steps.barrier.eq(self.barrier),
            steps.advance.eq(self.advance),
            steps.half_duplex.eq(self.half_duplex),
            sender.step.eq(steps.step),
            self.over.eq(steps.over),
            self.finished.eq(steps.finished),
        ]

    def _elaborate_flags(self, m: Module, flags, steps, sender, receiver) -> None:
        """Set at the end of the cycle in which the cause is seen, and kept until reset."""
        causes = {
            Flag.OVERFLOW: self.router_flags[Flag.OVERFLOW],
            Flag.CREDIT_UNDERFLOW: self.router_flags[Flag.CREDIT_UNDERFLOW]
            | sender.credit_underflow,
            Flag.CREDIT_OVERFLOW: self.router_flags[Flag.CREDIT_OVERFLOW] | sender.credit_overflow,
            Flag.BAD_ROUTE: self.router_flags[Flag.BAD_ROUTE],
            Flag.UNEXPECTED_RECEIVE: steps.unexpected_receive,
            Flag.SEND_AND_RECEIVE: steps.send_and_receive,
            Flag.BAD_ROW: sender.bad_row,
            Flag.BAD_WRITE: receiver.bad_write,
        }
        for flag, cause in causes.items():
            with m.If(cause):
                m.d.sync += flags[flag].eq(1)

    def _elaborate_table(self, m: Module, sender, selected: Signal) -> None:
        """The table memory: written by the host, read by the sender."""
        config = self._config
        m.submodules.table = table = Memory(
            shape=config.flit_width, depth=config.table_words, init=[]
        )
        write_port, read_port = table.write_port(), table.read_port()
        m.d.comb += [
            write_port.addr.eq(self.host.address),
            write_port.data.eq(self.host.write_data),
            write_port.en.eq(self._host_writes(selected, HostSpace.TABLE)),
            read_port.addr.eq(sender.table_address),
            sender.table_word.eq(read_port.data),
        ]

    def _elaborate_message(self, m: Module, sender, receiver, selected: Signal):
        """The message memory, the host's in reset and else the network's. Gives the word read."""
        config = self._config
        m.submodules.message = message = Memory(
            shape=config.flit_width, depth=config.message_words, init=[]
        )
        write_port, read_port = message.write_port(), message.read_port()
        with m.If(ResetSignal()):
            m.d.comb += [
                write_port.addr.eq(self.host.address),
                write_port.data.eq(self.host.write_data),
                write_port.en.eq(self._host_writes(selected, HostSpace.MESSAGE)),
                read_port.addr.eq(self.host.address),
            ]
        with m.Else():
            m.d.comb += [
                write_port.addr.eq(receiver.write_address),
                write_port.data.eq(receiver.write_word),
                write_port.en.eq(receiver.write),
                read_port.addr.eq(sender.message_address),
            ]
        m.d.comb += sender.message_word.eq(read_port.data)
        return read_port.data

    def _elaborate_expectations(self, m: Module, steps, selected: Signal) -> None:
        """The steps in which a packet is to arrive."""
        words = range(self._config.mask_words)
        expected = Cat(self._expectation(m, selected, word) for word in words)
        m.d.comb += steps.expected.eq(expected)

    def _expectation(self, m: Module, selected: Signal, word: int) -> Signal:
        """A word of the host's space of expectations: kept through reset."""
        kept = Signal(self._config.flit_width, name=f"expectation_{word}", reset_less=True)
        written = self._host_writes(selected, HostSpace.EXPECTED) & (self.host.address == word)
        with m.If(written):
            m.d.sync += kept.eq(self.host.write_data)
        return kept

    def _elaborate_timing(self, m: Module, sender, steps, selected: Signal) -> None:
        """What only a network with timed rows has: a cycle count, packets awaited, refusal."""
        first = self._config.mask_words
        now = Signal(CYCLE_BITS)
        refusal = self._expectation(m, selected, first + 1)
        m.d.sync += now.eq(now + 1)
        m.d.comb += [
            sender.now.eq(now),
            steps.awaited.eq(self._expectation(m, selected, first)),
            self.accept.eq(~refusal.bit_select(now[:4], 1)),
        ]

    def _elaborate_status(self, m: Module, flags, steps, sender, stalled_flits):
        """The status word at the host's address, a cycle later."""
        width = self._config.flit_width
        words: dict[int, Any] = {
            StatusWord.FLAGS: flags,
            StatusWord.STEP: steps.step,
            StatusWord.SENDER_STATE: sender.state,
            StatusWord.STALLED_FLITS: stalled_flits,
        }
        for index in range(self._config.mask_words):
            words[int(StatusWord.ARRIVED) + index] = steps.arrived[
                index * width : (index + 1) * width
            ]
        for index in range(self._config.signature_words):
            words[int(StatusWord.ARRIVED) + self._config.mask_words + index] = (
                self.router_signature[index * width : (index + 1) * width]
            )
        status_word = Signal(width, reset_less=True)
        with m.Switch(self.host.address):
            for address, word in words.items():
                with m.Case(address):
                    m.d.sync += status_word.eq(word)
        return status_word
