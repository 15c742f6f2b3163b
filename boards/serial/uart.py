"""The two ends of a serial line, bit by bit: 8 data bits, lowest first, no parity, one stop bit.

Neither end stores the byte, because their user has a shift register.
"""

from amaranth.hdl import Module, Signal
from amaranth.lib.cdc import FFSynchronizer
from amaranth.lib.wiring import Component, In, Out

from ...model.base.errors import InvalidInput

LEAST_DIVISOR = 4
"""Fewest clock cycles of a bit with which the receiver can find its middle."""

_START, _STOP = 0, 9


class BitTimer(Component):
    """A timer of bits of the line.

    Attributes
    ----------
    restart : In(1)
        Starts a bit: ``over`` rises ``divisor`` cycles later, or after half a bit with ``half``.
    half : In(1)
        With ``restart``: the time is half a bit.
    over : Out(1)
        High from the end of the time until ``restart``.

    """

    def __init__(self, divisor: int) -> None:
        if divisor < LEAST_DIVISOR:
            raise InvalidInput.of("clock cycles of a bit", f"at least {LEAST_DIVISOR}", divisor)
        self._divisor = divisor
        super().__init__({"restart": In(1), "half": In(1), "over": Out(1)})

    def elaborate(self, _platform: object) -> Module:
        """Count down to -1, which sets the top bit."""
        m = Module()
        left = Signal(range(-self._divisor, self._divisor), init=-1)
        m.d.comb += self.over.eq(left[-1])
        with m.If(self.restart):
            m.d.sync += left.eq(self._divisor - 2)
            with m.If(self.half):
                m.d.sync += left.eq(self._divisor // 2 - 2)
        with m.Elif(~self.over):
            m.d.sync += left.eq(left - 1)
        return m


class UartReceiver(Component):
    """A receiver of bytes from a line.

    Attributes
    ----------
    rx : In(1)
        The line, not synchronized.
    bit : Out(1)
        The data bit, lowest first. Valid while ``bit_valid`` is high.
    bit_valid : Out(1)
        High for one cycle for each data bit.
    byte_valid : Out(1)
        High for one cycle after eight data bits and a correct stop bit.

    """

    def __init__(self, divisor: int) -> None:
        self._divisor = divisor
        super().__init__(
            {"rx": In(1, init=1), "bit": Out(1), "bit_valid": Out(1), "byte_valid": Out(1)}
        )

    def elaborate(self, _platform: object) -> Module:
        """Wait for a falling edge, then sample the middle of each bit."""
        m = Module()
        m.submodules.timer = timer = BitTimer(self._divisor)
        line, before, busy = Signal(init=1), Signal(init=1), Signal()
        place = Signal(range(_STOP + 1))
        m.submodules.synchronizer = FFSynchronizer(self.rx, line, init=1)
        m.d.sync += before.eq(line)
        m.d.comb += self.bit.eq(line)
        with m.If(~busy):
            # A line that stays low has no falling edge, so a break makes no bytes.
            m.d.sync += [busy.eq(before & ~line), place.eq(_START)]
            m.d.comb += [timer.restart.eq(1), timer.half.eq(1)]
        with m.Elif(timer.over):
            m.d.comb += timer.restart.eq(1)
            m.d.sync += place.eq(place + 1)
            with m.If(place == _START):
                m.d.sync += busy.eq(~line)
            with m.Elif(place == _STOP):
                m.d.sync += busy.eq(0)
                m.d.comb += self.byte_valid.eq(line)
            with m.Else():
                m.d.comb += self.bit_valid.eq(1)
        return m


class UartTransmitter(Component):
    """A transmitter of bytes to a line.

    Attributes
    ----------
    send : In(1)
        High while there is a byte to send; held until ``sent``.
    place : Out(3)
        The index of the next data bit.
    bit : In(1)
        The data bit with that index.
    taken : Out(1)
        High in the cycle in which ``bit`` is taken.
    sent : Out(1)
        High in the last cycle of the byte's stop bit.
    tx : Out(1)
        The line.

    """

    _IDLE, _DATA, _STOP, _END = 7, 8, 0, 1

    def __init__(self, divisor: int) -> None:
        self._divisor = divisor
        super().__init__(
            {
                "send": In(1),
                "place": Out(3),
                "bit": In(1),
                "taken": Out(1),
                "sent": Out(1),
                "tx": Out(1, init=1),
            }
        )

    def elaborate(self, _platform: object) -> Module:
        """Build one counter; its values 8 to 15 are the data bits."""
        m = Module()
        m.submodules.timer = timer = BitTimer(self._divisor)
        place = Signal(4, init=self._IDLE)
        m.d.comb += self.place.eq(place)
        with m.If(timer.over):
            m.d.sync += place.eq(place + 1)
            m.d.comb += timer.restart.eq(1)
            with m.If(place[3]):
                m.d.comb += self.taken.eq(1)
                m.d.sync += self.tx.eq(self.bit)
            with m.Elif(place == self._STOP):
                m.d.sync += self.tx.eq(1)
            with m.Elif(place == self._END):
                m.d.comb += [self.sent.eq(1), timer.restart.eq(0)]
                m.d.sync += place.eq(self._IDLE)
            with m.Elif(self.send):
                m.d.sync += self.tx.eq(0)
            with m.Else():
                m.d.comb += timer.restart.eq(0)
                m.d.sync += place.eq(place)
        return m
