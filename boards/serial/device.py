"""The host of a network on a board, between a serial line and the host port.

::

    rx ─► receiver ─► word ─► header          (one shift register: the request, lowest bit first)
                       │▲        │
                       ▼│        ▼
             host: write_data, read_data; node, space, address
                       │
    tx ◄─ transmitter ◄┴─ mark, sequence, status, CRC

docs/fpga.md defines the frames on the line. A complete request with a correct CRC is carried out at
once; the reply is sent from the same shift register. While sending, the host receives nothing, so
one register and one CRC serve both directions.
"""

from amaranth.hdl import C, Cat, Module, Mux, Signal, Value
from amaranth.lib import data
from amaranth.lib.wiring import Component, In, Out

from ...model.network.config import NetworkConfig
from ...rtl.parts.host_port import HostPort, Refusal, RequestPort
from ...rtl.parts.link import CYCLE_BITS
from .frame import (
    CRC_BYTES,
    CRC_POLYNOMIAL,
    CRC_START,
    HEADER_BYTES,
    REPLY_MARK,
    REQUEST_MARK,
    RequestKind,
    identity,
    word_bytes,
)
from .uart import UartReceiver, UartTransmitter

_HEADER = data.StructLayout(
    {"sequence": 8, "space": 2, "kind": 2, "unused": 4, "count": 8, "node": 8, "address": 16}
)

# Indices of the first and last byte of a status. With these, the last two bits of an index number
# the bytes of the identity, and then of the cycle.
_STATUS_FIRST, _STATUS_LAST = 3, 11


class SerialCrc(Component):
    """The CRC of a frame, bit by bit.

    Attributes
    ----------
    clear : In(1)
        Restarts the CRC.
    step : In(1)
        Adds ``bit`` to the CRC.
    bit : In(1)
        The next bit of the line.
    value : Out(16)
        The CRC of the bits so far; 0 after a frame and its correct CRC.

    """

    def __init__(self) -> None:
        super().__init__({"clear": In(1), "step": In(1), "bit": In(1), "value": Out(16)})

    def elaborate(self, _platform: object) -> Module:
        """Build a shift register with feedback."""
        m = Module()
        feedback = (self.value[0] ^ self.bit).replicate(16) & C(CRC_POLYNOMIAL, 16)
        with m.If(self.clear):
            m.d.sync += self.value.eq(CRC_START)
        with m.Elif(self.step):
            m.d.sync += self.value.eq((self.value >> 1) ^ feedback)
        return m


class _Parts:
    """Signals that the states of a :class:`UartHost` share.

    header, word
        The shift register; not reset, because nothing uses it before a whole request has arrived.
    shift_in, shift_out, load
        High when a bit of a request arrives; a bit of a word is sent; the next word is fetched.
    place
        The index of the current byte in the request, the word, the status or the CRC.
    last
        High while the word that is sent is the last one.
    tells
        High if the request asks for the status.
    ask, waits, answer, refused
        For a controller: high to make a request; high until the answer; the last word read; high
        if a request was refused since the last control request.
    """

    def __init__(self, divisor: int, word_bytes: int) -> None:
        self.receiver = UartReceiver(divisor)
        self.transmitter = UartTransmitter(divisor)
        self.crc = SerialCrc()
        self.header = Signal(_HEADER, reset_less=True)
        self.word = Signal(8 * word_bytes, reset_less=True)
        self.shift_in, self.shift_out, self.load = Signal(), Signal(), Signal()
        self.place = Signal(range(max(HEADER_BYTES + word_bytes + CRC_BYTES, _STATUS_LAST + 1)))
        self.last = Signal()
        self.tells = self.header.kind == RequestKind.STATUS
        self.ask, self.waits, self.refused = Signal(), Signal(), Signal()
        self.answer = Signal(8 * word_bytes, reset_less=True)

    def send(self, m: Module, bit: Value) -> None:
        """Send bytes in this state; ``bit`` is the bit that the transmitter selects."""
        m.d.comb += [
            self.transmitter.send.eq(1),
            self.transmitter.bit.eq(bit),
            self.crc.bit.eq(bit),
            self.crc.step.eq(self.transmitter.taken),
        ]


class UartHost(Component):
    """Loads, starts and reads a network for a computer at the other end of a serial line.

    Parameters
    ----------
    config
        The network.
    divisor
        Clock cycles per bit of the line, 4 or more.
    timeout
        Clock cycles between two bytes of a request after which the host drops it. The real time is
        at least this and less than twice this.

    Attributes
    ----------
    rx, tx : In(1), Out(1)
        The line.
    host : Out(HostPort)
        The port to the network; a :class:`.RequestPort` if the network has a controller.
    network_reset, barrier, half_duplex : Out(1)
        Signals to the network. It is in reset until a control request starts it. A controller
        ignores the last two.
    done, error, cycle : In
        The network's outputs of these names.

    """

    def __init__(self, config: NetworkConfig, *, divisor: int, timeout: int) -> None:
        self._config = config
        self._divisor = divisor
        self._timeout = timeout
        self._word_bytes = word_bytes(config)
        super().__init__(
            {
                "rx": In(1, init=1),
                "tx": Out(1, init=1),
                "host": Out(RequestPort(config) if config.programs else HostPort(config)),
                "network_reset": Out(1, init=1),
                "barrier": Out(1, init=1),
                "half_duplex": Out(1),
                "done": In(1),
                "error": In(1),
                "cycle": In(CYCLE_BITS),
            }
        )

    def elaborate(self, _platform: object) -> Module:
        """Build the line's two ends, the shift register, and the states of a request."""
        m = Module()
        parts = _Parts(self._divisor, self._word_bytes)
        m.submodules.receiver = parts.receiver
        m.submodules.transmitter = parts.transmitter
        m.submodules.crc = parts.crc
        m.d.comb += [parts.receiver.rx.eq(self.rx), self.tx.eq(parts.transmitter.tx)]
        self._elaborate_shift_register(m, parts)
        if self._config.programs:
            self._elaborate_requests(m, parts)
        silent = self._elaborate_silence(m, parts)
        with m.FSM():
            self._elaborate_reception(m, parts, silent)
            with m.State("EXECUTE"):
                m.next = "MARK"
                self._elaborate_execution(m, parts)
                m.d.comb += parts.crc.clear.eq(1)
            if self._config.programs:
                with m.State("ASK"):
                    m.d.comb += parts.crc.clear.eq(1)
                    with m.If(~parts.waits):
                        m.next = "MARK"
            self._elaborate_reply_head(m, parts)
            self._elaborate_payload(m, parts)
            self._elaborate_check(m, parts)
        return m

    def _elaborate_silence(self, m: Module, parts: _Parts) -> Signal:
        """Return a signal that is high after a long time without a byte."""
        silence = Signal((self._timeout - 1).bit_length() + 1, reset_less=True)
        m.d.sync += silence.eq(silence + 1)
        with m.If(parts.receiver.byte_valid):
            m.d.sync += silence.eq(0)
        return silence[-1]

    def _elaborate_shift_register(self, m: Module, parts: _Parts) -> None:
        """Shift a request in, through ``word`` to ``header``, or a word out.

        While a word goes out ``header`` keeps its value, because its fields drive the host port.
        """
        header, word = parts.header, parts.word
        with m.If(parts.load):
            m.d.sync += word.eq(parts.answer if self._config.programs else self.host.read_data)
        with m.Elif(parts.shift_in | parts.shift_out):
            m.d.sync += word.eq(Cat(word[1:], parts.receiver.bit))
        address = header.address[: len(self.host.address)]
        with m.If(parts.load):
            m.d.sync += [address.eq(address + 1), header.count.eq(header.count - 1)]
        with m.Elif(parts.shift_in):
            m.d.sync += header.eq(Cat(header.as_value()[1:], word[0]))
        m.d.comb += [
            self.host.node.eq(header.node),
            self.host.space.eq(header.space),
            self.host.address.eq(header.address),
            self.host.write_data.eq(word),
        ]

    def _elaborate_reception(self, m: Module, parts: _Parts, silent: Value) -> None:
        """Wait for a mark, then receive the bytes of a request, or give up after silence."""
        receiver, crc, place = parts.receiver, parts.crc, parts.place
        body_bytes = HEADER_BYTES + self._word_bytes
        with m.State("HUNT"):
            m.d.comb += [crc.clear.eq(1), parts.shift_in.eq(receiver.bit_valid)]
            m.d.sync += place.eq(0)
            with m.If(receiver.byte_valid & (parts.word[-8:] == REQUEST_MARK)):
                m.next = "REQUEST"
        with m.State("REQUEST"):
            m.d.comb += [
                crc.bit.eq(receiver.bit),
                crc.step.eq(receiver.bit_valid),
                parts.shift_in.eq(receiver.bit_valid & (place < body_bytes)),
            ]
            with m.If(receiver.byte_valid):
                m.d.sync += place.eq(place + 1)
                with m.If(place == body_bytes + CRC_BYTES - 1):
                    m.next = "HUNT"
                    with m.If(crc.value == 0):
                        m.next = "EXECUTE"
            with m.Elif(silent):
                m.next = "HUNT"

    def _elaborate_execution(self, m: Module, parts: _Parts) -> None:
        """Write a word, if the network is in reset, or set the control bits.

        A request to a controller has its own state, until the answer.
        """
        kind = parts.header.kind
        with m.If(kind == RequestKind.CONTROL):
            m.d.sync += Cat(self.network_reset, self.barrier, self.half_duplex).eq(parts.word[:3])
        if not self._config.programs:
            m.d.comb += self.host.write.eq((kind == RequestKind.WRITE) & self.network_reset)
            return
        with m.If(kind == RequestKind.CONTROL):
            m.d.sync += parts.refused.eq(0)
        with m.If((kind == RequestKind.WRITE) | (kind == RequestKind.READ)):
            with m.If(self.network_reset):
                m.d.sync += parts.refused.eq(1)
            with m.Else():
                m.d.comb += parts.ask.eq(1)
                m.next = "ASK"

    def _elaborate_requests(self, m: Module, parts: _Parts) -> None:
        """Request a word from a controller, and the next one while a word is sent.

        Sending a word takes longer than the longest answer.
        """
        port, header = self.host, parts.header
        reads, next_wanted = header.kind == RequestKind.READ, Signal()
        m.d.sync += next_wanted.eq(parts.load & reads & (header.count != 0) & ~parts.last)
        asks = Signal()
        m.d.comb += [port.valid.eq(asks), port.write.eq(~reads)]
        with m.If(port.ready):
            m.d.sync += asks.eq(0)
        with m.If(port.answered):
            m.d.sync += [parts.waits.eq(0), parts.answer.eq(port.read_data)]
            with m.If(port.refusal != Refusal.NONE):
                m.d.sync += parts.refused.eq(1)
        with m.If(parts.ask | next_wanted):
            m.d.sync += [asks.eq(1), parts.waits.eq(1)]

    def _elaborate_reply_head(self, m: Module, parts: _Parts) -> None:
        """Send mark and sequence; the CRC begins after the mark."""
        header, transmitter = parts.header, parts.transmitter
        with m.State("MARK"):
            parts.send(m, C(REPLY_MARK, 8).bit_select(transmitter.place, 1))
            m.d.comb += parts.crc.clear.eq(1)
            m.d.sync += [
                parts.place.eq(Mux(parts.tells, _STATUS_FIRST, 0)),
                parts.last.eq(header.count == 0),
            ]
            with m.If(transmitter.sent):
                m.next = "SEQUENCE"
        with m.State("SEQUENCE"):
            parts.send(m, header.sequence.bit_select(transmitter.place, 1))
            with m.If(transmitter.sent):
                m.d.comb += parts.load.eq(1)
                m.next = "CHECK"
                with m.If((header.kind == RequestKind.READ) | parts.tells):
                    m.next = "PAYLOAD"

    def _elaborate_payload(self, m: Module, parts: _Parts) -> None:
        """Send words, each fetched when the one before is sent, or the bytes of the status."""
        transmitter, place = parts.transmitter, parts.place
        with m.State("PAYLOAD"):
            # A register, because the path is long; ``place`` changes cycles before the bit is sent.
            status_bit = Signal()
            m.d.sync += status_bit.eq(self._status_bit(parts, transmitter.place))
            parts.send(m, Mux(parts.tells, status_bit, parts.word[0]))
            m.d.comb += parts.shift_out.eq(transmitter.taken)
            with m.If(transmitter.sent):
                m.d.sync += place.eq(place + 1)
                with m.If(place == Mux(parts.tells, _STATUS_LAST, self._word_bytes - 1)):
                    m.d.comb += parts.load.eq(1)
                    m.d.sync += [place.eq(0), parts.last.eq(parts.header.count == 0)]
                    with m.If(parts.tells | parts.last):
                        m.next = "CHECK"

    def _elaborate_check(self, m: Module, parts: _Parts) -> None:
        """Send the two bytes of the CRC, which shifts because it takes in its own output."""
        with m.State("CHECK"):
            parts.send(m, parts.crc.value[0])
            with m.If(parts.transmitter.sent):
                m.d.sync += parts.place.eq(1)
                with m.If(parts.place[0]):
                    m.next = "HUNT"

    def _status_bit(self, parts: _Parts, bit: Value) -> Value:
        """Return one bit of the status: flags, then the identity, then the cycle."""
        place = parts.place
        control = Cat(self.network_reset, self.barrier, self.half_duplex)
        flags = Cat(control, self.done, self.error, parts.refused)
        index = Cat(bit, place[:2])
        return Mux(
            place[3],
            self.cycle.bit_select(index, 1),
            Mux(
                place[2],
                C(identity(self._config), 32).bit_select(index, 1),
                flags.bit_select(bit, 1),
            ),
        )
