"""The format of header flits: fields, widths, and the values that routers and targets read.

A route is a list of segments (:class:`~.segment.Segment`), each cut into *slots* of as many hops as
a slot can count. The slots, followed by the *delivery*, fill header flits from bit 0 upwards; no
slot is cut in two (docs/router.md, section 1)::

    slot       port | more | vc             leave by ``port`` for ``more + 1`` hops, on VC ``vc``
    delivery   deliver code | step | address | operator | window

    bit 0 -->  [ slot | slot | slot | ] [ slot | delivery |      ]   flits of ``flit_width`` bits

All methods take and return whole NumPy columns, or single numbers. The RTL and the cycle model
implement docs/router.md independently: they share only the widths.
"""

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from ..base.arrays import Numbers, Words
from ..base.ragged import offsets_of, ranges
from .segment import Routes


@dataclass(frozen=True)
class HeaderFormat:
    """Fields of header flits; :attr:`.NetworkConfig.header` makes one.

    flit_width
        Bits of a flit.
    deliver_code
        The port code that means "leave the network here"; 0 means "used up".
    port_bits
        Width of a port code.
    hop_bits
        Width of a slot's count of hops after this one.
    vc_bits
        Width of a VC number; 0 with a single VC.
    step_bits, address_bits, operator_bits, window_bits
        Widths of the other fields of a delivery; the last two are 0 in most networks.
    """

    flit_width: int
    deliver_code: int
    port_bits: int
    hop_bits: int
    vc_bits: int
    step_bits: int
    address_bits: int
    operator_bits: int = 0
    window_bits: int = 0

    @property
    def slot_bits(self) -> int:
        """Width of one slot."""
        return self.port_bits + self.hop_bits + self.vc_bits

    @property
    def delivery_bits(self) -> int:
        """Width of the delivery."""
        return self._operator_place + self.operator_bits + self.window_bits

    @property
    def _operator_place(self) -> int:
        """The lowest bit of a delivery's operator."""
        return self.port_bits + self.step_bits + self.address_bits

    @property
    def reach(self) -> int:
        """The most hops of one slot."""
        return 1 << self.hop_bits

    @property
    def slots_per_flit(self) -> int:
        """Slots that fit in a flit."""
        return self.flit_width // self.slot_bits

    def port(self, flit: npt.ArrayLike) -> Numbers:
        """Return the port code of the first slot, or of a delivery."""
        return _field(flit, 0, self.port_bits)

    def more(self, flit: npt.ArrayLike) -> Numbers:
        """Return the hops of the first slot after this one."""
        return _field(flit, self.port_bits, self.hop_bits)

    def vc(self, flit: npt.ArrayLike) -> Numbers:
        """Return the VC of the first slot."""
        return _field(flit, self.port_bits + self.hop_bits, self.vc_bits)

    def step(self, flit: npt.ArrayLike) -> Numbers:
        """Return the step of a delivery that is first in its flit, as its target receives it."""
        return _field(flit, self.port_bits, self.step_bits)

    def address(self, flit: npt.ArrayLike) -> Numbers:
        """Return the address of a delivery that is first in its flit, as at its target."""
        return _field(flit, self.port_bits + self.step_bits, self.address_bits)

    def operator(self, flit: npt.ArrayLike) -> Numbers:
        """Return the operator of a delivery that is first in its flit; 0 without operators."""
        return _field(flit, self._operator_place, self.operator_bits)

    def window(self, flit: npt.ArrayLike) -> Numbers:
        """Return the window of a delivery that is first in its flit; 0 without windows."""
        return _field(flit, self._operator_place + self.operator_bits, self.window_bits)

    def drop_first(self, flit: npt.ArrayLike) -> Words:
        """Remove one hop from the first slot; with its last hop, remove the slot."""
        words = np.asarray(flit, dtype=np.uint64)
        without_slot = words >> np.uint64(self.slot_bits)
        return np.where(self.more(words) == 0, without_slot, words - np.uint64(1 << self.port_bits))

    def delivery(
        self,
        step: npt.ArrayLike,
        address: npt.ArrayLike,
        operator: npt.ArrayLike = 0,
        window: npt.ArrayLike = 0,
    ) -> Words:
        """Return a delivery that begins at bit 0."""
        word = np.asarray(step, dtype=np.uint64) << np.uint64(self.port_bits)
        place = self.port_bits + self.step_bits
        for values, bits in (
            (address, self.address_bits),
            (operator, self.operator_bits),
            (window, self.window_bits),
        ):
            if bits:
                word = word | np.asarray(values, dtype=np.uint64) << np.uint64(place)
            place += bits
        return word | np.uint64(self.deliver_code)

    def flits(self, routes: Routes) -> Numbers:
        """Return the header flits of each route, delivery included: shape (routes,)."""
        return self._last_flit(routes)[0] + 1

    def pack(self, routes: Routes, route: Numbers, deliveries: Words) -> Words:
        """Return the header flits of packets as they enter the network, packet by packet.

        Packet p takes route ``route[p]``, ends with ``deliveries[p]`` and has
        ``flits(routes)[route[p]]`` header flits. The flits of all routes together must fit in
        memory.
        """
        segments = -(-routes.hops // self.reach)
        segment = np.repeat(np.arange(len(routes.hops)), segments)
        behind = routes.hops[segment] - self.reach * ranges(0, segments)
        slots = routes.port[segment].astype(np.uint64)
        more = np.minimum(behind, self.reach) - 1
        slots |= more.astype(np.uint64) << np.uint64(self.port_bits)
        vc_place = np.uint64(self.port_bits + self.hop_bits)
        slots |= routes.vc[segment].astype(np.uint64) << vc_place
        counts = self._slots(routes)
        flit, place = np.divmod(ranges(0, counts), self.slots_per_flit)
        last, low = self._last_flit(routes)
        first = offsets_of(last + 1)
        words = np.zeros(int(first[-1]), dtype=np.uint64)
        shifts = (place * self.slot_bits).astype(np.uint64)
        np.bitwise_or.at(words, np.repeat(first[:-1], counts) + flit, slots << shifts)
        packet_flits = last[route] + 1
        header = words[ranges(first[route], packet_flits)]
        header[np.cumsum(packet_flits) - 1] |= deliveries << low[route].astype(np.uint64)
        return header

    def _slots(self, routes: Routes) -> Numbers:
        """Count the slots of each route."""
        sums = offsets_of(-(-routes.hops // self.reach))
        return sums[routes.first[1:]] - sums[routes.first[:-1]]

    def _last_flit(self, routes: Routes) -> tuple[Numbers, Numbers]:
        """Return the header flit, from 0, with each route's delivery, and its lowest bit there.

        The delivery follows the last slot in its flit, or begins the next flit.
        """
        slots = self._slots(routes)
        last = np.maximum(slots - 1, 0) // self.slots_per_flit
        low = (slots - last * self.slots_per_flit) * self.slot_bits
        alone = low + self.delivery_bits > self.flit_width
        return last + alone, np.where(alone, 0, low)


def _field(flit: npt.ArrayLike, low: int, width: int) -> Numbers:
    """Return the ``width`` bits of a flit from bit ``low`` upwards."""
    mask = np.uint64((1 << width) - 1)
    bits: Numbers = (np.asarray(flit, dtype=np.uint64) >> np.uint64(low) & mask).astype(np.int64)
    return bits
