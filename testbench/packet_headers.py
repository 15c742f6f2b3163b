"""Headers of packets under way, read from bit 0 upwards (docs/router.md, section 1, "Packing")."""

from collections.abc import Sequence

from ..model.network.header import HeaderFormat


def delivery_of(header: HeaderFormat, flits: Sequence[int]) -> tuple[int, int]:
    """Return the step and the target address of the delivery in the header flits of a packet.

    Slots that routers have used up may be missing. Raises ``ValueError`` without a delivery.
    """
    mask = (1 << header.port_bits) - 1
    for flit in flits:
        place = 0
        while place + header.port_bits <= header.flit_width:
            port = flit >> place & mask
            if port == header.deliver_code:
                delivery = flit >> place + header.port_bits
                step = delivery & ((1 << header.step_bits) - 1)
                address = delivery >> header.step_bits & ((1 << header.address_bits) - 1)
                return step, address
            if port == 0:
                break
            place += header.slot_bits
    raise ValueError(
        f"a header must have a delivery, not {' '.join(f'{flit:x}' for flit in flits)}"
    )
